"""Domain files with a section [plan]: data and one file are the whole command."""

import pytest

import privhp as hp

FILLED = """\
[plan]
epsilon = 2.5
expected_records = 1e3
memory = "64 KiB"
[columns.fare]
kind = "interval"
low = 0
high = 9
"""


@pytest.fixture
def trips(tmp_path):
    (tmp_path / "trips.csv").write_text("fare\n" + "5\n7\n" * 500)
    (tmp_path / "trips.toml").write_text(FILLED)
    return tmp_path


def test_a_file_of_everything(run, trips):
    code, out, err = run("fit", "trips.csv", "trips.toml")
    assert (code, err) == (0, "")
    assert out.startswith("wrote trips.privhp: epsilon = 2.5 ")
    plan = hp.load("trips.privhp").plan
    assert (float(plan.epsilon), plan.expected_records, plan.memory) == (2.5, 1000, 65536)
    assert hp.read_domain("trips.toml") == plan.domain
    assert run("fit", "trips.csv", "trips.toml", "--epsilon", "3", "--memory", "1MiB", "-o", "b.privhp").code == 0
    other = hp.load("b.privhp").plan
    assert (float(other.epsilon), other.memory) == (3, 2**20)
    assert run("plan", "--domain", "trips.toml", "-o", "plan.json").code == 0
    assert run("plan", "trips.toml") == run("plan", "--domain", "trips.toml")
    assert run("learn", "trips.csv", "trips.toml", "--passes", "1", "-o", "l.json").code == 2
    assert run("compare", "trips.csv", "trips.csv", "--domain", "trips.toml").code == 0
    paper = ["--method", "paper", "--hot-cells", "4", "-o", "c.privhp"]
    assert run("fit", "trips.csv", "trips.toml", *paper).code == 0


@pytest.mark.parametrize(
    ("change", "arguments", "says"),
    [
        (("2.5", '""'), ["trips.csv", "trips.toml"], "trips.toml: epsilon is blank; fill it in, or give --epsilon"),
        (("2.5", "true"), ["trips.csv", "trips.toml"], "expected epsilon as a number or a text, got bool"),
        (("1e3", '"many"'), ["trips.csv", "trips.toml"], "expected expected_records as a number such as 1e6"),
        (("epsilon = 2.5", ""), ["trips.csv", "trips.toml"], "--epsilon is missing; give it, or epsilon in the"),
        (("memory", "colour"), ["trips.csv", "trips.toml"], "max_records_per_person and person, got 'colour'\n"),
        (("memory", "memmory"), ["trips.csv", "trips.toml"], "got 'memmory'; did you mean memory?"),
        (("[plan]", "plan = 3\n[other]"), ["trips.csv", "trips.toml"], "expected plan as a section [plan], which may"),
        (("epsilon", "person = 1.5\nepsilon"), ["trips.csv", "trips.toml"], "name a column '1.5'"),
        (("epsilon", "max_records_per_person = 1.5\nepsilon"), ["trips.csv", "trips.toml"], "as an integer from 1 to"),
        (("", ""), ["trips.csv"], "-o FILE is missing"),
        (("", ""), ["trips.csv", "-o", "a.privhp"], "the domain of the records is missing; give --domain"),
        (("", ""), ["trips.toml"], "there is no data beside trips.toml"),
        (("", ""), ["trips.csv", "trips.toml", "trips.toml"], "the domain is given more than once"),
        (("", ""), ["trips.csv", "trips.toml", "--domain", "ipv4"], "the domain is given more than once"),
        (("", ""), ["trips.csv", "trips.toml", "--plan", "p.json"], "the domain is given more than once"),
    ],
)
def test_wrong_file_of_everything(refused, trips, change, arguments, says):
    (trips / "trips.toml").write_text(FILLED.replace(*change, 1) if change[0] else FILLED)
    assert says in refused("fit", *arguments)
    assert sorted(path.name for path in trips.iterdir()) == ["trips.csv", "trips.toml"]


def test_persons_of_a_file(run, tmp_path):
    """The section [plan] holds the number of records per person and their column; options take precedence."""
    (tmp_path / "trips.csv").write_text("user,fare\n" + "".join(f"{row // 4},5\n" for row in range(4000)))
    (tmp_path / "trips.toml").write_text(FILLED.replace("2.5", '50\nmax_records_per_person = 2\nperson = "user"'))
    assert run("fit", "trips.csv", "trips.toml").code == 0
    generator = hp.load("trips.privhp")
    assert generator.plan.max_records_per_person == 2
    assert abs(generator.total - 2000) < 100
    assert run("fit", "trips.csv", "trips.toml", "--max-records-per-person", "1", "-o", "one.privhp").code == 0
    assert abs(hp.load("one.privhp").total - 1000) < 100


def test_blank_plan_is_no_matter_in_python(trips):
    (trips / "trips.toml").write_text(FILLED.replace("2.5", '""'))
    assert hp.read_domain(trips / "trips.toml") == hp.Table(fare=hp.Interval(0, 9))

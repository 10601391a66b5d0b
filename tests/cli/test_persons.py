"""`--person`: the cap of records per person on the command line."""

import numpy as np
import pytest

import privhp as hp

FIT = ["--columns", "fare", "--domain", "interval:0:1000", "--epsilon", "1000", "--expected-records", "100"]
PERSONS = ["--person", "user", "--max-records-per-person", "5"]


@pytest.fixture
def trips(tmp_path):
    """A file of 1,000 fares of 40 persons, sorted by person."""
    users = np.sort(np.random.default_rng(0).integers(0, 40, 1000))
    lines = [f"{user},{fare}" for fare, user in enumerate(users.tolist())]
    (tmp_path / "trips.csv").write_text("\n".join(["user,fare", *lines]) + "\n")
    return "trips.csv"


def test_first_records_of_each_person(run, trips):
    assert run("fit", trips, *FIT, *PERSONS, "-o", "out.privhp", "--quiet") == (0, "", "")
    generator = hp.load("out.privhp")
    assert round(generator.total) == 200
    assert generator.plan.max_records_per_person == 5


def test_sentence_on_the_cap(run, trips):
    assert "\nAt most 5 records of each person are counted. The" in run("fit", trips, *FIT, *PERSONS, "-o", "a").out
    assert "holds for people with at most one record, if" in run("fit", trips, *FIT, "-o", "b").out
    assert "number per person" in run("fit", trips, *FIT[:-1], "1e4", *PERSONS, "-o", "c").err


def test_number_of_a_plan(run, trips):
    assert run("learn", trips, *FIT, *PERSONS, "-o", "plan.json", "--quiet").code == 0
    assert run("fit", trips, "--plan", "plan.json", "--person", "user", "-o", "out.privhp", "--quiet").code == 0
    assert round(hp.load("out.privhp").total) == 200


def test_unsorted_files(run, trips, tmp_path):
    lines = (tmp_path / trips).read_text().splitlines(keepends=True)
    (tmp_path / trips).write_text("".join([lines[0], *reversed(lines[1:])]))
    code, out, err = run("fit", trips, *FIT, *PERSONS, "-o", "out.privhp")
    assert (code, out) == (2, "")
    assert err.startswith("privhp: error: the rows are not sorted by person")
    assert err.endswith("as numbers or as text in byte order (LC_ALL=C sort -s)\n")
    assert not (tmp_path / "out.privhp").exists()


def test_records_without_person(run, tmp_path):
    (tmp_path / "trips.csv").write_text("user,fare\n,1\n7,2\n,3\n7,4\n")
    code, _, err = run("fit", "trips.csv", *FIT, "--person", "user", "-o", "out.privhp")
    assert code == 2
    assert err.endswith("count them all as one person's with --null-person one\n")
    assert run("fit", "trips.csv", *FIT, "--person", "user", "--null-person", "one", "-o", "out.privhp").code == 0
    assert round(hp.load("out.privhp").total) == 2


def test_column_is_checked_before_records(run, trips):
    code, _, err = run("fit", trips, *FIT, "--person", "owner", "-o", "out.privhp")
    assert code == 2
    assert "to name a column 'owner', got no such name" in err


def test_parties_share_the_number_of_a_plan(run, trips):
    """Each of two parties, who may know the same persons, counts two of the five records of the plan."""
    assert run("plan", *FIT[2:], "--max-records-per-person", "5", "--passes", "1", "-o", "plan.json").code == 0
    fit = ["fit", trips, "--columns", "fare", "--plan", "plan.json", "--summary-only", "--person", "user"]
    for party in ("1", "2"):
        assert run(*fit, "--max-records-per-person", "2", "-o", f"{party}.summary").code == 0
    assert run("merge", "1.summary", "2.summary", "-o", "all.privhp").code == 0
    assert round(hp.load("all.privhp").total) == 2 * 2 * 40
    code, _, err = run(*fit, "--max-records-per-person", "6", "-o", "3.summary")
    assert code == 2
    assert "at most 5 records of a person" in err
    code, _, err = run(*fit[:-2], "--max-records-per-person", "2", "-o", "3.summary")
    assert code == 2
    assert "leave out --max-records-per-person" in err


def test_next_command_after_learning_names_the_persons(run, trips):
    out = run("learn", trips, *FIT, *PERSONS, "-o", "plan.json").out
    assert out.endswith("privhp fit --plan plan.json --person user\n")


def test_merge_says_that_persons_are_not_capped_together(run, trips):
    columns, plan = FIT[:2], [*FIT[2:], "--max-records-per-person", "5", "--passes", "1"]
    assert run("plan", *plan, "-o", "plan.json").code == 0
    for name in ("a.summary", "b.summary"):
        assert (
            run("fit", trips, *columns, "--plan", "plan.json", "--person", "user", "--summary-only", "-o", name).code
            == 0
        )
    out = run("merge", "a.summary", "b.summary", "-o", "all.privhp").out
    assert "if no record is in two of them and no person has more than 5 in all of them together\n" in out

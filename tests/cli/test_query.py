"""`privhp query`: shares, quantiles and heavy hitters, as tables and as JSON."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import privhp as hp
from privhp.core.number_format import format_rounded
from privhp.release import Release

TABLE = [
    *("--domain", "fare=interval:0:100"),
    *("--domain", "kind=categories:cash,card,rest"),
    *("--domain", "delay=integers:0:255:nullable"),
]


@pytest.fixture
def trips(run, tmp_path):
    """A release of a table, with standard errors."""
    n = 20_000
    rng = np.random.default_rng(0)
    columns = {
        "fare": rng.uniform(0, 50, n),
        "kind": rng.choice(["cash", "card"], n, p=[0.25, 0.75]),
        "delay": pa.array([None if place % 4 == 0 else place % 100 for place in range(n)]),
    }
    parquet.write_table(pa.table(columns), tmp_path / "trips.parquet")
    assert (
        run("fit", "trips.parquet", *TABLE, "--epsilon", "1", "--expected-records", "2e4", "-o", "trips.privhp").code
        == 0
    )
    return "trips.privhp"


def answers(run, *arguments):
    code, out, err = run("query", *arguments, "--json")
    assert (code, err) == (0, "")
    return [json.loads(line) for line in out.splitlines()]


def test_shares_in_place_of_a_mean(refused, trips):
    line = refused("query", trips, "--shares", "--marginal", "kind", "--mean")
    assert line.endswith("; use --shares alone, the share of each value\n")


def test_shares(run, trips):
    generator = hp.load(trips)
    cash, late = answers(run, trips, "--where", "kind = cash and fare < 25", "--where", "delay >= 50")
    expected = generator.mass({"kind": "cash", "fare": (None, 25)})
    assert cash == {
        "where": "kind = cash and fare < 25",
        "share": expected.value,
        "stderr": expected.stderr,
        "low": expected.interval(0.9)[0],
        "high": expected.interval(0.9)[1],
        "at_least": generator.mass_bounds({"kind": "cash", "fare": (None, 25)})[0],
        "at_most": generator.mass_bounds({"kind": "cash", "fare": (None, 25)})[1],
        "count": expected.value * generator.total,
    }
    assert late["share"] == generator.mass({"delay": (50, None)}).value
    assert abs(cash["share"] - 0.125) < 5 * cash["stderr"] + 0.005


def test_strict_inequalities_of_integers(run, trips):
    below, up_to = answers(run, trips, "--where", "delay < 50", "--where", "delay <= 50")
    at = hp.load(trips).mass({"delay": (50, 50)}).value
    assert below["share"] + at == pytest.approx(up_to["share"])
    assert at > 0


def test_quantiles_without_null(run, trips):
    fares = answers(run, trips, "--quantile", "0.25,0.5", "--marginal", "fare")
    marginal = hp.load(trips).marginal("fare")
    assert [one["value"] for one in fares] == marginal.quantile([0.25, 0.5]).value.tolist()
    assert {one["marginal"] for one in fares} == {"fare"}
    (delay,) = answers(run, trips, "--quantile", "0.5", "--marginal", "delay")
    assert delay["value"] == int(hp.load(trips).marginal("delay", null=False).quantile(0.5).value)


def test_tables(run, trips):
    code, out, err = run(
        *("query", trips, "--where", "kind = cash", "--quantile", "0.5", "--marginal", "fare", "--heavy-hitters", "0.2")
    )
    assert (code, err) == (0, "")
    shares, quantiles, heavy = out.split("\n\n")
    generator = hp.load(trips)
    cash = generator.mass({"kind": "cash"})
    header, row = shares.splitlines()
    assert header.split("  ")[-1].strip() == "where"
    shares = [f"{share:.3%}" for share in (cash.value, cash.stderr, *cash.interval(0.9))]
    assert row.split() == [*shares, f"{cash.value * generator.total:,.0f}", "kind", "=", "cash"]
    median = generator.marginal("fare").quantile(0.5)
    value, low, high = (format_rounded(number, median.stderr) for number in (median.value, *median.interval(0.9)))
    assert quantiles.splitlines()[1].split() == ["0.5", value, f"{median.stderr:.2g}", low, high]
    assert heavy.splitlines()[0].split("   ")[-1] == "where"


def test_bounds_of_cells(run, tmp_path):
    """Heaps inside cells can be outside the interval of a share; a range that ends with a cell has no such bounds."""
    budgets = {3: "1/2", 5: "1/2"}
    plan = hp.Plan(hp.Integers(0, 1023), epsilon=1, budgets=budgets, exact_depth=5, inference="least-squares")
    summary = hp.Summary(plan)
    summary.update(np.arange(1024).repeat(50))
    hp.save(summary.release(), tmp_path / "cells.privhp")
    conditions = ("--where", "value < 600", "--where", "value < 512")
    inside, whole = answers(run, "cells.privhp", *conditions)
    header, first, second, *note = run("query", "cells.privhp", *conditions).out.splitlines()
    assert header.split()[-5:] == ["least", "at", "most", "count", "where"]
    assert [f"{inside[key]:.3%}" for key in ("at_least", "at_most")] == first.split()[4:6]
    assert inside["at_least"] < inside["low"]
    assert second.split()[4] == f"{whole['count']:,.0f}"
    assert note[0].startswith("at least, at most: what the cells of the release allow, up to noise.")
    assert "at least" not in run("query", "cells.privhp", *conditions[2:]).out
    few = hp.Generator(Release(plan, {3: np.full(8, 384), 5: np.full(32, 96)}))
    hp.save(few, tmp_path / "few.privhp")
    (near,) = answers(run, "few.privhp", "--where", "value < 514")
    assert near["low"] < near["at_least"]  # the interval holds noise
    _, row, *_ = run("query", "few.privhp", "--where", "value < 514").out.splitlines()
    assert [f"{near[key]:.3%}" for key in ("at_least", "at_most")] == row.split()[4:6]


def test_region_finer_than_the_cells(run, trips):
    """Its share is left out: only the interval says something about the records."""
    where = ("--where", "kind = cash", "--where", "fare between 10 and 10.0001")
    _, cash, fine, note, remedy = run("query", trips, *where).out.splitlines()
    _, bounds = answers(run, trips, *where)
    assert bounds["stderr"] is bounds["share"] is bounds["count"] is None
    assert fine.split() == [*(f"{bounds[end]:.3%}" for end in ("low", "high")), *where[3].split()]
    assert len(cash.split()) == 5 + 3
    assert note == "without a share: finer than the cells of the release; the interval gives bounds"
    assert remedy == (
        "A fit that declares narrower bounds, or has this column alone has finer cells, and costs epsilon again."
    )
    assert note not in run("query", trips, *where[:2]).out
    assert run("query", trips, *where[2:]).out.split()[:4] == ["90%", "from", "to", "where"]


def test_remedies_of_a_pipe_of_addresses(run, tmp_path):
    (tmp_path / "log.csv").write_text("10.0.0.1\n" * 300)
    network = "A fit that declares the network that holds the data, such as ipv4:10.0.0.0/8"
    end = " has finer cells, and costs epsilon again."
    for expected, files in (("300", ""), ("1e5", ", or reads files, not a pipe, three times")):
        plan = ["--domain", "ipv4", "--epsilon", "1", "--expected-records", expected, "--passes", "1"]
        assert run("fit", "log.csv", "--no-header", *plan, "-o", f"{expected}.privhp").code == 0
        remedy = run("query", f"{expected}.privhp", "--where", "value in 10.0.0.0/30").out.splitlines()[-1]
        assert remedy == f"{network}{files}{end}"


def test_release_of_noise(run, tmp_path):
    """All records were skipped: the answers say nothing."""
    (tmp_path / "n.csv").write_text("n\n" + "-1\n" * 300)
    plan = ["--domain", "n=integers:0:15", "--epsilon", "1", "--expected-records", "1e4"]
    assert run("fit", "n.csv", *plan, "-o", "n.privhp").code == 0
    said = "counted and 10,000 were expected, so answers and samples are mostly noise; privhp inspect n.privhp names"
    where, sample = ["--where", "n < 8", "--json"], ["-n", "1", "-o", "s.csv", "--quiet"]
    for command in (["query", "n.privhp", *where], ["quantiles", "n.privhp"], ["sample", "n.privhp", *sample]):
        code, _, err = run(*command)
        assert code == 0
        assert err.startswith("privhp: warning: n.privhp: about ")
        assert said in err


def test_no_standard_error_of_0_beside_an_interval(run, tmp_path):
    (tmp_path / "n.csv").write_text("n\n" + "".join(f"{number % 16}\n" for number in range(300)))
    plan = ["--domain", "n=integers:0:15", "--epsilon", "1", "--expected-records", "300"]
    assert run("fit", "n.csv", *plan, "-o", "n.privhp").code == 0
    asked = ["n.privhp", "--quantile", ",".join(str(place / 200) for place in range(1, 200))]
    found, rows = answers(run, *asked), run("query", *asked).out.splitlines()[1:]
    assert any(one["stderr"] is None for one in found)
    for one, row in zip(found, rows, strict=True):
        assert one["stderr"] != 0 or one["low"] == one["high"]
        assert ("under 1 " in row) == (one["stderr"] is None)
        assert len(row.replace("under 1", "under").split()) == 5


def test_quantiles_of_single_column_table(run, release):
    plan = ["--domain", "fare=interval:0:1000", "--epsilon", "1", "--expected-records", "1e3"]
    assert run("fit", "data.csv", *plan, "-o", "one.privhp").code == 0
    named = answers(run, "one.privhp", "--quantile", "0.5", "--marginal", "fare")
    assert answers(run, "one.privhp", "--quantile", "0.5") == named
    assert run("sample", "one.privhp", "-n", "1", "-o", "-").out.splitlines()[0] == "fare"


def test_names_from_columns(run, release):
    """Plans of the paper have no standard errors."""
    unnamed, *_ = answers(run, release, "--where", "value < 500", "--quantile", "0.5")
    named, quantile = answers(run, release, "--columns", "fare", "--where", "fare < 500", "--quantile", "0.5")
    assert unnamed["share"] == named["share"] == hp.load(release).mass((0, 500)).value
    assert named["stderr"] is None
    assert quantile == {
        "quantile": 0.5,
        "marginal": None,
        "value": hp.load(release).quantile(0.5).value,
        "stderr": None,
        "low": None,
        "high": None,
    }
    assert "standard error" not in run("query", release, "--where", "value < 500").out


@pytest.mark.parametrize(
    ("domain", "value", "error"),
    [("time:2024-01-01:2024-12-31", "2024-0", 86400.0), ("ipv4", "10.", None), ("interval:0:1000", 500.0, 30.0)],
)
def test_formatted_quantiles(run, tmp_path, domain, value, error):
    n = 2000
    lines = {
        "time": [f"2024-0{1 + place % 6}-01" for place in range(n)],
        "ipv4": [f"10.{place % 200}.0.1" for place in range(n)],
        "interval": [str(place / 2) for place in range(n)],
    }[domain.split(":")[0]]
    (tmp_path / "data.csv").write_text("v\n" + "\n".join(lines))
    assert (
        run("fit", "data.csv", "--domain", domain, "--epsilon", "1", "--expected-records", "2e3", "-o", "r").code == 0
    )
    (found,) = answers(run, "r", "--quantile", "0.5")
    assert found["value"].startswith(value) if isinstance(value, str) else abs(found["value"] - value) < 100
    assert found["stderr"] is None if error is None else 0 <= found["stderr"] < 30 * error


def test_all_bad_conditions_are_named(refused, trips):
    bad = ["knd = cash", "fare < much"]
    line = refused("query", trips, "--where", bad[0], "--where", "fare < 10", "--where", bad[1])
    assert "--where 'knd = cash': expected a condition on fare or kind or delay, got one on 'knd'; did you" in line
    assert "--where 'fare < much': column 'fare': expected a number" in line


def test_conditions_outside_bounds(run, trips):
    code, out, err = run("query", trips, "--where", "fare > 200", "--where", "fare > 90", "--where", "delay < -5")
    assert code == 0
    assert len(out.splitlines()) == 4
    assert "no record of the domain meets 'fare > 200' or 'delay < -5', so the share is 0 whatever the data" in err
    assert run("query", trips, "--where", "fare > 90", "--where", "delay is null").err == ""


def test_other_answers_are_of_all_records(run, trips):
    _, out, _ = run("query", trips, "--where", "fare < 10", "--mean", "--quantile", "0.5", "--marginal", "delay")
    assert out.count("delay, of all counted records in which it is not null") == 2
    assert "of all counted records" not in run("query", trips, "--mean", "--marginal", "fare").out
    for hint, options in ((1, ["--where", "fare < 3"]), (0, []), (0, ["--where", "fare < 3", "--by", "kind"])):
        found = run("query", trips, "--mean", "--marginal", "fare", *options).out
        assert found.count("--where does not apply to --mean; for the records of a group use --by COLUMN, or") == hint
    moments = run(
        "query", trips, "--mean", "--std", "--quantile", "0.5", "--marginal", "fare", "--where", "fare < 3"
    ).out
    assert [line.split(";")[0] for line in moments.splitlines() if line.startswith("--where")] == [
        f"--where does not apply to {flags}" for flags in ("--mean and --std", "--quantile")
    ]


def test_errors(refused, trips, release):
    assert "nothing to query; give --where, --mean, --quantile or others" in refused("query", trips)
    assert "did you mean kind?" in refused("query", trips, "--where", "knd = cash")
    assert "have no names; give --columns fare" in refused("query", release, "--where", "fare < 10")
    assert "column 'fare': expected a number" in refused("query", trips, "--where", "fare < much")
    assert "--quantile of a table needs --marginal COLUMN, one of fare, kind, delay" in refused(
        "query", trips, "--quantile", "0.5"
    )
    assert "--marginal x: no such column; choose one of fare, kind, delay" in refused(
        "query", trips, "--heavy-hitters", "0.1", "--marginal", "x"
    )
    assert "leave it out" in refused("query", release, "--quantile", "0.5", "--marginal", "fare")
    assert "expected shares between 0 and 1" in refused("query", release, "--quantile", "1.5")
    for text in ("half", "50%"):
        assert f"expected a number such as 0.5, or several as 0.25,0.5, got {text!r}" in refused(
            "query", release, "--quantile", text
        )
    assert "got 'by'; quote names with spaces" in refused("query", trips, "--where", "paid by = cash")
    assert "got 'card'; quote names and values with spaces" in refused("query", trips, "--where", "kind = gift card")
    assert "a threshold above 0 and up to 1" in refused("query", release, "--heavy-hitters", "7")
    assert "has no order" in refused("query", trips, "--quantile", "0.5", "--marginal", "kind")
    assert "expected a condition on value" in refused("query", release, "--where", "fare < 5")
    assert "this is not a privhp file" in refused("query", "data.csv", "--heavy-hitters", "0.1")
    assert "the columns of a table have names already" in refused(
        "query", trips, "--where", "fare < 5", "--columns", "a,b,c"
    )


def test_moments(run, trips):
    generator = hp.load(trips)
    fares = generator.marginal("fare")
    mean, std, correlation = answers(run, trips, "--mean", "--std", "--marginal", "fare", "--correlation", "fare,delay")
    for kind, found, estimate in (("mean", mean, fares.mean()), ("std", std, fares.std())):
        low, high = estimate.interval(0.9)
        assert found == {
            kind: estimate.value,
            "marginal": "fare",
            "stderr": estimate.stderr,
            "low": low,
            "high": high,
        }
    estimate = generator.correlation("fare", "delay")
    low, high = estimate.interval(0.9)
    assert correlation == {
        "correlation": estimate.value,
        "columns": ["fare", "delay"],
        "stderr": estimate.stderr,
        "low": low,
        "high": high,
    }
    (delay,) = answers(run, trips, "--mean", "--marginal", "delay")
    assert delay["mean"] == generator.marginal("delay", null=False).mean().value
    text = run("query", trips, "--mean", "--std", "--marginal", "delay", "--correlation", "fare,delay").out
    assert "delay, of the values that are not null" in text
    assert all(f"\n{name} " in text or f" {name} " in text for name in ("mean", "std", "correlation"))


def test_nullable_column_alone(run):
    late = [None if place % 4 == 0 else place % 50 for place in range(4000)]
    domain = hp.Nullable(hp.Integers(0, 255)).named("late")
    hp.save(hp.fit(late, domain, epsilon=20, expected_records=4000), "r")
    values = hp.load("r").marginal(null=False)
    mean, quantile = answers(run, "r", "--mean", "--quantile", "0.5")
    assert (mean["mean"], mean["stderr"]) == (values.mean().value, values.mean().stderr)
    assert quantile["value"] == int(values.quantile(0.5).value)
    for column in ([], ["--marginal", "late"]):
        assert "late, of the values that are not null" in run("quantiles", "r", *column).out
    assert "apply to --mean\n" in run("query", "r", "--mean", "--where", "late is null").out
    assert "use --heavy-hitters or --where" in run("query", "r", "--shares").err
    assert "--by needs a release of a table" in run("query", "r", "--mean", "--by", "late").err


def test_moments_of_times(run, tmp_path):
    hours = [f"2024-01-01T{place % 24:02}:30:00" for place in range(4000)]
    (tmp_path / "data.csv").write_text("at\n" + "\n".join(hours))
    domain = ["--columns", "at", "--domain", "time:2024-01-01:2024-01-02"]
    assert run("fit", "data.csv", *domain, "--epsilon", "20", "--expected-records", "4e3", "-o", "r").code == 0
    mean, std = answers(run, "r", "--mean", "--std")
    assert mean["mean"].startswith("2024-01-01T1")
    assert mean["low"] < mean["mean"] < mean["high"]
    assert abs(std["std"] - 6.92 * 3600) < 600
    assert " hours " in run("query", "r", "--std").out.splitlines()[1]


def test_shares_of_values(run, trips):
    found = answers(run, trips, "--shares", "--marginal", "kind")
    assert [one["where"] for one in found] == ["kind = cash", "kind = card", "kind = rest"]
    assert found == answers(run, trips, *(word for one in found for word in ("--where", one["where"])))


def test_quantiles(run, refused, trips, release):
    code, out, err = run("quantiles", trips, "3", "--marginal", "fare", "--json")
    assert (code, err) == (0, "")
    found = [json.loads(line) for line in out.splitlines()]
    assert found == answers(run, trips, "--quantile", "0.25,0.5,0.75", "--marginal", "fare")
    lines = run("quantiles", release).out.splitlines()
    assert [line.split()[0] for line in lines] == ["quantile", *(f"0.{rank}" for rank in range(1, 10))]
    assert "privhp quantiles of a table needs --marginal COLUMN" in refused("quantiles", trips)
    assert "expected at least 1 quantile" in refused("quantiles", release, "0")


def test_errors_of_moments(refused, trips, release):
    assert "--mean of a table needs --marginal COLUMN, one of fare, kind, delay" in refused("query", trips, "--mean")
    assert "only numbers and times" in refused("query", trips, "--std", "--marginal", "kind")
    assert "--shares needs --marginal COLUMN with a list of values" in refused("query", trips, "--shares")
    for columns in ("fare", "fare,kind,delay"):
        assert "two columns of a table, such as fare,tip; choose among fare, kind, delay" in refused(
            "query", trips, "--correlation", columns
        )
    lines = "choose two columns of numbers or times among fare, delay"
    assert f"--correlation x: no such column; {lines}" in refused("query", trips, "--correlation", "fare,x")
    assert f"--correlation kind: declared as categories; {lines}" in refused(
        "query", trips, "--correlation", "fare,kind"
    )
    assert "this release is of Interval" in refused("query", release, "--correlation", "a,b")


def test_quantile_of_nullable_column(run, trips):
    header = run("query", trips, "--quantile", "0.5", "--marginal", "delay").out.splitlines()[0]
    assert "delay, of the values that are not null" in header
    assert "not null" not in run("query", trips, "--quantile", "0.5", "--marginal", "fare").out

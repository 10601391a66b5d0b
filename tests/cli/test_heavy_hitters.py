"""`query --heavy-hitters`: conditions, and what the table does not list."""

import json

import pytest

import privhp as hp
from releases import exact_generator

SOURCES = ["10.1.2.3"] * 40 + ["10.9.0.1"] * 20 + ["8.8.8.8"] * 40
PORTS = [22] * 30 + [80] * 40 + [443] * 30


@pytest.fixture(scope="module")
def flows(tmp_path_factory):
    """A release of two columns that resolves the first octet of the sources."""
    table = hp.Table(source=hp.IPv4(), port=hp.Integers(0, 1023))
    path = tmp_path_factory.mktemp("flows") / "flows.privhp"
    hp.save(exact_generator(table, {"source": SOURCES, "port": PORTS}, depth=16), path)
    return str(path)


def answers(run, *arguments):
    code, out, err = run("query", *arguments, "--json")
    assert (code, err) == (0, "")
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.parametrize("column", ["source", "port", None])
def test_conditions(run, flows, column):
    """Each heavy hitter is a condition that has its share, standard error and interval."""
    heavy = answers(run, flows, "--heavy-hitters", "0.3", *([] if column is None else ["--marginal", column]))
    assert heavy
    for one in heavy:
        (again,) = answers(run, flows, "--where", one["heavy_hitter"])
        for key in ("share", "stderr", "low", "high"):
            assert again[key] == pytest.approx(one[key])


def test_printed_conditions(run, tmp_path):
    """The table prints conditions whose share is the printed one, and the bounds that JSON has."""
    amounts = [78.1249] * 600 + [78.1251] * 300 + list(range(100))
    hp.save(exact_generator(hp.Interval(0, 1000).named("amount"), amounts, depth=20), tmp_path / "a.privhp")
    _, *rows = run("query", "a.privhp", "--heavy-hitters", "0.2").out.splitlines()
    for row, one in zip(rows, answers(run, "a.privhp", "--heavy-hitters", "0.2"), strict=False):
        assert row.endswith(f"   {one['heavy_hitter']}")
        (again,) = answers(run, "a.privhp", "--where", row.split("   ")[-1])
        assert again["share"] == pytest.approx(one["share"])


def test_remaining_share(run, flows):
    (ten, eight) = answers(run, flows, "--heavy-hitters", "0.3", "--marginal", "source")
    assert [one["heavy_hitter"] for one in (ten, eight)] == ["source in 10.0.0.0/8", "source in 8.0.0.0/8"]
    assert ten["remaining_share"] == eight["remaining_share"] == pytest.approx(0)
    (ten,) = answers(run, flows, "--heavy-hitters", "0.5", "--marginal", "source")
    assert ten["remaining_share"] == pytest.approx(0.4)


def test_the_table_says_what_it_does_not_list(run, flows):
    sentence = "The remaining 40.0% is in values below 50.0% each, or not resolved into values."
    *_, note = run("query", flows, "--heavy-hitters", "0.5", "--marginal", "source").out.splitlines()
    assert note == f"{sentence} A fit of this column alone resolves more of it, and costs epsilon again."
    assert "remaining" not in run("query", flows, "--heavy-hitters", "0.3", "--marginal", "source").out


@pytest.mark.parametrize("domain", [hp.IPv4(), hp.Table(source=hp.IPv4())])
def test_a_column_that_is_alone_needs_no_advice(run, tmp_path, domain):
    records = {"source": SOURCES} if domain.columns else SOURCES
    hp.save(exact_generator(domain, records, depth=8), tmp_path / "alone.privhp")
    *_, note = run("query", "alone.privhp", "--heavy-hitters", "0.5").out.splitlines()
    assert note == "The remaining 40.0% is in values below 50.0% each, or not resolved into values."


def test_one_column_has_the_heavy_hitters_of_its_domain(run, tmp_path):
    """Prefixes of whole octets and null, and never all addresses."""
    domain = hp.Nullable(hp.IPv4())
    records = [None, *SOURCES]
    hp.save(exact_generator(domain.named("source"), records, depth=17), tmp_path / "plain.privhp")
    hp.save(exact_generator(hp.Table(source=domain), {"source": records}, depth=17), tmp_path / "table.privhp")
    plain, table = (answers(run, f"{name}.privhp", "--heavy-hitters", "0.005") for name in ("plain", "table"))
    assert plain == table
    prefixes = {f"source in {prefix}/16" for prefix in ("10.1.0.0", "8.8.0.0", "10.9.0.0")}
    assert {one["heavy_hitter"] for one in table} == {*prefixes, "source is null"}


def test_none(run, release):
    assert run("query", release, "--heavy-hitters", "1", "--json") == (0, "", "")
    header, note = run("query", release, "--heavy-hitters", "1").out.splitlines()
    assert header.endswith("where")
    assert note == "All is in values below 100.0% each, or not resolved into values."

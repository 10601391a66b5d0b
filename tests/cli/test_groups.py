"""`--by`: moments and quantiles of each group of records."""

import json

import numpy as np
import pytest

import privhp as hp
from privhp.release import Release
from releases import exact_generator


@pytest.fixture(scope="module")
def trips(tmp_path_factory):
    """A release of fares by kind of payment; no fare is paid by cheque."""
    rng = np.random.default_rng(0)
    kind = rng.choice(["cash", "gift card"], 20_000)
    fare = rng.gamma(2, np.where(kind == "cash", 5, 10))
    tip = np.ma.MaskedArray(fare / 10, mask=rng.random(20_000) < 0.5)
    table = hp.Table(
        fare=hp.Interval(0, 500),
        tip=hp.Nullable(hp.Interval(0, 50)),
        kind=hp.Nullable(hp.Categories(["cash", "gift card", "cheque"])),
    )
    path = tmp_path_factory.mktemp("groups") / "t.privhp"
    data = {"fare": fare, "tip": tip, "kind": kind}
    hp.save(hp.fit(data, table, epsilon=5, expected_records=20_000, memory="32 KiB"), path)
    return str(path)


def answers(run, *arguments):
    code, out, err = run(*arguments, "--json")
    assert (code, err) == (0, "")
    return [json.loads(line) for line in out.splitlines()]


def test_moments_of_groups(run, trips):
    found = answers(run, "query", trips, "--mean", "--std", "--marginal", "fare", "--by", "kind")
    wheres = ["kind = cash", "kind = 'gift card'", "kind = cheque", "kind is null"]
    assert [one["where"] for one in found] == [where for where in wheres for _ in range(2)]
    generator = hp.load(trips)
    for one, kind in zip(found[::2], ["cash", "gift card"], strict=False):
        mean = generator.marginal("fare", where={"kind": kind}).mean()
        assert (one["mean"], one["stderr"]) == (mean.value, mean.stderr)
        assert (one["low"], one["high"]) == mean.interval(0.9)
        assert (one["marginal"], list(one)[-1]) == ("fare", "where")
    assert 9 < found[0]["mean"] < 11 < 19 < found[2]["mean"] < 21
    _, out, _ = run("query", trips, "--mean", "--marginal", "fare", "--by", "kind")
    lines = out.splitlines()
    assert lines[0].split()[-1] == "where"
    assert lines[2].endswith("kind = 'gift card'")
    assert "where" not in run("query", trips, "--mean", "--marginal", "fare").out


def test_groups_of_an_empty_release(run, tmp_path):
    """All counts are 0, so no group has a distribution."""
    table = hp.Table(x=hp.Interval(0, 10), k=hp.Categories(["a", "b"]))
    plan = hp.Plan(table, epsilon=1, budgets={3: 1}, exact_depth=3)
    hp.save(hp.Generator(Release(plan, {3: np.full(8, -5)})), tmp_path / "e.privhp")
    asked = ["query", "e.privhp", "--mean", "--quantile", "0.5", "--marginal", "x", "--by", "k"]
    found = answers(run, *asked)
    assert [one["where"] for one in found] == ["k = a", "k = b"] * 2
    assert all(one["low"] is one["high"] is one["stderr"] is None for one in found)
    assert [one["mean"] for one in found[:2]] == [None, None]
    assert run(*asked).out.count("(no records shown)") == 4


@pytest.mark.parametrize("command", [["query", "--quantile", "0.25,0.5,0.75"], ["quantiles", "3"]])
def test_quantiles_of_groups(run, trips, command):
    name, *options = command
    found = answers(run, name, trips, *options, "--marginal", "tip", "--by", "kind")
    assert [one["quantile"] for one in found[:4]] == [0.25, 0.5, 0.75, 0.25]
    tips = hp.load(trips).marginal("tip", null=False, where={"kind": "gift card"})
    assert [one["value"] for one in found[3:6]] == tips.quantile([0.25, 0.5, 0.75]).value.tolist()


def test_a_group_without_records_may_have_any_mean(run, trips):
    *_, found, _ = answers(run, "query", trips, "--mean", "--marginal", "fare", "--by", "kind")
    assert (found["where"], found["low"], found["high"]) == ("kind = cheque", 0, 500)


def test_groups_of_few_integers_without_records_are_marked(run, tmp_path):
    days = hp.Table(day=hp.Integers(1, 4), fare=hp.Interval(0, 500))
    plan = hp.Plan(days, epsilon=1, budgets={4: 1}, exact_depth=4, inference="least-squares")
    cells = days.encode({"day": np.repeat([1, 2, 3, 4], 4), "fare": np.tile([50, 200, 300, 400], 4)}, level=4)
    counts = np.empty(16, dtype=np.int64)
    counts[cells.astype(np.int64)] = np.repeat([1000, 500, 1, 2000], 4)
    hp.save(hp.Generator(Release(plan, {4: counts})), tmp_path / "days.privhp")
    found = answers(run, "query", "days.privhp", "--mean", "--marginal", "fare", "--by", "day")
    groups = [(one["where"], one["significant"]) for one in found]
    assert groups == [("day = 1", True), ("day = 2", True), ("day = 3", False), ("day = 4", True)]
    for command in (["query", "days.privhp", "--mean"], ["quantiles", "days.privhp", "1"]):
        code, out, err = run(*command, "--marginal", "fare", "--by", "day")
        assert (code, err) == (0, "")
        marked = [line.endswith("(no records shown)") for line in out.splitlines()[1:]]
        assert marked == [False, False, True, False]


@pytest.mark.parametrize("by", ["fare", "tip", "colour"])
def test_refused_groups(refused, trips, by):
    line = refused("query", trips, "--mean", "--marginal", "fare", "--by", by)
    assert "--by needs another column with a list of values; choose among kind" in line


def test_no_column_of_groups(refused, release):
    assert "--by needs a release of a table; this one is of Interval" in refused(
        "query", release, "--mean", "--by", "x"
    )
    table = hp.Table(x=hp.Interval(0, 1), y=hp.Interval(0, 1))
    hp.save(hp.fit({"x": [0.5] * 99, "y": [0.5] * 99}, table, epsilon=9, expected_records=99), "pairs")
    line = refused("query", "pairs", "--mean", "--marginal", "x", "--by", "y")
    assert "this release has none; for other groups use in Python marginal(COLUMN, where=REGION)" in line


@pytest.mark.parametrize("others", [{}, {"kind": hp.Categories(["a", "b"])}], ids=["alone", "with others"])
def test_too_many_integers(refused, run, tmp_path, others):
    table = hp.Table({"size": hp.Interval(0, 1), "status": hp.Nullable(hp.Integers(100, 599)), **others})
    hp.save(exact_generator(table, {"size": [0.5], "status": [200], "kind": ["a"]}, depth=4), tmp_path / "log.privhp")
    line = refused("query", "log.privhp", "--mean", "--marginal", "size", "--by", "status")
    assert "--by status: the column has 500 values, and at most 128 can be groups; use in Python marginal(" in line
    assert (", or choose among kind. A fit that" in line) == bool(others)
    assert "categories:200,404:other=rest" in line


def test_by_needs_an_answer_of_groups(refused, trips):
    line = refused("query", trips, "--where", "fare < 3", "--by", "kind")
    assert "--by groups the records of --mean, --std and --quantile; give one of them" in line

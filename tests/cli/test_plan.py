"""`privhp plan`, and domains as options and files."""

import re

import numpy as np
import pytest

from privhp import Box, Integers, Interval, IPv4, Plan
from privhp.domains.short_forms import SHORT_FORMS, parse_domain
from privhp.domains.specs import read_domain


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("interval:0:1000", Interval(0, 1000)),
        ("interval:-120:1440", Interval(-120, 1440)),
        ("interval:-1.5e3:-.5", Interval(-1500, -0.5)),
        ("interval:0.01:1e6:log", Interval(0.01, 1e6, scale="log")),
        ("interval:1:2:log:clamp", Interval(1, 2, scale="log", outside="clamp")),
        ("interval:1:2:clamp:log", Interval(1, 2, scale="log", outside="clamp")),
        ("integers:-120:1440", Integers(-120, 1440)),
        ("integers:0:1152921504606846977:clamp", Integers(0, 2**60 + 1, outside="clamp")),
        ("integers:0:1e6", Integers(0, 10**6)),
        ("box:0:1,-2:3", Box([(0, 1), (-2, 3)])),
        ("box:0:1", Box([(0, 1)])),
        ("box:-9:2,49.8:61,0:1:clamp", Box([(-9, 2), (49.8, 61), (0, 1)], outside="clamp")),
        ("ipv4", IPv4()),
    ],
)
def test_short_forms_of_domains(text, domain):
    assert parse_domain(text) == domain


@pytest.mark.parametrize(
    ("lines", "domain", "columns"),
    [
        ('kind = "interval"\nlow = 0\nhigh = 1000', Interval(0, 1000), None),
        ('kind = "interval"\nlow = 1\nhigh = 8\nscale = "log"\ncolumns = ["a"]', Interval(1, 8, scale="log"), ["a"]),
        (
            'kind = "box"\nsides = [[0, 1], [-1, 1.5]]\noutside = "clamp"\ncolumns = ["x", "y"]',
            Box([(0, 1), (-1, 1.5)], outside="clamp"),
            ["x", "y"],
        ),
        ('kind = "ipv4"', IPv4(), None),
    ],
)
def test_domains_from_a_file(tmp_path, lines, domain, columns):
    path = tmp_path / "domain.toml"
    path.write_text(lines)
    read = read_domain(path)
    assert read == domain
    assert read.declared_names == (None if columns is None else tuple(columns))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("interval", SHORT_FORMS["interval"].usage),
        ("interval:0", SHORT_FORMS["interval"].usage),
        ("interval:0:", SHORT_FORMS["interval"].usage),
        ("interval:0:1:2", SHORT_FORMS["interval"].usage),
        ("interval:a:b", SHORT_FORMS["interval"].usage),
        ("interval:0:1:Log", SHORT_FORMS["interval"].usage),
        ("interval:5:1", "lower bound"),
        ("interval:nan:1", "finite"),
        ("interval:0:inf", "finite"),
        ("interval:0:1:log", "positive lower bound"),
        ("integers:0:1.5", "expected an integer"),
        ("integers:0:9:log", "'scale'"),
        ("box", SHORT_FORMS["box"].usage),
        ("box:", SHORT_FORMS["box"].usage),
        ("box:0:1,", SHORT_FORMS["box"].usage),
        ("box:0:1,2", "pair"),
        ("ipv4:0/99", "expected a network such as"),
        ("ipv4:nullable", "needs the name of its column; write --domain NAME=ipv4:nullable"),
        ("", "interval, integers, box"),
        ("circle:0:1", "interval, integers, box"),
        ("no.toml", "No such file"),
    ],
)
def test_invalid_domains(refused, text, says):
    assert says in refused("plan", "--domain", text, "--epsilon", "1", "--expected-records", "1e6")


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (b"kind = ", "expected a TOML file"),
        (b"\xff", "expected a TOML file"),
        (b"low = 0", "known kind"),
        (b'kind = "circle"', "known kind"),
        (b'kind = "interval"\nlow = 0', "high"),
        (b'kind = "interval"\nlow = 2013-01-01\nhigh = 5', "expected a number"),
        (b'kind = "interval"\nlow = 0\nhigh = 5\ncolour = "red"', "'colour'"),
        (b'kind = "ipv4"\ncolumns = "a"', "columns"),
        (b'kind = "ipv4"\ncolumns = [1]', "columns"),
    ],
)
def test_invalid_domain_files(refused, tmp_path, lines, says):
    (tmp_path / "domain.toml").write_bytes(lines)
    line = refused("plan", "--domain", "domain.toml", "--epsilon", "1", "--expected-records", "1e6")
    assert says in line
    assert "domain.toml" in line


def test_printed_plan(run):
    code, out, err = run(
        "plan",
        "--domain",
        "interval:0:1000",
        "--epsilon",
        "1",
        "--expected-records",
        "1e6",
        "--method",
        "paper",
        "--hot-cells",
        "64",
    )
    plan = Plan.paper(Interval(0, 1000), epsilon=1, expected_records=1_000_000, hot_cells=64)
    assert (code, out, err) == (0, f"{plan}\n", "")


def test_plan_of_the_planner(run):
    given = ["--domain", "interval:0:1000", "--epsilon", "1", "--expected-records", "1e6"]
    chosen = {"domain": Interval(0, 1000), "epsilon": 1, "expected_records": 1_000_000}
    assert run("plan", *given).out == f"{Plan.auto(**chosen, passes=3)}\n"
    assert run("plan", *given, "--memory", "16KiB").out == f"{Plan.auto(**chosen, memory=2**14, passes=3)}\n"
    assert run("plan", *given, "--passes", "2").out == f"{Plan.auto(**chosen, passes=2)}\n"
    hidden = run("plan", *given, "--neighbours", "replace-one").out
    assert hidden == f"{Plan.auto(**chosen, passes=3, neighbours='replace-one')}\n"


@pytest.mark.parametrize(
    ("options", "parameters"),
    [([], {}), (["--pan-private", "--neighbours", "replace-one"], {"pan_private": True, "neighbours": "replace-one"})],
)
def test_gain_of_learning(run, options, parameters):
    """A plan of one pass says what three would give; the figures are those of the two plans."""
    given = [
        "--domain",
        "interval:0:1000",
        "--epsilon",
        "1",
        "--expected-records",
        "1e6",
        "--memory",
        "64KiB",
        *options,
    ]
    chosen = {"epsilon": 1, "expected_records": 1e6, "memory": 2**16, **parameters}
    one, three = (Plan.auto(Interval(0, 1000), **chosen, passes=passes) for passes in (1, 3))
    text, _, gain = run("plan", *given, "--passes", "1").out.rpartition("\n\n")
    assert "reads       the data once; its order does not matter" in text
    assert "reads       the data 3 times, 2 of them to learn; its order does not matter" in str(three)
    found = re.fullmatch(
        "With --passes 3 the data is read 3 times, and the typical predicted error is (.*) times that of this plan:\n"
        "from (.*) to (.*) times, in the lines of the table above.\n",
        gain,
    )
    ratios = [three.predictions()[stream].total / error.total for stream, error in one.predictions().items()]
    assert min(ratios) < 0.5
    expected = [np.prod(ratios) ** (1 / len(ratios)), min(ratios), max(ratios)]
    assert [float(number) for number in found.groups()] == pytest.approx(expected, abs=0.006)


def test_loss_by_learning(run):
    """The sentence says so where one pass has the lower prediction."""
    table = ["--domain", "status=categories:a,b,c,d,e,f", "--domain", "when=time:2024-01-01:2024-01-08"]
    given = [*table, "--epsilon", "1", "--expected-records", "150000"]
    gain = run("plan", *given, "--passes", "1").out.rpartition("\n\n")[2]
    assert float(re.search(r"error is (.*) times that", gain)[1]) > 1
    assert gain.endswith("table above. By this prediction, one pass is better.\n")


def test_no_gain_of_learning(run):
    given = ["--domain", "integers:0:99", "--epsilon", "1", "--expected-records", "1e6"]
    for passes in ("1", "3"):
        assert run("plan", *given, "--passes", passes).out.endswith(
            "\n\nLearning would gain nothing: the plan of least predicted error has no partition.\n"
        )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--depth", "9"], "--depth needs --method paper"),
        (["--hot-cells", "9"], "--hot-cells needs --method paper"),
        (["--method", "auto", "--expand", "all"], "--expand needs --method paper"),
        (["--method", "paper"], "needs --hot-cells"),
        (["--method", "paper", "--hot-cells", "9", "--memory", "1MiB"], "in place of --memory"),
        (["--memory", "lots"], "such as"),
        (["--memory", "10"], "memory"),
        (["--passes", "0"], "expected --passes as an integer from 1"),
        (["--passes", "4"], "expected --passes from 1 to 3"),
        (["--method", "paper", "--hot-cells", "9", "--passes", "2"], "reads the data once; leave out --passes"),
        (["--mergeable"], "unrecognized arguments: --mergeable"),
        (["--neighbours", "zero-out"], "invalid choice: 'zero-out'"),
    ],
)
def test_conflicting_sizes(refused, options, says):
    assert says in refused("plan", "--domain", "interval:0:1", "--epsilon", "1", "--expected-records", "1e6", *options)


def test_options(run):
    options = {
        "epsilon": "0.1",
        "expected-records": "1e5",
        "method": "paper",
        "hot-cells": "7",
        "exact-depth": "3",
        "depth": "9",
        "sketch-rows": "2",
        "sketch-width": "33",
        "expand": "all",
        "neighbours": "replace-one",
        "max-records-per-person": "5",
    }
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    plan = Plan.paper(
        Interval(-1, 1),
        epsilon="0.1",
        expected_records=1e5,
        hot_cells=7,
        exact_depth=3,
        depth=9,
        sketch_rows=2,
        sketch_width=33,
        expand="all",
        neighbours="replace-one",
        max_records_per_person=5,
    )
    assert run("plan", "--domain", "interval:-1:1", *arguments).out == f"{plan}\n"


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--epsilon", "0", "epsilon between"),
        ("--epsilon", "-1", "epsilon between"),
        ("--epsilon", "much", "expected --epsilon as a number"),
        ("--epsilon", "nan", "expected --epsilon as a number"),
        ("--expected-records", "0", "public guess"),
        ("--expected-records", "many", "expected a number such as 1e6"),
        ("--expected-records", "nan", "public guess"),
        ("--hot-cells", "0", "expected --hot-cells as an integer"),
        ("--hot-cells", "1.5", "whole number"),
        ("--hot-cells", "-3", "whole number"),
        ("--depth", "64", "depth"),
        ("--exact-depth", "nan", "whole number"),
        ("--expand", "some", "invalid choice"),
        ("--neighbours", "both", "invalid choice"),
        ("--max-records-per-person", "0", "expected --max-records-per-person as an integer"),
    ],
)
def test_invalid_plans(refused, option, value, says):
    sizes = {"--method": "paper", "--hot-cells": "4"} if option in ("--hot-cells", "--depth") else {}
    given = {"--domain": "interval:0:1", "--epsilon": "1", "--expected-records": "1e6"} | sizes | {option: value}
    assert says in refused("plan", *[part for pair in given.items() for part in pair])


def test_quiet(run, tmp_path):
    plan = ["plan", "--domain", "interval:0:9", "--epsilon", "1", "--expected-records", "1e5", "--quiet"]
    assert run(*plan, "-o", "plan.json") == (0, "", "")
    assert (tmp_path / "plan.json").exists()
    assert run(*plan, "--json").out.startswith("{")

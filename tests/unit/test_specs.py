"""Domains from TOML files and short forms."""

import copy
import itertools
import json
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

import privhp
from privhp import Box, Categories, Domain, DomainError, Geo, Integers, Interval, IPv4, IPv6, Nullable, Table, Time
from privhp.domains.short_forms import parse_columns, parse_domain

TRIPS = Table(
    {
        "pickup": Time("2018-01-01", "2021-01-01"),
        "trip distance": Interval(0, 200),
        ("lon", "lat"): Geo(-9, 49.8, 2, 61),
        "delay": Nullable(Integers(-120, 1440)),
        "tip": Nullable(Interval(0.01, 500, scale="log", outside="clamp"), share=0.1),
    },
    weights={"pickup": 2},
)

SECTIONS = """
[columns.pickup]
kind = "time"
low = 2018-01-01
high = "2021-01-01"
weight = 2

[columns."trip distance"]
kind = "interval"
low = 0
high = 200
nullable = false

[columns.place]
name = ["lon", "lat"]
kind = "geo"
west = -9
south = 49.8
east = 2
north = 61

[columns.delay]
kind = "integers"
low = -120
high = 1440
nullable = true

[columns.tip]
kind = "interval"
low = 0.01
high = 500
scale = "log"
outside = "clamp"
nullable = 0.1
"""

LIST = """
kind = "table"
columns = [
    {name = "pickup", kind = "time", low = "2018-01-01", high = "2021-01-01", weight = 2.0},
    {name = "trip distance", kind = "interval", low = 0, high = 200},
    {name = ["lon", "lat"], kind = "geo", west = -9, south = 49.8, east = 2, north = 61},
    {name = "delay", kind = "integers", low = -120, high = 1440, nullable = 0.5},
    {name = "tip", kind = "interval", low = 0.01, high = 500, scale = "log", outside = "clamp", nullable = 0.1},
]
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "domain.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("text", [SECTIONS, LIST])
def test_file_of_table(tmp_path: Path, text: str) -> None:
    assert privhp.read_domain(write(tmp_path, text)) == TRIPS


def test_file_of_single_domain(tmp_path: Path) -> None:
    path = write(tmp_path, 'kind = "box"\nsides = [[0, 1], [0, 2]]\ncolumns = ["x", "y"]')
    assert privhp.read_domain(path) == Box([(0, 1), (0, 2)])
    assert privhp.read_domain(str(path)) == Box([(0, 1), (0, 2)])
    assert privhp.read_domain(path).value_names == ("x", "y")


def test_short_forms_of_columns() -> None:
    texts = [
        "pickup=time:2018-01-01:2021-01-01:weight=2",
        "trip distance=interval:0:200",
        "lon,lat=geo:-9:49.8:2:61",
        "delay=integers:-120:1440:nullable",
        "tip=interval:0.01:500:log:clamp:nullable=0.1",
    ]
    assert parse_columns(texts) == TRIPS


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("time:2018-01-01:2020-12-31:unit=D", Time("2018-01-01", "2020-12-31", unit="D")),
        ("time:2018-01-01T08:00:2018-01-01T09:30:clamp", Time("2018-01-01T08:00", "2018-01-01T09:30", outside="clamp")),
        ("time:2018-01-01:2018-01-03T23:59:59", Time("2018-01-01", "2018-01-03T23:59:59")),
        ("time:2018-01-01T12:30:2018-01-03", Time("2018-01-01T12:30", "2018-01-03")),
        ("time:2018-01-01T02:00+02:00:2018-01-03", Time("2018-01-01", "2018-01-03")),
        ("time:2018-07-01:2018-08-01:zone=Europe/Berlin", Time("2018-07-01", "2018-08-01", zone="Europe/Berlin")),
        ("geo", Geo()),
        ("categories:a, b,c:other=d", Categories(["a", "b", "c"], other="d")),
        ("ipv4:10.0.0.0/8", IPv4("10.0.0.0/8")),
        ("ipv6", IPv6()),
        ("ipv6:2001:db8::/32", IPv6("2001:db8::/32")),
        ("geo:170:-50:-170:-30", Geo(170, -50, -170, -30)),
        ("interval:1:8:scale=log", Interval(1, 8, scale="log")),
    ],
)
def test_short_forms(text: str, domain: Domain) -> None:
    assert parse_domain(text) == domain


A = "[columns.a]\n"
BAD_FILES = [
    ("kind = ", "expected a TOML file"),
    ("", "expected a domain of a known kind"),
    ('kind = "table"', "expected a domain of kind 'table' with a list of columns and no other key, got {}"),
    ('kind = "table"\ncolumns = []', "expected a table of 1 to 63 columns, got 0"),
    ('kind = "table"\ncolumns = 3', "expected a domain of kind 'table' with a list of columns"),
    ('kind = "table"\ncolumns = ["a"]', "expected a column as a mapping with a name and a kind, got 'a'"),
    ('kind = "table"\nrows = 3\n[columns.a]\nkind = "ipv4"', "with a list of columns and no other key"),
    ('kind = "interval"\nlow = 0\nhigh = 1\ncolumns = 3', "expected columns as a list of names"),
    ('[[columns]]\nkind = "ipv4"', "expected a column as a mapping with a name and a kind"),
    ('[[columns]]\nname = ""\nkind = "ipv4"', "expected the name of a column as a non-empty text"),
    ('[[columns]]\nname = 3\nkind = "ipv4"', "expected the name of a column as a non-empty text"),
    ('[[columns]]\nname = [["a"]]\nkind = "ipv4"', "expected the name of a column as a non-empty text"),
    (
        '[[columns]]\nname = "a"\nkind = "ipv4"\n[[columns]]\nname = "a"\nkind = "ipv4"',
        "the column 'a' is declared twice",
    ),
    (A, "column 'a': expected a domain of a known kind"),
    (A + 'kind = "integer"', "got kind 'integer'; did you mean integers?"),
    (A + 'kind = "number"', "column 'a': expected a domain of a known kind"),
    (A + 'kind = "table"\ncolumns = []', "column 'a': expected a table of 1 to 63 columns"),
    (A + 'kind = "interval"\nlow = 0', "column 'a': expected a domain of kind 'interval' with low, high"),
    (A + 'kind = "interval"\nlow = 0', "got one with high missing"),
    (A + 'kind = "interval"\nlow = 0\nhigh = 1\nmax = 3', "column 'a': expected a domain of kind 'interval'"),
    (A + 'kind = "interval"\nlow = 0\nhigh = 1\nmax = 3', "got one with 'max' unknown"),
    (A + 'kind = "interval"\nlow = 0\nhigh = 1\nclamp = true', "'clamp' unknown; write outside = \"clamp\""),
    (A + 'kind = "interval"\nlow = 0\nhigh = 1\nlog = true', "'log' unknown; write scale = \"log\""),
    (A + 'kind = "interval"\nlow = 0\nhigh = 1\noutsides = "clamp"', "'outsides' unknown; did you mean outside?"),
    (A + 'kind = "interval"\nlow = "0"\nhigh = 1', "column 'a': expected a number for the lower bound of the interval"),
    (A + 'kind = "interval"\nlow = 2\nhigh = 1', "column 'a': expected the lower bound of the interval below"),
    (A + 'kind = "interval"\nlow = 0\nhigh = 1\nscale = "ln"', "column 'a': expected scale="),
    (A + 'kind = "ipv4"\nweight = 0', "column 'a': expected a weight above 0"),
    (A + 'kind = "ipv4"\nweight = "much"', "column 'a': expected a number for the weight, got 'much'"),
    (A + 'kind = "ipv4"\nnullable = "yes"', "column 'a': expected a number for the share of null, got 'yes'"),
    (A + 'kind = "ipv4"\nnullable = 1', "column 'a': expected a share of null above 0 and below 1"),
    (A + 'kind = "geo"', "column 'a': expected a name for each of the 2 coordinates of Geo()"),
    (A + 'kind = "time"\nlow = "soon"\nhigh = 2020-01-01', "column 'a': expected a time such as"),
    ("[columns]\na = 3", "expected a column as a mapping with a name and a kind, got 3"),
]


@pytest.mark.parametrize(("text", "says"), BAD_FILES)
def test_wrong_file(tmp_path: Path, text: str, says: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(DomainError) as caught:
        privhp.read_domain(path)
    assert says in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["fare"], "expected a column as NAME=DOMAIN, such as fare=interval:0:1000, got 'fare'"),
        (["=ipv4"], "expected a column as NAME=DOMAIN"),
        (["lon,=geo"], "expected a column as NAME=DOMAIN"),
        (["fare="], "column 'fare': expected one of interval"),
        (["fare=money:0:1"], "column 'fare': expected one of interval"),
        (["fare=interval:0"], "column 'fare': expected interval:LOW:HIGH"),
        (["fare=interval:0:1:2"], "column 'fare': expected interval:LOW:HIGH"),
        (["fare=interval:0:1:nulable"], "; a column, NAME=DOMAIN, may also end in :nullable or :weight=2; bounds"),
        (["fare=interval:0:1:size=3"], "column 'fare': expected a domain of kind 'interval'"),
        (["day=time:2018-01-01"], "column 'day': expected time:LOW:HIGH"),
        (["day=time"], "column 'day': expected time:LOW:HIGH"),
        (["day=time:2018-01-01:soon:now"], "column 'day': expected time:LOW:HIGH"),
        (["n=integer:0:5"], "did you mean integers?"),
        (["day=time:2018-01-01:soon"], "column 'day': expected a time such as"),
        (["place=geo:1:2:3"], "column 'place': expected geo:WEST:SOUTH:EAST:NORTH"),
        (["a=ipv4", "a=ipv4"], "the column 'a' is declared twice"),
        (["a=ipv4:weight=-1"], "column 'a': expected a weight above 0, got -1.0"),
    ],
)
def test_wrong_short_form(texts: list[str], says: str) -> None:
    with pytest.raises(DomainError) as caught:
        parse_columns(texts)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "given", [{"columns": {"a": 3}}, {"columns": [{"name": {}}]}, {"columns": [{"name": None, "kind": "ipv4"}]}]
)
def test_hostile_spec(given: Any) -> None:
    with pytest.raises(DomainError):
        Domain.from_spec({"kind": "table", **given})


def test_parameter_that_clashes_with_column_key() -> None:
    class Named(Integers):
        kind = "named"

        def __init__(self, name: str) -> None:
            super().__init__(0, 7)
            self.name = name

        def parameters(self) -> dict[str, Any]:
            return {"name": self.name}

    with pytest.raises(
        DomainError, match="column 'a': the parameter 'name' of the domain is a key of columns in specs"
    ):
        Table(a=Named("x"))


def paths_in(spec: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of all values in a spec."""
    inner = spec.items() if isinstance(spec, dict) else enumerate(spec) if isinstance(spec, list) else ()
    return [path, *(found for key, value in inner for found in paths_in(value, (*path, key)))]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["table", "nullable"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=4,
)


@given(st.sampled_from(paths_in(TRIPS.spec())), JSON)
def test_modified_spec(path: tuple[Any, ...], value: Any) -> None:
    changed: Any = {"spec": copy.deepcopy(TRIPS.spec())}
    inner = changed
    for key, following in itertools.pairwise(("spec", *path, None)):
        if following is None:
            inner[key] = value
        else:
            inner = inner[key]
    message = ""
    try:
        domain = Domain.from_spec(changed["spec"])
    except DomainError as error:
        domain, message = TRIPS, str(error)
    assert "\n" not in message
    assert len(message) < 1000
    assert Domain.from_spec(json.loads(json.dumps(domain.spec()))) == domain

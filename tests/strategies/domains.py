"""Strategies for domains of all kinds."""

from functools import cache
from typing import Any

import hypothesis.strategies as st

from privhp import (
    Box,
    Categories,
    Domain,
    Geo,
    Integers,
    Interval,
    IPv4,
    IPv6,
    Nullable,
    Pattern,
    Table,
    Taxonomy,
    Time,
)

OUTSIDE_RULES = st.sampled_from(["drop", "clamp"])
BOUNDS = st.sampled_from([(0.0, 1.0), (-1.0, 1.0), (0.1, 0.7), (-1e6, 3e9), (5.0, 5.0 + 2.0**-20)])


@st.composite
def linear_intervals(draw: st.DrawFn) -> Interval:
    return Interval(*draw(BOUNDS), outside=draw(OUTSIDE_RULES))


@st.composite
def log_intervals(draw: st.DrawFn) -> Interval:
    low, high = draw(st.sampled_from([(1.0, 1024.0), (1e-9, 3.0), (0.5, 1e12)]))
    return Interval(low, high, scale="log", outside=draw(OUTSIDE_RULES))


@st.composite
def cut_intervals(draw: st.DrawFn) -> Interval:
    low, high, cuts = draw(st.sampled_from([(0, 1, [0.1]), (-1, 1, [0, 0.5, 0.6]), (-1e6, 3e9, [0, 1, 10, 100])]))
    return Interval(low, high, cuts=cuts, outside=draw(OUTSIDE_RULES))


STEPPED_BOUNDS = st.sampled_from([(0.0, 10.0, "0.01"), (-0.3, 0.7, "0.1"), (0.005, 99.995, "0.01"), (-7.0, 5.0, "3")])


@st.composite
def stepped_intervals(draw: st.DrawFn) -> Interval:
    low, high, step = draw(STEPPED_BOUNDS)
    return Interval(low, high, step=step, outside=draw(OUTSIDE_RULES))


@st.composite
def times(draw: st.DrawFn) -> Time:
    """Times around a leap day, around 1970, and around a repeated hour in Berlin."""
    low, high = draw(
        st.sampled_from([("2020-02-28", "2020-03-01"), ("1969-12-30", "1970-01-02"), ("2020-10-25", "2020-10-26")])
    )
    unit = draw(st.sampled_from(["D", "s", "ms", "us", "ns"]))
    zone = None if unit == "D" else draw(st.sampled_from([None, "Europe/Berlin"]))
    written = draw(st.sampled_from([None, "%d.%m.%Y %H:%M", "epoch_ms"]))
    return Time(low, high, unit=unit, zone=zone, outside=draw(OUTSIDE_RULES), format=written)


def networks() -> st.SearchStrategy[IPv4 | IPv6]:
    """All addresses, networks, and networks of a few addresses."""
    few = [IPv4("255.255.255.252/30"), IPv6("2001:db8::fff8/125")]
    return st.sampled_from([IPv4(), IPv4("10.0.0.0/8"), IPv6(), IPv6("2001:db8::/32"), IPv6("2001:db8::/64"), *few])


@st.composite
def categories(draw: st.DrawFn) -> Categories:
    """Texts or integers of any size, with and without an `other` value."""
    kinds: st.SearchStrategy[Any] = draw(
        st.sampled_from([st.text("ab\u00e9", max_size=3), st.integers(-20, 20), st.integers(-(2**70), 2**70)])
    )
    values = draw(st.lists(kinds, unique=True, min_size=2, max_size=20))
    return Categories(values, other=draw(st.sampled_from([None, values[0], values[-1]])))


@st.composite
def taxonomies(draw: st.DrawFn) -> Taxonomy:
    """Trees of up to 20 leaves with any number of branches."""
    trees = st.recursive(st.none(), lambda inner: st.lists(inner, min_size=1, max_size=4), max_leaves=20)
    shape = draw(st.lists(trees, min_size=2, max_size=4))
    numbers = iter(range(1000))

    def named(tree: Any) -> Any:
        return None if tree is None else {f"n{next(numbers)}": named(branch) for branch in tree}

    return Taxonomy(named(shape))


def pattern_texts(domain: Pattern) -> st.SearchStrategy[str]:
    """Texts of a pattern or a list."""
    declared = domain.pattern
    return st.from_regex(declared, fullmatch=True) if isinstance(declared, str) else st.sampled_from(declared)


@st.composite
def patterns(draw: st.DrawFn) -> Pattern:
    """Codes of fixed and of several lengths, with ignored characters and in any case."""
    texts = ["[A-C][0-9]{2}", "[A-Z][0-9]([.][0-9]{1,2})?", "(AB|C)-[0-4]", "[0-9]{12}"]
    pattern: Any = draw(st.sampled_from([*texts, ["A", "A.1", "A.12", "B-0", "C0"]]))
    return Pattern(pattern, ignore=draw(st.sampled_from(["", " "])), ignore_case=draw(st.booleans()))


@st.composite
def integers(draw: st.DrawFn) -> Integers:
    """Integers, often few and not a power of two, so that some cells are empty."""
    low = draw(st.integers(-100, 100))
    size = draw(st.one_of(st.integers(2, 40), st.integers(2, 2**40)))
    return Integers(low, low + size - 1, outside=draw(OUTSIDE_RULES))


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    if draw(st.booleans()):
        return Box([(-0.3, 0.7), (0.5, 4.0), (0.0, 0.1)][: draw(st.integers(1, 3))], step="0.05")
    return Box(draw(st.lists(BOUNDS, min_size=1, max_size=3)), outside=draw(OUTSIDE_RULES))


GEOS = [
    Geo(),
    Geo(-9, 49.8, 2, 61),
    Geo(170, -50, -170, -30),
    Geo(-180, -90, 180, -60),
    Geo(step="0.01"),
    Geo(-9, 49.8, 2, 61, step="0.1"),
    Geo(170, -50, -170, -30, step="0.001"),
    Geo(-180, -90, 180, -60, step="0.5"),
    Geo(0.05, 0.05, 3.05, 2.05, step="0.2"),
]
"""The globe, a country, a box across the antimeridian and a cap of a pole, without and with a step.

The bounds of the last are not multiples of its step.
"""


def geos() -> st.SearchStrategy[Geo]:
    return st.sampled_from(GEOS)


@cache
def ordered_domains() -> st.SearchStrategy[Domain]:
    return st.one_of(
        linear_intervals(),
        log_intervals(),
        cut_intervals(),
        stepped_intervals(),
        integers(),
        times(),
        st.just(IPv4()),
        st.just(IPv4("10.0.0.0/8")),
    )


@cache
def domains() -> st.SearchStrategy[Domain]:
    return st.one_of(ordered_domains(), networks(), categories(), taxonomies(), patterns(), boxes(), geos())


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Tables of up to three columns of any kind, with any weights."""
    columns: dict[Any, Domain] = {}
    for index, inner in enumerate(draw(st.lists(domains(), min_size=1, max_size=3))):
        width = len(inner.axes) if isinstance(inner, Box | Geo) else 1
        names = tuple(f"column {index}.{coordinate}" for coordinate in range(width))
        columns[names[0] if width == 1 else names] = draw(
            st.sampled_from([inner, Nullable(inner), Nullable(inner, share=0.1)])
        )
    weights = draw(st.dictionaries(st.sampled_from(list(columns)), st.sampled_from([0.01, 0.5, 3])))
    return Table(columns, weights=weights)


@cache
def any_domains() -> st.SearchStrategy[Domain]:
    return st.one_of(domains(), domains().map(Nullable), tables())


@st.composite
def box_sides(draw: st.DrawFn) -> list[tuple[float, float]]:
    """Bounds of the sides of a box, of very different lengths."""
    lows = draw(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5))
    return [(low, low + draw(st.floats(1e-3, 1e9))) for low in lows]

"""Hypothesis strategies for domains, records, batches, plans and noise.

domains()               a domain of any kind, of one column
tables()                several of them as columns, some nullable
records(domain)         one record of the right type: inside, on an edge or outside
junk()                  something that is no record
batches(domain)         an array of records
untidy_batches(domain)  a list of records and junk
partitions()            a partition with leaves of several levels
plans()                 a small plan: as in the paper, with any measured levels, or with a partition
noise(plan)             chosen noise for every counter of a plan
"""

import datetime as dt
import ipaddress
import math
from fractions import Fraction
from typing import Any

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
from numpy.typing import NDArray

from privhp import (
    Box,
    Categories,
    Domain,
    Generator,
    Geo,
    Integers,
    Interval,
    IPv4,
    IPv6,
    Nullable,
    Partition,
    Pattern,
    Plan,
    Table,
    Taxonomy,
    Time,
)
from privhp.core.cells import Counts
from privhp.domains.checks import AWKWARD
from privhp.release import Release

OUTSIDE_RULES = st.sampled_from(["drop", "clamp"])
HASH_SEEDS = st.integers(0, 2**128 - 1)
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
    return Time(low, high, unit=unit, zone=zone, outside=draw(OUTSIDE_RULES))


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


@st.composite
def patterns(draw: st.DrawFn) -> Pattern:
    """Codes of fixed and of several lengths, with ignored characters and in any case."""
    pattern = draw(st.sampled_from(["[A-C][0-9]{2}", "[A-Z][0-9]([.][0-9]{1,2})?", "(AB|C)-[0-4]", "[0-9]{12}"]))
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


def geos() -> st.SearchStrategy[Geo]:
    """The globe, a country, a box across the antimeridian, and a cap of a pole; some with a step."""
    plain = [Geo(), Geo(-9, 49.8, 2, 61), Geo(170, -50, -170, -30), Geo(-180, -90, 180, -60)]
    return st.sampled_from([*plain, *stepped_geos()])


def stepped_geos() -> list[Geo]:
    """The same with a step, and a rectangle whose bounds are not multiples of it."""
    return [
        Geo(step="0.01"),
        Geo(-9, 49.8, 2, 61, step="0.1"),
        Geo(170, -50, -170, -30, step="0.001"),
        Geo(-180, -90, 180, -60, step="0.5"),
        Geo(0.05, 0.05, 3.05, 2.05, step="0.2"),
    ]


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


def any_domains() -> st.SearchStrategy[Domain]:
    return st.one_of(domains(), domains().map(Nullable), tables())


def _numbers(low: float, high: float) -> st.SearchStrategy[float]:
    edges = [low, high, math.nextafter(high, low), math.nextafter(low, -math.inf), math.nextafter(high, math.inf)]
    return st.one_of(st.floats(low, high), st.sampled_from([*edges, math.nan, math.inf, -math.inf]), st.floats())


def _whole_numbers(low: int, high: int) -> st.SearchStrategy[int]:
    return st.one_of(st.integers(low, high), st.integers(low - 2, high + 2), st.integers(-(2**63), 2**63 - 1))


def records(domain: Domain) -> st.SearchStrategy[Any]:
    """A record of the right type: mostly inside the domain, sometimes on an edge or outside."""
    if isinstance(domain, Interval):
        return _numbers(domain.low, domain.high)
    if isinstance(domain, Integers):
        return _whole_numbers(domain.low, domain.high)
    if isinstance(domain, IPv4):
        return _whole_numbers(int(domain.network.network_address), int(domain.network.broadcast_address))
    if isinstance(domain, IPv6):
        first, last = int(domain.network.network_address), int(domain.network.broadcast_address)
        numbers = st.one_of(st.integers(first, last), st.sampled_from([first, last]), st.integers(0, 2**128 - 1))
        return numbers.map(lambda number: str(ipaddress.IPv6Address(number)))
    if isinstance(domain, Time):
        low, high = (dt.datetime.fromisoformat(domain.spec()[end]).replace(tzinfo=None) for end in ("low", "high"))
        hour = dt.timedelta(hours=2)
        return st.one_of(st.datetimes(low, high), st.datetimes(low - hour, high + hour), st.datetimes())
    if isinstance(domain, Categories):
        unknown: list[Any] = ["x", ""] if isinstance(domain.values[0], str) else [21, -(2**71)]
        return st.sampled_from([*domain.values, *unknown])
    if isinstance(domain, Taxonomy):
        return st.sampled_from(
            [*(path[-1] for path in domain.paths), *("/".join(path) for path in domain.paths), "n0", "x"]
        )
    if isinstance(domain, Pattern):
        inside = st.from_regex(domain.pattern, fullmatch=True)
        return st.one_of(inside, inside.map(str.lower), inside.map(" ".join), st.text("ABC01.- ", max_size=8))
    if isinstance(domain, Nullable):
        return st.one_of(st.none(), records(domain.domain))
    if isinstance(domain, Table):
        return st.tuples(*(_values(column) for column in domain.columns)).map(lambda values: sum(values, ()))
    assert isinstance(domain, Box | Geo)
    return st.tuples(*(_numbers(axis.low, axis.high) for axis in domain.axes))


def _values(column: Any) -> st.SearchStrategy[tuple[Any, ...]]:
    """A value of a column, as one element for each of its names."""
    size = len(column.names)
    return records(column.domain).map(lambda value: value if isinstance(value, tuple) else (value,) * size)


def junk() -> st.SearchStrategy[Any]:
    """Objects that may occur instead of a record."""
    return st.one_of(st.sampled_from(AWKWARD), st.text(max_size=3), st.binary(max_size=3), st.booleans(), st.none())


def as_batch(domain: Domain, chosen: list[Any]) -> Any:
    """Records of a domain as an array or a dict of columns."""
    if isinstance(domain, Table):
        return {name: [record[index] for record in chosen] for index, name in enumerate(domain.names)}
    if isinstance(domain, Nullable):
        return chosen
    if isinstance(domain, Box | Geo):
        columns = len(domain.axes)
        points = np.array(chosen, dtype=np.float64).reshape(-1, columns)
        return points[:, 0] if columns == 1 else points
    if isinstance(domain, Categories):
        return np.array(chosen, dtype=str if isinstance(domain.values[0], str) else object)
    kinds: dict[type[Domain], Any] = {Interval: np.float64, Time: "M8[us]", IPv6: str, Pattern: str, Taxonomy: str}
    return np.array(chosen, dtype=kinds.get(type(domain), np.int64))


@st.composite
def batches(draw: st.DrawFn, domain: Domain, *, max_size: int = 40) -> NDArray[Any]:
    """An array of records with repetitions, so that some cells are heavy."""
    pool = draw(st.lists(records(domain), min_size=1, max_size=10))
    return as_batch(domain, draw(st.lists(st.sampled_from(pool), max_size=max_size)))


def untidy_batches(domain: Domain, *, max_size: int = 20) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.one_of(records(domain), junk()), max_size=max_size)


@st.composite
def paper_plans(draw: st.DrawFn, domain: st.SearchStrategy[Domain] | None = None, *, max_depth: int = 6) -> Plan:
    """Plans that measure every level, with the paper's budget split."""
    space = draw(domains() if domain is None else domain)
    depth = draw(st.integers(1, min(space.depth, max_depth)))
    return Plan.paper(
        space,
        epsilon=draw(st.sampled_from(["0.1", "1", "3"])),
        expected_records=1000,
        hot_cells=draw(st.integers(1, 6)),
        depth=depth,
        exact_depth=draw(st.integers(0, depth)),
        sketch_rows=draw(st.integers(1, 3)),
        sketch_width=draw(st.integers(1, 12)),
        expand=draw(st.sampled_from(["top", "all"])),
        neighbours=draw(st.sampled_from(["add-remove", "replace-one"])),
        max_records_per_person=draw(st.integers(1, 3)),
        hash_group=draw(st.sampled_from([None, 0])),
        hash_seed=draw(HASH_SEEDS),
    )


@st.composite
def free_plans(draw: st.DrawFn, domain: st.SearchStrategy[Domain] | None = None, *, max_depth: int = 6) -> Plan:
    """Plans with random measured levels and budgets, possibly with gaps and without the root."""
    space = draw(domains() if domain is None else domain)
    levels = sorted(draw(st.sets(st.integers(0, min(space.depth, max_depth)), min_size=1)))
    exact_depth = draw(st.sampled_from(levels))
    sketched = exact_depth < levels[-1]
    weights = draw(st.lists(st.integers(1, 9), min_size=len(levels), max_size=len(levels)))
    hash_group = draw(st.integers(0, 3)) if sketched else 0
    epsilon = draw(st.sampled_from([Fraction(1, 10), Fraction(1), Fraction(7, 2)]))
    return Plan(
        space,
        epsilon=epsilon,
        budgets={level: epsilon * weight / sum(weights) for level, weight in zip(levels, weights, strict=True)},
        exact_depth=exact_depth,
        sketch_rows=draw(st.integers(1, 3)) if sketched else 0,
        sketch_width=draw(st.integers(1, 6)) * 2**hash_group if sketched else 0,
        hot_cells=draw(st.integers(1, 6)) if sketched else 0,
        expand=draw(st.sampled_from(["top", "all"])),
        neighbours=draw(st.sampled_from(["add-remove", "replace-one"])),
        max_records_per_person=draw(st.integers(1, 3)),
        hash_group=hash_group,
        hash_seed=draw(HASH_SEEDS),
    )


@st.composite
def partitions(draw: st.DrawFn, *, root_level: int = 0, max_level: int = 63, max_splits: int = 12) -> Partition:
    """Partitions below all cells of a level: any leaves are split, one after another."""
    levels = [root_level] * 2**root_level
    for _ in range(draw(st.integers(0, max_splits))):
        leaf = draw(st.integers(0, len(levels) - 1))
        step = draw(st.integers(1, 3))
        if levels[leaf] + step <= max_level:
            levels[leaf : leaf + 1] = [levels[leaf] + step] * 2**step
    return Partition(levels)


@st.composite
def partition_plans(draw: st.DrawFn, domain: st.SearchStrategy[Domain] | None = None, *, max_depth: int = 6) -> Plan:
    """Plans with a partition, which may be deeper than the other levels, above or without exact levels."""
    space = draw((domains() if domain is None else domain).filter(lambda own: own.depth > 1))
    root = draw(st.integers(1, min(space.depth, max_depth)))
    partition = draw(partitions(root_level=root, max_level=space.depth, max_splits=6))
    exact = sorted(draw(st.sets(st.integers(0, root - 1))))
    epsilon = draw(st.sampled_from([Fraction(1, 10), Fraction(1), Fraction(7, 2)]))
    return Plan(
        space,
        epsilon=epsilon,
        budgets=dict.fromkeys([*exact, root], epsilon / (len(exact) + 1)),
        exact_depth=max(exact, default=0),
        partition=partition,
        inference="least-squares",
        neighbours=draw(st.sampled_from(["add-remove", "replace-one"])),
        max_records_per_person=draw(st.integers(1, 3)),
    )


def plans(domain: st.SearchStrategy[Domain] | None = None, *, max_depth: int = 6) -> st.SearchStrategy[Plan]:
    return st.one_of(
        paper_plans(domain, max_depth=max_depth),
        free_plans(domain, max_depth=max_depth),
        partition_plans(domain, max_depth=max_depth),
    )


@st.composite
def noise(draw: st.DrawFn, plan: Plan, *, largest: int = 9) -> dict[int, Counts]:
    """Noise for every counter of every measured level, in the shapes of the plan."""
    amounts = st.integers(-largest, largest)
    return {level: draw(hnp.arrays(np.int64, shape, elements=amounts)) for level, shape in plan.shapes.items()}


@st.composite
def generators(draw: st.DrawFn, domain: st.SearchStrategy[Domain] | None = None, *, max_depth: int = 6) -> Generator:
    plan = draw(plans(domain, max_depth=max_depth))
    return Generator(Release(plan, draw(noise(plan))))


@st.composite
def box_sides(draw: st.DrawFn) -> list[tuple[float, float]]:
    """Bounds of the sides of a box, of very different lengths."""
    lows = draw(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5))
    return [(low, low + draw(st.floats(1e-3, 1e9))) for low in lows]

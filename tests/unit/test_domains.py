import ipaddress
import itertools
import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from privhp import Box, Domain, DomainError, Integers, Interval, IPv4, RecordsError, check_domain
from privhp.core.allocation import Allocation
from privhp.core.cells import OUTSIDE, Codes

ALPHA = 1e-9
SAMPLES = 100_000

DOMAINS: list[Domain] = [
    Interval(0, 1),
    Interval(-1, 1, outside="clamp"),
    Interval(0.1, 0.7),
    Interval(-1e6, 3e9, outside="clamp"),
    Interval(5, 5 + 2**-20),
    Interval(1e15, 1e15 + 1000),
    Interval(0, 1.7e308),
    Interval(1e-280, 3e-280),
    Interval(1, 1024, scale="log"),
    Interval(1e-9, 3, scale="log", outside="clamp"),
    Interval(1e-300, 1e300, scale="log"),
    Interval(5e-324, 1.7e308, scale="log"),
    Interval(1, 1.0001, scale="log"),
    Integers(0, 1),
    Integers(0, 2**20 - 1, outside="clamp"),
    Integers(-3, 3),
    Integers(7, 1006, outside="clamp"),
    Integers(2**60, 2**60 + 12),
    Integers(-(2**61), 2**61 - 1),
    Integers(-(2**61), 2**61 - 2),
    Integers(0, 3 * 2**59 + 1),
    Box([(0, 1)]),
    Box([(0, 1), (0, 1)]),
    Box([(-1, 1), (0, 1e-6), (5, 6)], outside="clamp"),
    Box([(0, 1), (-1e9, 1e9), (0, 1e-9), (1e6, 1e6 + 1)]),
    Box([(0, 2**index) for index in range(5)]),
    IPv4(),
]
ORDERED = [domain for domain in DOMAINS if domain.ordered]


def all_cells(level: int) -> Codes:
    return np.arange(2**level, dtype=np.uint64)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_laws(domain: Domain) -> None:
    check_domain(domain, awkward=[np.float16(0.5), np.longdouble("1e4000"), 1j, [0.5], [0.5, 0.5], "0.5", np.ma.masked])


BAD_SPECS: list[tuple[dict[Any, Any], str]] = [
    ({}, "known kind"),
    ({"kind": None}, "known kind"),
    ({"kind": "circle"}, "known kind"),
    ({"kind": ["interval"]}, "known kind"),
    ({"kind": "interval"}, "low, high missing"),
    ({"kind": "interval", "low": 0}, "one with high missing"),
    ({"kind": "interval", "low": 0, "high": 1, "bins": 3}, "'bins'"),
    ({"kind": "interval", "low": 0, "high": 1, 3: 3}, "3 unknown"),
    ({"kind": "interval", "low": "0", "high": 1}, "a number for the lower bound"),
    ({"kind": "interval", "low": 0, "high": None}, "a number for the upper bound"),
    ({"kind": "interval", "low": False, "high": True}, "a number for the lower bound"),
    ({"kind": "interval", "low": [0], "high": 1}, "a number for the lower bound"),
    ({"kind": "interval", "low": 0, "high": 1j}, "a number for the upper bound"),
    ({"kind": "interval", "low": np.zeros((3, 3)), "high": 1}, "a number for the lower bound"),
    ({"kind": "interval", "low": -math.inf, "high": 1}, "a finite number for the lower bound"),
    ({"kind": "interval", "low": 0, "high": math.nan}, "a finite number for the upper bound"),
    ({"kind": "interval", "low": 0, "high": 10**400}, "a finite number for the upper bound"),
    ({"kind": "interval", "low": 0, "high": 10**5000}, "a finite number for the upper bound"),
    ({"kind": "interval", "low": 1, "high": 0}, "below the upper"),
    ({"kind": "interval", "low": 1, "high": 1}, "below the upper"),
    ({"kind": "interval", "low": 1, "high": 1 + 2**-50}, "too close or too far apart"),
    ({"kind": "interval", "low": -1.7e308, "high": 1.7e308}, "too close or too far apart"),
    ({"kind": "interval", "low": 0, "high": 5e-324}, "too close or too far apart"),
    ({"kind": "interval", "low": 1, "high": 2, "scale": "sqrt"}, "scale="),
    ({"kind": "interval", "low": 1, "high": 2, "scale": None}, "scale="),
    ({"kind": "interval", "low": 1, "high": 2, "scale": np.array(["log", "log"])}, "scale="),
    ({"kind": "interval", "low": 0, "high": 2, "scale": "log"}, "positive lower bound"),
    ({"kind": "interval", "low": -1, "high": 2, "scale": "log"}, "positive lower bound"),
    ({"kind": "interval", "low": 1, "high": 1 + 2**-50, "scale": "log"}, "1.0 and 1.0000000000000009, are too close"),
    ({"kind": "interval", "low": 1, "high": 2, "outside": "wrap"}, "outside="),
    ({"kind": "interval", "low": 1, "high": 2, "outside": None}, "outside="),
    ({"kind": "integers", "low": 0, "high": 0}, "below the upper"),
    ({"kind": "integers", "low": 0.5, "high": 3}, "an integer for the lower bound"),
    ({"kind": "integers", "low": 0, "high": math.inf}, "a finite number for the upper bound"),
    ({"kind": "integers", "low": 0, "high": "9"}, "a number for the upper bound"),
    ({"kind": "integers", "low": 0, "high": True}, "a number for the upper bound"),
    ({"kind": "integers", "low": 0, "high": 2**61}, "shift or shorten"),
    ({"kind": "integers", "low": -(2**61) - 1, "high": 0}, "shift or shorten"),
    ({"kind": "integers", "low": 0, "high": 9, "outside": 1}, "outside="),
    ({"kind": "box"}, "sides missing"),
    ({"kind": "box", "sides": []}, "list of 1 to 63 pairs"),
    ({"kind": "box", "sides": [[0, 1]] * 64}, "list of 1 to 63 pairs"),
    ({"kind": "box", "sides": "ab"}, "list of 1 to 63 pairs"),
    ({"kind": "box", "sides": 3}, "list of 1 to 63 pairs"),
    ({"kind": "box", "sides": np.ones((4, 2))}, "below the upper"),
    ({"kind": "box", "sides": [[0, 1], [0]]}, "side 1 of the box as a pair"),
    ({"kind": "box", "sides": [[0, 1], 5]}, "side 1 of the box as a pair"),
    ({"kind": "box", "sides": [0, 1]}, "side 0 of the box as a pair"),
    ({"kind": "box", "sides": [[0, 1], [1, 0]]}, "bound of side 1 of the box below the upper"),
    ({"kind": "box", "sides": [[0, 1], [0, math.inf]]}, "finite number for the upper bound of side 1"),
    ({"kind": "box", "sides": [[0, 1], [1, 1 + 2**-51]]}, "side 1 of the box, 1.0 and 1.0000000000000004, are too"),
    ({"kind": "box", "sides": [[0, 1]], "outside": "keep"}, "outside="),
    ({"kind": "ipv4", "low": 0}, "'low' unknown"),
]


@pytest.mark.parametrize(("spec", "hint"), BAD_SPECS, ids=[hint for _, hint in BAD_SPECS])
def test_wrong_spec(spec: dict[Any, Any], hint: str) -> None:
    with pytest.raises(DomainError) as refusal:
        Domain.from_spec(spec)
    message = str(refusal.value)
    assert hint in message
    assert len(message.splitlines()) == 1
    assert len(message) < 250 or hint == "known kind"  # which lists them, those of other tests included


@pytest.mark.parametrize("spec", [None, "interval", 3, [], [("kind", "ipv4")]], ids=repr)
def test_spec_that_is_not_a_mapping(spec: Any) -> None:
    with pytest.raises(DomainError, match="as a mapping with a kind"):
        Domain.from_spec(spec)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_json_round_trip(domain: Domain) -> None:
    twin = Domain.from_spec(json.loads(json.dumps(domain.spec())))
    assert type(twin) is type(domain)
    assert twin == domain
    assert twin.spec() == domain.spec()


def test_equality() -> None:
    assert Interval(-0.0, 1) == Interval(0, 1.0) == Interval(np.float32(0), np.int8(1))
    assert hash(Interval(-0.0, 1)) == hash(Interval(0, 1.0))
    assert Integers(0, 9) == Integers(0.0, np.uint8(9))
    assert len({Interval(0, 1), Interval(0, 1, outside="clamp"), Interval(0, 2), Box([(0, 1)]), Integers(0, 1)}) == 5
    assert Interval(0, 1) != "Interval(0, 1)"


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_repr(domain: Domain) -> None:
    names = {"Interval": Interval, "Integers": Integers, "Box": Box, "IPv4": IPv4}
    twin = eval(repr(domain), names)
    assert type(twin) is type(domain)
    assert twin.depth == domain.depth


# Records in and out of bounds


def cells_of(domain: Domain, records: Any, level: int | None = None) -> list[int | None]:
    codes = domain.encode(records, level=domain.depth if level is None else level)
    return [None if code == OUTSIDE else int(code) for code in codes]


def test_interval_out_of_bounds() -> None:
    records = [-math.inf, -1.0, -5e-324, 0.0, 3.999, 4.0, math.nextafter(4.0, 5.0), 1e308, math.inf, math.nan, None]
    assert cells_of(Interval(0, 4), records, 2) == [None, None, None, 0, 3, 3, None, None, None, None, None]
    assert cells_of(Interval(0, 4, outside="clamp"), records, 2) == [0, 0, 0, 0, 3, 3, 3, 3, 3, None, None]
    logs = [-1.0, 0.0, 0.5, 1.0, 2.0, 15.9, 16.0, 17.0, math.inf, math.nan]
    assert cells_of(Interval(1, 16, scale="log"), logs, 2) == [None, None, None, 0, 1, 3, 3, None, None, None]
    assert cells_of(Interval(1, 16, scale="log", outside="clamp"), logs, 2) == [0, 0, 0, 0, 1, 3, 3, 3, 3, None]


def test_integers_out_of_bounds() -> None:
    records = [-math.inf, -(2**80), -1, 0, 5, 5.0, 5.5, 9, 10, 2**80, math.inf, math.nan, None]
    dropped = [None, None, None, 0, 5, 5, None, 9, None, None, None, None, None]
    assert cells_of(Integers(0, 9), records) == dropped
    clamped = [0, 0, 0, 0, 5, 5, None, 9, 9, 9, 9, None, None]
    assert cells_of(Integers(0, 9, outside="clamp"), records) == clamped
    floats = [math.nan if value is None else float(value) for value in records]
    assert cells_of(Integers(0, 9, outside="clamp"), np.array(floats)) == clamped


def test_clamped_coordinates() -> None:
    points = [(0.25, 0.25), (-5, 0.25), (0.25, 5), (math.inf, -math.inf), (math.nan, 5), (0.25,), None]
    square = [(0, 1), (0, 1)]
    assert cells_of(Box(square), points, 2) == [0, None, None, None, None, None, None]
    assert cells_of(Box(square, outside="clamp"), points, 2) == [0, 0, 1, 2, None, None, None]


def test_addresses_out_of_range() -> None:
    assert cells_of(IPv4(), [-1, 0, 2**32 - 1, 2**32, 0.5, "10", "text"], 32) == [
        None,
        0,
        2**32 - 1,
        None,
        None,
        10,
        None,
    ]
    assert cells_of(IPv4(), np.array([0, 2**32 - 1], dtype=np.uint32), 8) == [0, 255]


@pytest.mark.parametrize("domain", [domain for domain in DOMAINS if isinstance(domain, Interval)], ids=repr)
def test_cell_of_upper_bound(domain: Interval) -> None:
    beyond = math.nextafter(domain.high, math.inf)
    for level in range(domain.depth + 1):
        last = 2**level - 1
        cells = cells_of(domain, [domain.low, math.nextafter(domain.high, 0), domain.high], level)
        assert cells == [0, last, last]
        assert cells_of(domain, [beyond], level) == [last if domain.outside == "clamp" else None]


@pytest.mark.parametrize("domain", [domain for domain in DOMAINS if isinstance(domain, Box)], ids=repr)
def test_cell_of_upper_corner_of_box(domain: Box) -> None:
    lower, upper = [axis.low for axis in domain.axes], [axis.high for axis in domain.axes]
    just_below = [math.nextafter(high, low) for low, high in zip(lower, upper, strict=True)]
    for level in range(domain.depth + 1):
        assert cells_of(domain, [lower, just_below, upper], level) == [0, 2**level - 1, 2**level - 1]


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@pytest.mark.parametrize("records", [np.zeros(4321, dtype=complex), np.zeros((7, 7, 4321)), np.zeros((9, 4321)), 4321])
def test_batch_of_wrong_type_or_shape(domain: Domain, records: Any) -> None:
    with pytest.raises(RecordsError) as refusal:
        domain.encode(records, level=1)
    assert "4321" not in str(refusal.value)


# Cells against brute force


def log2_by_octave(number: float) -> Fraction:
    """Logarithm to base 2, interpolated linearly within each octave."""
    fraction, exponent = math.frexp(number)
    return exponent + 2 * Fraction(fraction) - 2


def first_differing_bit(one: int, other: int) -> float:
    return 2.0 ** -(32 - (one ^ other).bit_length()) if one != other else 0.0


def test_diameter_of_integers() -> None:
    for size in range(2, 70):
        domain = Integers(-5, size - 6)
        for level in range(domain.depth + 1):
            cells: dict[int, list[int]] = {}
            for number, cell in zip(range(-5, size - 5), domain.encode(range(-5, size - 5), level=level), strict=True):
                cells.setdefault(int(cell), []).append(number)
            assert domain.diameter(level) == max(max(run) - min(run) for run in cells.values())


DISTANCES: list[tuple[Domain, Callable[[Any, Any], float]]] = [
    (Interval(-3, 5), lambda one, other: abs(one - other)),
    (Interval(0.5, 100, scale="log"), lambda one, other: abs(float(log2_by_octave(one) - log2_by_octave(other)))),
    (Box([(0, 1), (0, 4), (-1, 0)]), lambda one, other: float(np.abs(one - other).max())),
    (IPv4(), lambda one, other: first_differing_bit(int(one), int(other))),
]


@pytest.mark.parametrize(("domain", "distance"), DISTANCES, ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize("level", [0, 1, 2, 3, 5])
def test_diameter(domain: Domain, distance: Callable[[Any, Any], float], level: int) -> None:
    rng = np.random.default_rng(level)
    cells = all_cells(level)
    if isinstance(domain, Box):  # the corners of a cell, each a hair inside it
        corners = itertools.product([1e-9, 1 - 1e-9], repeat=3)
        records = [_at_corner(domain, cells, level, np.array(corner)) for corner in corners]
    else:
        records = [domain.cell_quantile(np.full(cells.shape, share), cells, level=level) for share in (1e-9, 1 - 1e-9)]
    records += [domain.decode(cells, level=level, rng=rng) for _ in range(5)]
    for batch in records:
        assert np.array_equal(domain.encode(batch, level=level), cells)
    largest = max(distance(a[i], b[i]) for a, b in itertools.combinations(records, 2) for i in range(len(cells)))
    assert largest <= domain.diameter(level)
    assert largest == pytest.approx(domain.diameter(level), rel=1e-6)


@pytest.mark.parametrize("level", [30, 31, 32])
def test_diameter_of_longest_prefixes(level: int) -> None:
    addresses = range(2 ** (32 - level))
    assert cells_of(IPv4(), addresses, level) == [0] * len(addresses)
    assert IPv4().diameter(level) == max(first_differing_bit(*pair) for pair in itertools.product(addresses, repeat=2))


def _at_corner(domain: Box, cells: Codes, level: int, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array(
        [
            [low + share * (high - low) for share, (low, high) in zip(shares, sides, strict=True)]
            for sides in (sides_of(domain, int(cell), level) for cell in cells)
        ]
    )


def sides_of(domain: Box, cell: int, level: int) -> list[tuple[float, float]]:
    """Sides of a cell of a box, computed by repeated splits of the longest side."""
    sides = [(Fraction(axis.low), Fraction(axis.high)) for axis in domain.axes]
    for step in f"{cell:0{level}b}"[:level]:
        lengths = [high - low for low, high in sides]
        longest = lengths.index(max(lengths))
        low, high = sides[longest]
        middle = (low + high) / 2
        sides[longest] = (low, middle) if step == "0" else (middle, high)
    return [(float(low), float(high)) for low, high in sides]


@pytest.mark.parametrize(
    "sides",
    [
        [(0, 1)],
        [(0, 1), (0, 1)],
        [(0, 1), (0, 1), (0, 1)],
        [(0, 1), (0, 4)],
        [(0, 3), (0, 1), (0, 2)],
        [(0, 1e-6), (0, 1e6), (-5, 5)],
        [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16)],
        [(-1, 1), (5, 5.25), (1e3, 1e4), (0, 0.7), (0, 1)],
    ],
    ids=str,
)
def test_splits_of_box(sides: list[tuple[float, float]]) -> None:
    domain = Box(sides)
    level = min(domain.depth, 20)
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 2**level, size=50, dtype=np.uint64)
    points = domain.decode(cells, level=level, rng=rng)
    for cell, point in zip(cells.tolist(), points.tolist(), strict=True):
        for coordinate, (low, high) in zip(point, sides_of(domain, cell, level), strict=True):
            assert low <= coordinate <= high


def test_splits_of_cube() -> None:
    assert Box([(0, 1)] * 3).split_axes[:7] == (0, 1, 2, 0, 1, 2, 0)
    assert cells_of(Box([(0, 1)] * 3), [(0.75, 0, 0), (0, 0.75, 0), (0, 0, 0.75)], 3) == [4, 2, 1]


def test_depth_of_side_near_float_spacing() -> None:
    domain = Box([(1e15, 1e15 + 1000), (0, 1e-3)])
    assert domain.split_axes.count(0) == Interval(1e15, 1e15 + 1000).depth == 8
    assert domain.split_axes.count(1) == Interval(0, 1e-3).depth
    assert Box([(0, 1)] * 2).depth == 63


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@pytest.mark.parametrize("level", [0, 1, 3, 10])
def test_sum_of_measures(domain: Domain, level: int) -> None:
    measure = domain.measure(all_cells(min(level, domain.depth)), level=min(level, domain.depth))
    assert measure.sum() == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("size", range(2, 40))
def test_measure_of_integers(size: int) -> None:
    domain = Integers(3, size + 2)
    for level in range(domain.depth + 1):
        cells = domain.encode(range(3, size + 3), level=level)
        counts = np.bincount(cells.astype(np.int64), minlength=2**level)
        measure = domain.measure(all_cells(level), level=level)
        assert measure.tolist() == pytest.approx((counts / size).tolist(), rel=1e-15)
        assert np.array_equal(measure == 0, counts == 0)


def test_measure_of_empty_cells() -> None:
    domain = Integers(0, 2**60)
    for level in (1, 20, 61):
        last_live = 2**60 >> (domain.depth - level)
        cells = np.array([last_live, last_live + 1, 2**level - 1], dtype=np.uint64)
        assert (domain.measure(cells, level=level) > 0).tolist() == [True, False, level == 1]


# Regions


def test_overlap_of_integers() -> None:
    for size in (2, 8, 13):
        domain = Integers(10, size + 9)
        for level in range(domain.depth + 1):
            cells = domain.encode(range(10, size + 10), level=level)
            for low, high in itertools.combinations_with_replacement([8, 9.5, 10, 11.5, 12, 14, 21, 22, 30], 2):
                inside = np.array([low <= number <= high for number in range(10, size + 10)])
                for cell in np.unique(cells):
                    share = domain.overlap((low, high), np.array([cell]), level=level)
                    assert share == pytest.approx(inside[cells == cell].mean())


def test_overlap_of_large_integers() -> None:
    low = 2**60
    domain = Integers(low, low + 12)
    root = np.zeros(1, dtype=np.uint64)
    assert domain.overlap((low + 3, low + 5), root, level=0) == pytest.approx(3 / 13)
    assert domain.overlap((np.int64(low + 3), None), root, level=0) == pytest.approx(10 / 13)
    for offset in range(13):
        assert domain.cell_cdf(np.array([low + offset]), root, level=0) == pytest.approx((offset + 1) / 13)
    assert domain.cell_cdf(np.array([low - 1, low + 13]), np.zeros(2, dtype=np.uint64), level=0).tolist() == [0, 1]


@pytest.mark.parametrize("domain", [Interval(-3, 5), Interval(0.1, 0.7), Interval(1e15, 1e15 + 1000)], ids=repr)
def test_overlap_of_interval(domain: Interval) -> None:
    low, high = Fraction(domain.low), Fraction(domain.high)
    for first, last in itertools.combinations_with_replacement([-0.5, 0, 0.2, 0.21, 0.5, 0.9, 1, 1.5], 2):
        region = tuple(float(low + Fraction(share) * (high - low)) for share in (first, last))
        for level in (0, 1, 3):
            width = (high - low) / 2**level
            for cell, share in enumerate(domain.overlap(region, all_cells(level), level=level)):
                start = low + cell * width
                common = min(Fraction(region[1]), start + width) - max(Fraction(region[0]), start)
                assert share == pytest.approx(float(max(common, 0) / width), abs=1e-12)


def test_overlap_of_log_interval() -> None:
    domain = Interval(1, 256, scale="log")
    assert domain.overlap((2, 32), all_cells(0), level=0) == pytest.approx([4 / 8])
    assert domain.overlap((None, 3), all_cells(2), level=2) == pytest.approx([1.5 / 2, 0, 0, 0])
    assert domain.overlap((-7, 1e9), all_cells(1), level=1).tolist() == [1, 1]


def test_overlap_of_box() -> None:
    domain = Box([(0, 4), (0, 1)])
    assert domain.split_axes[:3] == (0, 0, 0)
    cells = all_cells(3)
    assert domain.overlap([(1.5, 4), (0.25, 0.5)], cells, level=3).tolist() == [0, 0, 0, 0.25, 0.25, 0.25, 0.25, 0.25]
    assert domain.overlap([(0.25, 1.75), None], cells, level=3).tolist() == [0.5, 1, 1, 0.5, 0, 0, 0, 0]
    assert domain.overlap([None, (None, 0.5)], cells, level=3).tolist() == [0.5] * 8
    assert domain.overlap([(9, 10), None], cells, level=3).tolist() == [0] * 8


@pytest.mark.parametrize("prefix", ["0.0.0.0/0", "10.0.0.0/8", "192.168.0.0/16", "255.255.255.255/32", "64.0.0.0/3"])
@pytest.mark.parametrize("level", [0, 1, 3, 8])
def test_overlap_of_addresses(prefix: str, level: int) -> None:
    network = ipaddress.IPv4Network(prefix)
    size = 2 ** (32 - level)
    for cell, share in enumerate(IPv4().overlap(prefix, all_cells(level), level=level)):
        first, last = cell * size, (cell + 1) * size - 1
        common = min(last, int(network.broadcast_address)) - max(first, int(network.network_address)) + 1
        assert share == max(common, 0) / size
    assert np.array_equal(
        IPv4().overlap(network, all_cells(level), level=level), IPv4().overlap(prefix, all_cells(level), level=level)
    )


@pytest.mark.parametrize(("region"), [(None, None), (-9, 9), (None, 7)], ids=str)
@pytest.mark.parametrize("domain", [Interval(-3, 5), Integers(-3, 5)], ids=repr)
def test_region_that_contains_domain(domain: Domain, region: Any) -> None:
    live = domain.measure(all_cells(2), level=2) > 0
    assert domain.overlap(region, all_cells(2), level=2)[live].tolist() == [1] * live.sum()


@pytest.mark.parametrize(("region"), [(6, 9), (-9, -4), (None, -4), (6, None), (5.5, 5.5)], ids=str)
@pytest.mark.parametrize("domain", [Interval(-3, 5), Integers(-3, 5)], ids=repr)
def test_region_outside_domain(domain: Domain, region: Any) -> None:
    assert domain.overlap(region, all_cells(2), level=2).tolist() == [0] * 4


BAD_REGIONS: list[tuple[Domain, Any]] = [
    *[
        (domain, region)
        for domain in (Interval(0, 1), Integers(0, 9))
        for region in (
            5,
            "ab",
            None,
            (1,),
            (1, 2, 3),
            (2, 1),
            ("0", 1),
            (0, math.nan),
            (0, math.inf),
            (True, 1),
            np.array([0, 1]),
        )
    ],
    *[(Box([(0, 1), (0, 1)]), region) for region in (None, 5, [(0, 1)], [(0, 1)] * 3, [(0, 1), 5], [(0, 1), (1, 0)])],
    *[(IPv4(), region) for region in (None, "10.0.0.0/33", "10.0.0.1/8", "::/8", 1.5, (), (0, 1, 2), -1)],
]


@pytest.mark.parametrize(("domain", "region"), BAD_REGIONS, ids=repr)
def test_wrong_region(domain: Domain, region: Any) -> None:
    with pytest.raises(DomainError, match="expected") as refusal:
        domain.overlap(region, all_cells(1), level=1)
    assert len(str(refusal.value).splitlines()) == 1


def test_box_is_unordered() -> None:
    for question in (Box([(0, 1)]).cell_cdf, Box([(0, 1)]).cell_quantile):
        with pytest.raises(DomainError, match="has no order"):
            question(np.array([0.5]), all_cells(0), level=0)


# Shares of a cell, the one way and the other


def test_cell_cdf_and_quantile_of_integers() -> None:
    """cell_cdf(x) is the share of integers <= x; cell_quantile(p) is the smallest x with cell_cdf(x) >= p."""
    for size in (2, 3, 8, 13, 49):
        domain = Integers(-4, size - 5)
        for level in range(domain.depth + 1):
            cells = domain.encode(range(-4, size - 4), level=level)
            for cell in np.unique(cells):
                run = np.arange(-4, size - 4)[cells == cell]
                here = np.array([cell])
                for asked in (-5, *run - 1, *run, *run + 0.5, size + 9):
                    assert domain.cell_cdf(np.array([asked]), here, level=level) == (run <= asked).mean()
                for steps in range(4 * len(run) + 1):
                    share = steps / (4 * len(run))
                    least = next(number for number in run if (run <= number).mean() >= share)
                    assert domain.cell_quantile(np.array([share]), here, level=level) == least


@pytest.mark.parametrize("domain", [Integers(0, size - 1) for size in (49, 997, 10**6 + 3)] + [IPv4()], ids=repr)
def test_quantile_inverts_cdf_of_integers(domain: Domain) -> None:
    rng = np.random.default_rng(0)
    for level in {0, 3, domain.depth}:
        numbers = domain.decode(np.zeros(2000, dtype=np.uint64), level=0, rng=rng)
        cells = domain.encode(numbers, level=level)
        assert np.array_equal(
            domain.cell_quantile(domain.cell_cdf(numbers, cells, level=level), cells, level=level), numbers
        )


@pytest.mark.parametrize("domain", [domain for domain in ORDERED if isinstance(domain, Interval)], ids=repr)
def test_quantile_inverts_cdf_of_interval(domain: Interval) -> None:
    rng = np.random.default_rng(0)
    for level in {0, 1, domain.depth // 2}:
        shares = rng.random(1000)
        cells = rng.integers(0, 2**level, size=1000, dtype=np.uint64)
        found = domain.cell_cdf(domain.cell_quantile(shares, cells, level=level), cells, level=level)
        assert np.abs(found - shares).max() < 2.0 ** (level - domain.depth)


@pytest.mark.parametrize("domain", ORDERED, ids=repr)
def test_quantiles_0_and_1(domain: Any) -> None:
    low, high = (0, 2**32 - 1) if isinstance(domain, IPv4) else (domain.low, domain.high)
    root = np.zeros(2, dtype=np.uint64)
    assert domain.cell_quantile(np.array([0.0, 1.0]), root, level=0).tolist() == [low, high]
    level = domain.depth
    ends = domain.encode([low, high], level=level)
    assert domain.cell_cdf(np.array([high, high]), ends, level=level).tolist() == [1, 1]
    assert high == domain.cell_quantile(np.array([0.0, 1.0]), ends, level=level)[1]


# Records drawn from a cell


def uniformity(shares: NDArray[np.float64]) -> float:
    """p-value of a chi-squared test of uniformity on [0, 1) with 100 bins."""
    return float(stats.chisquare(np.bincount((shares * 100).astype(np.int64), minlength=100)).pvalue)


def independence(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """p-value of a chi-squared test of uniformity on [0, 1)**2 with 10 x 10 bins."""
    return uniformity((np.floor(one * 10) + np.clip(other, 0, 0.999)) / 10)


def draw_records(domain: Domain, level: int, cell: int, rng: np.random.Generator) -> NDArray[Any]:
    return domain.decode(np.full(SAMPLES, cell, dtype=np.uint64), level=level, rng=rng)


def draw_balanced(domain: Domain, level: int, cell: int, rng: np.random.Generator) -> NDArray[Any]:
    """Balanced samples of four records; each record alone is uniform in its cell."""
    times = SAMPLES // 4
    cells, levels, counts = np.full(times, cell, dtype=np.uint64), np.full(times, level), np.full(times, 4)
    return domain.sample_allocation(Allocation(cells, levels, counts), balanced=True, rng=rng)


def shares_of(domain: Any, level: int, cell: int, draw: Callable[..., NDArray[Any]]) -> list[NDArray[np.float64]]:
    """Relative position of drawn records in their cell, one array per coordinate."""
    rng = np.random.default_rng(20)
    records = draw(domain, level, cell, rng)
    if isinstance(domain, Interval):
        line = np.vectorize(lambda number: float(log2_by_octave(number))) if domain.scale == "log" else np.asarray
        low, width = line(domain.low), (line(domain.high) - line(domain.low)) / 2**level
        return [(line(records) - low) / width - cell]
    if isinstance(domain, Box):
        sides = sides_of(domain, cell, level)
        return [(column - low) / (high - low) for column, (low, high) in zip(records.T, sides, strict=True)]
    low, high = (0, 2**32 - 1) if isinstance(domain, IPv4) else (domain.low, domain.high)
    run = 2 ** (domain.depth - level)
    first = low + cell * run
    return [(records.astype(np.int64) - first + rng.random(SAMPLES)) / min(run, high + 1 - first)]


DRAWN = [
    (Interval(-3, 5), 0, 0),
    (Interval(0.1, 0.7), 3, 5),
    (Interval(0.5, 100, scale="log"), 2, 2),
    (Integers(0, 1023), 3, 4),
    (Integers(0, 999), 3, 7),
    (Integers(0, 12), 1, 1),
    (IPv4(), 4, 9),
    (Box([(0, 1), (0, 4), (-1, 0)]), 4, 11),
]


@pytest.mark.parametrize("draw", [draw_records, draw_balanced])
@pytest.mark.parametrize(("domain", "level", "cell"), DRAWN, ids=repr)
def test_uniform_draws(domain: Domain, level: int, cell: int, draw: Callable[..., NDArray[Any]]) -> None:
    coordinates = shares_of(domain, level, cell, draw)
    for shares in coordinates:
        assert uniformity(shares) > ALPHA
        assert uniformity(shares**0.9) < ALPHA
        assert uniformity(shares**1.1) < ALPHA


def test_independent_coordinates() -> None:
    some = np.random.default_rng(0).random(SAMPLES) < 0.1
    for one, other in itertools.combinations(shares_of(Box([(0, 1), (0, 4), (-1, 0)]), 4, 11, draw_records), 2):
        assert independence(one, other) > ALPHA
        assert independence(one, np.where(some, one, other)) < ALPHA
        assert independence(one, np.where(some, 1 - one, other)) < ALPHA


def test_forms_of_ipv4_addresses() -> None:
    expected = [0x0A000001] * 5
    forms = ["10.0.0.1", b"10.0.0.1", " 10.0.0.1 ", ipaddress.IPv4Address("10.0.0.1"), 0x0A000001]
    assert IPv4().encode(forms, level=32).tolist() == expected
    assert IPv4().encode(np.array(forms, dtype=object), level=32).tolist() == expected
    assert IPv4().encode(np.array(["10.0.0.1", "167772161"]), level=32).tolist() == expected[:2]


def test_invalid_addresses() -> None:
    strange = ["10.0.0", "10.0.0.256", "10.0.0.1/8", "1.5", ".", "", b"\xff.", ipaddress.IPv6Address("::1"), -1, 2**32]
    assert (IPv4().encode(strange, level=32) == OUTSIDE).all()


def test_box_from_array() -> None:
    assert Box(np.array([[0, 1], [-2, 5]])) == Box([(0, 1), (-2, 5)])

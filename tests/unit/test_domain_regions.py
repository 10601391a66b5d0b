"""Overlaps of regions with cells, and regions that are refused."""

import ipaddress
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from example_domains import all_cells
from privhp import Box, Domain, DomainError, Integers, Interval, IPv4, Table
from privhp.domains.conditions import read_condition
from releases import exact_generator


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


def test_integers_as_regions() -> None:
    """An integer is itself, a collection is its integers, and a tuple is a range, as in conditions."""
    domain = Integers(0, 7)
    generator = exact_generator(domain, [1, 2, 3, 3, 6, 7])
    for region in (3, 3.0, np.int8(3), (3, 3), read_condition("value = 3", domain)):
        assert generator.mass(region).value == pytest.approx(2 / 6)
    for listed in ([6, 3, 3], {3, 6}, np.array([3, 6]), range(3, 9, 3), read_condition("value in [3, 6]", domain)):
        assert generator.mass(listed).value == pytest.approx(3 / 6)
        assert set(generator.sample(100, where=listed, rng=1)) == {3, 6}
    assert generator.mass((3, 6)).value == pytest.approx(3 / 6)
    table = exact_generator(Table(a=Integers(0, 3), b=Integers(0, 3)), {"a": [0, 1, 2, 3], "b": [0, 0, 3, 3]})
    assert table.mass({"a": [1, 2], "b": 3}).value == pytest.approx(1 / 4)
    for wrong in (3.5, "3", None, [3, None], []):
        with pytest.raises(DomainError, match="expected a"):
            generator.mass(wrong)


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
            (0, -math.inf),
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

"""Masses of bins are computed for distinct sides of leaves, not for all leaves."""

from typing import Any

import numpy as np
import pytest

from privhp import Box, Categories, Distribution, Geo, Interval, IPv4, Table
from privhp.reporting.axes import axis_of
from privhp.reporting.region_masses import RegionSides, mean_levels, pair_masses
from privhp.reporting.variables import variables_of
from releases import histogram


def uneven(domain: Any, level: int) -> Distribution:
    return histogram(domain, level, np.random.default_rng(level).integers(0, 9, 2**level).tolist())


def spy_shares(kind: type, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Number of cells of each call of `axis_shares` below the root."""
    calls: list[int] = []
    compute = kind.axis_shares  # type: ignore[attr-defined]  # a class of domains

    def counted(self: Any, region: Any, codes: Any, *, level: int) -> Any:
        if level:
            calls.append(codes.size)
        return compute(self, region, codes, level=level)

    monkeypatch.setattr(kind, "axis_shares", counted)
    return calls


@pytest.mark.parametrize("domain", [Box([(0, 1), (0, 1)]), Geo(-10, 40, 20, 70)], ids=lambda domain: domain.kind)
def test_work_on_many_leaves(domain: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """65,536 leaves have 256 distinct cells along each axis; all maps of a pair share their shares."""
    distribution = uneven(domain, 16)
    axes = [axis_of(distribution, variable) for variable in variables_of(domain)]
    calls = spy_shares(type(domain), monkeypatch)
    sides = [RegionSides(distribution, axis.recut(128).regions) for axis in axes if axis is not None]
    pair_masses(distribution, *sides)
    mean_levels(distribution, *sides)
    assert len(calls) == sum(len(axis.recut(128).regions) for axis in axes if axis is not None)
    assert max(calls) <= 256


def test_column_is_computed_by_its_own_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind is split once, so its 1,024 leaves have two cells."""
    distribution = uneven(Table({"x": Interval(0, 1), "kind": Categories(["a", "b"])}), 10)
    expected = [distribution.mass({"kind": kind}).value for kind in "ab"]
    calls = spy_shares(Categories, monkeypatch)
    assert distribution.masses([{"kind": "a"}, {"kind": "b"}]).value == pytest.approx(expected)
    assert calls == [2, 2]


def test_regions_that_cover_everything() -> None:
    assert uneven(Box([(0, 1), (0, 1)]), 6).masses([(None, None)]).value == pytest.approx([1])
    assert uneven(IPv4(), 6).masses(["0.0.0.0/0"]).value == pytest.approx([1])

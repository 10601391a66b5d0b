"""Masses of bins are computed for distinct cells along an axis, not for all leaves."""

from typing import Any

import numpy as np
import pytest

from privhp import Box, Categories, Distribution, Geo, Interval, IPv4, Table
from privhp.reporting import region_masses
from privhp.reporting.axes import axis_of
from privhp.reporting.region_masses import masses, pair_masses
from privhp.reporting.variables import variables_of
from releases import histogram


def uneven(domain: Any, level: int) -> Distribution:
    return histogram(domain, level, np.random.default_rng(level).integers(0, 9, 2**level).tolist())


def spy_overlap(kind: type, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Level and number of cells of each call of `overlap`."""
    calls: list[tuple[int, int]] = []
    overlap = kind.overlap  # type: ignore[attr-defined]  # a class of domains

    def counted(self: Any, region: Any, codes: Any, *, level: int) -> Any:
        calls.append((level, codes.size))
        return overlap(self, region, codes, level=level)

    monkeypatch.setattr(kind, "overlap", counted)
    return calls


@pytest.mark.parametrize("domain", [Box([(0, 1), (0, 1)]), Geo(-10, 40, 20, 70)], ids=lambda domain: domain.kind)
def test_work_on_many_leaves(domain: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """65,536 leaves have 256 distinct cells along each axis."""
    distribution = uneven(domain, 16)
    axes = [axis_of(distribution, variable) for variable in variables_of(domain)]
    across, up = (axis.recut(128).regions for axis in axes if axis is not None)
    calls = spy_overlap(type(domain), monkeypatch)
    pair_masses(distribution, across, up)
    chunks = 2**16 // region_masses._CHUNK
    assert len(calls) == (len(across) + len(up)) * chunks
    assert max(cells for _, cells in calls) <= 256


def test_column_is_computed_in_its_own_domain(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind is split once, so its 1,024 leaves have two cells."""
    distribution = uneven(Table({"x": Interval(0, 1), "kind": Categories(["a", "b"])}), 10)
    expected = [distribution.mass({"kind": kind}).value for kind in "ab"]
    calls = spy_overlap(Categories, monkeypatch)
    assert masses(distribution, [{"kind": "a"}, {"kind": "b"}]) == pytest.approx(expected)
    assert max(calls) == (1, 2)
    assert len(calls) == 4


def test_regions_that_cover_everything() -> None:
    assert masses(uneven(Box([(0, 1), (0, 1)]), 6), [(None, None)]) == pytest.approx([1])
    assert masses(uneven(IPv4(), 6), ["0.0.0.0/0"]) == pytest.approx([1])

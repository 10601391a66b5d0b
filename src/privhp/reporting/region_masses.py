"""Masses of many regions at once, along one variable or for all pairs of two.

The measure of a leaf is a product over its variables, so the masses of all
pairs of regions are one product of matrices.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from privhp.answers.distribution import Distribution
from privhp.core.cells import Codes, Floats
from privhp.domains import Domain
from privhp.errors import QueryError

Regions = Sequence[Any]

_CHUNK = 2**13  # leaves per step, which bounds the memory


def masses(distribution: Distribution, regions: Regions) -> Floats:
    """Mass of each region."""
    found = np.zeros(len(regions))
    for codes, level, shares in _leaves(distribution):
        found += shares @ _overlaps(distribution.domain, regions, codes, level)
    return np.clip(found, 0.0, 1.0)


def intervals(distribution: Distribution, regions: Regions) -> Floats:
    """Both ends of the 90% interval of each region's mass, shape (2, regions); NaN without least-squares inference."""
    try:
        return np.array([distribution.mass(region).interval(0.9) for region in regions]).reshape(-1, 2).T
    except QueryError:
        return np.full((2, len(regions)), np.nan)


def measure_bins(distribution: Distribution, across: Regions, up: Regions | None = None) -> tuple[Floats, Floats]:
    """Mass of each pair of a region along one variable and one along another, and mean level of its leaves.

    Both have one row per region of `up`; without it, a single row. Levels are
    weighted by the base measure.
    """
    domain = distribution.domain
    masses, weighted, weights = np.zeros((3, 1 if up is None else len(up), len(across)))
    for codes, level, shares in _leaves(distribution, empty=True):
        columns = _overlaps(domain, across, codes, level)
        rows = np.ones((codes.size, 1)) if up is None else _overlaps(domain, up, codes, level)
        found = (domain.measure(codes, level=level)[:, None] * rows).T @ columns
        masses += (shares[:, None] * rows).T @ columns
        weighted += level * found
        weights += found
    levels = np.divide(weighted, weights, out=np.zeros_like(weighted), where=weights > 0)
    return np.clip(masses, 0.0, 1.0), levels


def _leaves(distribution: Distribution, *, empty: bool = False) -> Iterator[tuple[Codes, int, Floats]]:
    """Leaves of one level at a time with their masses; empty leaves only if asked for."""
    leaves, shares = distribution.leaves(), distribution.probabilities
    for level in np.unique(leaves.levels).tolist():
        chosen = np.flatnonzero((leaves.levels == level) & (empty | (shares > 0)))
        for start in range(0, chosen.size, _CHUNK):
            indices = chosen[start : start + _CHUNK]
            yield leaves.codes[indices], level, shares[indices]


def _overlaps(domain: Domain, regions: Regions, codes: Codes, level: int) -> Floats:
    """Share of each leaf's measure in each region, one row per leaf."""
    return np.stack([domain.overlap(region, codes, level=level) for region in regions], axis=1)

"""How much of a distribution lies in many regions at once.

Regions along one part of the records, or every pair of such regions along two.
A leaf's measure is a product over its parts, so that of a pair is a product
too, and all pairs together are one product of matrices.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from privhp.answers.distribution import Distribution
from privhp.answers.generator import Generator
from privhp.core.cells import Codes, Floats
from privhp.domains import Domain

Regions = Sequence[Any]

NINE_IN_TEN = 1.645
"""So many standard errors hold the truth nine times in ten."""

_CHUNK = 2**13  # leaves looked at together, which bounds the memory


def masses(distribution: Distribution, regions: Regions) -> Floats:
    """Probability of each region."""
    found = np.zeros(len(regions))
    for codes, level, chances in _leaves(distribution):
        found += chances @ _overlaps(distribution.domain, regions, codes, level)
    return np.clip(found, 0.0, 1.0)


def doubts(distribution: Distribution, regions: Regions) -> Floats:
    """How far the truth lies at most from the probability of each region, nine times in ten; 0 where it is unknown."""
    if not isinstance(distribution, Generator) or distribution.plan.inference != "least-squares":
        return np.zeros(len(regions))
    return np.array([NINE_IN_TEN * float(distribution.mass(region).stderr) for region in regions])


def survey(distribution: Distribution, across: Regions, up: Regions | None = None) -> tuple[Floats, Floats]:
    """Of each pair of a region along one part and one along another: probability, and mean level of the leaves.

    Both have a row for each region of `up`; without it, one for all records.
    Levels are weighed by the base measure.
    """
    domain = distribution.domain
    masses, weighted, weights = np.zeros((3, 1 if up is None else len(up), len(across)))
    for codes, level, chances in _leaves(distribution, empty=True):
        columns = _overlaps(domain, across, codes, level)
        rows = np.ones((codes.size, 1)) if up is None else _overlaps(domain, up, codes, level)
        found = (domain.measure(codes, level=level)[:, None] * rows).T @ columns
        masses += (chances[:, None] * rows).T @ columns
        weighted += level * found
        weights += found
    levels = np.divide(weighted, weights, out=np.zeros_like(weighted), where=weights > 0)
    return np.clip(masses, 0.0, 1.0), levels


def _leaves(distribution: Distribution, *, empty: bool = False) -> Iterator[tuple[Codes, int, Floats]]:
    """Leaves of one level at a time, with their probabilities; those that have any, unless empty ones are wanted."""
    leaves, chances = distribution.leaves(), distribution.probabilities
    for level in np.unique(leaves.levels).tolist():
        own = np.flatnonzero((leaves.levels == level) & (empty | (chances > 0)))
        for start in range(0, own.size, _CHUNK):
            places = own[start : start + _CHUNK]
            yield leaves.codes[places], level, chances[places]


def _overlaps(domain: Domain, regions: Regions, codes: Codes, level: int) -> Floats:
    """Share of each leaf's measure in each region: one row for each leaf."""
    return np.stack([domain.overlap(region, codes, level=level) for region in regions], axis=1)

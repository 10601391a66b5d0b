"""Relative errors of the masses of regions."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Sequence
from typing import Any

import numpy as np

from privhp.answers.distribution import Distribution
from privhp.core.cells import Floats
from privhp.domains.domain import Domain
from privhp.evaluate.inputs import Side, cells_of, common_domain

LEAST_SHARE = 0.001
"""Smallest denominator of a relative error, as a share of all records."""


def range_errors(answers: Side, truth: Side, regions: Sequence[Any], *, domain: Domain | None = None) -> Floats:
    """Error of each region's mass, relative to the larger of the true mass and 0.001. NOT private.

    Args:
        answers: A generator or records.
        truth: A generator or records; usually real records.
        regions: Regions as `Distribution.mass` takes them.
        domain: Domain of the records, if neither side is a generator.
    """
    space = common_domain(answers, truth, domain)
    found, real = (region_masses(side, regions, domain=space) for side in (answers, truth))
    return relative_errors(found, real)


def relative_errors(found: Floats, real: Floats) -> Floats:
    """Error of each mass, relative to the larger of the true mass and 0.001. NOT private."""
    return np.abs(found - real) / np.maximum(real, LEAST_SHARE)


def region_masses(side: Side, regions: Sequence[Any], *, domain: Domain) -> Floats:
    """Mass of each region under a generator, or share of the records in it. NOT private for records."""
    if isinstance(side, Distribution):
        return np.array([side.mass(region).value for region in regions])
    cells = cells_of(side, domain, level=domain.depth)
    return np.array([domain.overlap(region, cells, level=domain.depth).mean() for region in regions])


def random_regions(domain: Domain, count: int, *, rng: np.random.Generator | int | None = None) -> list[Any]:
    """Random regions for range queries: intervals, boxes, or IPv4 prefixes of 1 to 16 bits."""
    return domain.random_regions(count, rng=np.random.default_rng(rng))

"""How wrong answers about regions are."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Sequence
from typing import Any

import numpy as np

from privhp.answers.generator import Generator
from privhp.core.cells import Floats
from privhp.domains.box import Box
from privhp.domains.domain import Domain
from privhp.domains.ip import IPv4
from privhp.errors import DomainError
from privhp.evaluate.inputs import Side, cells_of, common_domain

LEAST_SHARE = 0.001
"""Share of all records below which an error is no longer relative to the truth."""


def range_errors(answers: Side, truth: Side, regions: Sequence[Any], *, domain: Domain | None = None) -> Floats:
    """Error of each region's mass, relative to the true one or to 0.001 if that is more. NOT private.

    Args:
        answers: A generator or records.
        truth: The same; usually real records.
        regions: Regions as `Generator.mass` takes them.
        domain: Where the records live, if neither side is a generator.
    """
    space = common_domain(answers, truth, domain)
    found, real = (region_masses(side, regions, domain=space) for side in (answers, truth))
    return relative_errors(found, real)


def relative_errors(found: Floats, real: Floats) -> Floats:
    """Error of each mass, relative to the true one or to 0.001 if that is more. NOT private."""
    return np.abs(found - real) / np.maximum(real, LEAST_SHARE)


def region_masses(side: Side, regions: Sequence[Any], *, domain: Domain) -> Floats:
    """Mass of each region under a generator, or share of the records in it. NOT private, if of records."""
    if isinstance(side, Generator):
        return np.array([side.mass(region).value for region in regions])
    cells = cells_of(side, domain, level=domain.depth)
    return np.array([domain.overlap(region, cells, level=domain.depth).mean() for region in regions])


def random_regions(domain: Domain, count: int, *, rng: np.random.Generator | int | None = None) -> list[Any]:
    """Regions to ask about: boxes with even random ends, intervals, or IP prefixes of 1 to 16 bits."""
    rng = np.random.default_rng(rng)
    if isinstance(domain, IPv4):
        lengths = rng.integers(1, 17, count)
        prefixes = rng.integers(0, 2**lengths) << (32 - lengths)
        octets = (prefixes[:, None] >> np.array([24, 16, 8, 0])) & 255
        return [
            f"{'.'.join(map(str, address))}/{length}"
            for address, length in zip(octets.tolist(), lengths.tolist(), strict=True)
        ]
    if isinstance(domain, Box):
        sides = [(axis.low + np.sort(rng.random((count, 2))) * axis.width).tolist() for axis in domain.axes]
        return [list(map(tuple, region)) for region in zip(*sides, strict=True)]
    if not domain.ordered:
        raise DomainError(f"expected an ordered domain or a Box, got {domain!r}")
    root = np.zeros(count, dtype=np.uint64)
    ends = np.sort(rng.random((count, 2)))
    lows, highs = (domain.cell_quantile(share, root, level=0) for share in ends.T)
    return list(zip(lows.tolist(), highs.tolist(), strict=True))

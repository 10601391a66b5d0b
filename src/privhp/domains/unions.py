"""Unions of disjoint regions: what conditions with `or`, `!=` and lists of numbers denote, and lists with null."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from privhp.core.cells import Codes, Floats

if TYPE_CHECKING:
    from privhp.domains.domain import Domain

Ends = tuple[Any, Any]
"""First and last value of a range; None is an open end."""


@dataclass(frozen=True)
class AnyOf:
    """Union of regions of a domain, no two of which have a record in common."""

    parts: tuple[Any, ...]


def parts_of(region: Any) -> tuple[Any, ...]:
    """The disjoint regions of a union; any other region alone."""
    return region.parts if isinstance(region, AnyOf) else (region,)


def union(parts: Sequence[Any]) -> Any:
    """The union of disjoint regions; a single one is itself."""
    return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))


def parts_in(domain: Domain, region: Any) -> list[Any]:
    """The disjoint regions of which a region or a union consists; see `Domain.region_parts`."""
    return [part for own in parts_of(region) for part in _parts_of_columns(domain, own)]


def _parts_of_columns(domain: Domain, region: Any) -> Sequence[Any]:
    """Parts of a region; of a table, one for each choice of parts of its columns."""
    if not domain.columns or not isinstance(region, Mapping):
        return domain.region_parts(region)
    known = {column.name: column for column in domain.columns}
    parts = [known[name].region_parts(own) if name in known else [own] for name, own in region.items()]
    return [dict(zip(region, chosen, strict=True)) for chosen in product(*parts)]


def share_inside(domain: Domain, region: Any, codes: Codes, *, level: int) -> Floats:
    """Share of each cell's measure inside a region or a union; see `Domain.overlap`."""
    shares = [domain.overlap(part, codes, level=level) for part in parts_in(domain, region)]
    return shares[0] if len(shares) == 1 else np.minimum(np.sum(shares, axis=0), 1.0)


def merge_ranges(ranges: Sequence[Ends]) -> list[Ends]:
    """Disjoint ranges with the same values, in increasing order."""
    opened = [own for own in ranges if own[0] is None]
    merged: list[Ends] = []
    for low, high in [*opened, *sorted((own for own in ranges if own[0] is not None), key=lambda own: own[0])]:
        if merged and (low is None or merged[-1][1] is None or low <= merged[-1][1]):
            first, last = merged[-1]
            merged[-1] = first, None if last is None or high is None else max(last, high)
        else:
            merged.append((low, high))
    return merged

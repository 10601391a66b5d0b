"""Releases and generators with given noise or without noise."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp import Domain, Generator, Plan, Tally
from privhp.core.cells import Counts, fold
from privhp.release import Release


def exact_counts(tally: Tally) -> dict[int, Counts]:
    """Exact counts of every measured level."""
    plan = tally.plan
    exact = {level: fold(tally.counters, levels=plan.exact_depth - level) for level in plan.exact_levels}
    return exact | tally.sketches


def release_of(plan: Plan, records: Any, noise: Mapping[int, Counts] | None = None) -> Release:
    """The release of a summary of some records with given noise, by default none."""
    tally = Tally(plan)
    tally.add(records)
    exact = exact_counts(tally)
    return Release(plan, exact if noise is None else {level: exact[level] + noise[level] for level in exact})


def histogram(domain: Domain, level: int, counts: list[int]) -> Generator:
    """A generator with these counts in the cells of one level."""
    plan = Plan(domain, epsilon=1, budgets={level: 1}, exact_depth=level)
    return Generator(Release(plan, {level: np.array(counts)}))


def exact_generator(domain: Domain, records: Any, *, depth: int | None = None) -> Generator:
    """A generator with the true count of every cell of a level."""
    level = min(domain.depth, 12) if depth is None else depth
    return Generator(release_of(Plan(domain, epsilon=1, budgets={level: 1}, exact_depth=level), records))


def nodes_of(generator: Generator) -> list[tuple[int, int]]:
    """Level and cell of each leaf, in order."""
    leaves = generator.leaves()
    return list(zip(leaves.levels.tolist(), leaves.codes.tolist(), strict=True))


def leaf_indices(generator: Generator, records: Any) -> NDArray[np.int64]:
    """Index of the leaf of each record."""
    leaves = generator.leaves()
    depth = int(leaves.levels.max())
    codes = generator.domain.encode(records, level=depth)
    starts = leaves.codes << (depth - leaves.levels).astype(np.uint64)
    return np.searchsorted(starts, codes, side="right") - 1

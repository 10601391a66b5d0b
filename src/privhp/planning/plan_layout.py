"""Levels, counters and noise of a plan: all that follows from its fields."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from privhp.core.budget import Neighbours, amplified_cost, noise_variance, sensitivity
from privhp.core.cells import Counts
from privhp.domains.domain import Domain
from privhp.planning import sketch_hashing
from privhp.planning.learning import Learning
from privhp.planning.parameter_checks import COUNTER_BYTES
from privhp.planning.partition import Partition
from privhp.planning.plan_sizes import Expand

Measurement = Literal["exact", "sketched", "learned"]
"""How a level is measured: a counter per cell, a Count-Min sketch, or a learned partition."""


class PlanLayout:
    """What follows from the fields of a plan, which `Plan` documents."""

    domain: Domain
    budgets: Mapping[int, Fraction]
    exact_depth: int
    sketch_rows: int
    sketch_width: int
    hot_cells: int
    expand: Expand
    learning: Learning | None
    partition: Partition | None
    neighbours: Neighbours
    max_records_per_person: int
    pan_private: bool
    hash_group: int
    hash_seed: int

    @property
    def column_plans(self) -> Mapping[str, "PlanLayout"]:
        """Plans of the columns that are measured by themselves, by label."""
        raise NotImplementedError

    def measurement(self, level: int) -> Measurement:
        """How a measured level is measured. All other methods ask this one."""
        if level <= self.exact_depth:
            return "exact"
        return "learned" if self.has_partition else "sketched"

    def _levels_measured(self, measurement: Measurement) -> list[int]:
        return [level for level in self.budgets if self.measurement(level) == measurement]

    @property
    def exact_levels(self) -> list[int]:
        """Exact levels, coarsest first."""
        return self._levels_measured("exact")

    @property
    def sketched_levels(self) -> list[int]:
        """Sketched levels, coarsest first."""
        return self._levels_measured("sketched")

    @property
    def has_partition(self) -> bool:
        """Whether a partition is measured, known or still to be learned."""
        return self.partition is not None or self.learning is not None

    @property
    def passes(self) -> int:
        """Number of times that the data is read to learn and to measure."""
        return 1 if self.learning is None else len(self.learning.passes) + 1

    @property
    def pass_budgets(self) -> list[tuple[Fraction, Fraction]]:
        """Sampling rate and budget of each learning pass; a pass counts records and their values in columns."""
        if self.learning is None:
            return []
        columns = [own.learning.passes for own in self.column_plans.values() if own.learning is not None]
        return [
            (passes[0].rate, sum((own.budget for own in passes), Fraction(0)))
            for passes in zip(self.learning.passes, *columns, strict=True)
        ]

    @property
    def learning_cost(self) -> Fraction:
        """Privacy loss of all learning passes, by amplification."""
        return sum((amplified_cost(rate, budget) for rate, budget in self.pass_budgets), Fraction(0))

    @property
    def learned_level(self) -> int:
        """Root level of the partition."""
        return max(self.budgets)

    @property
    def depth(self) -> int:
        """Deepest level of a cell: that of the finest leaf, or of the domain if the partition is not known yet."""
        if self.partition is not None:
            return self.partition.max_level
        return max(self.budgets) if self.learning is None else self.domain.depth

    @property
    def shapes(self) -> dict[int, tuple[int, ...]]:
        """Shape of the counters of each measured level, coarsest first."""
        deeper = (self.leaves,) if self.has_partition else (self.sketch_rows, self.sketch_width)
        return {level: (2**level,) if self.measurement(level) == "exact" else deeper for level in self.budgets}

    @property
    def counters(self) -> int:
        """Number of counters of a summary; an upper bound if the partition is not known yet."""
        return self._own_counters + sum(own.counters for own in self.column_plans.values())

    @property
    def _own_counters(self) -> int:
        """Counters of all records together, without those of single columns."""
        return sum(math.prod(shape) for shape in self.shapes.values())

    @property
    def nbytes(self) -> int:
        """Bytes of the counters of a summary, with the nodes of a partition; an upper bound before it is known."""
        columns = sum(own.nbytes for own in self.column_plans.values())
        if not self.has_partition:
            return self._own_counters * COUNTER_BYTES + columns
        return (self._own_counters - self.leaves) * COUNTER_BYTES + self.partition_nbytes + columns

    @property
    def partition_nbytes(self) -> int:
        """Bytes of the counters and nodes of the partition, at most."""
        if self.partition is not None:
            return self.partition.nbytes
        return 0 if self.learning is None else self.learning.nbytes

    @property
    def leaves(self) -> int:
        """Number of leaves of a release, at most."""
        if self.partition is not None:
            return self.partition.size
        if self.learning is not None:
            return self.learning.nbytes // COUNTER_BYTES
        leaves, level, cells = 0, self.exact_depth, 1 << self.exact_depth
        for deeper in self.sketched_levels:
            splits_all = self.expand == "all" and level == self.exact_depth
            hot = cells if splits_all else min(cells, self.hot_cells)
            leaves, level, cells = leaves + cells - hot, deeper, hot << (deeper - level)
        return leaves + cells

    def unpack(self, counts: Counts) -> dict[int, Counts]:
        """The counters of each level, from one flat array of all counters, coarsest level first."""
        ends = np.cumsum([math.prod(shape) for shape in self.shapes.values()])
        *parts, _ = np.split(counts, ends)
        return {level: part.reshape(shape) for (level, shape), part in zip(self.shapes.items(), parts, strict=True)}

    def unpack_columns(self, counts: Counts) -> dict[str, Counts]:
        """The counters of each column that is measured by itself, from one flat array of all counters."""
        ends = self._own_counters + np.cumsum([0, *(own.counters for own in self.column_plans.values())])
        _, *parts, _ = np.split(counts, ends)
        return dict(zip(self.column_plans, parts, strict=True))

    def sensitivity(self, level: int) -> int:
        """L1 sensitivity of a level: the change of its counters, summed, by one person."""
        rows = self.sketch_rows if self.measurement(level) == "sketched" else 1
        return sensitivity(self.neighbours, level=level, rows=rows, max_records_per_person=self.max_records_per_person)

    def scale(self, level: int) -> Fraction:
        """Scale of a noise draw in each counter of a level: sensitivity / budget."""
        return self.sensitivity(level) / self.budgets[level]

    def noise_variance(self, level: int, *, merged: int = 1) -> float:
        """Variance of the noise in each counter of a released level.

        There is one draw for each merged summary, and one more if the plan is pan-private.
        """
        return noise_variance(float(self.scale(level))) * (merged + self.pan_private)

    @property
    def hash_levels(self) -> dict[int, int]:
        """For each sketched level, the level of the ancestor that is hashed; see `sketch_hashing`."""
        return sketch_hashing.hash_levels(
            self.sketched_levels, exact_depth=self.exact_depth, hash_group=self.hash_group
        )

    def hash_coefficients(self, level: int) -> NDArray[np.uint64]:
        """Three public random words per row of a level's sketch."""
        return sketch_hashing.hash_coefficients(self.hash_seed, base=self.hash_levels[level], rows=self.sketch_rows)

"""Shapes that the planner chooses from: the levels that are measured, and the counters of each."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from privhp.planning.parameter_checks import COUNTER_BYTES, MAX_WIDTH
from privhp.planning.partition import Partition, complete_nbytes
from privhp.planning.streams import Geometry
from privhp.planning.tuning import Tuning, resolved_level


class Shape(NamedTuple):
    """Candidate sizes: the measured levels and their counters.

    Args:
        exact: Exact levels, coarsest first.
        root: Root level of a partition.
        nbytes: Bytes of the partition.
        sketched: Sketched levels, coarsest first.
        width: Buckets of a sketch row.
    """

    exact: tuple[int, ...]
    root: int | None = None
    nbytes: int = 0
    sketched: tuple[int, ...] = ()
    width: int = 0

    @property
    def levels(self) -> tuple[int, ...]:
        """All measured levels, coarsest first."""
        return (*self.exact, *(() if self.root is None else (self.root,)), *self.sketched)

    @property
    def groups(self) -> list[tuple[int, ...]]:
        """Levels whose budgets are varied together: the sketched levels, and each other level by itself."""
        alone: list[tuple[int, ...]] = [(level,) for level in self.levels if level not in self.sketched]
        return [*alone, self.sketched] if self.sketched else alone


class Shapes:
    """Candidate shapes: equally spaced exact levels, alone or above a partition or sketches.

    Args:
        geometry: Geometry of the domain.
        tuning: Constants for it.
        epsilon: Total privacy budget.
        expected_records: Expected number of records.
        counters: Number of counters in the memory.
        has_rates: Whether there are passes that may learn a partition.
        partition: A partition that is known before.
    """

    def __init__(
        self,
        geometry: Geometry,
        tuning: Tuning,
        *,
        epsilon: Fraction,
        expected_records: int,
        counters: int,
        has_rates: bool,
        partition: Partition | None,
    ) -> None:
        self._geometry, self._tuning = geometry, tuning
        self._epsilon, self._expected_records = epsilon, expected_records
        self._counters, self._has_rates, self._partition = counters, has_rates, partition

    def __iter__(self) -> Iterator[Shape]:
        tuning = self._tuning
        levels = self._exact_levels()
        sketched_from = max(4, levels[-1][-1] - tuning.sketched_window) if levels[-1] else 0
        for exact in levels:
            left = self._counters - sum(2**level for level in exact)
            if self._partition is not None:
                yield from self._partition_shapes(self._partition, exact, left)
            elif self._has_rates:
                yield from self._learned_shapes(exact, left)
            elif exact[-1] >= sketched_from:
                yield from self._sketched_shapes(exact, left)
            if exact and self._partition is None:
                yield Shape(exact)

    def _exact_levels(self) -> list[tuple[int, ...]]:
        """Candidate exact levels that fit: some with equal distances, or none above a partition on a line."""
        tuning, resolved = self._tuning, resolved_level(self._epsilon, self._expected_records) + 2
        most = min(int(math.log2(self._counters)), self._geometry.depth, resolved)
        has_partition = self._partition is not None or self._has_rates
        levels = tuning.max_exact_levels_above_learned if has_partition else tuning.max_exact_levels_alone
        equal = (
            tuple(range(top - step * (count - 1), top + 1, step))
            for top in range(1, most + 1)
            for count in range(1, levels + 1)
            for step in (range(2, 6) if count > 1 else (1,))
        )
        fitting = [
            exact
            for exact in equal
            if 1 <= exact[0] <= tuning.max_first_exact_level and sum(2**level for level in exact) <= self._counters
        ]
        return [(), *fitting] if self.learns and self._geometry.is_line else fitting

    @property
    def learns(self) -> bool:
        """Whether a partition is learned, whatever the error model says: it adapts to data that is unlike its streams.

        Off lines, levels alone are no worse for little data.
        """
        resolved = resolved_level(self._epsilon, self._expected_records)
        if not self._has_rates or not (self._geometry.is_line or resolved >= self._tuning.min_learning_level):
            return False
        roots = self._root_levels(self._counters * COUNTER_BYTES)
        return bool(roots) and roots[-1] < self._geometry.depth

    def _partition_shapes(self, partition: Partition, exact: tuple[int, ...], left: int) -> Iterator[Shape]:
        """Shapes with a partition that is known before below the exact levels."""
        if exact[-1] < partition.min_level and partition.nbytes <= left * COUNTER_BYTES:
            yield Shape(exact, root=partition.min_level, nbytes=partition.nbytes)

    def _learned_shapes(self, exact: tuple[int, ...], left: int) -> Iterator[Shape]:
        """Shapes with a partition to learn below the exact levels."""
        tuning = self._tuning
        if min(exact, default=63) < tuning.min_first_exact_level:
            return
        for level in self._root_levels(left * COUNTER_BYTES):
            if tuning.min_levels_above_learned <= level - max(exact, default=0) <= tuning.max_levels_above_learned:
                if level < self._geometry.depth:
                    yield Shape(exact, root=level, nbytes=left * COUNTER_BYTES)
                elif 2**level <= left:  # its cells cannot be split, so there is nothing to learn
                    yield Shape((*exact, level))

    def _root_levels(self, nbytes: int) -> list[int]:
        """Root levels of a partition in a memory: on a line the deepest one whose cells hold enough records."""
        tuning, depth = self._tuning, self._geometry.depth
        limit = min(tuning.root_limit(self._epsilon, self._expected_records), depth)
        if not self._geometry.is_line and depth <= resolved_level(self._epsilon, self._expected_records):
            limit = depth  # all values are above the noise
        if self._geometry.is_line and complete_nbytes(limit) * tuning.leaves_per_deepest_root <= nbytes:
            return [limit]
        levels = [
            level
            for level in range(1, limit + 1)
            if complete_nbytes(level) * tuning.leaves_per_root <= nbytes or level == depth
        ]
        return levels[-1:] if self._geometry.is_line else levels

    def _sketched_shapes(self, exact: tuple[int, ...], left: int) -> Iterator[Shape]:
        """Shapes with sketched levels below the exact levels."""
        rows, step = self._tuning.sketch_rows, self._tuning.sketch_step
        for count in (1, 2, 3, 5, 8):
            deepest = exact[-1] + step * count
            width = min(left // (rows * count), MAX_WIDTH) // 16 * 16
            if deepest <= self._geometry.depth and width >= self._tuning.min_sketch_width:
                yield Shape(exact, sketched=tuple(range(exact[-1] + step, deepest + 1, step)), width=width)

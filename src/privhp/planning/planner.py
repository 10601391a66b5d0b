"""A plan chosen for accuracy: the settings whose predicted error is least.

Takes what is public (the domain, epsilon, an expected number of records, a
memory), tries many shapes, optimises the budgets of each, and gives the best.
It sees no record.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privhp.core.budget import Neighbours, sensitivity, split
from privhp.domains.domain import Domain
from privhp.errors import PlanError
from privhp.planning.error_model import STREAMS, Geometry, Growing, Outline, Sketched, predict
from privhp.planning.growth import MAX_SLOTS, Growth
from privhp.planning.parameters import MAX_WIDTH

CELL_BYTES = 8
LEAST_WORK, MOST_WORK = 2**12, 2**22
"""Bytes that are left for the work on a batch, an eighth of the memory in between; never more than a quarter."""

REFINED_ON_A_LINE, REFINED = (1 / 16,), (1 / 64, 1 / 8)
"""Shares of the expected records after which a partition is refined; each costs every cell noise once more."""

LEAST_ON_A_LINE, LEAST_WHERE_HALVED, LEAST = 20.0, 8.0, 5.0
"""Records that a part must expect, in scales of its noise.

On a line noise adds up, and where each level halves the diameter, coarse levels
weigh as much as fine ones; elsewhere most of the error is in the finest cells.
"""

ROOTS_ON_A_LINE, ROOTS = 1.25, 2.0
"""Slots for each cell that a partition starts from, at least; all that is left is for its growth."""

FIRST_ON_A_LINE = 4
"""Deepest first level on a line: among many coarse cells one has a large error, far from all records."""

DEEPEST_ROOTS_ON_A_LINE = 12
"""Finer cells than these gain nothing on a line, where growth serves as well."""

SKETCH_ROWS, SKETCH_STEP = 2, 2

LEAST_SHARE, GROWING_SHARE_WHERE_HALVED, GROWING_SHARE = 0.04, 0.35, 0.6
"""Of the budget, for each measured level, and for a partition that grows: real streams are uneven at all scales.

Where each level halves the diameter, as on a line, coarse levels need more.
"""

FINALISTS = 24
"""How many shapes have their budgets optimised."""


@dataclass(frozen=True)
class Shape:
    """Which levels are measured, and how."""

    exact: tuple[int, ...]
    grows_from: int | None = None
    slots: int = 0
    sketched: tuple[int, ...] = ()
    width: int = 0

    @property
    def levels(self) -> tuple[int, ...]:
        """All measured levels, coarsest first."""
        return (*self.exact, *(() if self.grows_from is None else (self.grows_from,)), *self.sketched)


class Planner:
    """The search for a plan.

    Args:
        domain: Where the records live.
        epsilon: Total privacy budget.
        expected_records: Expected number of records.
        memory: Bytes for counters and the work on a batch.
        neighbours: The neighbouring relation.
        max_records_per_person: How many records one person may have.
        growing: Whether the partition may grow.
    """

    def __init__(
        self,
        domain: Domain,
        *,
        epsilon: Fraction,
        expected_records: int,
        memory: int,
        neighbours: Neighbours,
        max_records_per_person: int,
        growing: bool,
    ) -> None:
        self._geometry = Geometry.of(domain)
        self._domain, self._epsilon, self._expected_records, self._memory = domain, epsilon, expected_records, memory
        self._neighbours, self._per_person, self._growing = neighbours, max_records_per_person, growing
        diameters = self._geometry.diameters
        self._halved = domain.is_line or diameters[min(8, domain.depth)] <= diameters[0] / 2.0**8
        self._growing_share = GROWING_SHARE_WHERE_HALVED if self._halved else GROWING_SHARE
        work = max(memory // 8, min(memory // 4, LEAST_WORK))
        self._words = min((memory - min(work, MOST_WORK)) // CELL_BYTES, MAX_SLOTS)
        if self._words < 16:
            raise PlanError(f"expected a memory of at least 256 bytes, got {memory}")

    def settings(self) -> dict[str, Any]:
        """Sizes and budgets of the best plan."""
        promising = sorted(self._shapes(), key=lambda shape: self._error(shape, self._even(shape)))[:FINALISTS]
        _, shape, shares = min((self._optimised(shape) for shape in promising), key=lambda found: found[0])
        budgets = split(self._epsilon, shares)
        settings: dict[str, Any] = {
            "epsilon": self._epsilon,
            "budgets": budgets,
            "exact_depth": shape.exact[-1],
            "inference": "least-squares",
            "memory": self._memory,
            "expected_records": self._expected_records,
        }
        if shape.grows_from is not None:
            scale = float(self._sensitivity(shape.grows_from) / budgets[shape.grows_from])
            settings["growth"] = Growth(
                slots=shape.slots,
                refined_after=self._moments(),
                least=max(math.ceil(self._least(scale)), 1),
            )
        if shape.sketched:
            settings |= {"sketch_rows": SKETCH_ROWS, "sketch_width": shape.width, "hot_cells": shape.width // 8}
            settings["hash_group"] = 4
        return settings

    def _shapes(self) -> Iterator[Shape]:
        """The shapes that are tried: exact levels a few apart, and perhaps more below."""
        for top in range(1, min(int(math.log2(self._words)), self._domain.depth) + 1):
            for step in range(2, 7):
                for most in range(1, self._most_exact() + 1):
                    exact = tuple(range(top, 0, -step))[:most][::-1]
                    left = self._words - sum(2**level for level in exact)
                    if left < 0 or (self._domain.is_line and exact[0] > FIRST_ON_A_LINE):
                        continue
                    yield Shape(exact)
                    if self._growing:
                        yield from self._growing_shapes(exact, left)
                    elif top >= 4:
                        yield from self._sketched_shapes(exact, left)

    def _most_exact(self) -> int:
        """Exact levels, at most: many thin budgets have rare large errors that a variance does not show."""
        return 4 if not self._growing else 2 if self._domain.is_line else 3

    def _growing_shapes(self, exact: tuple[int, ...], left: int) -> Iterator[Shape]:
        on_line = self._domain.is_line
        deepest = min(exact[-1] + 5, self._domain.depth, DEEPEST_ROOTS_ON_A_LINE if on_line else self._most_told())
        for level in range(exact[-1] + 1, deepest + 1):
            if level == self._domain.depth:  # nothing is left to grow, and a refinement would only add noise
                if 2**level <= left:
                    yield Shape((*exact, level))
                break
            slots = left
            while slots >= 2**level * (ROOTS_ON_A_LINE if on_line else ROOTS):
                yield Shape(exact, grows_from=level, slots=slots)
                slots //= 4  # more parts have more noise in all, so that memory may well be left

    def _most_told(self) -> int:
        """Level of about as many cells as there are records and budget for; the noise hides records of deeper ones."""
        return max(int(self._epsilon * self._expected_records), 1).bit_length() - 1

    def _sketched_shapes(self, exact: tuple[int, ...], left: int) -> Iterator[Shape]:
        for count in range(1, 9):
            deepest = exact[-1] + SKETCH_STEP * count
            width = min(left // (SKETCH_ROWS * count), MAX_WIDTH) // 16 * 16
            if deepest <= self._domain.depth and width >= 64:
                yield Shape(
                    exact, sketched=tuple(range(exact[-1] + SKETCH_STEP, deepest + 1, SKETCH_STEP)), width=width
                )

    def _optimised(self, shape: Shape) -> tuple[float, Shape, dict[int, float]]:
        """The shape with the shares of the budget that predict least error: each in turn more, then less."""
        shares = self._even(shape)
        least, step = self._error(shape, shares), 0.5
        while step > 0.05 and len(shares) > 1:
            better = False
            for level in shape.levels:
                for factor in (1.0 + step, 1.0 / (1.0 + step)):
                    moved = {other: share * (factor if other == level else 1.0) for other, share in shares.items()}
                    whole = sum(moved.values())
                    moved = {other: share / whole for other, share in moved.items()}
                    error = self._error(shape, moved)
                    if error < least and self._is_fair(shape, moved):
                        least, shares, better = error, moved, True
            step = step if better else step / 2
        return least, shape, shares

    def _even(self, shape: Shape) -> dict[int, float]:
        """The same share of the budget for every level, and more for a partition that grows if there are many."""
        growing = max(1.0 / len(shape.levels), self._growing_share) if shape.grows_from is not None else 0.0
        others = [level for level in shape.levels if level != shape.grows_from]
        shares = dict.fromkeys(others, (1.0 - growing) / len(others))
        return shares if shape.grows_from is None else {**shares, shape.grows_from: growing}

    def _is_fair(self, shape: Shape, shares: dict[int, float]) -> bool:
        growing = 1.0 if shape.grows_from is None else shares[shape.grows_from]
        return min(shares.values()) >= LEAST_SHARE and growing >= self._growing_share

    def _error(self, shape: Shape, shares: dict[int, float]) -> float:
        """Predicted error whatever the stream: a geometric mean over its kinds."""
        outline = self._outline(shape, shares)
        return math.prod(max(predict(outline, stream).total, 1e-30) for stream in STREAMS)

    def _outline(self, shape: Shape, shares: dict[int, float]) -> Outline:
        scales = {level: self._sensitivity(level) / (share * float(self._epsilon)) for level, share in shares.items()}
        noise = {level: 2.0 * scale**2 for level, scale in scales.items()}
        deeper: Growing | Sketched | None = None
        if shape.grows_from is not None:
            deeper = Growing(
                level=shape.grows_from,
                variance=noise[shape.grows_from],
                slots=shape.slots,
                moments=self._refined(),
                least=self._least(scales[shape.grows_from]),
            )
        elif shape.sketched:
            rows = {level: noise[level] * SKETCH_ROWS**2 for level in shape.sketched}
            deeper = Sketched(rows, SKETCH_ROWS, shape.width, shape.width // 8)
        return Outline(self._geometry, self._expected_records, {level: noise[level] for level in shape.exact}, deeper)

    def _sensitivity(self, level: int) -> int:
        return sensitivity(self._neighbours, level=level, rows=1, max_records_per_person=self._per_person)

    def _least(self, scale: float) -> float:
        return scale * (LEAST_ON_A_LINE if self._domain.is_line else LEAST_WHERE_HALVED if self._halved else LEAST)

    def _moments(self) -> tuple[int, ...]:
        return tuple(sorted({max(int(self._expected_records * share), 1) for share in self._refined()}))

    def _refined(self) -> tuple[float, ...]:
        return REFINED_ON_A_LINE if self._domain.is_line else REFINED

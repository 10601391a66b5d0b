"""What is measured: the parameters of a plan, checked, and all that follows from them.

Takes the domain, the budget and the sizes; gives shapes, noise and hash
functions. It knows nothing of how they were chosen.
"""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from privhp.core.budget import MAX_SCALE, Neighbours, check_neighbours, exact_epsilon, sensitivity
from privhp.core.cells import Counts
from privhp.domains.domain import Domain
from privhp.errors import PlanError
from privhp.planning.growth import Growth
from privhp.planning.parameters import (
    MAX_HASH_GROUP,
    MAX_HOT_CELLS,
    MAX_MEMORY,
    MAX_RECORDS,
    MAX_ROWS,
    MAX_WIDTH,
    check_choice,
    check_domain,
    check_integer,
    listed,
    read_budgets,
)

Expand = Literal["top", "all"]
"""Which cells of the exact depth are grown further: the hot ones, or all as Algorithm 2 prints it."""

Inference = Literal["top-down", "least-squares"]
"""Whether counts are made consistent from the root down, as Algorithm 3 does, or use every level for every other."""

CELL_BYTES = 8
MAX_CELLS = 2**31
FEW_LEAVES, LEAVES_PER_CELL = 2**22, 16
"""A tree may have few leaves, or as many per counter: a release of a few bytes must not grow into gigabytes."""


def _fresh_seed() -> int:
    import secrets  # takes long to import, and a plan that is read has its seed

    return secrets.randbits(128)


@dataclass(frozen=True)
class Layout:
    """Fields of a plan; see `Plan` for what each means."""

    domain: Domain
    _: KW_ONLY
    epsilon: Fraction
    budgets: Mapping[int, Fraction]
    exact_depth: int
    sketch_rows: int = 0
    sketch_width: int = 0
    hot_cells: int = 0
    expand: Expand = "top"
    growth: Growth | None = None
    inference: Inference = "top-down"
    expected_records: int = 0
    memory: int = 0
    neighbours: Neighbours = "add-remove"
    max_records_per_person: int = 1
    hash_group: int = 0
    hash_seed: int = field(default_factory=_fresh_seed)

    def __post_init__(self) -> None:
        check_domain(self.domain)
        check_neighbours(self.neighbours)
        check_choice(self.expand, get_args(Expand), "expand")
        check_choice(self.inference, get_args(Inference), "inference")
        values = {
            "epsilon": exact_epsilon(self.epsilon),
            "budgets": MappingProxyType(read_budgets(self.budgets)),
            "exact_depth": check_integer(self.exact_depth, "exact_depth", 0, self.domain.depth),
            "sketch_rows": check_integer(self.sketch_rows, "sketch_rows", 0, MAX_ROWS),
            "sketch_width": check_integer(self.sketch_width, "sketch_width", 0, MAX_WIDTH),
            "hot_cells": check_integer(self.hot_cells, "hot_cells", 0, MAX_HOT_CELLS),
            "expected_records": check_integer(self.expected_records, "expected_records", 0, MAX_RECORDS),
            "memory": check_integer(self.memory, "memory", 0, MAX_MEMORY),
            "max_records_per_person": check_integer(self.max_records_per_person, "max_records_per_person", 1, 10**6),
            "hash_group": check_integer(self.hash_group, "hash_group", 0, MAX_HASH_GROUP),
            "hash_seed": check_integer(self.hash_seed, "hash_seed", 0, 2**128 - 1),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self._check_levels()
        self._check_growth()
        self._check_sketches()
        self._check_sizes()
        self._check_privacy()

    def _check_levels(self) -> None:
        if max(self.budgets) > self.domain.depth:
            raise PlanError(
                f"expected budgets for levels between 0 and the domain's depth {self.domain.depth}, "
                f"got one for level {max(self.budgets)}"
            )
        if self.exact_depth not in self.budgets:
            raise PlanError(
                f"expected a budget for the exact_depth, level {self.exact_depth}, which must be measured, "
                f"got budgets for levels {', '.join(map(str, self.budgets))}"
            )

    def _check_growth(self) -> None:
        if self.growth is None:
            return
        if not isinstance(self.growth, Growth):
            raise PlanError(f"expected growth as a Growth or None, got {type(self.growth).__name__}")
        if len([level for level in self.budgets if level > self.exact_depth]) != 1:
            raise PlanError(
                "expected a budget for exactly one level below the exact_depth, which the partition grows from, "
                f"got budgets for levels {', '.join(map(str, self.budgets))} and exact_depth {self.exact_depth}"
            )
        if self.inference == "top-down":
            raise PlanError('expected inference="least-squares" for a partition that grows, got "top-down"')
        if not self.expected_records:
            raise PlanError("a plan with growth needs expected_records, a public guess of the number of records")
        if self.growth.slots < 2**self.growth_level:
            raise PlanError(
                f"expected at least one slot for each of the {2**self.growth_level} cells of level "
                f"{self.growth_level}, got {self.growth.slots}"
            )
        if self.neighbours == "add-remove":
            raise PlanError(
                'expected neighbours="zero-out" or "replace-one", since a partition grows by row numbers and a '
                'record that comes or goes moves those of all later ones, got "add-remove"'
            )

    def _check_sketches(self) -> None:
        sizes = {name: getattr(self, name) for name in ("sketch_rows", "sketch_width", "hot_cells")}
        if self.sketched_levels and not all(sizes.values()):
            raise PlanError(f"expected sizes above 0, since level {self.depth} is sketched, got {listed(sizes)}")
        sizes["hash_group"] = self.hash_group
        if not self.sketched_levels and any(sizes.values()):
            raise PlanError(
                f"expected sizes of 0, since no level below exact_depth {self.exact_depth} has a budget, "
                f"got {listed(sizes)}"
            )
        if self.sketch_width % 2**self.hash_group:
            raise PlanError(
                f"expected a sketch_width that is a multiple of 2**hash_group, got {self.sketch_width} "
                f"and hash_group {self.hash_group}"
            )

    def _check_sizes(self) -> None:
        if self.memory and self.nbytes > self.memory:
            raise PlanError(
                f"expected counters of at most the memory of {self.memory} bytes, got {self.nbytes}; "
                "lower exact_depth, the sketch sizes or the slots"
            )
        if self.cells > MAX_CELLS:
            raise PlanError(f"expected at most 2**31 cells, got {self.cells}; lower exact_depth or the sketch sizes")
        if self.leaves > max(FEW_LEAVES, LEAVES_PER_CELL * self.cells):
            raise PlanError(
                f"expected a tree of at most 2**22 leaves or 16 for each of {self.cells} cells, got {self.leaves}; "
                "lower hot_cells or leave fewer levels out"
            )

    def _check_privacy(self) -> None:
        excess = sum(self.budgets.values()) - self.epsilon
        if excess > 0:
            raise PlanError(
                f"expected budgets that sum to at most epsilon, {float(self.epsilon):g}, got {float(excess):.3g} more"
            )
        for level, budget in self.budgets.items():
            if self.scale(level) > MAX_SCALE:
                raise PlanError(
                    "expected budgets whose noise has a scale of at most 2**40, "
                    f"got {float(budget):g} for level {level}; measure fewer levels"
                )

    @property
    def depth(self) -> int:
        """Deepest level that is counted: the deepest measured one, or the domain's where the partition grows."""
        return max(self.budgets) if self.growth is None else self.domain.depth

    @property
    def growth_level(self) -> int:
        """The level that the partition grows from."""
        return max(self.budgets)

    @property
    def exact_levels(self) -> list[int]:
        """Measured levels that are counted cell by cell, coarsest first."""
        return [level for level in sorted(self.budgets) if level <= self.exact_depth]

    @property
    def sketched_levels(self) -> list[int]:
        """Measured levels that are sketched, coarsest first."""
        return [level for level in sorted(self.budgets) if level > self.exact_depth and self.growth is None]

    @property
    def shapes(self) -> dict[int, tuple[int, ...]]:
        """Shape of the counters of each measured level, coarsest first."""
        deeper = (self.sketch_rows, self.sketch_width) if self.growth is None else (self.growth.slots,)
        return {level: (2**level,) if level <= self.exact_depth else deeper for level in self.budgets}

    @property
    def cells(self) -> int:
        """Number of counters in the state of a summary."""
        return sum(math.prod(shape) for shape in self.shapes.values())

    @property
    def leaves(self) -> int:
        """Number of leaves of the tree that a release grows into, or the most there can be."""
        if self.growth is not None:
            return self.growth.slots
        leaves, level, cells = 0, self.exact_depth, 1 << self.exact_depth
        for deeper in self.sketched_levels:
            everything = self.expand == "all" and level == self.exact_depth
            hot = cells if everything else min(cells, self.hot_cells)
            leaves, level, cells = leaves + cells - hot, deeper, hot << (deeper - level)
        return leaves + cells

    @property
    def nbytes(self) -> int:
        """Bytes of the counters of a summary, all there is that grows with the plan."""
        return self.cells * CELL_BYTES

    def unpack(self, cells: Counts) -> dict[int, Counts]:
        """One flat array of all counters, coarsest level first, as the counters of each level."""
        ends = np.cumsum([math.prod(shape) for shape in self.shapes.values()])
        parts = np.split(cells, ends[:-1])
        return {level: part.reshape(shape) for (level, shape), part in zip(self.shapes.items(), parts, strict=True)}

    def sensitivity(self, level: int) -> int:
        """How far one person can move the cells of a level, summed over its cells."""
        rows = self.sketch_rows if level in self.sketched_levels else 1
        return sensitivity(self.neighbours, level=level, rows=rows, max_records_per_person=self.max_records_per_person)

    def scale(self, level: int) -> Fraction:
        """Scale of the noise in each cell of a level: its sensitivity over its budget."""
        return self.sensitivity(level) / self.budgets[level]

    @property
    def hash_levels(self) -> dict[int, int]:
        """For each sketched level, the level whose cells are hashed for it.

        A cell goes to the bucket of its ancestor there, moved by its place
        among that ancestor's descendants, so these never collide. Levels that
        are at most `hash_group` below a common ancestor share its hash.
        """
        hashed: dict[int, int] = {}
        above, base = self.exact_depth, -1
        for level in self.sketched_levels:
            if base < 0 or level - base > self.hash_group:
                base = max(above, level - self.hash_group)
            hashed[level], above = base, level
        return hashed

    def hash_coefficients(self, level: int) -> NDArray[np.uint64]:
        """Three public random words per row of a level's sketch, derived from the hash seed."""
        from hashlib import shake_256  # takes long to import, and plans without sketches do not need it

        key = self.hash_seed.to_bytes(16, "little") + self.hash_levels[level].to_bytes(1, "little")
        words = shake_256(b"privhp hash" + key).digest(self.sketch_rows * 3 * 8)
        return np.frombuffer(words, dtype="<u8").astype(np.uint64).reshape(self.sketch_rows, 3)

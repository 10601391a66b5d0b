"""All that is fixed before the data.

A `Plan` is public: it takes the domain, the budget and the sizes, and from it
everything follows that a summary needs before its first record. Nothing in it
may be derived from the data, the number of records included.
"""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from privhp.arguments import (
    MAX_HASH_GROUP,
    MAX_HOT_CELLS,
    MAX_MEMORY,
    MAX_ROWS,
    MAX_WIDTH,
    check_choice,
    check_domain,
    check_records,
    listed,
    read_budgets,
    read_memory,
    whole,
)
from privhp.budget import MAX_SCALE, Neighbours, check_neighbours, exact_epsilon, sensitivity
from privhp.cells import Counts
from privhp.domains.base import Domain
from privhp.errors import PlanError
from privhp.growth import Growth
from privhp.planner import Planner
from privhp.recipes import paper_settings

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
class Plan:
    """The public parameters of a summary; equal plans can be merged.

    Each measured level has a budget, a share of epsilon. Levels up to
    `exact_depth` are counted cell by cell; deeper ones in Count-Min tables of
    `sketch_rows` x `sketch_width`, or in a partition that grows from the one
    level below `exact_depth` that has a budget. A plan with no level below
    `exact_depth` is the complete tree (PMM).

    Args:
        domain: Where the records live.
        epsilon: Total privacy budget, read as the number that is written.
        budgets: Budget of every measured level; they sum to at most epsilon.
        exact_depth: Deepest level that is counted exactly; it is measured.
        sketch_rows: Rows of each sketch, 0 if nothing is sketched.
        sketch_width: Buckets in each row, 0 if nothing is sketched.
        hot_cells: How many cells of each sketched level are grown further.
        expand: "top" grows the hot cells of the exact depth, "all" every one.
        growth: How the partition below the exact depth grows, instead of sketches.
        inference: "least-squares" lets all levels inform each other, "top-down" is the paper's rule.
        memory: Bytes that counters and the work on a batch may take together; 0 for no limit on the work.
        neighbours: "add-remove", "zero-out" or "replace-one"; a partition grows by row numbers, which
            "add-remove" does not keep.
        max_records_per_person: How many records one person may have; the noise grows with it.
        hash_group: Up to how many levels share a hash function, which hashes their
            common ancestor and keeps its descendants apart; 0 hashes every level by itself.
        hash_seed: Public seed of the hash functions; fresh unless given.
    """

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
            "exact_depth": whole(self.exact_depth, "exact_depth", 0, self.domain.depth),
            "sketch_rows": whole(self.sketch_rows, "sketch_rows", 0, MAX_ROWS),
            "sketch_width": whole(self.sketch_width, "sketch_width", 0, MAX_WIDTH),
            "hot_cells": whole(self.hot_cells, "hot_cells", 0, MAX_HOT_CELLS),
            "memory": whole(self.memory, "memory", 0, MAX_MEMORY),
            "max_records_per_person": whole(self.max_records_per_person, "max_records_per_person", 1, 10**6),
            "hash_group": whole(self.hash_group, "hash_group", 0, MAX_HASH_GROUP),
            "hash_seed": whole(self.hash_seed, "hash_seed", 0, 2**128 - 1),
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

    @classmethod
    def paper(
        cls,
        domain: Domain,
        *,
        epsilon: float | int | str | Fraction | Decimal,
        records: float,
        hot_cells: int = 64,
        exact_depth: int | None = None,
        depth: int | None = None,
        sketch_rows: int | None = None,
        sketch_width: int | None = None,
        expand: Expand = "top",
        neighbours: Neighbours = "add-remove",
        max_records_per_person: int = 1,
        hash_group: int | None = None,
        hash_seed: int | None = None,
    ) -> "Plan":
        """The settings of the paper, for k = `hot_cells` and n = `records`.

        Every level is measured, with the budget split that minimises the
        paper's bound on the noise.

        Args:
            domain: Where the records live.
            epsilon: Total privacy budget.
            records: Expected number of records: a public guess, never a count of the data.
            hot_cells: How many cells of each level are grown, k; memory grows with it.
            exact_depth: Deepest exact level, by default the first that costs as much as a sketch.
            depth: Deepest level, by default log2(epsilon n), at most what the domain has.
            sketch_rows: Rows of a sketch, by default log2(n).
            sketch_width: Buckets of a row, by default 2 k.
            expand: Whether the "top" k cells of the exact depth are grown, or "all".
            neighbours: "add-remove" or "replace-one".
            max_records_per_person: How many records one person may have.
            hash_group: Levels that share a hash function, by default four, or fewer where the
                width is not a multiple of sixteen; 0 is the paper's.
            hash_seed: Public seed of the hash functions; fresh unless given.
        """
        settings = paper_settings(
            domain,
            epsilon=epsilon,
            records=records,
            hot_cells=hot_cells,
            exact_depth=exact_depth,
            depth=depth,
            sketch_rows=sketch_rows,
            sketch_width=sketch_width,
            hash_group=hash_group,
        )
        if hash_seed is not None:
            settings["hash_seed"] = hash_seed
        return cls(
            domain,
            expand=expand,
            neighbours=neighbours,
            max_records_per_person=max_records_per_person,
            **settings,
        )

    @classmethod
    def auto(
        cls,
        domain: Domain,
        *,
        epsilon: float | int | str | Fraction | Decimal,
        records: float,
        memory: int | str = "256 KiB",
        mergeable: bool = False,
        neighbours: Neighbours | None = None,
        max_records_per_person: int = 1,
        hash_seed: int | None = None,
    ) -> "Plan":
        """The plan with the least predicted error for a memory.

        By default the partition grows where records come, under the relation
        "zero-out". Summaries that are merged, and the relation "add-remove",
        which also hides how many rows there are, get a plan that does not grow.

        Args:
            domain: Where the records live.
            epsilon: Total privacy budget.
            records: Expected number of records: a public guess, never a count of the data.
            memory: Bytes for all counters and for the work on a batch, such as 65536 or "64 KiB".
            mergeable: Whether tallies or summaries of the plan are to be merged.
            neighbours: By default "zero-out", or "add-remove" for a mergeable plan.
            max_records_per_person: How many records one person may have.
            hash_seed: Public seed of the hash functions; fresh unless given.
        """
        relation: Neighbours = neighbours or ("add-remove" if mergeable else "zero-out")
        check_domain(domain)
        check_neighbours(relation)
        check_records(records)
        limit = read_memory(memory)
        settings = Planner(
            domain,
            epsilon=exact_epsilon(epsilon),
            records=math.ceil(records),
            memory=limit,
            neighbours=relation,
            max_records_per_person=whole(max_records_per_person, "max_records_per_person", 1, 10**6),
            growing=not mergeable and relation != "add-remove",
        ).settings()
        if hash_seed is not None:
            settings["hash_seed"] = hash_seed
        return cls(domain, neighbours=relation, max_records_per_person=max_records_per_person, **settings)

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

    def spec(self) -> dict[str, Any]:
        """The plan as a JSON object."""
        spec = {item.name: getattr(self, item.name) for item in fields(self)}
        return spec | {
            "domain": self.domain.spec(),
            "epsilon": str(self.epsilon),
            "growth": None if self.growth is None else self.growth.spec(),
            "budgets": {str(level): str(budget) for level, budget in self.budgets.items()},
            "hash_seed": f"{self.hash_seed:032x}",
        }

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> "Plan":
        """The plan that a JSON object describes."""
        known = {item.name for item in fields(cls)}
        if not isinstance(spec, Mapping) or set(spec) != known:
            came = "others" if isinstance(spec, Mapping) else type(spec).__name__
            raise PlanError(f"expected a plan with exactly the keys {', '.join(sorted(known))}, got {came}")
        try:
            budgets = {int(level): budget for level, budget in spec["budgets"].items()}
            seed = int(spec["hash_seed"], 16)
            domain = Domain.from_spec(spec["domain"])
            growth = None if spec["growth"] is None else Growth.from_spec(spec["growth"])
        except (AttributeError, TypeError, ValueError) as error:
            raise PlanError(
                f"expected a plan with a domain, budgets and a hash_seed that can be read: {error}"
            ) from None
        return cls(**{**spec, "domain": domain, "budgets": budgets, "growth": growth, "hash_seed": seed})

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as a spec, to the workers of a distributed job."""
        return Plan.from_spec, (self.spec(),)

    def __hash__(self) -> int:
        return hash((self.domain, self.epsilon, tuple(self.budgets.items()), self.hash_seed))

    def __str__(self) -> str:
        """The plan as a table for people."""
        unit = "one record" if self.max_records_per_person == 1 else f"{self.max_records_per_person} records"
        lines = [
            f"domain      {self.domain!r}",
            f"guarantee   {float(self.epsilon):g}-differential privacy, {self.neighbours} of {unit} per person",
            f"memory      {self.nbytes:,} bytes in {self.cells:,} cells",
        ]
        if self.sketched_levels:
            first = "all cells" if self.expand == "all" else f"the {self.hot_cells:,} fullest cells"
            lines.append(
                f"growth      {first} of level {self.exact_depth} are cut further, then the {self.hot_cells:,} fullest "
                "of each level"
            )
        lines += ["", "level  counted              cells      budget   noise in records   cell diameter"]
        for level, budget in self.budgets.items():
            exactly = level <= self.exact_depth
            size = f"{2**level:,}" if exactly else f"{self.sketch_rows} x {self.sketch_width:,}"
            kind = "cell by cell" if exactly else "sketched"
            noise = f"{float(budget):11.4g} {float(self.scale(level)):18.6g}"
            lines.append(f"{level:5d}  {kind:12s} {size:>13s} {noise} {self.domain.diameter(level):15.6g}")
        return "\n".join(lines)

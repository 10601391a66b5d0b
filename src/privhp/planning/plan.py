"""The plan of a summary: all parameters that are fixed before the data.

A `Plan` is public. It holds the domain, the budget of each measured level and
the sizes of the counters; shapes, noise scales and hash functions follow from
them. Nothing in it may be derived from the data, the number of records included.
"""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from privhp.core.budget import Neighbours, check_neighbours, exact_epsilon, sensitivity
from privhp.core.cells import Counts
from privhp.core.display import render
from privhp.domains.domain import Domain
from privhp.planning import plan_checks, sketch_hashing
from privhp.planning.error_model import STREAMS, Geometry, Prediction, Stream, predict_error
from privhp.planning.learning import MAX_PASSES, Learning
from privhp.planning.paper import paper_sizes
from privhp.planning.parameter_checks import (
    COUNTER_BYTES,
    MAX_RECORDS_PER_PERSON,
    check_expected_records,
    check_integer,
    check_is_domain,
    read_memory,
    read_partition,
)
from privhp.planning.partition import Partition
from privhp.planning.plan_measurements import plan_measurements
from privhp.planning.plan_sizes import Expand, Inference
from privhp.planning.plan_spec import read_spec, write_spec
from privhp.planning.plan_text import format_plan, summarize_plan
from privhp.planning.planner import Planner
from privhp.planning.tuning import Tuning

Measurement = Literal["exact", "sketched", "learned"]
"""How a level is measured: a counter per cell, a Count-Min sketch, or a learned partition."""


@dataclass(frozen=True, repr=False)
class Plan:
    """The public parameters of a summary. Summaries of equal plans can be merged.

    The guarantee is pure epsilon-differential privacy for the plan's
    neighbouring relation. Each measured level has a budget, a share of epsilon.
    Levels up to `exact_depth` have a counter per cell. Deeper levels are
    sketched, or the one deeper level with a budget is the root level of a
    partition, whose leaves have a counter each. A plan without deeper levels is
    the complete tree (PMM).

    A plan with `learning` and no `partition` learns the partition first, in
    passes over samples of the data; then it is the same plan with a partition.
    The learning passes are part of epsilon. A plan with a partition from elsewhere
    has no learning passes. Either is fixed and public when the data is measured.

    Equal arguments give equal plans, except that a plan with sketches draws a
    fresh `hash_seed` unless one is given.

    Args:
        domain: Domain of the records.
        epsilon: Total privacy budget, read as the decimal number that is written.
        budgets: Budget of every measured level; they sum to at most epsilon.
        exact_depth: Deepest exact level; it must have a budget, unless the plan measures a partition alone.
        sketch_rows: Rows of each sketch; 0 without sketches.
        sketch_width: Buckets of a row; 0 without sketches.
        hot_cells: Number of cells of each sketched level that are split further.
        expand: "top" splits the hot cells of the exact depth, "all" splits every cell.
        learning: Passes that learn a partition, instead of sketches.
        partition: The partition, once it is learned or if it is known before.
        inference: "least-squares", or "top-down" for the paper's rule.
        expected_records: Expected number of records, a public guess for predictions; 0 for none.
        memory: Bytes for the counters and the scratch memory; 0 for no limit.
        neighbours: "add-remove" or "replace-one".
        max_records_per_person: Maximum number of records of one person; the noise is proportional to it.
        hash_group: Number of levels that share a hash function, at most; 0 hashes every level separately.
        hash_seed: Public seed of the hash functions; by default random, or 0 without sketches.
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
    learning: Learning | None = None
    partition: Partition | None = None
    inference: Inference = "top-down"
    expected_records: int = 0
    memory: int = 0
    neighbours: Neighbours = "add-remove"
    max_records_per_person: int = 1
    hash_group: int = 0
    hash_seed: int = None  # type: ignore[assignment]  # __post_init__ replaces None by an integer

    def __post_init__(self) -> None:
        # A frozen dataclass has no converters: its __dict__ takes the converted values.
        vars(self).update(plan_checks.read_fields(self))
        if self.hash_seed is None:
            vars(self)["hash_seed"] = sketch_hashing.fresh_seed() if self.sketched_levels else 0
        plan_checks.check_plan(self)

    @classmethod
    def paper(
        cls,
        domain: Domain,
        *,
        epsilon: float | int | str | Fraction | Decimal,
        expected_records: float,
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
        """The paper's settings, for k = `hot_cells` and n = `expected_records`.

        Every level is measured, with the budgets that minimise the paper's bound on the noise.

        Args:
            domain: Domain of the records.
            epsilon: Total privacy budget.
            expected_records: Expected number of records: a public guess, never a count of the data.
            hot_cells: Number of cells of each level that are split; memory grows with it.
            exact_depth: Deepest exact level, by default the first that costs as much memory as a sketch.
            depth: Deepest level, by default log2(epsilon n), at most the domain's depth.
            sketch_rows: Rows of a sketch, by default log2(n).
            sketch_width: Buckets of a row, by default 2 k.
            expand: "top" splits the k hot cells of the exact depth, "all" splits every cell.
            neighbours: "add-remove" or "replace-one".
            max_records_per_person: Maximum number of records of one person.
            hash_group: Levels that share a hash function, by default four, or fewer if the width is
                not a multiple of sixteen; 0 as in the paper.
            hash_seed: Public seed of the hash functions; by default random, or 0 without sketches.
        """
        exact = exact_epsilon(epsilon)
        sizes = paper_sizes(
            domain,
            epsilon=exact,
            expected_records=expected_records,
            hot_cells=hot_cells,
            exact_depth=exact_depth,
            depth=depth,
            sketch_rows=sketch_rows,
            sketch_width=sketch_width,
            hash_group=hash_group,
        )
        return cls(
            domain,
            epsilon=exact,
            expected_records=math.ceil(expected_records),
            expand=expand,
            neighbours=neighbours,
            max_records_per_person=max_records_per_person,
            hash_seed=hash_seed,  # type: ignore[arg-type]  # __post_init__ replaces None
            **sizes._asdict(),
        )

    @classmethod
    def auto(
        cls,
        domain: Domain,
        *,
        epsilon: float | int | str | Fraction | Decimal,
        expected_records: float,
        memory: int | str = "256 KiB",
        passes: int = 1,
        partition: Any = None,
        neighbours: Neighbours = "add-remove",
        max_records_per_person: int = 1,
        hash_seed: int | None = None,
    ) -> "Plan":
        """The plan with the least predicted error for a memory.

        One pass suits streams, and data on many machines. With two or three passes
        the plan learns a partition on samples first, which lowers the error; the data
        is then read as often. With a partition that is known before, one pass has
        most of that gain.

        Args:
            domain: Domain of the records.
            epsilon: Total privacy budget.
            expected_records: Expected number of records: a public guess, never a count of the data.
            memory: Bytes for all counters and the scratch memory, such as 65536 or "64 KiB".
            passes: Number of times that the data is read: 1, or 2 or 3 to learn a partition.
            partition: A partition that is known before, for a plan of one pass: a `Partition`, a plan with one,
                or an earlier generator of such data.
            neighbours: "add-remove" or "replace-one".
            max_records_per_person: Maximum number of records of one person.
            hash_seed: Public seed of the hash functions; by default random, or 0 without sketches.
        """
        check_is_domain(domain)
        check_neighbours(neighbours)
        check_expected_records(expected_records)
        limit, exact, most = read_memory(memory), exact_epsilon(epsilon), MAX_RECORDS_PER_PERSON
        planner = Planner(
            domain,
            epsilon=exact,
            expected_records=math.ceil(expected_records),
            memory=limit,
            neighbours=neighbours,
            max_records_per_person=check_integer(max_records_per_person, "max_records_per_person", 1, most),
            learning_passes=check_integer(passes, "passes", 1, MAX_PASSES) - 1,
            partition=None if partition is None else read_partition(partition, domain),
        )
        return cls(
            domain,
            epsilon=exact,
            inference="least-squares",
            expected_records=math.ceil(expected_records),
            memory=limit,
            neighbours=neighbours,
            max_records_per_person=max_records_per_person,
            hash_seed=hash_seed,  # type: ignore[arg-type]  # __post_init__ replaces None
            **planner.sizes()._asdict(),
        )

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
        return sum(math.prod(shape) for shape in self.shapes.values())

    @property
    def nbytes(self) -> int:
        """Bytes of the counters of a summary, with the nodes of a partition; an upper bound before it is known."""
        if not self.has_partition:
            return self.counters * COUNTER_BYTES
        return (self.counters - self.leaves) * COUNTER_BYTES + self.partition_nbytes

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
        parts = np.split(counts, ends[:-1])
        return {level: part.reshape(shape) for (level, shape), part in zip(self.shapes.items(), parts, strict=True)}

    def sensitivity(self, level: int) -> int:
        """L1 sensitivity of a level: the change of its counters, summed, by one person."""
        rows = self.sketch_rows if self.measurement(level) == "sketched" else 1
        return sensitivity(self.neighbours, level=level, rows=rows, max_records_per_person=self.max_records_per_person)

    def scale(self, level: int) -> Fraction:
        """Scale of the noise in each counter of a level: sensitivity / budget."""
        return self.sensitivity(level) / self.budgets[level]

    @property
    def hash_levels(self) -> dict[int, int]:
        """For each sketched level, the level of the ancestor that is hashed; see `sketch_hashing`."""
        return sketch_hashing.hash_levels(
            self.sketched_levels, exact_depth=self.exact_depth, hash_group=self.hash_group
        )

    def hash_coefficients(self, level: int) -> NDArray[np.uint64]:
        """Three public random words per row of a level's sketch."""
        return sketch_hashing.hash_coefficients(self.hash_seed, base=self.hash_levels[level], rows=self.sketch_rows)

    @property
    def tuning(self) -> Tuning:
        """Tuning constants for the domain's geometry."""
        return Geometry.of(self.domain).tuning

    def predictions(self, expected_records: float | None = None) -> dict[Stream, Prediction]:
        """Expected 1-Wasserstein distance between the records and the generator, for each kind of stream.

        Args:
            expected_records: Number of records to predict for; by default that of the plan.
        """
        measurements = plan_measurements(self, expected_records)
        return {stream: predict_error(measurements, stream) for stream in STREAMS}

    def spec(self) -> dict[str, Any]:
        """The plan as a JSON object."""
        return write_spec(self)

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> "Plan":
        """The plan of a JSON object."""
        return cls(**read_spec(spec, names=[item.name for item in fields(cls)]))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a JSON object, for the workers of a distributed job."""
        return Plan.from_spec, (self.spec(),)

    def __hash__(self) -> int:
        return hash((self.domain, self.epsilon, tuple(self.budgets.items()), self.hash_seed, self.partition))

    def __repr__(self) -> str:
        return summarize_plan(self)

    def __str__(self) -> str:
        return format_plan(self)

    def _repr_html_(self) -> str:
        return str(render("plan card", self))

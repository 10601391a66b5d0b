"""The plan of a summary: all parameters that are fixed before the data.

A `Plan` is public. It holds the domain, the budget of each measured level and
the sizes of the counters; shapes, noise scales and hash functions follow from
them. Nothing in it may be derived from the data, the number of records included.
"""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

from privhp.core.budget import Neighbours, check_neighbours, exact_epsilon, sensitivity
from privhp.core.display import render
from privhp.domains.domain import Domain
from privhp.domains.table_column import column_errors
from privhp.errors import PlanError, describe_value
from privhp.planning import plan_checks, sketch_hashing
from privhp.planning.column_planner import TablePlanner
from privhp.planning.error_model import Prediction, predict_error
from privhp.planning.learning import MAX_PASSES, Learning
from privhp.planning.paper import paper_sizes
from privhp.planning.parameter_checks import (
    MAX_RECORDS_PER_PERSON,
    check_expected_records,
    check_integer,
    check_is_domain,
    read_column_partitions,
    read_memory,
    read_partition,
)
from privhp.planning.partition import Partition
from privhp.planning.plan_layout import PlanLayout
from privhp.planning.plan_measurements import plan_measurements
from privhp.planning.plan_memory import choose_memory, memory_of
from privhp.planning.plan_sizes import Expand, Inference, PlanSizes
from privhp.planning.plan_spec import read_spec, write_spec
from privhp.planning.plan_text import format_plan, summarize_plan
from privhp.planning.planner import Planner, learning_rates
from privhp.planning.streams import STREAMS, Geometry, Stream
from privhp.planning.tuning import Tuning


@dataclass(frozen=True, repr=False)
class Plan(PlanLayout):
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
        columns: Sizes and budgets of the columns of a table that are measured by themselves, by label: each record then
            counts in levels, sketches or a partition of the column's domain as well. Learning passes are those of the
            plan: each counts a sample of the records and of their values in the columns.
        inference: "least-squares", or "top-down" for the paper's rule.
        expected_records: Expected number of records, a public guess for predictions; 0 for none.
        memory: Bytes for the counters and the scratch memory; 0 for no limit.
        neighbours: "add-remove" or "replace-one".
        max_records_per_person: Maximum number of records of one person; the noise is proportional to it.
        pan_private: Whether a release gets a second noise draw in every counter, so that one summary file, stolen
            while records were still to come, and the release together have the guarantee. No record may decide when the
            file is saved.
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
    columns: Mapping[str, PlanSizes] = field(default_factory=dict)
    inference: Inference = "top-down"
    expected_records: int = 0
    memory: int = 0
    neighbours: Neighbours = "add-remove"
    max_records_per_person: int = 1
    pan_private: bool = False
    hash_group: int = 0
    hash_seed: int = None  # type: ignore[assignment]  # __post_init__ replaces None by an integer

    def __post_init__(self) -> None:
        # A frozen dataclass has no converters: its __dict__ takes the converted values.
        vars(self).update(plan_checks.read_fields(self))
        if self.hash_seed is None:
            sketched = self.sketched_levels or any(own.sketch_rows for own in self.columns.values())
            vars(self)["hash_seed"] = sketch_hashing.fresh_seed() if sketched else 0
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
        pan_private: bool = False,
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
            pan_private: Whether the guarantee covers one stolen summary file together with the release.
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
            pan_private=pan_private,
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
        memory: int | str | None = None,
        passes: int = 1,
        partition: Any = None,
        neighbours: Neighbours = "add-remove",
        max_records_per_person: int = 1,
        pan_private: bool = False,
        hash_seed: int | None = None,
    ) -> "Plan":
        """The plan with the least predicted error for a memory.

        One pass suits streams, and data on many machines. With two or three passes
        the plan learns a partition on samples first, which lowers the error of most
        data; the data is then read as often. With a partition that is known before,
        one pass has most of that gain.

        Args:
            domain: Domain of the records.
            epsilon: Total privacy budget.
            expected_records: Expected number of records: a public guess, never a count of the data.
            memory: Bytes for all counters and the scratch memory, such as 65536 or "64 KiB". By default 256 KiB, 1 MiB
                for a table of very many columns, or up to 64 MiB while four times as much saves a twentieth of the
                predicted error.
            passes: Number of times that the data is read: 1, or 2 or 3 to learn a partition.
            partition: A partition that is known before, for a plan of one pass: a `Partition`, a plan with one,
                or an earlier generator of such data.
            neighbours: "add-remove" or "replace-one".
            max_records_per_person: Maximum number of records of one person.
            pan_private: Whether the guarantee covers one stolen summary file together with the release, if no record
                decides when the file is saved. The noise is then drawn twice, and errors grow by about 40% where
                noise dominates.
            hash_seed: Public seed of the hash functions; by default random, or 0 without sketches.
        """
        check_is_domain(domain)
        check_neighbours(neighbours)
        check_expected_records(expected_records)
        exact, most = exact_epsilon(epsilon), MAX_RECORDS_PER_PERSON
        rates = learning_rates(domain, check_integer(passes, "passes", 1, MAX_PASSES) - 1, known=partition is not None)
        make_planner = partial(
            Planner,
            expected_records=math.ceil(expected_records),
            neighbours=neighbours,
            max_records_per_person=check_integer(max_records_per_person, "max_records_per_person", 1, most),
            pan_private=pan_private,
        )
        known = None if partition is None else read_partition(partition, domain)
        planner = TablePlanner(
            make_planner,
            domain,
            epsilon=exact,
            expected_records=math.ceil(expected_records),
            sensitivity=sensitivity(neighbours, level=1, rows=1, max_records_per_person=max_records_per_person),
            rates=rates,
            partition=known,
            column_partitions=read_column_partitions(partition),
        )
        if memory is not None:
            limit = read_memory(memory)
        elif known is not None:
            limit = memory_of(known, least=planner.least_memory)
        else:
            limit = choose_memory(planner.least_error, least=planner.least_memory)
        columns, sizes = planner.plan(limit)
        return cls(
            domain,
            epsilon=exact,
            inference="least-squares",
            expected_records=math.ceil(expected_records),
            memory=limit,
            neighbours=neighbours,
            max_records_per_person=max_records_per_person,
            pan_private=pan_private,
            hash_seed=hash_seed,  # type: ignore[arg-type]  # __post_init__ replaces None
            columns=columns,
            **sizes._asdict(),
        )

    @cached_property
    def column_plans(self) -> dict[str, "Plan"]:
        """Plans of the columns that are measured by themselves, by label."""
        plans = {}
        for column in self.domain.columns:
            if column.label in self.columns:
                sizes = self.columns[column.label]
                with column_errors(column.label):
                    plans[column.label] = Plan(
                        column.domain,
                        epsilon=self.epsilon,  # of which the column takes a part
                        inference=self.inference,
                        expected_records=self.expected_records,
                        neighbours=self.neighbours,
                        max_records_per_person=self.max_records_per_person,
                        pan_private=self.pan_private,
                        hash_seed=self.hash_seed,
                        **sizes._asdict(),
                    )
        return plans

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


def check_is_plan(plan: Any) -> None:
    """Refuse anything but a plan."""
    if not isinstance(plan, Plan):
        raise PlanError(f"expected a plan, such as Plan.auto(...), got {describe_value(plan)}")

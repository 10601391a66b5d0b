"""All that is fixed before the data.

A `Plan` is public: it takes the domain, the budget and the sizes, and from it
everything follows that a summary needs before its first record. Nothing in it
may be derived from the data, the number of records included.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any

from privhp.core.budget import Neighbours, check_neighbours, exact_epsilon
from privhp.core.display import render
from privhp.domains.domain import Domain
from privhp.domains.table import Table
from privhp.errors import PlanError
from privhp.planning.error_model import (
    STREAMS,
    Geometry,
    Growing,
    Outline,
    Prediction,
    Sketched,
    Stream,
    leaf_level,
    paper_bound,
    predict,
)
from privhp.planning.growth import Growth
from privhp.planning.layout import Expand, Layout
from privhp.planning.paper import paper_settings
from privhp.planning.parameters import check_domain, check_expected_records, check_integer, read_memory
from privhp.planning.planner import Planner

KINDS: dict[Stream, str] = {
    "smooth": "spread evenly",
    "clustered": "over a sixteenth",
    "sparse": "of forty places",
    "sorted": "clustered, in order",
}
"""The streams that errors are predicted for, in words."""

FEW_CUTS = 2
"""A column of a table that is cut so rarely says little."""


def _key(field: str) -> str:
    """Key of a field in a plan file."""
    return "records" if field == "expected_records" else field


@dataclass(frozen=True)
class Plan(Layout):
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
        expected_records: Expected number of records, a public guess for refinements and predictions; 0 for none.
        memory: Bytes that counters and the work on a batch may take together; 0 for no limit on the work.
        neighbours: "add-remove", "zero-out" or "replace-one"; a partition grows by row numbers, which
            "add-remove" does not keep.
        max_records_per_person: How many records one person may have; the noise grows with it.
        hash_group: Up to how many levels share a hash function, which hashes their
            common ancestor and keeps its descendants apart; 0 hashes every level by itself.
        hash_seed: Public seed of the hash functions; fresh unless given.
    """

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
        """The settings of the paper, for k = `hot_cells` and n = `expected_records`.

        Every level is measured, with the budget split that minimises the
        paper's bound on the noise.

        Args:
            domain: Where the records live.
            epsilon: Total privacy budget.
            expected_records: Expected number of records: a public guess, never a count of the data.
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
            expected_records=expected_records,
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
        expected_records: float,
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
            expected_records: Expected number of records: a public guess, never a count of the data.
            memory: Bytes for all counters and for the work on a batch, such as 65536 or "64 KiB".
            mergeable: Whether tallies or summaries of the plan are to be merged.
            neighbours: By default "zero-out", or "add-remove" for a mergeable plan.
            max_records_per_person: How many records one person may have.
            hash_seed: Public seed of the hash functions; fresh unless given.
        """
        relation: Neighbours = neighbours or ("add-remove" if mergeable else "zero-out")
        check_domain(domain)
        check_neighbours(relation)
        check_expected_records(expected_records)
        limit = read_memory(memory)
        settings = Planner(
            domain,
            epsilon=exact_epsilon(epsilon),
            expected_records=math.ceil(expected_records),
            memory=limit,
            neighbours=relation,
            max_records_per_person=check_integer(max_records_per_person, "max_records_per_person", 1, 10**6),
            growing=not mergeable and relation != "add-remove",
        ).settings()
        if hash_seed is not None:
            settings["hash_seed"] = hash_seed
        return cls(domain, neighbours=relation, max_records_per_person=max_records_per_person, **settings)

    def spec(self) -> dict[str, Any]:
        """The plan as a JSON object."""
        spec = {_key(item.name): getattr(self, item.name) for item in fields(self)}
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
        known = {_key(item.name) for item in fields(cls)}
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
        read: dict[str, Any] = {"domain": domain, "budgets": budgets, "growth": growth, "hash_seed": seed}
        read |= {item.name: spec[_key(item.name)] for item in fields(cls) if item.name not in read}
        return cls(**read)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as a spec, to the workers of a distributed job."""
        return Plan.from_spec, (self.spec(),)

    def __hash__(self) -> int:
        return hash((self.domain, self.epsilon, tuple(self.budgets.items()), self.hash_seed))

    def predictions(self, expected_records: float | None = None) -> dict[Stream, Prediction]:
        """Expected 1-Wasserstein distance between the records and the generator, for each kind of stream.

        Args:
            expected_records: Number of records to predict for; by default what the plan was made for.
        """
        outline = self._outline(self.expected_records if expected_records is None else expected_records)
        return {stream: predict(outline, stream) for stream in STREAMS}

    def _outline(self, expected_records: float) -> Outline:
        """What the plan measures of so many records, as far as errors depend on it."""
        check_expected_records(expected_records)
        variances = {level: 2.0 * float(self.scale(level)) ** 2 for level in self.budgets}
        deeper: Growing | Sketched | None = None
        if self.growth is not None:
            deeper = Growing(
                level=self.growth_level,
                variance=variances[self.growth_level],
                slots=self.growth.slots,
                moments=tuple(min(row / expected_records, 1.0) for row in self.growth.refined_after),
                least=self.growth.least,
            )
        elif self.sketched_levels:
            noise = {level: variances[level] for level in self.sketched_levels}
            deeper = Sketched(noise, self.sketch_rows, self.sketch_width, self.hot_cells)
        exact = {level: variances[level] for level in self.exact_levels}
        return Outline(Geometry.of(self.domain), expected_records, exact, deeper)

    def _repr_html_(self) -> str:
        return str(render("plan card", self))

    def __str__(self) -> str:
        """The plan as a table for people."""
        unit = "one record" if self.max_records_per_person == 1 else f"{self.max_records_per_person} records"
        limit = f", {self.memory:,} with the work on a batch" if self.memory else ""
        lines = [
            f"domain      {self.domain!r}",
            f"guarantee   {float(self.epsilon):g}-differential privacy, {self.neighbours} of {unit} per person",
            f"memory      {self.nbytes:,} bytes in {self.cells:,} cells{limit}",
            *self._growth_lines(),
            "",
            "level  counted              cells      budget   noise in records   cell diameter",
        ]
        for level, budget in self.budgets.items():
            size, kind = f"{2**level:,}", "cell by cell"
            if level > self.exact_depth:
                size, kind = f"{self.sketch_rows} x {self.sketch_width:,}", "sketched"
                if self.growth is not None:
                    size, kind = f"{self.growth.slots:,}", "growing"
            noise = f"{float(budget):11.4g} {float(self.scale(level)):18.6g}"
            lines.append(f"{level:5d}  {kind:12s} {size:>13s} {noise} {self.domain.diameter(level):15.6g}")
        return "\n".join([*lines, *self._prediction_lines(), *self._column_lines()])

    def _growth_lines(self) -> list[str]:
        if self.growth is not None:
            rows = " and ".join(f"{row:,}" for row in self.growth.refined_after)
            return [
                f"growth      from the {2**self.growth_level:,} cells of level {self.growth_level} "
                f"to {self.growth.slots:,}",
                f"            refined after row {rows}",
            ]
        if self.sketched_levels:
            first = "all" if self.expand == "all" else f"{self.hot_cells:,}"
            return [
                f"growth      the fullest cells are cut further: {first} of level {self.exact_depth}, "
                f"{self.hot_cells:,} of each level below"
            ]
        return []

    def _prediction_lines(self) -> list[str]:
        """Predicted errors, and the cost of a record."""
        increments = 1 + len(self.sketched_levels) * self.sketch_rows + (self.growth is not None)
        lines = ["", f"a record costs {increments} increments"]
        if not self.expected_records:
            return lines
        lines += [
            "",
            f"expected 1-Wasserstein distance for {self.expected_records:,} records, in the domain's unit",
            "if the stream is                    error       noise  collisions  resolution",
        ]
        for stream, error in self.predictions().items():
            parts = " ".join(f"{part:11.3g}" for part in (error.noise, error.collisions, error.resolution))
            lines.append(f"{stream + ', ' + KINDS[stream]:30s} {error.total:10.3g} {parts}")
        if self.inference == "top-down" and list(self.budgets) == list(range(self.depth + 1)):
            lines.append(f"{'at most, by the paper':30s} {self._paper_bound():10.3g}")
        return lines

    def _paper_bound(self) -> float:
        """The paper's bound on the expected distance, whatever the stream."""
        rows = {level: self.sketch_rows if level > self.exact_depth else 1 for level in self.budgets}
        budgets = {level: float(rows[level] / self.scale(level)) for level in self.budgets}
        return paper_bound(self._outline(self.expected_records), budgets).total

    def _column_lines(self) -> list[str]:
        """How fine the columns of a table are where records are spread evenly, and which are not told apart at all."""
        if not isinstance(self.domain, Table) or not self.expected_records:
            return []
        level = leaf_level(self._outline(self.expected_records), "smooth")
        cuts, most = self.domain.splits_by_column(level), self.domain.splits_by_column(self.domain.depth)
        lines = ["", f"columns     in cells of level {level}, where a smooth stream ends up"]
        for name, size in self.domain.resolution(level).items():
            lines.append(f"{cuts[name]:5d} cuts to {size:<12.6g} of {name}")
        coarse = [name for name, own in cuts.items() if own <= FEW_CUTS and own < most[name]]
        if coarse:
            lines += [
                f"warning     too many columns: {len(coarse)} of {len(cuts)} have {2**FEW_CUTS} parts or fewer;",
                "            leave some out, weigh those that matter, or give more memory",
            ]
        return lines

"""Trials of a plan: whole runs, in which each of many persons is present or absent.

A run counts the records of the persons who are present, in all passes of the
plan, and shows the noisy counts. Each counter has one target, a person whose
records fall there; the records of all others are known. So each counter is a
trial: is its target present? Trials are independent, since the noise of
different counters and the coins of different rows are. Persons who are the targets of a counter in
the table and of one in each measured column are trials of all these counters together.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.audit.arms import Arm, Seen
from privhp.audit.parts import Found, Part, Shown, join, joint_arm
from privhp.audit.persons import Indices, Persons
from privhp.collect.ingest import Ingestion
from privhp.core.budget import amplified_cost
from privhp.core.cells import Counts, fold
from privhp.io.sources import Batch, open_source
from privhp.planning.plan import Plan


class Trials:
    """Runs of one plan, and the arms that they fill.

    Args:
        plan: The plan.

    Attributes:
        arms: The measured levels; for a plan that learns, its passes too, each alone and all together. The same of each
            column that is measured by itself, and the leaves or finest levels of table and columns together.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan, self._rng = plan, np.random.default_rng()
        self._persons = Persons(plan, self._rng)
        columns = plan.column_plans.items()
        alone = (Part(own, self._persons.in_column(label, own), label) for label, own in columns)
        self._parts = [Part(plan, self._persons), *alone]
        self.arms = [arm for part in self._parts for arm in part.arms()]
        self.arms += self._joint_arms() if plan.columns else []

    def run(self) -> None:
        """Count the records of random persons, and add a trial for each target."""
        size, most = len(self._persons.records), self.plan.max_records_per_person
        present = self._rng.random(size) < 0.5
        early = self._rng.integers(0, most + 1, size) if self.plan.pan_private else np.full(size, most)
        shown = _run(self.plan, [self._records(present * own) for own in (early, most - early)])
        if shown is None:
            return
        found = [part.see(own, early, present) for part, own in zip(self._parts, shown, strict=True)]
        seen = [own for part in found for own in part.all]
        seen += self._see_together(found) if self.plan.columns else []
        for arm, own in zip(self.arms, seen, strict=True):
            arm.add(own, present)

    def _records(self, counts: Indices) -> NDArray[Any]:
        """A batch with this number of records of each person, in random order."""
        return self._rng.permutation(np.repeat(self._persons.records, counts, axis=0))

    def _joint_arms(self) -> Iterator[Arm]:
        """Table and columns together: their finest levels, and what each learning pass shows of them."""
        budgets = [part.finest_budget for part in self._parts]
        yield joint_arm("table and columns", sum(budgets, Fraction(0)), budgets, self.plan)
        if self._parts[0].learns:
            for number, (rate, budget) in enumerate(self.plan.pass_budgets, start=1):
                own = [part.pass_budget(number - 1) for part in self._learning]
                name = f"learning pass {number}, table and columns"
                yield joint_arm(name, amplified_cost(rate, budget), own, self.plan, rate=rate)

    def _see_together(self, found: list[Found]) -> Iterator[Seen]:
        """The persons who are targets in the table and in all columns."""
        yield join([own.finest for own in found], [part.finest_budget for part in self._parts], self.plan)
        if self._parts[0].learns:
            learning = [own.passes for own in found if own.passes]
            for number, (rate, _) in enumerate(self.plan.pass_budgets):
                budgets = [part.pass_budget(number) for part in self._learning]
                yield join([own[number] for own in learning], budgets, self.plan, rate=rate)

    @property
    def _learning(self) -> list[Part]:
        """The parts that learn a partition."""
        return [part for part in self._parts if part.learns]


class _Batches:
    """Batches that can be read again."""

    def __init__(self, batches: list[NDArray[Any]]) -> None:
        self._batches = batches

    def __iter__(self) -> Iterator[NDArray[Any]]:
        yield from self._batches


def _run(plan: Plan, batches: list[NDArray[Any]]) -> list[Shown] | None:
    """All passes over the batches, as the table and its columns show them.

    None if a learning pass has no row, after which no state is shown.
    """
    ingestion = Ingestion(plan, open_source(_Batches(batches), domain=plan.domain))
    states: dict[int, list[tuple[Plan, Counts]]] = {}

    def keep_state(_: Batch) -> bool:
        states.setdefault(ingestion.number, []).append((ingestion.summary.plan, ingestion.summary.state()))
        return False

    first = ingestion.number
    ingestion.run(keep_state)
    *learning, last = range(first, ingestion.number + 1)
    if any(number not in states for number in learning):
        return None
    release = ingestion.summary.close()
    passes = [_noisy_counts(*states[number][-1]) for number in learning]
    stolen = _noisy_counts(*states[last][0])
    return [
        Shown(own, stolen[label][1], [each[label] for each in passes if label in each])
        for label, own in {"": release, **release.columns}.items()
    ]


def _noisy_counts(plan: Plan, state: Counts) -> dict[str, tuple[Plan, dict[int, Counts]]]:
    """Noisy counts of each level of a table and its columns from the counters of a summary.

    The counters hold corrections of coarser exact levels.
    """
    counts = plan.unpack(state)
    for level in plan.exact_levels[:-1]:
        counts[level] = counts[level] + fold(counts[plan.exact_depth], levels=plan.exact_depth - level)
    parts = plan.unpack_columns(state)
    columns = {label: _noisy_counts(own, parts[label])[""] for label, own in plan.column_plans.items()}
    return {"": (plan, counts), **columns}

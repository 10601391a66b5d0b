"""Trials of a plan: whole runs, in which each of many persons is present or absent.

A run counts the records of the persons who are present, in all passes of the
plan, and shows the noisy counts. Each counter has one target, a person whose
records fall there; the records of all others are known. So each counter is a
trial: is its target present? Trials are independent, since the noise of
different counters and the coins of different rows are.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.audit.arms import Arm, Seen
from privhp.audit.persons import Indices, Persons, Places
from privhp.collect.ingest import Ingestion
from privhp.core.cells import Counts, Floats, fold
from privhp.io.sources import Batch, open_source
from privhp.planning.plan import Plan
from privhp.release import Release


class Trials:
    """Runs of one plan, and the arms that they fill.

    Args:
        plan: The plan.

    Attributes:
        arms: The measured levels; for a plan that learns, its passes too, each alone and all together.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan, self._rng = plan, np.random.default_rng()
        self._persons = Persons(plan, self._rng)
        self._learns = plan.learning is not None and plan.partition is None
        fixed = [level for level in plan.budgets if not (self._learns and level == plan.learned_level)]
        self._places = {level: self._persons.places(level) for level in fixed}
        self.arms = [*map(self._level_arm, plan.budgets), *self._learning_arms()]

    def run(self) -> None:
        """Count the records of random persons, and add a trial for each target."""
        size, most = len(self._persons.records), self.plan.max_records_per_person
        present = self._rng.random(size) < 0.5
        early = self._rng.integers(0, most + 1, size) if self.plan.pan_private else np.full(size, most)
        shown = _run(self.plan, [self._records(present * own) for own in (early, most - early)])
        if shown is None:
            return
        seen = [self._see_level(level, shown, early, present) for level in self.plan.budgets]
        if self._learns:
            seen += self._see_learning(shown, present, seen[-1])
        for arm, own in zip(self.arms, seen, strict=True):
            arm.add(own, present)

    def _records(self, counts: Indices) -> NDArray[Any]:
        """A batch with this number of records of each person, in random order."""
        return self._rng.permutation(np.repeat(self._persons.records, counts, axis=0))

    def _see_level(self, level: int, shown: "_Shown", early: Indices, present: NDArray[np.bool_]) -> Seen:
        """The targets of a level in the release and, if the plan is pan-private, in a summary file beside it."""
        release, places = shown.release, self._places.get(level)
        if places is None:
            assert release.plan.partition is not None
            places = self._persons.leaves(release.plan.partition)
        if not self.plan.pan_private:
            return self._see(places, [(release.counts[level], early)], present)
        stolen, late = shown.stolen[level], self.plan.max_records_per_person - early
        return self._see(places, [(stolen, early), (release.counts[level] - stolen, late)], present)

    def _see_learning(self, shown: "_Shown", present: NDArray[np.bool_], leaves: Seen) -> list[Seen]:
        """The targets of each learning pass, and those of all passes and the leaves together."""
        plan, most = self.plan, np.full(present.size, self.plan.max_records_per_person)
        assert plan.learning is not None
        passes = []
        for own, counts in shown.learning:
            assert own.partition is not None
            passes.append(self._see(self._persons.leaves(own.partition), [(counts, most)], present))
        scores = [self._pass_score(number, seen.score) for number, seen in enumerate(passes)]
        together = leaves._replace(score=sum(scores, self._leaf_score(leaves.score)))
        return [*passes, together]

    def _see(self, places: Places, parts: list[tuple[Counts, Indices]], present: NDArray[np.bool_]) -> Seen:
        """Targets from parts: noisy counts, and the number of records of each person that they count if present."""
        rows, targets = len(places.counters), places.targets
        found = [(places.excess(counts, records * present), records[targets]) for counts, records in parts]
        return Seen.of(targets, found, changes=rows * self.plan.max_records_per_person)

    def _level_arm(self, level: int) -> Arm:
        plan, measurement = self.plan, self.plan.measurement(level)
        rows = plan.sketch_rows if measurement == "sketched" else 1
        names = {"exact": f"level {level}", "sketched": f"sketch of level {level}", "learned": "leaves"}
        return self._arm(names[measurement], plan.budgets[level], plan.budgets[level], level=level, rows=rows)

    def _learning_arms(self) -> Iterator[Arm]:
        plan = self.plan
        if not self._learns or plan.learning is None:
            return
        for number, own in enumerate(plan.learning.passes, start=1):
            yield self._arm(f"learning pass {number}", own.cost, own.budget, level=plan.learned_level, rows=1)
        extremes = np.array([-1.0, 1.0])
        scores = [self._pass_score(number, extremes) for number in range(len(plan.learning.passes))]
        bottom, top = sum(scores, self._leaf_score(extremes)).tolist()
        claim = plan.learning.cost + plan.budgets[plan.learned_level]
        yield Arm("all passes", claim, math.inf, (bottom, top), pairs=plan.neighbours == "replace-one")

    def _arm(self, name: str, claim: Fraction, budget: Fraction, *, level: int, rows: int) -> Arm:
        """An arm whose scale follows from the definition of the sensitivity."""
        pairs = self.plan.neighbours == "replace-one" and level > 0
        scale = (1 + pairs) * rows * self.plan.max_records_per_person / budget
        return Arm(name, claim, float(scale), (-1.0, 1.0), pairs)

    def _pass_score(self, number: int, score: Floats) -> Floats:
        """Privacy loss of a learning pass: of a target that is in the sample with the rate of the pass."""
        assert self.plan.learning is not None
        own = self.plan.learning.passes[number]
        loss: Floats = np.log1p(float(own.rate) * np.expm1(self._share(own.budget) * score))
        return loss

    def _leaf_score(self, score: Floats) -> Floats:
        return self._share(self.plan.budgets[self.plan.learned_level]) * score

    def _share(self, budget: Fraction) -> float:
        """Largest privacy loss of one target of a pair, or of a single one."""
        return float(budget) / (2 if self.plan.neighbours == "replace-one" else 1)


class _Shown(NamedTuple):
    """What an observer of a run gets.

    Args:
        release: The release.
        stolen: Noisy counts of each level after the first batch, as a summary file has them.
        learning: For each learning pass, its plan and its noisy counts.
    """

    release: Release
    stolen: dict[int, Counts]
    learning: list[tuple[Plan, Counts]]


class _Batches:
    """Batches that can be read again."""

    def __init__(self, batches: list[NDArray[Any]]) -> None:
        self._batches = batches

    def __iter__(self) -> Iterator[NDArray[Any]]:
        yield from self._batches


def _run(plan: Plan, batches: list[NDArray[Any]]) -> _Shown | None:
    """All passes over the batches; None if a learning pass has no row, after which no state is shown."""
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
    return _Shown(
        ingestion.summary.close(),
        _noisy_counts(*states[last][0]),
        [states[number][-1] for number in learning],
    )


def _noisy_counts(plan: Plan, state: Counts) -> dict[int, Counts]:
    """Noisy counts of each level from the counters of a summary, which hold corrections of coarser exact levels."""
    counts = plan.unpack(state)
    for level in plan.exact_levels[:-1]:
        counts[level] = counts[level] + fold(counts[plan.exact_depth], levels=plan.exact_depth - level)
    return counts

"""Parts of a plan that an audit looks at: the records, and each column that is measured by itself."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.audit.arms import Arm, Seen
from privhp.audit.persons import Indices, Persons, Places
from privhp.core.cells import Counts, Floats
from privhp.planning.plan import Plan
from privhp.release import Release


class Shown(NamedTuple):
    """What an observer of a run gets of a part.

    Args:
        release: The release.
        stolen: Noisy counts of each level after the first batch, as a summary file has them.
        learning: For each learning pass, its plan and its noisy counts by level.
    """

    release: Release
    stolen: dict[int, Counts]
    learning: list[tuple[Plan, dict[int, Counts]]]


class Found(NamedTuple):
    """The targets of a part in a run.

    Args:
        levels: Those of each level.
        passes: Those of each learning pass.
        together: Those of all passes and the leaves together.
    """

    levels: list[Seen]
    passes: list[Seen]
    together: list[Seen]

    @property
    def all(self) -> list[Seen]:
        """One for each arm of the part."""
        return [*self.levels, *self.passes, *self.together]

    @property
    def finest(self) -> Seen:
        """Those of the leaves, or of the finest level."""
        return self.levels[-1]


class Part:
    """The counters of all records, or of their values in a column.

    Args:
        plan: The plan of the records or of the column.
        persons: The persons, with their values.
        label: Label of the column; empty for the records.
    """

    def __init__(self, plan: Plan, persons: Persons, label: str = "") -> None:
        self.plan, self._persons, self._label = plan, persons, label
        self.learns = plan.learning is not None and plan.partition is None
        fixed = [level for level in plan.budgets if not (self.learns and level == plan.learned_level)]
        self._places = {level: persons.places(level) for level in fixed}

    @property
    def finest_budget(self) -> Fraction:
        """Budget of the leaves, or of the finest level."""
        return self.plan.budgets[max(self.plan.budgets)]

    def pass_budget(self, number: int) -> Fraction:
        """Budget of a learning pass."""
        assert self.plan.learning is not None
        return self.plan.learning.passes[number].budget

    def arms(self) -> Iterator[Arm]:
        """The measured levels; for a plan that learns, its passes too, each alone and, of records, all together."""
        plan = self.plan
        yield from map(self._level_arm, plan.budgets)
        if not self.learns or plan.learning is None:
            return
        for number, own in enumerate(plan.learning.passes, start=1):
            yield self._arm(f"learning pass {number}", own.cost, own.budget, level=plan.learned_level, rows=1)
        if not self._label:
            extremes = np.array([-1.0, 1.0])
            bottom, top = self._all_passes([extremes] * len(plan.learning.passes), extremes).tolist()
            claim = plan.learning.cost + plan.budgets[plan.learned_level]
            yield Arm("all passes", claim, math.inf, (bottom, top), pairs=plan.neighbours == "replace-one")

    def see(self, shown: Shown, early: Indices, present: NDArray[np.bool_]) -> Found:
        """The targets in a run.

        Args:
            shown: What the run shows.
            early: Number of records of each person in the first batch, if present.
            present: Whether each person is present.
        """
        levels = [self._see_level(level, shown, early, present) for level in self.plan.budgets]
        if not self.learns:
            return Found(levels, [], [])
        most, passes = np.full(present.size, self.plan.max_records_per_person), []
        for own, counts in shown.learning:
            assert own.partition is not None
            leaves = self._persons.leaves(own.partition)
            passes.append(self._see(leaves, [(counts[own.learned_level], most)], present))
        if self._label:  # persons share the leaves of a column, so the targets of passes differ
            return Found(levels, passes, [])
        score = self._all_passes([own.score for own in passes], levels[-1].score)
        return Found(levels, passes, [levels[-1]._replace(score=score)])

    def _see_level(self, level: int, shown: Shown, early: Indices, present: NDArray[np.bool_]) -> Seen:
        """The targets of a level in the release and, if the plan is pan-private, in a summary file beside it."""
        release, places = shown.release, self._places.get(level)
        if places is None:
            assert release.plan.partition is not None
            places = self._persons.leaves(release.plan.partition)
        if not self.plan.pan_private:
            return self._see(places, [(release.counts[level], early)], present)
        stolen, late = shown.stolen[level], self.plan.max_records_per_person - early
        return self._see(places, [(stolen, early), (release.counts[level] - stolen, late)], present)

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

    def _arm(self, name: str, claim: Fraction, budget: Fraction, *, level: int, rows: int) -> Arm:
        """An arm whose scale follows from the definition of the sensitivity."""
        pairs = self.plan.neighbours == "replace-one" and level > 0
        scale = (1 + pairs) * rows * self.plan.max_records_per_person / budget
        return Arm(f"column {self._label}, {name}" if self._label else name, claim, float(scale), (-1.0, 1.0), pairs)

    def _all_passes(self, passes: Sequence[Floats], leaves: Floats) -> Floats:
        """Privacy loss of all passes and the leaves together, from the scores of each."""
        assert self.plan.learning is not None
        scores = [
            pass_loss(own.rate, _share(own.budget, self.plan) * score)
            for own, score in zip(self.plan.learning.passes, passes, strict=True)
        ]
        return sum(scores, _share(self.finest_budget, self.plan) * leaves)


def pass_loss(rate: Fraction, loss: Floats) -> Floats:
    """Privacy loss of a learning pass: of a target that is in the sample with the rate of the pass."""
    amplified: Floats = np.log1p(float(rate) * np.expm1(loss))
    return amplified


def _share(budget: Fraction, plan: Plan) -> float:
    """Largest privacy loss of one target of a pair, or of a single one."""
    return float(budget) / (2 if plan.neighbours == "replace-one" else 1)


def joint_arm(
    name: str, claim: Fraction, budgets: Sequence[Fraction], plan: Plan, *, rate: Fraction = Fraction(1)
) -> Arm:
    """An arm of counters of several parts, which are seen together.

    Args:
        name: What is measured.
        claim: Its privacy loss, at most.
        budgets: Budget of each part.
        plan: The plan of the records.
        rate: Sampling rate of what is counted.
    """
    most = sum(_share(budget, plan) for budget in budgets)
    bottom, top = pass_loss(rate, np.array([-most, most])).tolist()
    return Arm(name, claim, math.inf, (bottom, top), pairs=plan.neighbours == "replace-one")


def join(found: Sequence[Seen], budgets: Sequence[Fraction], plan: Plan, *, rate: Fraction = Fraction(1)) -> Seen:
    """The persons who are targets in all parts, with the privacy loss of their counters together."""
    targets = reduce(np.intersect1d, [own.targets for own in found])
    loss = np.zeros(targets.size)
    for own, budget in zip(found, budgets, strict=True):
        order = np.argsort(own.targets)
        loss += _share(budget, plan) * own.score[order][np.searchsorted(own.targets[order], targets)]
    far = np.zeros(targets.size, dtype=np.int64)
    return Seen(targets, pass_loss(rate, loss), far, far)

"""A partition that grows at the wrong moments, without noise, or on what it cannot grow on."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import growing
import growing_audits
import privhp.planning.plan_checks
from mutants.planting import killed_by
from privhp import Summary, Tally
from privhp.collect.life_cycle import LifeCycle
from privhp.collect.refinement import james_stein_shrinkage
from privhp.core.cells import Codes, Counts
from privhp.kernels.partition_marks import MARK_LIMIT, split_mark
from privhp.planning.partition import Cells, Partition


@killed_by(
    growing.every_stretch_has_noise_of_its_own,
    growing_audits.noise_adds_up_by_stretches,
    growing_audits.growing_keeps_its_budget,
)
def no_fresh_noise_at_a_refinement(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Summary, "_add_noise_at", lambda summary, slots: None)


@killed_by(
    growing.every_stretch_has_noise_of_its_own,
    growing_audits.noise_adds_up_by_stretches,
    growing_audits.growing_keeps_its_budget,
)
def fresh_noise_for_new_parts_only(patch: pytest.MonkeyPatch) -> None:
    _keep_noise_from(patch, lambda counts: counts != 0)


@killed_by(
    growing.every_stretch_has_noise_of_its_own,
    growing_audits.noise_adds_up_by_stretches,
    growing_audits.growing_keeps_its_budget,
)
def fresh_noise_for_old_cells_only(patch: pytest.MonkeyPatch) -> None:
    _keep_noise_from(patch, lambda counts: counts == 0)


@killed_by(growing_audits.drawn_together_keeps_its_budget)
def fresh_noise_is_drawn_together_too(patch: pytest.MonkeyPatch) -> None:
    add_noise = Summary._add_noise_at

    def drawing(self: Summary, slots: Any) -> None:
        add_noise(self, slots)
        assert self._tally.partition is not None
        counts, noise = self._tally.partition.slots, 2.0 * float(self.plan.scale(self.plan.growth_level)) ** 2
        groups = slots >> self.plan.tuning.shrinkage_levels
        counts[slots] = james_stein_shrinkage(counts[slots], groups, variance=noise)

    patch.setattr(Summary, "_add_noise_at", drawing)


def _keep_noise_from(patch: pytest.MonkeyPatch, is_spared: Callable[[Counts], Any]) -> None:
    add_noise = Summary._add_noise_at

    def sparing(self: Summary, slots: Any) -> None:
        assert self._tally.partition is not None
        add_noise(self, slots[~is_spared(self._tally.partition.slots[slots])])

    patch.setattr(Summary, "_add_noise_at", sparing)


@killed_by(growing.refined_after_row_numbers)
def blank_rows_are_no_rows(patch: pytest.MonkeyPatch) -> None:
    count = Tally._count

    def without(self: Tally, codes: Codes, weights: Any, refine: Any) -> None:
        count(self, codes[codes < np.uint64(2**self.plan.depth)], weights, refine)

    patch.setattr(Tally, "_count", without)


@killed_by(growing.refined_after_row_numbers)
def refined_before_the_row(patch: pytest.MonkeyPatch) -> None:
    following = Tally._next_refinement
    patch.setattr(Tally, "_next_refinement", lambda self: following(self) - 1)


@killed_by(growing.refined_after_row_numbers)
def refined_at_the_end_of_a_batch(patch: pytest.MonkeyPatch) -> None:
    count = Tally._count

    def late(self: Tally, codes: Codes, weights: Any, refine: Any) -> None:
        within = refine is not None and self._refines_within(codes.size)
        count(self, codes, weights, None)
        if within:
            refine()

    patch.setattr(Tally, "_count", late)


@killed_by(growing.refined_after_row_numbers)
def refined_when_enough_are_counted(patch: pytest.MonkeyPatch) -> None:
    """By the number of records, which is not public, in place of rows."""

    def within(self: Tally, rows: int) -> bool:
        assert self.plan.growth is not None
        assert self.partition is not None
        done = self.partition.refinements == len(self.plan.growth.refined_after)
        return not done and int(self.counters.sum()) + rows >= self._next_refinement()

    patch.setattr(Tally, "_refines_within", within)


@killed_by(growing.one_row_moves_one_cell)
def a_record_is_counted_in_all_its_cells(patch: pytest.MonkeyPatch) -> None:
    """In the cell that was cut, too, as if each stretch had a budget of its own for all before it."""
    count = Tally._count

    def twice(self: Tally, codes: Codes, weights: Any, refine: Any) -> None:
        count(self, codes, weights, refine)
        assert self.partition is not None
        slots = self.partition.slots
        inside = codes[codes < np.uint64(2**self.plan.depth)]
        roots = (inside >> np.uint64(self.plan.depth - self.partition.level)).view(np.int64)
        marks = slots[roots][slots[roots] < MARK_LIMIT]
        np.add.at(slots, ((marks - np.iinfo(np.int64).min) >> 16) - 1, 1)

    patch.setattr(Tally, "_count", twice)


@killed_by(growing.an_interrupted_refinement_ends_in_its_release)
def a_refinement_can_break_off_and_go_on(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LifeCycle, "check_complete", lambda self: None)


@killed_by(growing.an_interrupted_refinement_ends_in_its_release)
def a_cut_in_two_steps(patch: pytest.MonkeyPatch) -> None:
    def unsafe(self: Partition, cells: Cells, levels: Any) -> Any:
        new = [np.zeros(0, dtype=np.int64)]
        for step in np.unique(levels[levels > 0]).tolist():
            places = cells.slots[levels == step]
            first = self.used + 1 + np.arange(places.size) * (2**step + 1)
            self.used += places.size * (2**step + 1)
            counts = self.slots[places]
            self.slots[places] = split_mark(first, step, self.refinements)
            self._one_line_later(first, counts)
            new.append((first[:, None] + np.arange(2**step)).ravel())
        return np.concatenate(new)

    def put(self: Partition, first: Any, counts: Any) -> None:
        self.slots[first - 1] = counts

    put.__code__ = put.__code__.replace(co_filename=privhp.planning.partition.__file__)
    patch.setattr(Partition, "_one_line_later", put, raising=False)
    patch.setattr(Partition, "cut", unsafe)


@killed_by(growing.refused_where_rows_have_no_numbers)
def grows_under_add_remove(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(privhp.planning.plan_checks, "check_growth", lambda plan: None)


@killed_by(growing.refused_where_rows_have_no_numbers)
def grows_by_rows_that_stand_for_many(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Tally, "_check_growth", lambda self, counts, refine: None)

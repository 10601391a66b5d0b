"""Defects: refinements at wrong rows, without fresh noise, or under plans without row numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import partition_audits
import partition_checks
import privhp.planning.plan_checks
from mutants.planting import caught_by
from privhp import Summary, Tally
from privhp.collect.life_cycle import LifeCycle
from privhp.collect.refinement import james_stein_shrinkage
from privhp.core.cells import Codes, Counts
from privhp.kernels.partition_marks import MARK_LIMIT, split_mark
from privhp.planning.partition import Cells, Partition


@caught_by(
    partition_checks.every_pass_has_fresh_noise,
    partition_audits.released_noise_is_one_draw_per_pass,
    partition_audits.learned_partition_spends_at_most_its_budget,
)
def refinement_without_fresh_noise(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Summary, "_add_noise_at", lambda summary, slots: None)


@caught_by(
    partition_checks.every_pass_has_fresh_noise,
    partition_audits.released_noise_is_one_draw_per_pass,
    partition_audits.learned_partition_spends_at_most_its_budget,
)
def fresh_noise_for_children_only(patch: pytest.MonkeyPatch) -> None:
    _omit_fresh_noise(patch, lambda counts: counts != 0)


@caught_by(
    partition_checks.every_pass_has_fresh_noise,
    partition_audits.released_noise_is_one_draw_per_pass,
    partition_audits.learned_partition_spends_at_most_its_budget,
)
def fresh_noise_for_unsplit_cells_only(patch: pytest.MonkeyPatch) -> None:
    _omit_fresh_noise(patch, lambda counts: counts == 0)


@caught_by(partition_audits.shrunk_counts_spend_at_most_their_budget)
def fresh_noise_is_shrunk(patch: pytest.MonkeyPatch) -> None:
    add_noise = Summary._add_noise_at

    def drawing(self: Summary, slots: Any) -> None:
        add_noise(self, slots)
        assert self._tally.partition is not None
        counts, noise = self._tally.partition.slots, 2.0 * float(self.plan.scale(self.plan.learned_level)) ** 2
        groups = slots >> self.plan.tuning.shrinkage_levels
        counts[slots] = james_stein_shrinkage(counts[slots], groups, variance=noise)

    patch.setattr(Summary, "_add_noise_at", drawing)


def _omit_fresh_noise(patch: pytest.MonkeyPatch, is_spared: Callable[[Counts], Any]) -> None:
    add_noise = Summary._add_noise_at

    def sparing(self: Summary, slots: Any) -> None:
        assert self._tally.partition is not None
        add_noise(self, slots[~is_spared(self._tally.partition.slots[slots])])

    patch.setattr(Summary, "_add_noise_at", sparing)


@caught_by(partition_checks.refinements_follow_row_numbers)
def skipped_rows_have_no_number(patch: pytest.MonkeyPatch) -> None:
    count = Tally._count

    def without(self: Tally, codes: Codes, weights: Any, refine: Any) -> None:
        count(self, codes[codes < np.uint64(2**self.plan.depth)], weights, refine)

    patch.setattr(Tally, "_count", without)


@caught_by(partition_checks.refinements_follow_row_numbers)
def refinement_one_row_early(patch: pytest.MonkeyPatch) -> None:
    following = Tally._next_refinement
    patch.setattr(Tally, "_next_refinement", lambda self: following(self) - 1)


@caught_by(partition_checks.refinements_follow_row_numbers)
def refinement_at_the_end_of_a_batch(patch: pytest.MonkeyPatch) -> None:
    count = Tally._count

    def late(self: Tally, codes: Codes, weights: Any, refine: Any) -> None:
        within = refine is not None and self._refines_within(codes.size)
        count(self, codes, weights, None)
        if within:
            refine()

    patch.setattr(Tally, "_count", late)


@caught_by(partition_checks.refinements_follow_row_numbers)
def refinement_by_number_of_records(patch: pytest.MonkeyPatch) -> None:
    """Refine by the number of counted records, which is not public."""

    def within(self: Tally, rows: int) -> bool:
        assert self.plan.learned is not None
        assert self.partition is not None
        done = self.partition.refinements == len(self.plan.learned.refinement_rows)
        return not done and int(self.counters.sum()) + rows >= self._next_refinement()

    patch.setattr(Tally, "_refines_within", within)


@caught_by(partition_checks.row_changes_one_counter)
def record_counted_in_split_cells_too(patch: pytest.MonkeyPatch) -> None:
    """Count each record in the split ancestors of its cell too."""
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


@caught_by(partition_checks.interrupted_refinement_only_allows_release)
def update_after_interrupted_refinement(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LifeCycle, "check_complete", lambda self: None)


@caught_by(partition_checks.interrupted_refinement_only_allows_release)
def split_in_two_assignments(patch: pytest.MonkeyPatch) -> None:
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
    patch.setattr(Partition, "split", unsafe)


@caught_by(partition_checks.plans_without_row_numbers_are_refused)
def learned_partition_under_add_remove(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(privhp.planning.plan_checks, "check_learned", lambda plan: None)


@caught_by(partition_checks.plans_without_row_numbers_are_refused)
def learned_partition_with_weighted_rows(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Tally, "_check_learned", lambda self, counts, refine: None)

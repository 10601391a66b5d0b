"""Defects: samples, noise, refinements and passes that learn more than they pay for."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import learning_audits
import learning_checks
import learning_costs
import privhp.collect.ingest
from mutants.planting import caught_by
from privhp import Plan, Summary
from privhp.collect.checkpoint import Checkpoint
from privhp.collect.ingest import CheckpointedIngestion, Ingestion
from privhp.collect.learning import is_learning
from privhp.collect.noisy_counters import NoisyCounters
from privhp.core.cells import Counts
from privhp.io.sources.in_memory import InMemorySource
from privhp.release import Release

# Samples


def _sample_by(patch: pytest.MonkeyPatch, sample: Callable[..., NDArray[np.intp]]) -> None:
    patch.setattr(privhp.collect.ingest, "poisson_sample", sample)


@caught_by(
    learning_checks.each_coin_depends_on_its_own_random_bits, learning_audits.learned_partition_spends_at_most_its_cost
)
def coin_per_batch(patch: pytest.MonkeyPatch) -> None:
    sample = privhp.collect.ingest.poisson_sample
    _sample_by(patch, lambda rows, *, rate: np.arange(rows if sample(1, rate).size else 0))


@caught_by(learning_checks.each_coin_depends_on_its_own_random_bits)
def coin_per_run(patch: pytest.MonkeyPatch) -> None:
    flip = cache(lambda rate: np.random.default_rng().random() < float(rate))
    _sample_by(patch, lambda rows, *, rate: np.arange(rows if flip(rate) else 0))


@caught_by(learning_checks.each_coin_depends_on_its_own_random_bits)
def every_nth_row(patch: pytest.MonkeyPatch) -> None:
    _sample_by(patch, lambda rows, *, rate: np.arange(0, rows, int(1 / rate)))


@caught_by(learning_checks.each_coin_depends_on_its_own_random_bits)
def seeded_sample(patch: pytest.MonkeyPatch) -> None:
    _sample_by(patch, lambda rows, *, rate: np.flatnonzero(np.random.default_rng(0).random(rows) < float(rate)))


@caught_by(learning_checks.each_coin_depends_on_its_own_random_bits)
def sample_of_fixed_size(patch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng()
    _sample_by(patch, lambda rows, *, rate: np.sort(rng.permutation(rows)[: int(rows * rate)]))


@caught_by(learning_checks.each_coin_depends_on_its_own_random_bits)
def same_sample_in_all_passes(patch: pytest.MonkeyPatch) -> None:
    sample = privhp.collect.ingest.poisson_sample
    coins = cache(lambda rows, rates: sample(rows, max(rates)))
    _sample_by(patch, lambda rows, *, rate: coins(rows, (Fraction(1, 4), Fraction(1, 8))))


@caught_by(
    learning_checks.each_coin_depends_on_its_own_random_bits, learning_audits.learned_partition_spends_at_most_its_cost
)
def rate_doubled(patch: pytest.MonkeyPatch) -> None:
    sample = privhp.collect.ingest.poisson_sample
    _sample_by(patch, lambda rows, *, rate: sample(rows, min(2 * rate, Fraction(1))))


@caught_by(learning_checks.each_coin_depends_on_its_own_random_bits)
def row_taken_twice(patch: pytest.MonkeyPatch) -> None:
    sample = privhp.collect.ingest.poisson_sample
    _sample_by(patch, lambda rows, *, rate: np.repeat(sample(rows, rate), 2))


@caught_by(learning_checks.each_row_of_each_pass_has_one_coin)
def batch_read_twice(patch: pytest.MonkeyPatch) -> None:
    batches = InMemorySource.batches

    def twice(self: InMemorySource, *arguments: Any, **options: Any) -> Iterator[Any]:
        for batch in batches(self, *arguments, **options):
            yield batch
            yield batch

    patch.setattr(InMemorySource, "batches", twice)


@caught_by(learning_checks.row_changes_one_counter_if_its_coin_takes_it)
def row_outside_the_sample_drops_batch(patch: pytest.MonkeyPatch) -> None:
    take = InMemorySource._take

    def all_or_nothing(self: InMemorySource, records: Any, *choice: Any) -> Iterator[Any]:
        if not any(isinstance(value, float) and value != value for value in records):
            yield from take(self, records, *choice)

    patch.setattr(InMemorySource, "_take", all_or_nothing)


# Noise


def _change_pass_plans(patch: pytest.MonkeyPatch, change: Callable[[Plan, Plan], Plan]) -> None:
    """Change the plans of learning passes; `change` takes the plan and that of the pass."""
    pass_plan = privhp.collect.ingest.pass_plan

    def changed(plan: Plan, number: int) -> Plan:
        own = pass_plan(plan, number)
        return change(plan, own) if is_learning(plan, number) else own

    patch.setattr(privhp.collect.ingest, "pass_plan", changed)


@caught_by(learning_checks.every_pass_has_fresh_noise_on_every_leaf, learning_costs.passes_cost_at_most_epsilon)
def persons_ignored_while_learning(patch: pytest.MonkeyPatch) -> None:
    _change_pass_plans(patch, lambda plan, own: replace(own, max_records_per_person=1))


@caught_by(learning_checks.every_pass_has_fresh_noise_on_every_leaf, learning_costs.passes_cost_at_most_epsilon)
def replaced_records_ignored_while_learning(patch: pytest.MonkeyPatch) -> None:
    _change_pass_plans(patch, lambda plan, own: replace(own, neighbours="add-remove"))


@caught_by(learning_checks.every_pass_has_fresh_noise_on_every_leaf)
def noise_scaled_by_the_rate(patch: pytest.MonkeyPatch) -> None:
    def scaled(plan: Plan, own: Plan) -> Plan:
        level = own.learned_level
        return replace(own, epsilon=100, budgets={level: own.budgets[level] * 4})

    _change_pass_plans(patch, scaled)


@caught_by(learning_checks.learning_passes_count_leaves_alone, learning_checks.every_pass_has_fresh_noise_on_every_leaf)
def exact_levels_counted_while_learning(patch: pytest.MonkeyPatch) -> None:
    _change_pass_plans(
        patch, lambda plan, own: replace(own, budgets={**plan.budgets, **own.budgets}, exact_depth=plan.exact_depth)
    )


@caught_by(learning_checks.every_pass_has_fresh_noise_on_every_leaf)
def noise_on_counted_leaves_only(patch: pytest.MonkeyPatch) -> None:
    draw, close = NoisyCounters._draw_noise, Summary.close

    def late(self: Summary) -> Release:
        leaves = self._tally.leaves
        touched = np.flatnonzero(leaves)
        leaves[touched] += draw(self._counters, self.plan.learned_level, touched.size)
        return close(self)

    def none(self: NoisyCounters, level: int, size: int) -> Counts:
        learned = self.plan.partition is not None and level == self.plan.learned_level
        return np.zeros(size, dtype=np.int64) if learned else draw(self, level, size)

    patch.setattr(NoisyCounters, "_draw_noise", none)
    patch.setattr(Summary, "close", late)


@caught_by(
    learning_checks.every_pass_has_fresh_noise_on_every_leaf, learning_audits.learned_partition_spends_at_most_its_cost
)
def same_noise_in_the_next_pass(patch: pytest.MonkeyPatch) -> None:
    draw, drawn = NoisyCounters._draw_noise, dict[Fraction, Counts]()

    def again(self: NoisyCounters, level: int, size: int) -> Counts:
        partition = self.plan.partition
        if partition is None:  # the first pass of a run: one draw for all runs may tell nothing
            drawn.clear()
        known = drawn.setdefault(self.plan.scale(level), draw(self, level, size))
        if partition is None or size != partition.size or known.size > size or known.size & (known.size - 1):
            return np.resize(known, size)
        further = partition.levels.astype(np.uint64) - np.uint64(known.size.bit_length() - 1)
        return known[partition.codes() >> further]  # each leaf has the noise of its root

    patch.setattr(NoisyCounters, "_draw_noise", again)


# Refinements


@caught_by(learning_checks.refinement_is_a_function_of_noisy_counts, learning_audits.streams_spend_at_most_epsilon)
def refinement_reads_number_of_rows(patch: pytest.MonkeyPatch) -> None:
    sample, refine_plan, seen = privhp.collect.ingest.poisson_sample, privhp.collect.ingest.refine_plan, [0]

    def counting(rows: int, *, rate: Fraction) -> NDArray[np.intp]:
        seen[0] += rows
        return sample(rows, rate)

    def by_rows(plan: Plan, number: int, release: Release) -> Plan:
        rows, seen[0] = seen[0], 0
        return refine_plan(plan, number, release) if rows < 156 else replace(plan, partition=release.plan.partition)

    _sample_by(patch, counting)
    patch.setattr(privhp.collect.ingest, "refine_plan", by_rows)


@caught_by(
    learning_checks.every_pass_has_fresh_noise_on_every_leaf, learning_audits.learned_partition_spends_at_most_its_cost
)
def refinement_reads_bare_counts(patch: pytest.MonkeyPatch) -> None:
    start, close = Summary.__init__, Summary.close

    def noting(self: Summary, plan: Plan, **options: Any) -> None:
        start(self, plan, **options)
        self._noise = self._tally.leaves.copy()

    def bare(self: Summary) -> Release:
        release, level = close(self), self.plan.learned_level
        if self.plan.exact_levels:
            return release
        return Release(self.plan, {level: release.counts[level] - self._noise})

    patch.setattr(Summary, "__init__", noting)
    patch.setattr(Summary, "close", bare)


@caught_by(learning_checks.all_inputs_run_all_passes)
def nothing_learned_without_rows(patch: pytest.MonkeyPatch) -> None:
    run_pass, refine = Ingestion._run_pass, Ingestion._refine

    def noting(self: Ingestion, should_stop: Any) -> bool:
        before = self.summary.state().sum()
        done = run_pass(self, should_stop)
        self._counted = self.summary.state().sum() != before
        return done

    def if_counted(self: Ingestion) -> None:
        if self._counted:
            refine(self)
            return
        self.plan = replace(self.plan, partition=self.summary.plan.partition)
        self._begin_pass(self.number + 1)

    patch.setattr(Ingestion, "_run_pass", noting)
    patch.setattr(Ingestion, "_refine", if_counted)


@caught_by(learning_checks.unfinished_pass_is_not_refined)
def stopped_pass_refined(patch: pytest.MonkeyPatch) -> None:
    run_pass = Ingestion._run_pass

    def done(self: Ingestion, should_stop: Any) -> bool:
        run_pass(self, should_stop)
        return True

    patch.setattr(Ingestion, "_run_pass", done)


# Checkpoints


@caught_by(learning_checks.checkpoint_holds_noisy_counters_and_a_position)
def coins_saved_in_checkpoint(patch: pytest.MonkeyPatch) -> None:
    sample, chunks, taken = privhp.collect.ingest.poisson_sample, Checkpoint.chunks, list[str]()

    def noting(rows: int, *, rate: Fraction) -> NDArray[np.intp]:
        found = sample(rows, rate)
        taken.append(str(found.tolist()))
        return found

    def telling(self: Checkpoint) -> Any:
        self.position = {**(self.position or {}), "coins": "".join(taken)}
        return chunks(self)

    _sample_by(patch, noting)
    patch.setattr(Checkpoint, "chunks", telling)


@caught_by(learning_checks.resumed_passes_count_each_row_once, learning_audits.resumed_run_spends_at_most_its_cost)
def rows_counted_again_after_resume(patch: pytest.MonkeyPatch) -> None:
    """Rows of the last batch get a second coin."""
    resume = CheckpointedIngestion._resume

    def repeating(self: CheckpointedIngestion, *arguments: Any) -> None:
        resume(self, *arguments)
        file, place = self._position
        self._position = (file, max(place - self._source._selection.rows, 0))

    patch.setattr(CheckpointedIngestion, "_resume", repeating)

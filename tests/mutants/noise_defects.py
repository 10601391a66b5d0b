"""Defects: noise that is too small, missing, late, shared or of another distribution."""

import functools
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import audits
import privacy
import privhp.collect.noisy_counters
import privhp.collect.tally
from mutants.planting import caught_by
from privhp import Plan, Summary
from privhp.collect.noisy_counters import NoisyCounters
from privhp.core.cells import Counts, fold


@caught_by(privacy.every_counter_has_one_draw_at_its_scale, privacy.draws_spend_at_most_epsilon)
def noise_halved(patch: pytest.MonkeyPatch) -> None:
    scale = Plan.scale
    patch.setattr(Plan, "scale", lambda plan, level: scale(plan, level) / 2)


@caught_by(privacy.every_counter_has_one_draw_at_its_scale)
def one_level_without_noise(patch: pytest.MonkeyPatch) -> None:
    _skip_draws(patch, lambda plan, level: level == plan.depth)


@caught_by(privacy.every_counter_has_one_draw_at_its_scale, privacy.released_counts_are_exact_counts_plus_noise)
def column_without_noise(patch: pytest.MonkeyPatch) -> None:
    add_noise = NoisyCounters.add_noise

    def first_alone(self: NoisyCounters) -> None:
        columns, self._columns = self._columns, {}
        add_noise(self)
        self._columns = columns
        for own in list(columns.values())[:1]:
            add_noise(own)

    patch.setattr(NoisyCounters, "add_noise", first_alone)


@caught_by(privacy.pan_private_release_has_second_draws)
def columns_without_second_draw(patch: pytest.MonkeyPatch) -> None:
    close = Summary.close

    def tables_alone(self: Summary) -> Any:
        for own in self._counters._columns.values():
            own._add_draws = lambda level, counters: None
        return close(self)

    patch.setattr(Summary, "close", tables_alone)


@caught_by(privacy.every_counter_has_one_draw_at_its_scale)
def root_without_noise_under_replace_one(patch: pytest.MonkeyPatch) -> None:
    _skip_draws(patch, lambda plan, level: level == 0 and plan.neighbours == "replace-one")


@caught_by(privacy.every_counter_has_one_draw_at_its_scale)
def noise_only_in_counted_cells(patch: pytest.MonkeyPatch) -> None:
    _skip_draws(patch, lambda plan, level: level == plan.exact_depth)
    update = Summary.update

    def late(self: Summary, records: Any, *, counts: Any = None) -> None:
        before = self._tally.counters.copy()
        update(self, records, counts=counts)
        touched = np.flatnonzero(self._tally.counters != before)
        scale = self.plan.scale(self.plan.exact_depth)
        self._tally.counters[touched] += privhp.collect.noisy_counters.discrete_laplace(touched.size, scale=scale)

    patch.setattr(Summary, "update", late)


@caught_by(privacy.every_counter_has_one_draw_at_its_scale)
def noise_at_release(patch: pytest.MonkeyPatch) -> None:
    _skip_draws(patch, lambda plan, level: level == plan.exact_depth)
    release = Summary.release

    def late(self: Summary) -> Any:
        counters = self._tally.counters
        counters += privhp.collect.noisy_counters.discrete_laplace(
            counters.size, scale=self.plan.scale(self.plan.exact_depth)
        )
        return release(self)

    patch.setattr(Summary, "release", late)


def _skip_draws(patch: pytest.MonkeyPatch, skipped: Callable[[Plan, int], bool]) -> None:
    noise = NoisyCounters._draw_noise

    def sparing(self: NoisyCounters, level: int, size: int) -> Counts:
        return np.zeros(size, dtype=np.int64) if skipped(self.plan, level) else noise(self, level, size)

    patch.setattr(NoisyCounters, "_draw_noise", sparing)


@caught_by(privacy.draws_are_independent_between_summaries, privacy.released_counts_are_exact_counts_plus_noise)
def same_noise_in_all_rows(patch: pytest.MonkeyPatch) -> None:
    noise = NoisyCounters._draw_noise

    def copied(self: NoisyCounters, level: int, size: int) -> Counts:
        drawn = noise(self, level, size)
        if level > self.plan.exact_depth:
            drawn.reshape(self.plan.sketch_rows, -1)[:] = drawn[: self.plan.sketch_width]
        return drawn

    patch.setattr(NoisyCounters, "_draw_noise", copied)


@caught_by(privacy.draws_are_independent_between_summaries)
def same_noise_on_all_levels(patch: pytest.MonkeyPatch) -> None:
    noise = NoisyCounters._draw_noise

    def shared(self: NoisyCounters, level: int, size: int) -> Counts:
        if not hasattr(self, "_drawn"):
            self._drawn = noise(self, self.plan.depth, self.plan.counters)
        return self._drawn[:size].copy()

    patch.setattr(NoisyCounters, "_draw_noise", shared)


@caught_by(privacy.draws_are_independent_between_summaries)
def same_noise_in_all_summaries(patch: pytest.MonkeyPatch) -> None:
    sampler = privhp.collect.noisy_counters.discrete_laplace
    cached = functools.cache(lambda size, scale: sampler(size, scale=scale))
    patch.setattr(privhp.collect.noisy_counters, "discrete_laplace", lambda size, *, scale: cached(size, scale).copy())


@caught_by(privacy.released_counts_are_exact_counts_plus_noise)
def noise_clipped_by_the_summary(patch: pytest.MonkeyPatch) -> None:
    noise = NoisyCounters._draw_noise

    def clipped(self: NoisyCounters, level: int, size: int) -> Counts:
        limit = int(2 * self.plan.scale(level))
        return np.clip(noise(self, level, size), -limit, limit)

    patch.setattr(NoisyCounters, "_draw_noise", clipped)


@caught_by(privacy.every_counter_has_one_draw_at_its_scale, privacy.released_counts_are_exact_counts_plus_noise)
def corrections_from_second_draw(patch: pytest.MonkeyPatch) -> None:
    def fresh(counters: NoisyCounters, inherited: Counts, level: int) -> Counts:
        depth = counters.plan.exact_depth
        return inherited - fold(counters._draw_noise(depth, 2**depth), levels=depth - level)

    _change_corrections(patch, fresh)


@caught_by(privacy.released_counts_are_exact_counts_plus_noise, audits.released_noise_is_discrete_laplace)
def corrections_missing(patch: pytest.MonkeyPatch) -> None:
    _change_corrections(patch, lambda counters, inherited, level: inherited)


def _change_corrections(patch: pytest.MonkeyPatch, change: Callable[[NoisyCounters, Counts, int], Counts]) -> None:
    start = NoisyCounters.add_noise

    def add_noise(self: NoisyCounters) -> None:
        start(self)
        for level, correction in self._corrections.items():
            correction += change(self, self._sums(level), level)

    patch.setattr(NoisyCounters, "add_noise", add_noise)


@caught_by(
    audits.released_noise_is_discrete_laplace,
    audits.exact_level_spends_at_most_its_budget,
    audits.sketch_spends_at_most_its_budget,
)
def sampler_halves_the_scale(patch: pytest.MonkeyPatch) -> None:
    _scaled_sampler(patch, Fraction(1, 2))


@caught_by(
    audits.released_noise_is_discrete_laplace,
    audits.exact_level_spends_at_most_its_budget,
    audits.sketch_spends_at_most_its_budget,
)
def noise_15_percent_too_small(patch: pytest.MonkeyPatch) -> None:
    _scaled_sampler(patch, Fraction(85, 100))


@caught_by(audits.released_noise_is_discrete_laplace, audits.exact_level_spends_at_most_its_budget)
def noise_5_percent_too_small(patch: pytest.MonkeyPatch) -> None:
    _scaled_sampler(patch, Fraction(95, 100))


@caught_by(audits.exact_level_spends_at_most_its_budget, audits.sketch_spends_at_most_its_budget, trials=5_000_000)
def noise_2_percent_too_small(patch: pytest.MonkeyPatch) -> None:
    _scaled_sampler(patch, Fraction(98, 100))


@caught_by(audits.released_noise_is_discrete_laplace)
def noise_10_percent_too_large(patch: pytest.MonkeyPatch) -> None:
    _scaled_sampler(patch, Fraction(110, 100))


def _scaled_sampler(patch: pytest.MonkeyPatch, factor: Fraction) -> None:
    sampler = privhp.collect.noisy_counters.discrete_laplace
    patch.setattr(
        privhp.collect.noisy_counters, "discrete_laplace", lambda size, *, scale: sampler(size, scale=factor * scale)
    )


@caught_by(audits.released_noise_is_discrete_laplace)
def noise_clipped_by_the_sampler(patch: pytest.MonkeyPatch) -> None:
    sampler = privhp.collect.noisy_counters.discrete_laplace

    def clipped(size: int, *, scale: Fraction) -> Counts:
        return np.clip(sampler(size, scale=scale), -int(2 * scale), int(2 * scale))

    patch.setattr(privhp.collect.noisy_counters, "discrete_laplace", clipped)


@caught_by(audits.released_noise_is_discrete_laplace, privacy.draws_come_from_system_entropy)
def float_noise(patch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng()

    def rounded(size: int, *, scale: Fraction) -> Counts:
        return np.rint(rng.laplace(scale=float(scale), size=size)).astype(np.int64)

    patch.setattr(privhp.collect.noisy_counters, "discrete_laplace", rounded)


@caught_by(privacy.draws_are_independent_between_summaries, privacy.draws_come_from_system_entropy)
def seeded_noise(patch: pytest.MonkeyPatch) -> None:
    def seeded(size: int, *, scale: Fraction) -> Counts:
        return np.random.default_rng(0).integers(-int(scale), int(scale) + 1, size)

    patch.setattr(privhp.collect.noisy_counters, "discrete_laplace", seeded)


@caught_by(privacy.pan_private_release_has_second_draws, audits.stolen_summary_and_release_spend_at_most_epsilon)
def second_draw_missing(patch: pytest.MonkeyPatch) -> None:
    close = Summary.close

    def once(self: Summary) -> Any:
        for own in (self._counters, *self._counters._columns.values()):
            own.plan = replace(own.plan, pan_private=False)
        return close(self)

    patch.setattr(Summary, "close", once)


@caught_by(privacy.pan_private_release_has_second_draws)
def second_draw_is_the_first(patch: pytest.MonkeyPatch) -> None:
    draw = NoisyCounters._draw_noise

    def again(self: Summary, level: int, size: int) -> Counts:
        drawn = self.__dict__.setdefault("_drawn", {})
        return drawn.setdefault(level, draw(self, level, size)).copy()

    patch.setattr(NoisyCounters, "_draw_noise", again)

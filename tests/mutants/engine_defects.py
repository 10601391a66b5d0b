"""Defects: tasks, merges, batches and groups of engines that count a record twice or know its coin."""

import itertools
import secrets
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import pytest

import engine_checks
import privhp.engines.fold
from mutants.planting import caught_by
from privhp import Generator, Plan, Summary, Tally
from privhp.engines import PassFold
from privhp.engines.spark_stream import BatchCounter


@caught_by(engine_checks.task_counts_each_row_once)
def shard_counted_in_both_attempts(patch: pytest.MonkeyPatch) -> None:
    add = PassFold.add

    def add_twice(fold: PassFold, tally: Tally, shard: Any) -> None:
        one, other = itertools.tee(shard) if hasattr(shard, "__next__") else (shard, shard)
        add(fold, tally, one)
        add(fold, tally, other)

    patch.setattr(PassFold, "add", add_twice)


@caught_by(engine_checks.task_flips_one_coin_for_each_row)
def coin_per_shard(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(privhp.engines.fold, "poisson_sample", lambda rows, *, rate: np.arange(rows * secrets.randbelow(2)))


@caught_by(engine_checks.task_flips_one_coin_for_each_row)
def sample_of_the_engine(patch: pytest.MonkeyPatch) -> None:
    def seeded(rows: int, *, rate: Any) -> Any:
        return np.flatnonzero(np.random.default_rng(0).random(rows) < float(rate))

    patch.setattr(privhp.engines.fold, "poisson_sample", seeded)


@caught_by(engine_checks.repeated_tally_is_refused)
def ids_left_behind(patch: pytest.MonkeyPatch) -> None:
    read = Tally.from_bytes

    def renamed(data: bytes) -> Tally:
        tally = read(data)
        tally.merged_ids = frozenset([secrets.token_bytes(16)])
        return tally

    patch.setattr(Tally, "from_bytes", renamed)


@caught_by(engine_checks.batch_of_a_stream_counts_once)
def repeated_batch_taken_as_the_next(patch: pytest.MonkeyPatch) -> None:
    count = BatchCounter.count
    numbers = itertools.count()
    patch.setattr(BatchCounter, "count", lambda self, _, __, run_pass: count(self, "query", next(numbers), run_pass))


@caught_by(engine_checks.batch_of_a_stream_counts_once)
def position_lost_at_release(patch: pytest.MonkeyPatch) -> None:
    release = BatchCounter.release

    def release_and_remove(counter: BatchCounter) -> Generator:
        generator = release(counter)
        counter._path.unlink()
        return generator

    patch.setattr(BatchCounter, "release", release_and_remove)


@caught_by(engine_checks.record_is_in_one_group_at_most)
def groups_from_one_summary(patch: pytest.MonkeyPatch) -> None:
    def release(plan: Plan, groups: Iterable[Hashable], tallies: Iterable[Any]) -> dict[Hashable, Generator]:
        summary = Summary(plan)
        for _, data in tallies:
            summary.absorb(Tally.from_bytes(data))
        generator = summary.release()
        return dict.fromkeys(groups, generator)

    patch.setattr(engine_checks, "release_groups", release)

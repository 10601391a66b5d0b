"""The fold of a pass: any shards, in any order, merged in any tree, give the counters of one process."""

import pickle
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from pyarrow import parquet

import privhp as hp
from learning_runs import ingest, no_noise, plan_of
from privhp.engines import PassFold, fit_passes, release_groups
from privhp.engines.fold import read_plan
from spies import record_draws
from strategies import measured_plans, plans, untidy_batches

CONTAINERS: list[Callable[[list[int]], Any]] = [
    list,
    np.array,
    lambda values: pa.table({"x": values}),
    lambda values: iter([pa.record_batch({"x": pa.array(values)})]),
    lambda values: pd.DataFrame({"x": values}),
    lambda values: pl.DataFrame({"x": values}).lazy(),
    lambda values: iter([np.array(values[:2]), np.array(values[2:])]),
]


def cells_of(data: bytes) -> list[int]:
    return np.concatenate([counts.ravel() for counts in hp.Tally.from_bytes(data).arrays()]).tolist()


def merge_in_tree(fold: PassFold, tallies: list[bytes], fan_in: int) -> bytes:
    while len(tallies) > 1:
        tallies = [fold.merge(tallies[start : start + fan_in]) for start in range(0, len(tallies), fan_in)]
    return fold.merge(tallies)


@given(st.data())
def test_shards_merged_in_any_tree(data: st.DataObject) -> None:
    plan = data.draw(st.one_of(plans(), measured_plans()))
    shards = data.draw(st.lists(untidy_batches(plan.domain), max_size=6))
    fold, whole = PassFold(plan), hp.Tally(plan)
    for shard in shards:
        whole.add(shard)
    order = data.draw(st.permutations([pickle.loads(pickle.dumps(fold)).count(shard) for shard in shards]))
    merged = merge_in_tree(fold, list(order), data.draw(st.integers(2, 4)))
    assert cells_of(merged) == cells_of(whole.to_bytes())


@given(
    values=st.lists(st.integers(0, 1023), min_size=1, max_size=60),
    ends=st.lists(st.integers(0, 60), max_size=4),
    kinds=st.lists(st.sampled_from(CONTAINERS), min_size=5, max_size=5),
)
def test_all_passes_equal_one_process(values: list[int], ends: list[int], kinds: list[Callable[..., Any]]) -> None:
    plan = plan_of("1", "1")  # every coin shows heads, so that samples are comparable
    bounds = [0, *sorted(min(end, len(values)) for end in ends), len(values)]
    shards = [values[low:high] for low, high in pairwise(bounds) if low < high]

    def run_pass(fold: PassFold) -> Iterable[bytes]:
        tallies = [fold.count(kind(shard)) for shard, kind in zip(shards, kinds, strict=False)]
        return [fold.merge(tallies[:2]), *tallies[2:]]

    with record_draws(no_noise):
        one, many = ingest(plan, [np.array(values)]), fit_passes(plan, run_pass)
        expected = one.summary.close()
    assert many.release.plan == expected.plan
    assert {level: counts.tolist() for level, counts in many.release.counts.items()} == {
        level: counts.tolist() for level, counts in expected.counts.items()
    }


def test_shards_are_files_or_columns_too(tmp_path: Path) -> None:
    plan = hp.Plan.auto(hp.Integers(0, 99), epsilon=1, expected_records=100, memory=4096)
    table = pa.table({"x": np.arange(100), "other": ["a"] * 100})
    parquet.write_table(table, tmp_path / "shard.parquet")
    fold = PassFold(plan, columns=["x"])
    assert cells_of(fold.count(tmp_path / "shard.parquet")) == cells_of(fold.count(table))
    assert sum(cells_of(fold.count(table))) >= 100


def test_learning_pass_draws_new_coins_each_time() -> None:
    fold = PassFold(hp.Plan.auto(hp.Integers(0, 4095), epsilon=1, expected_records=100, memory=2**16), Fraction(1, 2))
    one, other = (cells_of(fold.count(np.arange(4096))) for _ in range(2))
    assert one != other
    taken = PassFold(hp.Plan.auto(hp.Integers(0, 1), epsilon=1, expected_records=9), Fraction(1, 4))
    sizes = [hp.Tally.from_bytes(taken.count(np.zeros(4096))).by_level() for _ in range(2)]
    assert all(700 < max(counts.sum() for counts in own.values()) < 1350 for own in sizes)


def test_tally_that_comes_twice_is_refused() -> None:
    plan = hp.Plan.auto(hp.Interval(0, 1), epsilon=1, expected_records=100, memory=4096)
    fold = PassFold(plan)
    one, other = fold.count([0.1]), fold.count([0.9])
    with pytest.raises(hp.StateError, match="twice"):
        fold.merge([one, other, one])
    with pytest.raises(hp.StateError, match="twice"):
        fit_passes(plan, lambda _: [fold.merge([one, other]), one])
    with pytest.raises(hp.FileError):
        fold.merge([one[:-1]])
    with pytest.raises(hp.StateError, match="plans differ"):
        PassFold(hp.Plan.auto(hp.Interval(0, 2), epsilon=1, expected_records=100, memory=4096)).merge([one])


def test_declared_groups_are_released_and_no_others() -> None:
    plan = hp.Plan.auto(hp.Integers(0, 9), epsilon=64, expected_records=100, memory=4096)
    fold = PassFold(plan)
    tallies = [
        ("bus", fold.count([1, 2])),
        ("ferry", fold.count([3])),
        ("bus", fold.count([2])),
        (None, fold.count([])),
    ]
    with record_draws(no_noise):
        released = release_groups(plan, ["bus", "tram"], tallies)
    assert list(released) == ["bus", "tram"]
    assert [round(float(own.total)) for own in released.values()] == [3, 0]
    with pytest.raises(hp.PlanError, match="twice"):
        release_groups(plan, ["bus", "bus"], [])
    moved = hp.Plan.auto(hp.Integers(0, 9), epsilon=1, expected_records=9, neighbours="replace-one")
    with pytest.raises(hp.PlanError, match="a replaced record may move to another group"):
        release_groups(moved, ["bus"], [])


def test_plan_of_an_engine() -> None:
    domain, settings = hp.Interval(0, 1), {"epsilon": 1, "expected_records": 300_000}
    learned = read_plan(domain, None, ["fare"], settings)
    assert learned.passes == 3
    assert learned.domain.value_names == ("fare",)
    known = hp.Partition.complete(4)
    assert read_plan(domain, None, None, {**settings, "partition": known}).passes == 1
    assert read_plan(None, learned, None, {}) is learned
    for arguments in ((domain, learned, None, {}), (None, learned, None, settings), (None, None, None, settings)):
        with pytest.raises(hp.PlanError, match="plan="):
            read_plan(*arguments)

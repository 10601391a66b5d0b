"""Fits and aggregates of DataFusion: the counters of one process, in any number of threads, and declared groups."""

from itertools import chain
from typing import Any

import datafusion
import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

import privhp as hp
from learning_runs import ingest, no_noise, plan_of
from privhp.engines import PassFold, release_groups
from privhp.engines.datafusion import fit, tally_function
from spies import record_draws
from strategies import integers, plans

VALUES = np.random.default_rng(0).integers(0, 1024, 30_000)
KINDS = np.array(["bus", "tram", "ferry"])[VALUES % 3]
TABLE = pa.table({"x": VALUES, "A b": VALUES, "kind": KINDS})
pytestmark = pytest.mark.filterwarnings("default")  # of the engine


def context(threads: int = 2, batch: int = 1000) -> datafusion.SessionContext:
    settings = datafusion.SessionConfig().with_target_partitions(threads).with_batch_size(batch)
    started = datafusion.SessionContext(settings)
    started.register_record_batches("trips", [TABLE.slice(0, 7000).to_batches(500), TABLE.slice(7000).to_batches()])
    return started


def counters(data: bytes) -> dict[int, list[int]]:
    return {level: own.ravel().tolist() for level, own in hp.Tally.from_bytes(data).by_level().items()}


@pytest.mark.parametrize(("threads", "batch"), [(1, 8192), (2, 1000), (5, 77)])
def test_counters_of_one_process(threads: int, batch: int) -> None:
    fold = PassFold(hp.Plan.auto(hp.Integers(0, 1023), epsilon=1, expected_records=30_000, memory=8192))
    started = context(threads, batch)
    started.register_udaf(tally_function(fold, [pa.int64()]))
    (tally,) = started.sql("SELECT privhp_tally(x) AS tally FROM trips").to_pydict()["tally"]
    assert counters(tally) == counters(fold.count(VALUES))


@pytest.mark.parametrize("column", ["x", "A b"])
def test_all_passes_equal_one_process(column: str) -> None:
    plan = plan_of("1", "1")
    with record_draws(no_noise):
        expected = ingest(plan, [VALUES]).summary.close()
        generator = fit(context().table("trips"), plan=plan, columns=[column])
    released = generator.release.counts
    assert {level: own.tolist() for level, own in released.items()} == {
        level: own.tolist() for level, own in expected.counts.items()
    }


@given(data=st.data())
def test_counters_of_any_plan(data: st.DataObject) -> None:
    """Any plan, split into any batches of any threads."""
    plan = data.draw(plans(integers()))
    numbers = st.integers(max(plan.domain.low - 1, -(2**63)), min(plan.domain.high + 1, 2**63 - 1))
    shards = data.draw(st.lists(st.lists(numbers, min_size=1, max_size=20), min_size=1, max_size=5))
    settings = datafusion.SessionConfig().with_target_partitions(data.draw(st.integers(1, 4))).with_batch_size(7)
    started, fold = datafusion.SessionContext(settings), PassFold(plan)
    batches = [[pa.record_batch({"x": pa.array(shard, pa.int64())})] for shard in shards]
    started.register_record_batches("numbers", batches)
    started.register_udaf(tally_function(fold, [pa.int64()]))
    (tally,) = started.sql("SELECT privhp_tally(x) AS tally FROM numbers").to_pydict()["tally"]
    assert counters(tally) == counters(fold.count(list(chain.from_iterable(shards))))


def test_several_columns_and_nulls() -> None:
    fares: list[Any] = [1.5, None, 3.0, float("nan"), 99.0]
    kinds: list[Any] = ["bus", "tram", None, "bus", "tram"]
    domain = hp.Table(kind=hp.Categories(["bus", "tram"]), fare=hp.Nullable(hp.Interval(0, 100)))
    plan = hp.Plan.auto(domain, epsilon=1, expected_records=9, memory=8192)
    table, fold = pa.table({"fare": fares, "kind": kinds}), PassFold(plan)
    started = context()
    started.register_udaf(tally_function(fold, [pa.string(), pa.float64()]))
    started.from_arrow(table, name="few")
    (tally,) = started.sql("SELECT privhp_tally(kind, fare) AS tally FROM few").to_pydict()["tally"]
    assert counters(tally) == counters(fold.count(table))


def test_groups() -> None:
    plan = hp.Plan.auto(hp.Integers(0, 1023), epsilon=1, expected_records=10_000, memory=8192)
    started = context(3, 500)
    started.register_udaf(tally_function(PassFold(plan), [pa.int64()]))
    rows = started.sql("SELECT kind, privhp_tally(x) AS tally FROM trips GROUP BY kind").to_pydict()
    with record_draws(no_noise):
        released = release_groups(plan, ["bus", "tram", "plane"], zip(rows["kind"], rows["tally"], strict=True))
    totals = [round(float(own.total)) for own in released.values()]
    assert totals == [np.sum(KINDS == "bus"), np.sum(KINDS == "tram"), 0]


def test_no_rows_and_refused_columns() -> None:
    started, domain = context(), hp.Table(x=hp.Integers(0, 1023))
    empty = started.sql("SELECT x FROM trips WHERE x < 0")
    assert abs(fit(empty, domain, epsilon=1, expected_records=3000, passes=2).total) < 100
    with pytest.raises(hp.RecordsError, match="no such name"):
        fit(started.sql("SELECT kind FROM trips"), domain, epsilon=1, expected_records=9)

"""Passes on Dask: the counters of one process for any number of shards, in threads, in processes and on a cluster."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cloudpickle
import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client

from learning_runs import ingest, no_noise, plan_of
from privhp.engines import PassFold, fit_passes
from spies import record_draws

VALUES = np.random.default_rng(0).integers(0, 1024, 3000)
PLAN = plan_of("1", "1")
pytestmark = pytest.mark.filterwarnings("default")  # of the engine


@dataclass(frozen=True)
class MortalFold(PassFold):
    """A fold that ends the process of one task, once for each plan."""

    folder: str = ""

    def count(self, shard: Any) -> bytes:
        counted = super().count(shard)
        with suppress(FileExistsError):
            leaves = 0 if self.plan.partition is None else self.plan.partition.size
            (Path(self.folder) / f"{leaves}-{float(self.plan.epsilon)}-{len(self.plan.budgets)}").touch(exist_ok=False)
            os._exit(1)
        return counted


cloudpickle.register_pickle_by_value(sys.modules[__name__])


def passes(shards: int, **settings: Any) -> Callable[[PassFold], tuple[bytes, ...]]:
    frame = dd.from_pandas(pd.DataFrame({"x": VALUES}), npartitions=shards)

    def run_pass(fold: PassFold) -> tuple[bytes, ...]:
        tallies = [dask.delayed(fold.count)(shard) for shard in frame.to_delayed()]
        while len(tallies) > 1:
            tallies = [dask.delayed(fold.merge)(tallies[start : start + 3]) for start in range(0, len(tallies), 3)]
        return dask.compute(*tallies, **settings)

    return run_pass


def expect_one_process(run_pass: Callable[[PassFold], tuple[bytes, ...]]) -> None:
    with record_draws(no_noise):
        expected = ingest(PLAN, [VALUES]).summary.close()
        released = fit_passes(PLAN, run_pass).release
    assert released.plan.partition == expected.plan.partition
    assert {level: own.tolist() for level, own in released.counts.items()} == {
        level: own.tolist() for level, own in expected.counts.items()
    }


@pytest.mark.parametrize(("shards", "scheduler"), [(1, "threads"), (7, "threads"), (40, "threads"), (7, "processes")])
def test_counters_of_one_process(shards: int, scheduler: str) -> None:
    expect_one_process(passes(shards, scheduler=scheduler))


def test_workers_killed_in_each_pass(tmp_path: Path) -> None:
    """Two processes, one of which ends in the middle of a task of each pass; Dask starts another one."""
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None):
        expect_one_process(lambda fold: passes(9)(MortalFold(fold.plan, fold.rate, fold.columns, str(tmp_path))))
    assert len(list(tmp_path.iterdir())) == 3

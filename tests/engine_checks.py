"""The privacy argument of engines as named checks that raise AssertionError.

A pass on an engine is that of one process by four facts: a task counts each row
of its shard once, by a coin of its own in a learning pass; a tally that comes
twice is refused; a batch of a stream counts once; and groups are disjoint.
"""

import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np

from learning_runs import no_noise
from privhp import Integers, Plan, StateError, Tally
from privhp.engines import PassFold, fit_passes, release_groups
from privhp.engines.spark_stream import BatchCounter
from spies import record_draws

PLAN = Plan.auto(Integers(0, 1), epsilon=1, expected_records=9, memory=4096)
ROWS = 4096


def _counted(data: bytes) -> int:
    return int(next(iter(Tally.from_bytes(data).by_level().values())).sum())


def task_counts_each_row_once() -> None:
    """All rows of a shard, whatever its batches."""
    fold = PassFold(PLAN)
    for shard in (np.zeros(ROWS), iter(np.split(np.zeros(ROWS), 8))):
        assert _counted(fold.count(shard)) == ROWS, "a row is lost or counted twice"


def task_flips_one_coin_for_each_row() -> None:
    """Sizes of samples at rate 1/2 are within 12 standard deviations, and two attempts draw different samples."""
    fold = PassFold(Plan.auto(Integers(0, ROWS - 1), epsilon=1, expected_records=9, memory=2**17), Fraction(1, 2))
    attempts = [fold.count(np.arange(ROWS)) for _ in range(2)]
    for data in attempts:
        assert abs(_counted(data) - ROWS // 2) < 12 * ROWS**0.5 / 2, "rows share a coin, or have another rate"
    first, other = (list(Tally.from_bytes(data).by_level().values())[-1].tolist() for data in attempts)
    assert first != other, "two attempts draw the same coins"


def repeated_tally_is_refused() -> None:
    """In a merge, in a pass, and after a merge."""
    fold = PassFold(PLAN)
    one, other = fold.count([0]), fold.count([1])
    for again in ([one, one], [fold.merge([one, other]), one]):
        for use in (fold.merge, lambda tallies: fit_passes(PLAN, lambda _: tallies)):
            try:
                use(again)
            except StateError:
                continue
            raise AssertionError("a tally is counted twice")


def batch_of_a_stream_counts_once() -> None:
    """Repeated, after a release and after a restart; a full refresh is refused."""
    with tempfile.TemporaryDirectory() as folder, record_draws(no_noise):
        for batch in (0, 0, 1, 1):
            BatchCounter(Path(folder) / "state", PLAN).count("query", batch, lambda fold: [fold.count([1])])
        counter = BatchCounter(Path(folder) / "state", PLAN)
        assert round(float(counter.release().total)) == 2, "a batch is counted twice, or lost"
        for query, batch in (("query", 0), ("refreshed", 0)):
            try:
                counter.count(query, batch, lambda fold: [fold.count([1])])
            except StateError:
                continue
            raise AssertionError("a query starts again")
        counter.count("query", 1, lambda fold: [fold.count([1])])
        assert round(float(counter.release().total)) == 0, "a batch counts in two releases"


def record_is_in_one_group_at_most() -> None:
    """Each group has its own counts and its own noise; other groups are not released."""
    fold = PassFold(PLAN)
    with record_draws(no_noise) as draws:
        groups = release_groups(PLAN, ["a", "b"], [("a", fold.count([1])), ("c", fold.count([0]))])
    assert [round(float(own.total)) for own in groups.values()] == [1, 0], "a record is in a group that is not its own"
    assert len(draws) == 2 * len(PLAN.budgets), "groups share their noise"

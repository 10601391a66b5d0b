"""The privacy argument of learning passes as named checks that raise AssertionError.

A learning pass is private at its amplified cost by five facts: each row has its
own coin; every leaf has a fresh draw of noise before the first row; a row
changes one leaf by one if its coin takes it, and nothing else; refinements are
functions of the noisy counts; and all passes happen, each over all rows, each
row once. Limits are computed from the definitions, never asked of the code.
"""

import contextlib
import itertools
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from learning_runs import (
    LEVEL,
    Batches,
    array_file,
    count_leaves,
    ingest,
    no_noise,
    plan_of,
    replaced_coins,
    replaced_entropy,
    run_resumed,
    splits_by_code,
    table_plan_of,
    watched_refinements,
)
from privhp import Plan, StateError, kernels
from privhp.collect.checkpoint import Checkpoint
from privhp.collect.ingest import Ingestion
from privhp.collect.learning import refine_plan
from privhp.core.container import CHECKPOINT
from privhp.io.sources import open_source
from privhp.release import Release
from silent import assert_silent
from spies import fixed_noise, record_draws
from strange_values import STRANGE

ROWS = np.random.default_rng(0).integers(-60, 1084, 500)
"""Integers, about a tenth of them outside the domain."""


def relations() -> list[Plan]:
    """Plans under both relations, with one and with several records per person."""
    return [plan_of(**kind) for kind in _KINDS]


def table_relations() -> list[Plan]:
    """The same of a table with measured columns."""
    return [table_plan_of(**kind) for kind in _KINDS]


_KINDS: list[dict[str, Any]] = [
    {"neighbours": neighbours, "max_records_per_person": persons}
    for neighbours in ("add-remove", "replace-one")
    for persons in (1, 3)
]


# The sample


def each_coin_depends_on_its_own_random_bits() -> None:
    """Each bit of system entropy decides about one row of one pass at most, and the bits of a row give its rate.

    Uniform bits then make independent coins of that rate.
    """
    plan = plan_of("1/2", "1/4")
    size = _flip(plan, 0, 0)[1]
    assert size, "coins have another source than the operating system"
    ones = 2 ** (8 * size) - 1
    changes = {base: _changes(plan, base, size) for base in (ones, 0, ones // 3, ones // 7)}
    for changed in changes.values():
        assert changed.sum(axis=1).max() <= 1, "two coins share a random bit"
    for coin, rate in enumerate(np.repeat([Fraction(1, 2), Fraction(1, 4)], 16)):
        own = np.flatnonzero(changes[ones][:, coin]).tolist()
        states = [sum(bits) for bits in itertools.product(*((0, 1 << bit) for bit in own))]
        heads = [bool(_flip(plan, state, size)[0][coin]) for state in states]
        assert Fraction(sum(heads), len(heads)) == rate, "a row is not taken at the rate of its pass"


def _changes(plan: Plan, base: int, size: int) -> NDArray[np.bool_]:
    """Which coins change with each bit of the entropy."""
    before = _flip(plan, base, size)[0]
    return np.array([before != _flip(plan, base ^ 1 << bit, size)[0] for bit in range(8 * size)])


def _flip(plan: Plan, entropy: int, size: int) -> tuple[NDArray[np.bool_], int]:
    """Coins of 16 rows, one in each root cell, in both learning passes; and the bytes of entropy that they used."""
    with (
        record_draws(no_noise),
        mock.patch("privhp.collect.learning.refine", lambda partition, *_, **__: partition),
        watched_refinements() as seen,
        replaced_entropy(entropy.to_bytes(size, "big")) as used,
    ):
        ingest(plan, [np.arange(16) * 64])
    coins = np.concatenate([own.counts for own in seen])
    assert set(coins.tolist()) <= {0, 1}, "a row is counted twice"
    return coins == 1, sum(map(len, used.drawn))


def each_row_of_each_pass_has_one_coin() -> None:
    """A learning pass flips a coin for each row, skipped ones too, and counts the rows taken, however batched.

    The measuring pass flips none.
    """
    plan = plan_of()
    for size in (ROWS.size, 128, 7):
        batches = [ROWS[start : start + size] for start in range(0, ROWS.size, size)]
        with record_draws(no_noise), splits_by_code(), watched_refinements() as seen, replaced_coins() as coins:
            ingest(plan, [batches[0][:0], *batches])
        assert len(coins.heads) == 2 * ROWS.size, "not one coin for each row of each learning pass"
        for refined, heads in zip(seen, np.reshape(coins.heads, (2, -1)), strict=True):
            expected = count_leaves(refined.counted, ROWS[heads].tolist(), plan.domain.depth)
            assert refined.counts.tolist() == expected, "a pass counts other rows than its coins take"


def row_changes_one_counter_if_its_coin_takes_it() -> None:
    """Under the same coins and noise, one more row changes a leaf by one if taken, and nothing otherwise.

    Its value has no effect on how other rows are read.
    """
    plan, others = plan_of(), [3, "7", None, 700.0, 2**70, 512]
    for value in (5, 1023, *STRANGE[::4]):
        for place in (0, 3, 6):
            for taken in (False, True):
                rows = [*others[:place], value, *others[place:]]
                with_row, without = (_counts(plan, stream, place, taken) for stream in (rows, others))
                limits = [int(taken)] * 2 + [1] * len(plan.budgets)
                for one, other, limit in zip(with_row, without, limits, strict=True):
                    assert np.abs(one - other).sum() <= limit, "a row changes more than one counter by one"


def _counts(plan: Plan, rows: list[Any], place: int, taken: bool) -> list[Any]:
    """Counts of all learning passes and of the release; the other rows have the same coins with and without the row."""
    coins = [True, True, False, True, False, True]
    if len(rows) > len(coins):
        coins.insert(place, taken)
    with fixed_noise(), splits_by_code(), watched_refinements() as seen, replaced_coins(coins * 2), assert_silent():
        ingestion = ingest(plan, [rows])
        return [*(own.counts for own in seen), *ingestion.summary.close().counts.values()]


# The noise


def every_pass_has_fresh_noise_on_every_leaf() -> None:
    """Before its first row, each pass draws noise for all its counters at sensitivity / budget, and none later."""
    for plan in relations():
        sensitivity = plan.max_records_per_person * (1 if plan.neighbours == "add-remove" else 2)
        with (
            fixed_noise() as draws,
            splits_by_code(),
            watched_refinements() as seen,
            replaced_coins([False] * 2 * ROWS.size),
        ):
            drawn: list[int] = []
            batches = Batches([ROWS])
            with mock.patch.object(Batches, "__iter__", _noting(drawn, draws)):
                ingestion = Ingestion(plan, open_source(batches, domain=plan.domain))
                ingestion.run()
        assert drawn[0::2] == drawn[1::2], "noise is drawn while rows are read"
        starts = [0, *drawn[1::2]]
        assert len(draws) == starts[-1], "noise is drawn after the last row"
        for refined, start, end in zip(seen, starts[:-2], starts[1:-1], strict=True):
            assert plan.learning is not None
            own = draws[start:end]
            scale = Fraction(sensitivity) / plan.learning.passes[refined.number].budget
            assert {draw.scale for draw in own} == {scale}, "a learning pass has noise of another scale"
            values = np.concatenate([draw.values for draw in own])
            assert np.array_equal(refined.counts, values), "the counts of an empty sample are not its fresh noise"
        measured = {draw.scale for draw in draws[starts[-2] :]}
        assert measured == {sensitivity / budget for budget in plan.budgets.values()}, "a level has another scale"


def _noting(drawn: list[int], draws: list[Any]) -> Callable[[Batches], Any]:
    """An `__iter__` that notes the number of draws before and after the batches."""

    def iterate(self: Batches) -> Any:
        drawn.append(len(draws))
        yield from self.batches
        drawn.append(len(draws))

    return iterate


def learning_passes_count_leaves_alone() -> None:
    """Exact levels are counted in the measuring pass only."""
    counted: list[bool] = []
    count = kernels.count_codes

    def watched(*arguments: Any, counters: Any, **details: Any) -> None:
        counted.append(counters is not None)
        count(*arguments, counters=counters, **details)

    with mock.patch.object(kernels, "count_codes", watched):
        ingest(plan_of(), [ROWS])
    assert counted == [False, False, True], "an exact level is counted while the partition is learned"


# Refinements


def refinement_is_a_function_of_noisy_counts() -> None:
    """Each partition follows from the noisy counts, the plan and the number of the pass, as they could be published.

    If no row is taken, no row has any effect.
    """
    plan, heavy = plan_of(), np.repeat([5, 700, 701], 400)
    for rows in (ROWS, heavy):
        with watched_refinements() as seen:
            ingest(plan, [rows])
        assert len(seen) == 2, "a refinement is missing"
        for own in seen:
            published = Release.from_bytes(own.release.to_bytes())
            again = refine_plan(own.before, own.number, published)
            assert own.after == again, "a partition does not follow from the noisy counts"
    partitions = []
    for rows in (ROWS[:0], ROWS[:1], ROWS, np.full(500, -1), heavy):
        with fixed_noise(), replaced_coins([False] * 2 * rows.size):
            partitions.append(ingest(plan, [rows]).plan.partition)
    assert all(own == partitions[0] for own in partitions), "rows outside the sample change the partition"


def all_inputs_run_all_passes() -> None:
    """The number of passes and refinements, and all of a release but its partition and counts, are fixed.

    Inputs: none, one row, 155 and 156 rows, skipped rows alone, sorted rows, rows without those that begin with 9.
    """
    plan, rows = plan_of(), ROWS[:156]
    inputs = [rows[:0], rows[:1], rows[:155], rows, np.full(20, -1), np.sort(rows), rows[rows % 1000 // 100 != 9]]
    for records in inputs:
        with watched_refinements() as seen:
            source = Batches([records])
            ingestion = Ingestion(plan, open_source(source, domain=plan.domain))
            assert ingestion.run(), "a pass is not complete"
        assert source.reads == 3, "the data is not read as often as the plan says"
        assert [own.number for own in seen] == [0, 1], "the number of refinements depends on the records"
        spec = ingestion.summary.close().plan.spec() | {"partition": None}
        assert spec == plan.spec(), "the plan of a release depends on the records"


def unfinished_pass_is_not_refined() -> None:
    """A pass that stops, fails or breaks off within a batch is not refined, and its batch cannot be repeated."""
    plan, batches = plan_of(), [ROWS[:100], ROWS[100:200], ROWS[200:]]

    def failing(self: Batches) -> Any:
        yield from batches[:2]
        raise KeyboardInterrupt

    with watched_refinements() as seen:
        stopped = Ingestion(plan, open_source(Batches(batches), domain=plan.domain))
        assert not stopped.learn(lambda batch: True), "a stopped pass is complete"
        with mock.patch.object(Batches, "__iter__", failing), contextlib.suppress(KeyboardInterrupt):
            Ingestion(plan, open_source(Batches([]), domain=plan.domain)).run()
        broken = Ingestion(plan, open_source(Batches(batches), domain=plan.domain))
        with (
            mock.patch("privhp.kernels.count_codes", side_effect=KeyboardInterrupt),
            contextlib.suppress(KeyboardInterrupt),
        ):
            broken.run()
        with contextlib.suppress(StateError):
            broken.run()
            raise AssertionError("a pass goes on after a batch that broke off")
    assert not seen, "an unfinished pass is refined"
    assert (stopped.number, stopped.plan) == (0, plan), "a stopped pass is followed by the next one"


# Interruptions


def resumed_passes_count_each_row_once() -> None:
    """Stopped or killed after any batch of any pass and resumed, each pass counts each row once.

    A stopped run draws no second coin for a row.
    """
    plan = plan_of("1", "1")
    for batches, kill in ((1, False), (3, False), (2, True)):
        with (
            tempfile.TemporaryDirectory() as folder,
            array_file(Path(folder), ROWS, rows=100) as data,
            record_draws(no_noise),
            splits_by_code(),
            watched_refinements() as seen,
            replaced_coins() as coins,
        ):
            ingestion, runs = run_resumed(plan, data, Path(folder) / "state", batches=batches, kill=kill)
        assert runs > 3, "nothing was interrupted"
        assert kill or len(coins.heads) == 2 * ROWS.size, "a second coin is drawn for a row"
        for own in seen:
            expected = count_leaves(own.counted, ROWS.tolist(), plan.domain.depth)
            assert own.counts.tolist() == expected, "a learning pass loses a row or counts it twice"
        assert plan.learned_level == LEVEL
        counts = ingestion.summary.close().counts[LEVEL]
        assert ingestion.plan.partition is not None
        expected = count_leaves(ingestion.plan.partition, ROWS.tolist(), plan.domain.depth)
        assert counts.tolist() == expected, "the measuring pass loses a row or counts it twice"


def checkpoint_holds_noisy_counters_and_a_position() -> None:
    """A checkpoint of any pass is its plan, noisy counters, ids and the position of the reader: no coins, no rows."""
    numbers, contents = set(), []
    chunks = Checkpoint.chunks

    def watched(self: Checkpoint) -> Any:
        written = chunks(self)
        contents.append(b"".join(map(bytes, written)))
        cells = _cells(contents[-1], self.summary.plan.counters)
        assert np.array_equal(cells, self.summary.state()), "a checkpoint has other cells"
        assert set(self.position or {}) == {"file", "identity", "place"}, "a checkpoint holds more than a position"
        numbers.add(self.number)
        return written

    with (
        tempfile.TemporaryDirectory() as folder,
        array_file(Path(folder), ROWS, rows=100) as data,
        mock.patch.object(Checkpoint, "chunks", watched),
    ):
        run_resumed(plan_of(), data, Path(folder) / "state", batches=2, kill=False)
    assert numbers == {0, 1, 2}, "a pass was not saved"


def _cells(content: bytes, counters: int) -> Any:
    """The cells of a checkpoint: the array behind its header. Nothing else but ids and a checksum may follow."""
    assert content.startswith(CHECKPOINT)
    end, one_id, checksum = len(content), 16, 32
    start = end - checksum - one_id - 8 * counters
    header = content[len(CHECKPOINT) : start]
    assert header.rstrip(b"\0 ").endswith(b"}"), "a checkpoint holds more than its header, cells and ids"
    return np.frombuffer(content[start : start + 8 * counters], dtype="<i8")

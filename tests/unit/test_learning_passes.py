"""Fits of two and three passes: sources of all kinds, numbers of passes, `hp.learn`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import privhp as hp
from privhp.collect.ingest import Ingestion
from privhp.collect.summary import Summary
from privhp.io.sources import open_source
from privhp.planning.learning import Learning, LearningPass

UNIT = hp.Interval(0, 1)
ROWS = 20_000
VALUES = np.random.default_rng(0).random(ROWS) ** 4
COMMON: dict[str, Any] = {"epsilon": 4, "expected_records": ROWS, "memory": "16 KiB"}


def write_files(folder: Path, suffix: str) -> list[Path]:
    """The values in two files."""
    paths = []
    for number, part in enumerate(np.array_split(VALUES, 2)):
        path = folder / f"{number}{suffix}"
        paths.append(path)
        if suffix == ".csv":
            path.write_text("x\n" + "".join(f"{value!r}\n" for value in part.tolist()))
        elif suffix == ".ndjson":
            path.write_text("".join(f'{{"x": {value!r}}}\n' for value in part.tolist()))
        elif suffix == ".parquet":
            parquet.write_table(pa.table({"x": part}), path, row_group_size=3000)
        else:
            np.save(path, part)
    return paths


@contextmanager
def watched_passes() -> Iterator[list[tuple[int, int]]]:
    """Leaves and rows of the summary of each pass of an ingestion."""
    seen: list[tuple[int, int]] = []
    run = Ingestion._run_pass

    def watched(ingestion: Ingestion, *arguments: Any) -> bool:
        rows, update = [0], Summary.update

        def counted(summary: Summary, records: Any, **details: Any) -> None:
            rows[0] += len(summary.plan.domain.as_batch(records))
            update(summary, records, **details)

        with mock.patch.object(Summary, "update", counted):
            done = run(ingestion, *arguments)
        partition = ingestion.summary.plan.partition
        seen.append((0 if partition is None else partition.size, rows[0]))
        return done

    with mock.patch.object(Ingestion, "_run_pass", watched):
        yield seen


IN_MEMORY: dict[str, Callable[[], Any]] = {
    "array": lambda: VALUES,
    "list": VALUES.tolist,
    "tuple": lambda: tuple(VALUES.tolist()),
    "pandas series": lambda: pd.Series(VALUES),
    "pandas": lambda: pd.DataFrame({"x": VALUES}),
    "polars": lambda: pl.DataFrame({"x": VALUES}),
    "Arrow table": lambda: pa.table({"x": VALUES}),
    "Arrow array": lambda: pa.array(VALUES),
    "dict": lambda: {"x": VALUES},
}


def check_fit(generator: hp.Generator, passes: list[tuple[int, int]], expected: int) -> None:
    assert len(passes) == expected
    *learning, (leaves, rows) = passes
    assert rows == ROWS
    assert all(0 < sample < ROWS / 2 for _, sample in learning)
    assert leaves > learning[0][0], "nothing was learned"
    assert generator.plan.partition is not None
    assert generator.plan.learning is not None
    assert len(generator.plan.learning.passes) == expected - 1
    for edge in (0.001, 0.1, 0.5):
        assert generator.mass((0, edge)).value == pytest.approx((edge >= VALUES).mean(), abs=0.03)


@pytest.mark.parametrize("passes", [2, 3])
@pytest.mark.parametrize("kind", IN_MEMORY)
def test_fit_of_data_in_memory(kind: str, passes: int) -> None:
    with watched_passes() as seen:
        generator = hp.fit(IN_MEMORY[kind](), UNIT, **COMMON, passes=passes)
    check_fit(generator, seen, passes)


@pytest.mark.parametrize("suffix", [".csv", ".ndjson", ".parquet", ".npy"])
def test_fit_of_files(suffix: str, tmp_path: Path) -> None:
    paths = write_files(tmp_path, suffix)
    for data in (paths, str(tmp_path / f"*{suffix}")):
        with watched_passes() as seen:
            generator = hp.fit(data, UNIT, **COMMON, columns=None if suffix == ".npy" else "x")
        check_fit(generator, seen, 3)


class Batches:
    """Batches that an iteration yields anew each time."""

    def __iter__(self) -> Iterator[Any]:
        return iter(np.array_split(VALUES, 7))


def test_fit_of_iterable_batches() -> None:
    with watched_passes() as seen:
        generator = hp.fit(Batches(), UNIT, **COMMON)
    check_fit(generator, seen, 3)


@pytest.mark.parametrize(
    ("data", "passes"),
    [(VALUES, 3), (VALUES.tolist(), 3), (Batches(), 3), (iter([VALUES]), 1), ((part for part in [VALUES]), 1)],
    ids=["array", "list", "batches", "iterator", "generator"],
)
def test_default_number_of_passes(data: Any, passes: int) -> None:
    with watched_passes() as seen:
        generator = hp.fit(data, UNIT, **COMMON)
    assert len(seen) == generator.plan.passes == passes


def test_default_number_of_passes_with_a_partition() -> None:
    with watched_passes() as seen:
        plan = hp.fit(VALUES, UNIT, **COMMON, partition=hp.Partition.complete(4)).plan
    assert len(seen) == plan.passes == 1


@pytest.mark.parametrize("fit", [hp.fit, hp.learn], ids=["fit", "learn"])
def test_passes_of_an_iterator(fit: Callable[..., Any]) -> None:
    with pytest.raises(hp.RecordsError, match=r"needs data that can be read again.* file first, or use passes=1"):
        fit(iter([VALUES]), UNIT, **COMMON, passes=2)


def test_plan_that_learns_with_an_iterator() -> None:
    plan = hp.Plan.auto(UNIT, **COMMON, passes=2)
    with pytest.raises(hp.RecordsError, match="needs data that can be read again"):
        hp.fit(iter([VALUES]), plan=plan)


STREAMS: dict[str, Any] = {
    "empty": np.zeros(0),
    "one record": np.array([0.3]),
    "one atom": np.full(50_000, 0.3),
    "outside": np.full(5000, 7.0),
    "not a number": np.full(5000, np.nan),
    "many": VALUES,
    "sorted": np.sort(VALUES),
}


@pytest.mark.parametrize("passes", [2, 3])
def test_passes_do_not_depend_on_the_data(passes: int) -> None:
    """Whatever the data, all passes run, and each learning pass is refined once."""
    for data in STREAMS.values():
        with (
            watched_passes() as seen,
            mock.patch.object(Ingestion, "_refine", autospec=True, side_effect=Ingestion._refine) as refined,
        ):
            generator = hp.fit(data, UNIT, **COMMON, passes=passes)
        assert len(seen) == passes
        assert refined.call_count == passes - 1
        assert generator.plan.passes == passes
        assert generator.plan.nbytes <= 2**14
        assert np.isfinite(generator.leaves().counts).all()


def test_learn_then_fit() -> None:
    """The plan has its partition, is frozen, and measures in one pass."""
    with watched_passes() as seen:
        plan = hp.learn(VALUES, UNIT, **COMMON)
    assert len(seen) == 2
    assert plan.partition is not None
    assert plan.learning is not None
    assert plan == hp.Plan.from_spec(plan.spec())
    with watched_passes() as seen:
        generator = hp.fit(iter([VALUES]), plan=plan)
    assert seen == [(plan.partition.size, ROWS)]
    assert generator.plan == plan
    assert generator.partition == plan.partition


def test_learned_plan_counts_in_parts() -> None:
    """Tallies of a learned plan, in any split, are those of one summary."""
    plan = hp.learn(VALUES, UNIT, **COMMON)
    whole, parts = hp.Tally(plan), [hp.Tally(plan) for _ in range(3)]
    whole.add(VALUES)
    for part, values in zip(parts, np.array_split(np.random.default_rng(1).permutation(VALUES), 3), strict=True):
        part.add(values, threads=2)
    for part in parts[1:]:
        parts[0].merge(hp.Tally.from_bytes(part.to_bytes()))
    assert np.array_equal(parts[0].leaves, whole.leaves)
    assert np.array_equal(parts[0].counters, whole.counters)


@pytest.mark.parametrize("passes", [0, 1, -3])
def test_learning_needs_two_passes(passes: int) -> None:
    with pytest.raises(hp.PlanError, match="expected passes= as an integer from 2 to"):
        hp.learn(VALUES, UNIT, **COMMON, passes=passes)


@pytest.mark.parametrize("passes", [4, 100, 2.5, "2", True, None])
def test_invalid_passes(passes: Any) -> None:
    with pytest.raises(hp.PlanError, match="passes="):
        hp.learn(VALUES, UNIT, **COMMON, passes=passes)


def test_learning_pass_measures_leaves_alone() -> None:
    """No exact level is counted while the partition is learned, and the noise is that of the pass."""
    learning = Learning(nbytes=4000, passes=(LearningPass(Fraction(1, 4), Fraction(1, 8)),))
    plan = hp.Plan(
        UNIT,
        epsilon=1,
        budgets={1: "1/4", 3: "1/4"},
        exact_depth=1,
        learning=learning,
        inference="least-squares",
    )
    ingestion = Ingestion(plan, open_source(VALUES, domain=UNIT))
    own = ingestion.summary.plan
    assert own.partition == hp.Partition.complete(3)
    assert (own.exact_levels, dict(own.budgets), own.scale(3)) == ([], {3: Fraction(1, 8)}, 8)
    assert ingestion.learn()
    assert ingestion.summary.plan == ingestion.plan
    assert dict(ingestion.plan.budgets) == dict(plan.budgets)
    assert ingestion.plan.learning == learning


def test_sample_is_a_share_of_the_rows() -> None:
    """Rows out of the domain have coins too."""
    plan = hp.Plan.auto(UNIT, **COMMON, passes=3)
    assert plan.learning is not None
    data = np.where(np.arange(ROWS) % 2, VALUES, np.nan)
    with watched_passes() as seen:
        hp.fit(data, plan=plan)
    for (_, rows), own in zip(seen, plan.learning.passes, strict=False):
        deviation = (ROWS * own.rate * (1 - own.rate)) ** 0.5
        assert abs(rows - ROWS * own.rate) < 6 * deviation


def test_learned_partition_follows_the_records() -> None:
    plan = hp.learn(np.full(50_000, 0.3), UNIT, **COMMON)
    assert plan.partition is not None
    levels = plan.partition.levels
    finest = int(levels.argmax())
    code = int(UNIT.encode([0.3], level=plan.partition.max_level)[0])
    assert plan.partition.codes()[levels == levels.max()].min() <= code
    assert plan.partition.codes()[levels == levels.max()].max() >= code
    assert levels[finest] - plan.partition.min_level >= 6

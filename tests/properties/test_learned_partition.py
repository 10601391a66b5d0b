"""Laws of learned partitions, compared bit for bit."""

import contextlib
import io
import os
from pathlib import Path
from typing import Any
from unittest import mock

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import partition_checks
import privhp as hp
from backends import plain_kernels
from forgery import READERS, sign
from partition_checks import MARK_ZERO, MARKS_END, count_reference, no_noise, plan_of, read_slots, splits_by_code
from privhp import Generator, Plan, Summary, kernels
from privhp.core.cells import Counts
from privhp.core.container import CHECKPOINT, RELEASE
from privhp.planning.partition import is_sound
from privhp.planning.refinement_schedule import RefinementSchedule
from privhp.release import Release
from spies import record_draws

ROWS = st.lists(st.one_of(st.none(), st.integers(-3, 1030), st.integers(0, 40)), max_size=40)
SEEDS = st.integers(0, 10**6)


@st.composite
def learned_plans(draw: st.DrawFn) -> Plan:
    """Plans with up to four refinements between rows 1 and 30, and few or many slots for splits."""
    rows = sorted(draw(st.sets(st.integers(1, 30), min_size=1, max_size=4)))
    return plan_of(
        learned=RefinementSchedule(
            slots=draw(st.sampled_from([20, 60, 300])), refinement_rows=tuple(rows), min_child_records=1
        ),
        neighbours=draw(st.sampled_from(["zero-out", "replace-one"])),
        max_records_per_person=draw(st.integers(1, 2)),
        memory=draw(st.sampled_from([0, 2**14])),
        expected_records=10**6,
    )


@st.composite
def batches_of(draw: st.DrawFn, rows: list[Any]) -> list[list[Any]]:
    """Splits of a stream into batches, some of them empty."""
    ends = sorted(draw(st.lists(st.integers(0, len(rows)), max_size=4)))
    return [rows[start:end] for start, end in zip([0, *ends], [*ends, len(rows)], strict=True)]


def as_array(rows: list[Any]) -> Counts:
    return np.array([-1 if row is None else row for row in rows], dtype=np.int64)


def same_noise(size: int, scale: Any) -> Counts:
    """Deterministic noise, small compared with the counts."""
    return np.arange(size, dtype=np.int64) % 5 - 2


def make_summary(plan: Plan, batches: list[Any], **details: Any) -> Summary:
    with record_draws(same_noise):
        summary = Summary(plan)
        for batch in batches:
            summary.update(batch, **details)
    return summary


def same(one: Summary, other: Summary) -> bool:
    return (one.rows, one.refinements) == (other.rows, other.refinements) and np.array_equal(one.state(), other.state())


@given(rows=ROWS, seed=SEEDS, plain=st.booleans(), threads=st.integers(1, 3), data=st.data())
def test_counts_equal_reference(rows: list[Any], seed: int, plain: bool, threads: int, data: st.DataObject) -> None:
    plan = plan_of()
    batches = data.draw(batches_of(rows))
    with contextlib.ExitStack() as stack:
        if plain:
            stack.enter_context(plain_kernels())
        stack.enter_context(record_draws(no_noise))
        stack.enter_context(splits_by_code(seed))
        summary = Summary(plan)
        for batch in batches:
            summary.update(as_array(batch), threads=threads)
        counts = summary.release().release.counts
    live, frozen, _ = read_slots(counts[plan.learned_level], plan.learned_level)
    assert (live, frozen) == count_reference(plan, rows, seed)
    for level in plan.exact_levels:
        inside = [row >> (plan.depth - level) for row in rows if row is not None and 0 <= row < 1024]
        assert counts[level].tolist() == np.bincount(inside, minlength=2**level).tolist()


@given(plan=learned_plans(), rows=ROWS, data=st.data())
def test_batch(plan: Plan, rows: list[Any], data: st.DataObject) -> None:
    """Lists, arrays and single rows give the same state; refinements use the noisy counts."""
    whole = make_summary(plan, [rows])
    batches = data.draw(batches_of(rows))
    assert same(make_summary(plan, batches), whole)
    assert same(make_summary(plan, [as_array(batch) for batch in batches]), whole)
    assert same(make_summary(plan, [[row] for row in rows]), whole)


@given(plan=learned_plans(), rows=ROWS, threads=st.integers(2, 4), data=st.data())
def test_threads(plan: Plan, rows: list[Any], threads: int, data: st.DataObject) -> None:
    batches = [as_array(batch) for batch in data.draw(batches_of(rows))]
    assert same(make_summary(plan, batches, threads=threads), make_summary(plan, batches))


@pytest.mark.skipif(kernels.BACKEND == "plain", reason="the native kernels were not built")
@given(plan=learned_plans(), rows=ROWS)
def test_kernels(plan: Plan, rows: list[Any]) -> None:
    native = make_summary(plan, [rows])
    with plain_kernels():
        assert same(make_summary(plan, [rows]), native)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(plan=learned_plans(), before=ROWS, after=ROWS)
def test_resume_at_any_row(tmp_path: Path, plan: Plan, before: list[Any], after: list[Any]) -> None:
    with mock.patch.object(os, "fsync"):
        summary = make_summary(plan, [before])
        hp.save(summary, tmp_path / "checkpoint")
        resumed = hp.resume(tmp_path / "checkpoint")
        assert same(resumed, summary)
        hp.save(resumed, tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == (tmp_path / "checkpoint").read_bytes()
        with record_draws(same_noise):
            summary.update(after)
            resumed.update(after)
        assert same(resumed, summary)
        generator = summary.release()
        assert resumed.release().release == generator.release
        hp.save(generator, tmp_path / "release")
        loaded = hp.load(tmp_path / "release")
    assert loaded.release == generator.release
    assert np.array_equal(loaded.leaves().counts, generator.leaves().counts)


@given(plan=learned_plans(), rows=ROWS)
def test_leaves_of_learned_partition(plan: Plan, rows: list[Any]) -> None:
    generator = make_summary(plan, [rows]).release()
    live, _, _ = read_slots(generator.release.counts[plan.learned_level], plan.learned_level)
    leaves = generator.leaves()
    assert set(zip(leaves.levels.tolist(), leaves.codes.tolist(), strict=True)) == set(live)
    assert (leaves.counts >= 0).all()
    assert np.isfinite(leaves.counts).all()


def is_partition(slots: Counts, *, level: int, depth: int, refinements: int) -> bool:
    """Reference: a walk from the first level visits every used slot once, and no other."""
    visited: list[int] = []

    def is_count(place: int) -> bool:
        visited.append(place)
        return -(2**61) <= slots[place] <= 2**61

    def is_cell(place: int, level: int, first_epoch: int) -> bool:
        if slots[place] >= MARKS_END:
            return is_count(place)
        mark = int(slots[place]) - MARK_ZERO
        first, levels, when = mark >> 16, mark >> 8 & 0xFF, mark & 0xFF
        visited.append(place)
        return (
            level < level + levels <= depth
            and first_epoch < when <= refinements
            and place < first - 1
            and first + 2**levels <= slots.size
            and is_count(first - 1)
            and all(is_cell(first + part, level + levels, when) for part in range(2**levels))
        )

    used = all(is_cell(place, level, 0) for place in range(2**level)) and sorted(visited) == list(range(len(visited)))
    return used and not slots[len(visited) :].any()


def mark(first: int, levels: int, refinement: int) -> int:
    return MARK_ZERO + (first << 16 | levels << 8 | refinement)


MARKS = st.builds(mark, st.integers(0, 70), st.integers(0, 8), st.integers(0, 5))
VALUES = st.one_of(
    MARKS,
    st.builds(mark, st.integers(0, 2**46 - 1), st.integers(0, 255), st.integers(0, 255)),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([0, 1, MARKS_END, MARKS_END - 1, MARKS_END + 1, 2**61, 2**61 + 1, -(2**61) - 1, MARK_ZERO]),
)


@settings(max_examples=500)
@given(plan=learned_plans(), rows=ROWS, seed=SEEDS, data=st.data())
def test_validity_of_slots_equals_reference(plan: Plan, rows: list[Any], seed: int, data: st.DataObject) -> None:
    """Slots of a summary, some of them changed, moved or cleared."""
    assert plan.learned is not None
    plan = plan_of(
        learned=RefinementSchedule(slots=400, refinement_rows=plan.learned.refinement_rows, min_child_records=1)
    )
    with record_draws(no_noise), splits_by_code(seed), contextlib.suppress(IndexError):
        summary = Summary(plan)
        summary.update(rows)
    cells = np.concatenate([counters.ravel() for counters in summary._counters.values()])
    slots = plan.unpack(cells)[plan.learned_level].copy()
    for _ in range(data.draw(st.integers(0, 3))):
        marks = np.flatnonzero(slots < MARKS_END).tolist()
        place = data.draw(st.sampled_from([*marks, *range(70)]))
        change = data.draw(st.sampled_from(["value", "copy", "refinement", "levels", "first"]))
        if change == "value":
            slots[place] = data.draw(VALUES)
        elif change == "copy":
            slots[place] = slots[data.draw(st.sampled_from([*marks, 0]))]
        elif slots[place] < MARKS_END:
            step = {"refinement": 1, "levels": 256, "first": 2**16}[change] * data.draw(st.sampled_from([-1, 1]))
            slots[place] = max(int(slots[place]) + step, MARK_ZERO)
    shape: dict[str, int] = {"level": plan.learned_level, "refinements": summary.refinements}
    for depth in (plan.depth, plan.depth - 1, 6):
        assert is_sound(slots, depth=depth, **shape) == is_partition(slots, depth=depth, **shape)


CHANGES = st.lists(st.tuples(st.integers(0, 59), st.one_of(MARKS, st.integers(-99, 99))), max_size=3)


@settings(max_examples=300)
@given(seed=SEEDS, changes=CHANGES)
def test_release_of_arbitrary_slots(seed: int, changes: list[tuple[int, int]]) -> None:
    plan = plan_of(
        learned=RefinementSchedule(slots=60, refinement_rows=(7, 12), min_child_records=1), expected_records=10**6
    )
    release = make_summary(plan, [partition_checks.example_stream(20, seed=seed, dropped=0)]).release().release
    slots = release.counts[plan.learned_level].copy()
    for place, value in changes:
        slots[place] = value
    with contextlib.suppress(hp.PlanError):
        leaves = Generator(Release(plan, {**release.counts, plan.learned_level: slots}, refinements=2)).leaves()
        assert np.isfinite(leaves.counts).all()
        assert (leaves.counts >= 0).all()


def files_of(plan: Plan, folder: Path) -> dict[bytes, bytes]:
    summary = make_summary(plan, [partition_checks.example_stream(20, dropped=0)])
    hp.save(summary, folder / "checkpoint")
    hp.save(summary.release(), folder / "release")
    return {CHECKPOINT: (folder / "checkpoint").read_bytes(), RELEASE: (folder / "release").read_bytes()}


def test_files_with_changed_slots(tmp_path: Path) -> None:
    """A slot becomes a small count, a mark or any number, with a valid checksum."""
    plan = plan_of(
        learned=RefinementSchedule(slots=60, refinement_rows=(7, 12), min_child_records=1), expected_records=10**6
    )
    rng = np.random.default_rng(0)
    read = 0
    with mock.patch.object(os, "fsync"):
        for magic, right in files_of(plan, tmp_path).items():
            start = 16 + int.from_bytes(right[12:16], "little") + 8 * sum(2**level for level in plan.exact_levels)
            for _ in range(3000):
                small, any_mark = int(rng.integers(-99, 99)), mark(*(int(rng.integers(0, end)) for end in (70, 8, 4)))
                beyond = int(rng.choice([-1, 1])) * int(rng.integers(2**61 + 1, 2**63))
                at, body = start + 8 * int(rng.integers(0, 60)), bytearray(right[:-32])
                body[at : at + 8] = int(rng.choice([small, any_mark, beyond])).to_bytes(8, "little", signed=True)
                with contextlib.suppress(hp.FileError):
                    item = READERS[magic](io.BytesIO(sign(bytes(body))))
                    assert isinstance(item, Generator | Summary)
                    hp.save(item, tmp_path / "again")
                    assert (tmp_path / "again").read_bytes() == sign(bytes(body))
                    read += 1
    assert read > 100, "hardly any change was harmless, so the second half of this law was not tried"

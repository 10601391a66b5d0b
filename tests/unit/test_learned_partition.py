"""Learned partitions: row numbers by source, memory, hostile files and life cycle."""

import io
import json
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import partition_checks
import privhp as hp
from forgery import forge, refusal
from partition_checks import MARK_ZERO, plan_of
from privhp.core.container import CHECKPOINT, RELEASE
from privhp.kernels.partition_marks import split_mark
from privhp.planning.refinement_schedule import RefinementSchedule
from texts import text_batches

FIXED = 32 * 1024
"""Bytes outside the memory of a plan: Python objects and the fixed arrays of a refinement."""


# Row numbers


@pytest.mark.parametrize(
    "check",
    [
        partition_checks.refinements_follow_row_numbers,
        partition_checks.row_changes_one_counter,
        partition_checks.every_pass_has_fresh_noise,
        partition_checks.interrupted_refinement_only_allows_release,
        partition_checks.plans_without_row_numbers_are_refused,
    ],
    ids=lambda check: check.__name__,
)
def test_privacy_checks(check: Callable[[], None]) -> None:
    check()


LINES = [b"5", b"", b"x", b'"', b'"7', b"\xff", b"1,2", b"nan", b"  ", b"\r", b"9" * 5000, b"1024", b"-1", b"0"]


@pytest.mark.parametrize("ending", [b"", b"\n", b"\n\n"])
def test_rows_of_text(ending: bytes) -> None:
    summary = hp.Summary(plan_of())
    for batch in text_batches(b"\n".join(LINES) + ending, summary.plan.domain):
        summary.update(batch)
    assert summary.rows == len(LINES) + max(len(ending) - 1, 0)
    assert summary.refinements == 2


def test_rows_of_ndjson() -> None:
    lines = [b'{"a": 5}', b"{}", b"[]", b"", b'{"a": null}', b'{"a": "x"}', b"{", b'{"a": 5']
    summary = hp.Summary(plan_of())
    for batch in text_batches(b"\n".join(lines), summary.plan.domain, columns=["a"], ending=".ndjson"):
        summary.update(batch)
    assert summary.rows == len(lines)


NUMBERS: list[Any] = [5, None, 1024, -1, 7, 9]


@pytest.mark.parametrize(
    "batch",
    [
        NUMBERS,
        tuple(NUMBERS),
        iter(NUMBERS),
        np.array([5, -1, 1024, -1, 7, 9]),
        np.array([5, np.nan, 1024, -1, 7, 9]),
        np.array(NUMBERS, dtype=object),
        np.ma.MaskedArray([5, 0, 1024, -1, 7, 9], mask=[0, 1, 0, 0, 0, 0]),
        pd.Series(NUMBERS),
        pa.array(NUMBERS),
        pa.chunked_array([NUMBERS[:2], NUMBERS[2:]]),
    ],
    ids=lambda batch: type(batch).__name__,
)
def test_rows_of_batch(batch: Any) -> None:
    summary = hp.Summary(plan_of())
    summary.update(batch)
    assert summary.rows == len(NUMBERS)


@pytest.mark.parametrize(
    "batch",
    [
        {"a": NUMBERS, "b": [None] * 6},
        pd.DataFrame({"a": NUMBERS, "b": [0.5, 2.0, np.nan, 0.1, 0.2, 0.3]}),
        pa.table({"a": NUMBERS, "b": [0.5] * 6}),
        [(number, 0.5) for number in NUMBERS],
        [{"a": 1, "b": 0.5}, {}, None, (), object(), {"a": 1}],
    ],
    ids=lambda batch: type(batch).__name__,
)
def test_rows_of_table(batch: Any) -> None:
    domain = hp.Table(a=hp.Integers(0, 31), b=hp.Interval(0, 1))
    summary = hp.Summary(replace(plan_of(), domain=domain))
    summary.update(batch)
    assert summary.rows == len(NUMBERS)


def test_rows_of_refused_batch() -> None:
    summary = hp.Summary(plan_of())
    for batch in (5, "5", None, {"a": [5]}, np.zeros((3, 3)), np.zeros(3, dtype=complex)):
        with pytest.raises(hp.RecordsError):
            summary.update(batch)
    assert summary.rows == 0


def test_domain_that_omits_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """Omitting records without a cell would make row numbers depend on records."""
    encode = hp.Integers.encode

    def inside(domain: hp.Integers, records: Any, *, level: int) -> Any:
        codes = encode(domain, records, level=level)
        return codes[codes < 2**level]

    monkeypatch.setattr(hp.Integers, "encode", inside)
    summary = hp.Summary(plan_of())
    for batch in (NUMBERS, np.array([5, -1])):
        with pytest.raises(hp.DomainError, match="one uint64 code per record"):
            summary.update(batch)
    assert summary.rows == 0


def test_refinement_at_end_of_batch() -> None:
    """The refinement is at the end of the batch with its row, not at the start of the next batch."""
    summary = hp.Summary(plan_of())
    summary.update([5] * 6)
    assert summary.refinements == 0
    summary.update([])
    assert summary.refinements == 0
    summary.update([5])
    assert summary.refinements == 1
    assert summary.release().release.refinements == 1


def test_two_refinements_in_one_batch() -> None:
    summary = hp.Summary(plan_of())
    summary.update([5] * 40)
    assert (summary.rows, summary.refinements) == (40, 2)


def test_texts_omit_rows() -> None:
    summary = hp.Summary(plan_of())
    summary.update([5] * 5137)
    texts = [repr(summary), str(summary)]
    for action in (lambda: summary.update([5], counts=[1]), lambda: summary.merge(summary), summary.__reduce__):
        with pytest.raises(hp.StateError) as caught:
            action()
        texts.append(str(caught.value))
    assert not any("5137" in text or "5,137" in text for text in texts)


# Memory


def skewed(rng: np.random.Generator, size: int) -> np.ndarray:
    return np.minimum(rng.lognormal(-3, 1, size), 1)


BATCHES: dict[str, tuple[hp.Domain, Callable[[np.random.Generator, int], Any]]] = {
    "interval": (hp.Interval(0, 1), skewed),
    "box": (
        hp.Box([(0, 1), (0, 1)]),
        lambda rng, size: np.stack([skewed(rng, size), rng.random(size)], axis=1),
    ),
    "ipv4": (hp.IPv4(), lambda rng, size: (skewed(rng, size) * 0.999 * 2**32).astype(np.int64)),
    "table": (
        hp.Table(a=hp.Interval(0, 1), b=hp.Nullable(hp.Integers(0, 99)), c=hp.Categories(["x", "y", "z"])),
        lambda rng, size: {
            "a": skewed(rng, size),
            "b": rng.integers(0, 99, size),
            "c": rng.choice(["x", "y", "z"], size),
        },
    ),
}


@contextmanager
def peak_memory_at_most(limit: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] <= limit
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("memory", [2**14, 2**16, 2**18, 2**20])
@pytest.mark.parametrize("kind", BATCHES)
def test_memory_of_plan(kind: str, memory: int) -> None:
    """Peak memory of counters, batches and refinements, without the batch itself and FIXED."""
    domain, batch_of = BATCHES[kind]
    plan = hp.Plan.auto(domain, epsilon=1, expected_records=30_000, memory=memory)
    rng = np.random.default_rng(0)
    batches = [batch_of(rng, 10_000) for _ in range(2)]
    hp.Summary(plan).update(batches[0])  # excludes imports and caches
    with peak_memory_at_most(memory + FIXED):
        summary = hp.Summary(plan)
        for batch in batches:
            summary.update(batch)
    assert summary.refinements == (0 if plan.learned is None else len(plan.learned.refinement_rows))


# Hostile files

PLAN = plan_of(learned=RefinementSchedule(slots=60, refinement_rows=(7, 12), min_child_records=1))
EXACT = 2 + 4


def cells_of(slots: dict[int, int], plan: hp.Plan = PLAN) -> bytes:
    cells = np.zeros(plan.counters, dtype=np.int64)
    for place, value in slots.items():
        cells[EXACT + place] = value
    return cells.astype("<i8").tobytes()


def mark(first: int, levels: int, refinement: int) -> int:
    return int(split_mark(np.array([first]), levels, refinement)[0])


def forged(slots: dict[int, int], magic: bytes, plan: hp.Plan = PLAN, **header: Any) -> bytes:
    details: dict[str, Any] = {"plan": plan.spec(), "refinements": 2}
    if magic == CHECKPOINT:
        details |= {"lineage": 1, "rows": 12}
    body = cells_of(slots, plan) + (bytes(16) if magic == CHECKPOINT else b"")
    return forge(json.loads(json.dumps(details | header)), magic=magic, body=body)


VALID = {
    "no split": {},
    "one split": {3: mark(17, 1, 1), 16: 5},
    "a child split later": {3: mark(17, 1, 1), 17: mark(20, 1, 2), 16: 5},
    "far from where marks begin": {3: 2**61},
}
HOSTILE = {
    "no levels": {3: mark(17, 0, 1)},
    "too many levels": {3: mark(17, 7, 1)},
    "all levels": {3: mark(17, 255, 1)},
    "a shift beyond the word": {3: mark(17, 64, 1)},
    "split before the first refinement": {3: mark(17, 1, 0)},
    "split after the last": {3: mark(17, 1, 3)},
    "children beyond the slots": {3: mark(58, 2, 1)},
    "children far beyond the slots": {3: mark(2**45, 1, 1)},
    "the last mark there can be": {3: -(2**62) - 1},
    "the first mark there can be": {3: -(2**63)},
    "a gap before the children": {3: mark(18, 1, 1)},
    "children among the first cells": {15: mark(8, 1, 1)},
    "itself": {3: mark(4, 1, 1)},
    "the same children twice": {3: mark(17, 1, 1), 4: mark(17, 1, 1)},
    "children that overlap": {3: mark(17, 2, 1), 4: mark(18, 1, 1)},
    "a cycle": {3: mark(17, 1, 1), 17: mark(20, 1, 2), 20: mark(17, 1, 2)},
    "children of itself": {3: mark(17, 1, 1), 17: mark(17, 1, 2)},
    "a child split before its parent": {3: mark(17, 1, 2), 17: mark(20, 1, 1)},
    "a child split with its parent": {3: mark(17, 1, 1), 17: mark(20, 1, 1)},
    "a count that is a mark": {3: mark(17, 1, 1), 16: mark(20, 1, 2)},
    "deeper than the domain": {3: mark(17, 4, 1), 17: mark(34, 3, 2)},
    "a count that is nearly a mark": {3: -(2**62)},
    "a count that would overflow into a mark": {3: 2**63 - 1},
    "unused slots that are not 0": {40: 1},
    "children without a mark": {20: mark(24, 1, 1), 3: mark(17, 1, 1)},
}


@pytest.mark.parametrize("case", VALID)
def test_valid_slots(case: str) -> None:
    """Control of the hostile cases."""
    assert hp.load(io.BytesIO(forged(VALID[case], RELEASE))).release.refinements == 2
    assert hp.resume(io.BytesIO(forged(VALID[case], CHECKPOINT))).rows == 12


@pytest.mark.parametrize("magic", [RELEASE, CHECKPOINT], ids=["release", "checkpoint"])
@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_slots(case: str, magic: bytes) -> None:
    message = refusal(forged(HOSTILE[case], magic), magic)
    assert "not a valid partition" in message
    assert "\n" not in message


@pytest.mark.parametrize("rows", [0, 6, 11, -1, True, 12.0, "12", None, 2**70])
def test_rows_that_contradict_refinements(rows: Any) -> None:
    refusal(forged({}, CHECKPOINT, rows=rows), CHECKPOINT)


@pytest.mark.parametrize(("refinements", "rows"), [(0, 7), (0, 12), (1, 6), (1, 12), (2, 11), (3, 12), (-1, 0)])
def test_refinements_that_contradict_rows(refinements: int, rows: int) -> None:
    refusal(forged({}, CHECKPOINT, rows=rows, refinements=refinements), CHECKPOINT)


@pytest.mark.parametrize("refinements", [3, -1, True, 1.0, "1", None, 2**70])
def test_invalid_number_of_refinements(refinements: Any) -> None:
    refusal(forged({}, RELEASE, refinements=refinements), RELEASE)


def test_release_without_rows() -> None:
    refusal(forged({}, RELEASE, rows=12), RELEASE)


def test_refinements_without_learned_partition() -> None:
    plan = hp.Plan(hp.Integers(0, 3), epsilon=1, budgets={1: 1}, exact_depth=1)
    for keys in ({"refinements": 0}, {"refinements": 1}):
        refusal(forge({"plan": plan.spec()} | keys, body=bytes(16)), RELEASE)


def test_long_chain_of_splits() -> None:
    """Each cell is split into two, and one child is split again, through all of a large file."""
    slots = 2**20
    plan = plan_of(learned=RefinementSchedule(slots=slots, refinement_rows=(7, 12), min_child_records=1))
    links = (slots - 16) // 3
    cells = np.zeros(slots, dtype=np.int64)
    first = 17 + 3 * np.arange(links)
    cells[np.concatenate([[3], first[:-1]])] = MARK_ZERO + (first << 16 | 1 << 8 | 1)
    header = {"plan": plan.spec(), "refinements": 2}
    data = forge(header, body=bytes(8 * EXACT) + cells.astype("<i8").tobytes())
    with peak_memory_at_most(12 * 8 * slots):
        refusal(data, RELEASE)


INVALID_SCHEDULES: list[dict[str, Any]] = [
    {"refined_after": []},
    {"refined_after": [0]},
    {"refined_after": [12, 7]},
    {"refined_after": [7, 7]},
    {"refined_after": list(range(1, 10))},
    {"refined_after": 7},
    {"refined_after": "7"},
    {"refined_after": [7.0]},
    {"slots": 15},
    {"slots": 0},
    {"slots": 2**40},
    {"slots": "60"},
    {"least": 0},
    {"least": None},
]


@pytest.mark.parametrize("change", INVALID_SCHEDULES, ids=str)
def test_invalid_schedule(change: dict[str, Any]) -> None:
    spec = PLAN.spec()
    refusal(forge({"plan": spec | {"growth": spec["growth"] | change}, "refinements": 0}), RELEASE)


def test_learned_partition_needs_one_level() -> None:
    with pytest.raises(hp.PlanError, match="exactly one level below the exact_depth"):
        plan_of(budgets={1: 1, 2: 1})
    with pytest.raises(hp.PlanError, match="exactly one level below the exact_depth"):
        plan_of(budgets={2: 1, 4: 1, 5: 1})


# Life cycle


def test_use_after_release(tmp_path: Path) -> None:
    summary = hp.Summary(plan_of())
    summary.update([5] * 9)
    summary.release()
    for action in (summary.release, summary.state, lambda: summary.update([5])):
        with pytest.raises(hp.StateError, match="closed"):
            action()
    with pytest.raises(hp.StateError):
        hp.save(summary, tmp_path / "checkpoint")

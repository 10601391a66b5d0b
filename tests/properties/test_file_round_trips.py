"""Properties of files: saved objects round-trip, and damaged files are refused or round-trip."""

import io
import json
import os
import random
import struct
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given, settings

import privhp as hp
from cases import case_count
from forgery import PLAN, READERS, forge, sign
from privhp.collect.summary import restore_summary
from privhp.core.cells import Counts
from privhp.core.container import CHECKPOINT, RELEASE, TALLY
from privhp.release import Release
from strategies import batches, domains, measured_plans, plans

PLANS = st.one_of(plans(), measured_plans())
ANY_COUNT = st.integers(-(2**63), 2**63 - 1)
LINEAGES = st.frozensets(st.binary(min_size=16, max_size=16), min_size=1, max_size=5)


Written = Callable[[hp.Generator | hp.Summary], bytes]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Written]:
    """The bytes of a saved object, without fsync."""
    path = tmp_path_factory.mktemp("files") / "file"

    def write(item: hp.Generator | hp.Summary) -> bytes:
        hp.save(item, path, replace=True)
        return path.read_bytes()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield write


def all_cells(plan: hp.Plan) -> st.SearchStrategy[Counts]:
    return hnp.arrays(np.int64, plan.counters, elements=ANY_COUNT)


def release_of(plan: hp.Plan, cells: Counts) -> Release:
    parts = plan.unpack_columns(cells)
    columns = {label: release_of(own, parts[label]) for label, own in plan.column_plans.items()}
    return Release(plan, plan.unpack(cells), columns=columns)


def same_leaves(one: hp.Generator, other: hp.Generator) -> bool:
    return all(
        np.array_equal(getattr(one.leaves(), name), getattr(other.leaves(), name))
        for name in ("codes", "levels", "counts")
    )


@given(data=st.data())
def test_release_round_trip(written: Written, data: st.DataObject) -> None:
    plan = data.draw(PLANS)
    generator = hp.Generator(release_of(plan, data.draw(all_cells(plan))))
    first = written(generator)
    loaded = hp.load(io.BytesIO(first))
    assert loaded.release == generator.release
    assert loaded.plan == plan
    assert same_leaves(loaded, generator)
    assert loaded.partition.size == plan.leaves, "the limit on leaves uses this number"
    assert written(generator) == written(loaded) == first


@given(data=st.data())
def test_summary_round_trip(written: Written, data: st.DataObject) -> None:
    plan = data.draw(PLANS)
    summary = restore_summary(plan, data.draw(all_cells(plan)), data.draw(LINEAGES))
    first = written(summary)
    resumed = hp.resume(io.BytesIO(first))
    assert resumed.plan == plan
    assert resumed.merged_ids == summary.merged_ids
    assert np.array_equal(resumed.state(), summary.state())
    assert written(summary) == written(resumed) == first


@given(data=st.data())
def test_resumed_summary_continues(written: Written, data: st.DataObject) -> None:
    plan = data.draw(PLANS)
    before, after = data.draw(batches(plan.domain)), data.draw(batches(plan.domain))
    summary, tally = hp.Summary(plan), hp.Tally(plan)
    summary.update(before)
    resumed = hp.resume(io.BytesIO(written(summary)))
    tally.add(before)
    for part in (summary, resumed):
        part.update(after)
        part.absorb(tally)
    assert resumed.merged_ids == summary.merged_ids
    assert np.array_equal(resumed.state(), summary.state())
    assert resumed.release().release == summary.release().release


@given(data=st.data())
def test_tally_bytes_round_trip(data: st.DataObject) -> None:
    plan = data.draw(PLANS)
    tallies = [hp.Tally(plan) for _ in range(data.draw(st.integers(1, 3)))]
    for tally in tallies:
        tally.add(data.draw(batches(plan.domain)))
        if tally is not tallies[0]:
            tallies[0].merge(tally)
    first = tallies[0].to_bytes()
    restored = hp.Tally.from_bytes(first)
    assert restored.plan == plan
    assert restored.merged_ids == tallies[0].merged_ids
    assert np.array_equal(restored.counters, tallies[0].counters)
    assert all(np.array_equal(restored.sketches[level], table) for level, table in tallies[0].sketches.items())
    assert restored.to_bytes() == first


@given(one=domains(), other=domains())
def test_domains_have_distinct_bytes(written: Written, one: hp.Domain, other: hp.Domain) -> None:
    assume(one != other)
    files = []
    for domain in (one, other):
        plan = hp.Plan(domain, epsilon=1, budgets={1: 1}, exact_depth=1, hash_seed=0)
        files.append(written(hp.Generator(Release(plan, {1: np.array([1, 2])}))))
    assert files[0] != files[1]


def check_refused_or_round_trip(data: bytes, magic: bytes, written: Written) -> bool:
    """Whether a file is refused; a file that is read must be saved with the same bytes."""
    try:
        item = READERS[magic](io.BytesIO(data))
    except hp.FileError:
        return True
    assert isinstance(item, hp.Generator | hp.Summary | hp.Tally)
    assert (item.to_bytes() if isinstance(item, hp.Tally) else written(item)) == data
    return False


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["1/2", "0", "clamp"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def places(value: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Every key of every object inside a JSON object."""
    for key, inner in value.items():
        yield value, key
        if isinstance(inner, dict):
            yield from places(inner)


@settings(max_examples=case_count(500))
@given(data=st.data(), plan=PLANS)
def test_changed_header_value(written: Written, data: st.DataObject, plan: hp.Plan) -> None:
    header = json.loads(json.dumps({"plan": plan.spec()}))
    where, key = data.draw(st.sampled_from(list(places(header))))
    change = data.draw(st.sampled_from(["replace", "remove", "rename", "add"]))
    value = where[key] if change == "replace" else where.pop(key)
    if change == "replace":
        where[key] = data.draw(JSON)
    elif change == "rename":
        where[data.draw(st.text(max_size=3))] = value
    elif change == "add":
        where |= {key: value, data.draw(st.text(max_size=3)): data.draw(JSON)}
    check_refused_or_round_trip(forge(header, body=bytes(plan.nbytes)), RELEASE, written)


@settings(max_examples=case_count(500))
@given(text=st.binary(max_size=200), body=st.binary(max_size=50), magic=st.sampled_from([RELEASE, CHECKPOINT, TALLY]))
def test_arbitrary_header(text: bytes, body: bytes, magic: bytes) -> None:
    with pytest.raises(hp.FileError):
        READERS[magic](io.BytesIO(forge(text, magic=magic, body=body)))


@settings(max_examples=case_count(500))
@given(data=st.binary(max_size=200), start=st.sampled_from([b"", RELEASE, CHECKPOINT, TALLY, RELEASE + b"\1\0\0\0"]))
def test_arbitrary_bytes(data: bytes, start: bytes) -> None:
    for reader in READERS.values():
        for file in (start + data, sign(start + data)):
            with pytest.raises(hp.FileError):
                reader(io.BytesIO(file))


TOKENS = [
    b'"',
    b"{",
    b"}",
    b"[",
    b",",
    b":",
    b"-",
    b"e9",
    b"0",
    b"1/0",
    b"9" * 30,
    b"null",
    b"NaN",
    b"\\u0000",
    b"\xff",
]


def mutate(content: bytes, chance: random.Random) -> bytes:
    """One to three random changes: bits, bytes, runs removed, repeated or cleared, tokens inserted."""
    damaged = bytearray(content)
    for _ in range(chance.randint(1, 3)):
        start = chance.randrange(len(damaged))
        end = min(start + chance.randint(1, 16), len(damaged))
        injury = chance.randrange(8)
        if injury == 0:
            damaged[start] ^= 1 << chance.randrange(8)
        elif injury == 1:
            damaged[start] = chance.randrange(256)
        elif injury == 2 and len(damaged) > 20:
            del damaged[start:end]
        elif injury == 3:
            damaged[start:start] = damaged[start:end]
        elif injury == 4:
            damaged[start:end] = bytes(end - start)
        elif injury == 5:
            damaged[start:start] = chance.choice(TOKENS)
        elif injury == 6:
            damaged[start:end] = chance.choice(TOKENS)
        elif len(damaged) > 20:
            del damaged[max(start, 17) :]
    return bytes(damaged)


def samples(written: Written) -> dict[bytes, bytes]:
    summary, tally = hp.Summary(PLAN), hp.Tally(PLAN)
    tally.add([1, 2, 3])
    checkpoint = written(summary)
    return {CHECKPOINT: checkpoint, RELEASE: written(summary.release()), TALLY: tally.to_bytes()}


def test_damaged_files(written: Written, slow: bool, offline: bool) -> None:
    chance = random.Random(0)
    files = list(samples(written).items())
    for _ in range(10_000_000 if offline else 100_000 if slow else 30_000):
        magic, right = files[chance.randrange(len(files))]
        damaged = mutate(right, chance)
        if damaged != right:
            with pytest.raises(hp.FileError):
                READERS[magic](io.BytesIO(damaged))


def test_damaged_headers_with_valid_checksum(written: Written, slow: bool, offline: bool) -> None:
    chance = random.Random(0)
    read = 0
    for magic, right in samples(written).items():
        length = struct.unpack_from("<I", right, 12)[0]
        header, body = right[16 : 16 + length], right[16 + length : -32]
        for _ in range(500_000 if offline else 30_000 if slow else 20_000):
            forged = forge(mutate(header, chance), magic=magic, body=body)
            read += not check_refused_or_round_trip(forged, magic, written)
    assert read > 100, "too few damaged headers were read"


def test_damaged_content_with_valid_checksum(written: Written, slow: bool, offline: bool) -> None:
    chance = random.Random(0)
    for magic, right in samples(written).items():
        for _ in range(500_000 if offline else 20_000 if slow else 6000):
            check_refused_or_round_trip(sign(mutate(right[:-32], chance)), magic, written)

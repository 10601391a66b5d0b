"""Partitions: refused levels and specs, in bounded time and memory; public and immutable."""

import base64
import pickle
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import privhp as hp
from privhp.planning.partition import MAX_LEAVES

SMALL = hp.Partition([1, 2, 2])


@contextmanager
def bounded(*, nbytes: int, seconds: float) -> Iterator[None]:
    tracemalloc.start()
    start = time.process_time()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] <= nbytes
        assert time.process_time() - start <= seconds
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "levels",
    [
        [],
        [[0]],
        0,
        None,
        "0",
        [0.0],
        [True],
        [None],
        [64],
        [-1],
        [1],
        [0, 0],
        [2, 1, 2],
        [1, 2],
        [1, 2, 2, 2],
        [1, 1, 1, 1],
        [63] * 5,
        [2**70],
        np.zeros(MAX_LEAVES + 1, dtype=np.uint8),
        np.ones(2**10, dtype=np.uint8),  # covers the domain 512 times
    ],
    ids=lambda value: str(value)[:30],
)
def test_invalid_levels(levels: Any) -> None:
    with pytest.raises(hp.PlanError, match=r"expected|must cover"):
        hp.Partition(levels)


def test_widths_that_overflow() -> None:
    """2**64 cells of the finest level wrap around to 0, and more of them to any number."""
    for levels in ([0, 63], [1, 1, 63, 63], [0] * 2 + [63], [*[1] * 6, 63, 63], [0] * 4, [63, *range(63, 0, -1), 0, 0]):
        with pytest.raises(hp.PlanError, match="must cover"):
            hp.Partition(levels)


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


HOSTILE: dict[str, Any] = {
    "none": None,
    "a number": 5,
    "a list": [1, 0, 0],
    "empty": "",
    "no base64": "?",
    "white space": "gA==\n",
    "letters beyond ASCII": "\u00e9" * 8,
    "wrong padding": "gA=",
    "all nodes are split": encoded(b"\xff" * 1000),
    "ends within a level": encoded(b"\xf0"),
    "a byte too many": encoded(b"\x80\x00"),
    "ones after the leaves": encoded(b"\x81"),
    "megabytes of zeros": encoded(bytes(2**20)),
    "megabytes of ones": encoded(b"\xff" * 2**20),
    "half ones, half zeros": encoded(b"\xff" * 2**19 + bytes(2**19)),
    "deeper than 63 levels": encoded(np.packbits([1] + [1, 0] * 63 + [0, 0]).tobytes()),
    "more leaves than allowed": encoded(b"\xff" * 2**21 + bytes(2**21 + 1)),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_spec(case: str) -> None:
    spec = HOSTILE[case]
    limit = 2**15 + 64 * (len(spec) if isinstance(spec, str) else 0)
    with bounded(nbytes=limit, seconds=2), pytest.raises(hp.PlanError) as caught:
        hp.Partition.from_spec(spec)
    assert len(str(caught.value)) < 200


def test_deepest_chain_is_no_hostile_spec() -> None:
    """Control: one level less than in the case of 64 levels."""
    spec = encoded(np.packbits([1] + [1, 0] * 62 + [0, 0]).tobytes())
    assert hp.Partition.from_spec(spec).max_level == 63


def test_spec_of_many_leaves_in_bounded_memory() -> None:
    partition = hp.Partition.complete(18)
    with bounded(nbytes=80 * 2**18, seconds=5):
        assert hp.Partition.from_spec(partition.spec()) == partition


def test_repr() -> None:
    assert repr(SMALL) == "<Partition: 3 leaves of levels 1 to 2>"
    assert repr(hp.Partition.complete(12)) == "<Partition: 4,096 leaves of levels 12 to 12>"


def test_complete_partition() -> None:
    for level in (0, 1, 5):
        assert hp.Partition.complete(level).levels.tolist() == [level] * 2**level


def test_partition_is_immutable() -> None:
    levels = np.array([1, 2, 2])
    partition = hp.Partition(levels)
    levels[0] = 0
    assert partition == SMALL
    for array in (partition.levels, partition.nodes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_equal_partitions_of_any_integer_type() -> None:
    for dtype in (np.uint8, np.int8, np.int64, np.uint64):
        assert hp.Partition(np.array([1, 2, 2], dtype=dtype)) == SMALL
        assert hash(hp.Partition(np.array([1, 2, 2], dtype=dtype))) == hash(SMALL)


def test_partition_pickles() -> None:
    copy = pickle.loads(pickle.dumps(SMALL))
    assert copy == SMALL
    assert np.array_equal(copy.nodes, SMALL.nodes)

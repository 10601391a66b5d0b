"""Files with a valid checksum and an invalid header are refused in little memory."""

import io
import json
import struct
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import privhp as hp
from forgery import PLAN, forge, refusal, sign
from privhp.core import container
from privhp.core.container import CHECKPOINT, MAX_HEADER, RELEASE, TALLY, VERSION

SIZES = {RELEASE: PLAN.nbytes, CHECKPOINT: PLAN.nbytes + 16, TALLY: PLAN.nbytes - 8 + 16}
"""Bytes after the header: a tally has no counter of level 0, and a release no id."""

MEMORY_LIMIT = 8 * 2**20  # bytes for refusing a file


def spec(**changes: Any) -> dict[str, Any]:
    return PLAN.spec() | changes


def domain(**parameters: Any) -> dict[str, Any]:
    return spec(domain={"kind": "interval", "low": 0.0, "high": 1.0, "scale": "linear", "outside": "drop"} | parameters)


def text_of(plan: dict[str, Any]) -> bytes:
    return json.dumps({"plan": plan}, sort_keys=True, separators=(",", ":")).encode()


INVALID_NUMBERS = [-1, 0.5, 1e308, 2**63]
INVALID_VALUES = [None, True, False, 10**400, "", "x", "1/0", "\ud800", [], [[]], {}, {"": 0}]
DEEP = {"domain": {"kind": "integers", "low": 0, "high": 2**60, "outside": "drop"}}
HOSTILE: dict[str, Any] = {
    "nothing": b"",
    "no object": b"[]",
    "no text": b"\xff\xfe\x00",
    "another encoding": text_of(PLAN.spec()).decode().encode("utf-16"),
    "white space": b" " + text_of(PLAN.spec()),
    "a zero byte": text_of(PLAN.spec()) + b"\0",
    "two objects": text_of(PLAN.spec()) * 2,
    "lists in lists": b"[" * 60_000,
    "objects in objects": b'{"plan":' * 8_000,
    "deep domain": b'{"plan":{"domain":' + b"[" * 30_000 + b"]" * 30_000 + b"}}",
    "many digits": b'{"plan":' + b"9" * 60_000 + b"}",
    "only spaces": b" " * 65_536,
    "long partition": {"plan": spec(partition="A" * 60_000)},
    "no plan": {},
    "plan is a list": {"plan": []},
    "plan is a word": {"plan": "plan"},
    "unknown key": {"plan": PLAN.spec(), "records": 3},
    "unknown key in the plan": {"plan": spec(rows=3)},
    "missing key in the plan": {"plan": {key: value for key, value in PLAN.spec().items() if key != "expand"}},
    "key twice": text_of(PLAN.spec()).replace(b'"hot_cells":1', b'"hot_cells":1,"hot_cells":1'),
    "plan twice": b'{"plan":0,' + text_of(PLAN.spec())[1:],
    "unknown domain": {"plan": spec(domain={"kind": "mystery"})},
    "no kind": {"plan": spec(domain={})},
    "unknown domain key": {"plan": domain(records=3)},
    "self in the domain": {"plan": domain(self=3)},
    "NaN bound": {"plan": domain(low=float("nan"))},
    "infinite bound": {"plan": domain(high=float("inf"))},
    "overflowing bound": text_of(domain(high=7.5)).replace(b"7.5", b"1e999"),
    "long integer bounds": {"plan": domain(low=-(10**400), high=10**400)},
    "long integers": {"plan": spec(domain={"kind": "integers", "low": 0, "high": 10**400, "outside": "drop"})},
    "a number of sides": {"plan": spec(domain={"kind": "box", "sides": 10**9, "outside": "drop"})},
    "many sides": {"plan": spec(domain={"kind": "box", "sides": [[0, 1]] * 7_000, "outside": "drop"})},
    "no sides": {"plan": spec(domain={"kind": "box", "sides": [], "outside": "drop"})},
    "sides of sides": {"plan": spec(domain={"kind": "box", "sides": [[[0, 1], [0, 1]]], "outside": "drop"})},
    "exact depth 62": {"plan": spec(exact_depth=62, budgets={"62": "1"})},
    "exact depth 60": {"plan": spec(**DEEP, exact_depth=60, budgets={"60": "1"})},
    "exact depth 30": {
        "plan": spec(
            **DEEP, exact_depth=30, budgets={"30": "1"}, sketch_rows=0, sketch_width=0, hot_cells=0, hash_group=0
        )
    },
    "wide sketch": {"plan": spec(sketch_width=2**30)},
    "overflowing sketch": {"plan": spec(sketch_width=2**62)},
    "many rows": {"plan": spec(sketch_rows=2**62)},
    "budget over zero": {"plan": spec(budgets={"0": "1/0", "1": "1/4", "3": "1/2"})},
    "budget of zero": {"plan": spec(budgets={"0": "0", "1": "1/4", "3": "1/2"})},
    "negative budget": {"plan": spec(budgets={"0": "-1/4", "1": "1/4", "3": "1/2"})},
    "no budgets": {"plan": spec(budgets={})},
    "budgets as a list": {"plan": spec(budgets=["1/4", "1/4"])},
    "budgets above epsilon": {"plan": spec(budgets={"0": "1/4", "1": "1/4", "3": "2/3"})},
    "budget with an exponent": {"plan": spec(budgets={"0": "1e-999999999", "1": "1/4", "3": "1/2"})},
    "budget not in lowest terms": {"plan": spec(budgets={"0": "2/8", "1": "1/4", "3": "1/2"})},
    "budget as a float": {"plan": spec(budgets={"0": 0.25, "1": "1/4", "3": "1/2"})},
    "level out of range": {"plan": spec(budgets={"0": "1/4", "1": "1/4", "64": "1/2"})},
    "negative level": {"plan": spec(budgets={"-1": "1/4", "1": "1/4", "3": "1/2"})},
    "level twice": {"plan": spec(budgets={"0": "1/4", "00": "1/4", "1": "1/4", "3": "1/2"})},
    "level in other digits": {"plan": spec(budgets={"0": "1/4", "1": "1/4", "\u0663": "1/2"})},
    "epsilon with an exponent": {"plan": spec(epsilon="1e999999999")},
    "epsilon of zero": {"plan": spec(epsilon="0")},
    "epsilon over zero": {"plan": spec(epsilon="1/0")},
    "epsilon as a number": {"plan": spec(epsilon=1)},
    "seed without zeros": {"plan": spec(hash_seed="7")},
    "seed too long": {"plan": spec(hash_seed="7" * 33)},
    "negative seed": {"plan": spec(hash_seed="-" + "7" * 31)},
    "seed of a megabit": {"plan": spec(hash_seed="f" * 50_000)},
}


@contextmanager
def limited_memory() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < MEMORY_LIMIT
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("case", HOSTILE)
@pytest.mark.parametrize("magic", [RELEASE, CHECKPOINT, TALLY], ids=["release", "checkpoint", "tally"])
def test_hostile_header(magic: bytes, case: str) -> None:
    header = HOSTILE[case]
    if magic != RELEASE and isinstance(header, dict):
        header = header | {"ids": 1}
    data = forge(header, magic=magic, body=bytes(SIZES[magic]))
    with limited_memory():
        message = refusal(data, magic)
    assert len(message) < 1000


def test_forged_file_with_valid_header_loads() -> None:
    """Control: a forged file with the header of a valid plan loads."""
    assert hp.load(io.BytesIO(forge({"plan": PLAN.spec()}, body=bytes(PLAN.nbytes)))).total == 0
    header, body = {"plan": PLAN.spec(), "ids": 1}, bytes(PLAN.nbytes + 16)
    assert hp.resume(io.BytesIO(forge(header, magic=CHECKPOINT, body=body))).merged_ids == {bytes(16)}
    assert hp.Tally.from_bytes(forge(header, magic=TALLY, body=bytes(SIZES[TALLY]))).merged_ids == {bytes(16)}


def test_tally_with_inconsistent_counts() -> None:
    """Every row of a sketch counts the same records as the exact levels."""
    body = np.zeros(PLAN.counters - 1, dtype="<i8")
    body[-1] = 1
    data = forge({"plan": PLAN.spec(), "ids": 1}, magic=TALLY, body=body.tobytes() + bytes(16))
    assert "not counts of records" in refusal(data, TALLY)


@pytest.mark.parametrize("key", PLAN.spec())
def test_invalid_values_in_plan(key: str) -> None:
    valid = {"learning": [None], "partition": [None], "pan_private": [False, True]}.get(key, [])
    for value in [odd for odd in INVALID_VALUES + INVALID_NUMBERS if not any(odd is own for own in valid)]:
        refusal(forge({"plan": spec(**{key: value})}, body=bytes(PLAN.nbytes)), RELEASE)


@pytest.mark.parametrize("value", [None, False, [], {}, "", 1])
@pytest.mark.parametrize("key", ["sketch_rows", "sketch_width", "hot_cells", "hash_group"])
def test_invalid_sizes_without_sketch(key: str, value: Any) -> None:
    nothing = {"sketch_rows": 0, "sketch_width": 0, "hot_cells": 0, "hash_group": 0}
    plan = spec(budgets={"0": "1/4", "1": "1/4"}, **nothing)
    hp.load(io.BytesIO(forge({"plan": plan}, body=bytes(24))))
    refusal(forge({"plan": plan | {key: value}}, body=bytes(24)), RELEASE)


@pytest.mark.parametrize(
    "example",
    [
        hp.Interval(0, 1),
        hp.Interval(0, 1, cuts=[0.5]),
        hp.Integers(0, 12),
        hp.Box([(0, 1), (0, 2)]),
        hp.Time("2020-01-01", "2021-01-01"),
        hp.Time("2020-01-01", "2021-01-01", zone="Europe/Berlin"),
        hp.IPv4(),
        hp.IPv4("10.0.0.0/8"),
        hp.IPv6("2001:db8::/32"),
        hp.Categories(["a", "b", "c"]),
        hp.Taxonomy({"a": ["b", "c"], "d": None}),
    ],
    ids=lambda item: item.kind,
)
def test_invalid_values_in_domain(example: hp.Domain) -> None:
    for key in [*example.spec(), "self", "other"]:
        for value in INVALID_VALUES:
            refusal(forge({"plan": spec(domain=example.spec() | {key: value})}, body=bytes(PLAN.nbytes)), RELEASE)


@pytest.mark.parametrize("ids", [0, 1, None])
def test_release_with_ids(ids: Any) -> None:
    refusal(forge({"plan": PLAN.spec(), "ids": ids}, body=bytes(PLAN.nbytes)), RELEASE)


@pytest.mark.parametrize("ids", [*INVALID_VALUES, *INVALID_NUMBERS, 0, 1.0, 2, 2**20 + 1, 10**18])
def test_invalid_numbers_of_ids(ids: Any) -> None:
    data = forge({"plan": PLAN.spec(), "ids": ids}, magic=CHECKPOINT, body=bytes(PLAN.nbytes + 16))
    with limited_memory():
        refusal(data, CHECKPOINT)


def test_checkpoint_without_ids() -> None:
    """Copies of a checkpoint without ids could be merged, although they share their noise."""
    for names in (0, -1):
        header, body = {"plan": PLAN.spec(), "ids": names}, bytes(PLAN.nbytes + 16 * names)
        refusal(forge(header, magic=CHECKPOINT, body=body), CHECKPOINT)


def test_checkpoint_with_too_many_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "MAX_IDS", 2)
    for names, fits in ((2, True), (3, False)):
        body = bytes(PLAN.nbytes) + b"".join(name.to_bytes(16, "big") for name in range(names))
        data = forge({"plan": PLAN.spec(), "ids": names}, magic=CHECKPOINT, body=body)
        if fits:
            assert len(hp.resume(io.BytesIO(data)).merged_ids) == names
        else:
            refusal(data, CHECKPOINT)


def test_header_above_limit() -> None:
    assert "not valid" in refusal(forge(b" " * MAX_HEADER), RELEASE)
    assert "too long" in refusal(forge(b" " * (MAX_HEADER + 1)), RELEASE)


def test_header_length_beyond_file() -> None:
    for length in (0, 1, 65_536, MAX_HEADER, MAX_HEADER + 1, 2**31, 2**32 - 1):
        refusal(sign(struct.pack("<8sII", RELEASE, VERSION, length) + text_of(PLAN.spec())), RELEASE)


def test_number_of_leaves_is_limited() -> None:
    """The files are valid except for their number of leaves."""
    sketch = 8 * PLAN.sketch_rows * PLAN.sketch_width
    leap = spec(**DEEP, budgets={"1": "1/2", "40": "1/2"})
    crowd = spec(**DEEP, budgets={str(level): "1/64" for level in range(1, 60)}, hot_cells=2**40)
    for plan, sketches in ((leap, 1), (crowd, 58)):
        with limited_memory():
            assert "leaves" in refusal(forge({"plan": plan}, body=bytes(16 + sketches * sketch)), RELEASE)


class Fragile(hp.Integers):
    """A custom domain that does not check its spec."""

    kind = "fragile"

    def __init__(self, ends: dict[str, int]) -> None:
        if isinstance(ends, str):
            raise hp.DomainError(ends)
        super().__init__(ends["low"], ends["high"])

    def parameters(self) -> dict[str, Any]:
        return {"ends": {"low": self.low, "high": self.high}}


def test_exceptions_of_custom_domain() -> None:
    plan = hp.Plan(Fragile({"low": 0, "high": 3}), epsilon=1, budgets={1: 1}, exact_depth=1).spec()
    hp.load(io.BytesIO(forge({"plan": plan}, body=bytes(16))))
    for ends in ({"low": 0}, {"low": 0, "high": None}, [], None):
        refusal(forge({"plan": plan | {"domain": {"kind": "fragile", "ends": ends}}}, body=bytes(16)), RELEASE)


def test_length_of_message_is_limited() -> None:
    plan = hp.Plan(Fragile({"low": 0, "high": 3}), epsilon=1, budgets={1: 1}, exact_depth=1).spec()
    shouting = plan | {"domain": {"kind": "fragile", "ends": "x" * 60_000}}
    assert 500 < len(refusal(forge({"plan": shouting}, body=bytes(16)), RELEASE)) < 1000

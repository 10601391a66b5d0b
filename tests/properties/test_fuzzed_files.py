"""Damaged plans, domain files, releases, tallies and checkpoints are refused or read; nothing else happens."""

import hashlib
import json
import random
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import privhp as hp
from forgery import bytes_of
from privhp.cli.plan_options import load_plan
from privhp.core.container import CHECKPOINT, RELEASE, TALLY
from privhp.domains.specs import read_domain

CASES = 400
SECONDS = 5.0  # for one file
GROWTH = 200 * 2**10  # KiB of all cases together

DOMAINS = {
    "interval": 'kind = "interval"\nlow = 0\nhigh = 1e3\nscale = "linear"\n',
    "categories": 'kind = "categories"\nvalues = ["a", "b.c", "d"]\nother = "d"\ncolumns = ["paid"]\n',
    "taxonomy": 'kind = "taxonomy"\ntree = [{fruit = ["apple", "pear"]}, "stone"]\n',
    "table": """
[columns.pickup]
kind = "time"
low = 2024-01-01
high = 2024-12-31T23:59:59
[columns.place]
name = ["lon", "lat"]
kind = "geo"
[columns.source]
kind = "ipv4"
network = "10.0.0.0/8"
[columns.tip]
kind = "integers"
low = -5
high = 50
nullable = true
weight = 2
""",
}
VALUES = [None, True, 0, -1, 2**63, 10**30, 0.5, 1e308, float("nan"), "", "x", "1/0", "\ud800", [], {}, [[]], [0] * 50]
BYTES = [b"", b"\0", b"\xff", b"\n", b"[", b"{", b'"', b"=", b".", b"9" * 40, b"\xe2\x82", b"a.b.c"]


def damage_bytes(content: bytes, rng: random.Random) -> bytes:
    """Content with a few bytes changed, left out, repeated, moved or inserted."""
    for _ in range(rng.choice([1, 1, 2, 5])):
        start = rng.randrange(len(content) + 1)
        end = min(len(content), start + rng.choice([0, 1, 1, 4, 64]))
        piece = rng.choice(
            [rng.choice(BYTES), rng.randbytes(end - start), content[start:end] * 2, content[: end - start]]
        )
        content = content[:start] + piece + content[end:]
        if rng.random() < 0.1:
            content = content[: rng.randrange(len(content) + 1)]
    return content


def damage_tree(tree: Any, rng: random.Random) -> Any:
    """A JSON value with one of its values replaced, left out, renamed or nested; the value itself changes."""
    parent, key = None, None
    node = tree
    while isinstance(node, dict | list) and node and (parent is None or rng.random() < 0.7):
        parent, key = node, rng.choice(list(node)) if isinstance(node, dict) else rng.randrange(len(node))
        node = node[key]
    if parent is None:
        return rng.choice(VALUES)
    change = rng.randrange(5)
    if change == 0:
        del parent[key]
    elif change == 1:
        parent[key] = [node]
    elif change == 2 and isinstance(parent, dict):
        parent[rng.choice(["", "kind", "x" * 99, "self"])] = node
    elif change == 3:
        for _ in range(rng.choice([3, 3, 30, 30, 300, 3000])):
            node = [node] if rng.random() < 0.5 else {"domain": node, "kind": "nullable"}
        parent[key] = node
    else:
        parent[key] = rng.choice([*VALUES, node, hp.Interval(0, 1).spec()])
    return tree


def damage_header(content: bytes, rng: random.Random) -> bytes:
    """A container with a damaged header or body and a correct checksum."""
    magic, version, length = struct.unpack("<8sII", content[:16])
    header, body = content[16 : 16 + length], content[16 + length : -32]
    if rng.random() < 0.7:
        try:
            header = json.dumps(damage_tree(json.loads(header), rng), sort_keys=True, separators=(",", ":")).encode()
        except RecursionError:
            header = b"[" * 5000
    else:
        header = damage_bytes(header, rng)
    if rng.random() < 0.3:
        body = damage_bytes(body, rng)
    damaged = (
        struct.pack("<8sII", magic, version, rng.choice([len(header)] * 9 + [rng.getrandbits(32)])) + header + body
    )
    return damaged + hashlib.sha256(damaged).digest()


def damage_json(content: bytes, rng: random.Random) -> bytes:
    try:
        return json.dumps(damage_tree(json.loads(content), rng)).encode()
    except RecursionError:
        return b'{"domain":' * 5000


def read_tally(path: Path) -> hp.Tally:
    return hp.Tally.from_bytes(path.read_bytes())


READERS: dict[str, Callable[[Any], object]] = {
    "plan": lambda path: load_plan(str(path)),
    "domain": read_domain,
    "release": hp.load,
    "checkpoint": hp.resume,
    "tally": read_tally,
}


def plans() -> list[hp.Plan]:
    domain = hp.Table(
        {
            ("x", "y"): hp.Box([(0, 1), (0, 1)]),
            "paid": hp.Categories(["cash", "card"]),
            "tip": hp.Nullable(hp.Interval(0, 50)),
        }
    )
    auto = hp.Plan.auto(domain, epsilon=1, expected_records=1e4, memory="8 KiB", passes=1)
    levels = hp.Plan(hp.Taxonomy({"a": ["b", "c"], "d": []}), epsilon=1, budgets={0: "1/2", 2: "1/2"}, exact_depth=2)
    learned = hp.Plan.auto(
        hp.Interval(0, 1), epsilon=1, expected_records=1e4, memory="8 KiB", partition=hp.Partition([2, 2, 2, 3, 4, 4])
    )
    return [auto, levels, learned]


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, bytes]]:
    """Intact files of each kind."""
    path = tmp_path_factory.mktemp("files") / "file"
    found = [("domain", text.encode()) for text in DOMAINS.values()]
    for plan in plans():
        found.append(("plan", json.dumps(plan.spec()).encode()))
        found.append(("release", bytes_of(hp.Summary(plan).release(), path)))
        found.append(("checkpoint", bytes_of(hp.Summary(plan), path)))
        found.append(("tally", bytes_of(hp.Tally(plan), path)))
    assert {content[:8] for _, content in found} >= {RELEASE, CHECKPOINT, TALLY}
    return found


def peak() -> int:
    """Peak memory of the process in KiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1])


def refusal(kind: str, path: Path) -> str:
    """Message of the error of reading a file; empty if it is read."""
    try:
        READERS[kind](path)
    except hp.PrivhpError as error:
        return str(error) or "no message"
    return ""


def try_files(originals: list[tuple[str, bytes]], path: Path, cases: int, rng: random.Random) -> tuple[int, int]:
    """Number of damaged files that are refused, and of those that are read."""
    refused, before = 0, peak()
    for _ in range(cases):
        kind, content = rng.choice(originals)
        damages = [damage_bytes]
        if kind == "plan":
            damages += [damage_json] * 3
        elif kind != "domain":
            damages += [damage_header] * 5
        path.write_bytes(rng.choice(damages)(content, rng))
        start = time.process_time()
        message = refusal(kind, path)
        refused += message != ""
        assert len(message) < 2000
        assert time.process_time() - start < SECONDS
    assert peak() - before < GROWTH
    return refused, cases - refused


def test_intact_files_are_read(originals: list[tuple[str, bytes]], tmp_path: Path) -> None:
    for kind, content in originals:
        (tmp_path / "file").write_bytes(content)
        READERS[kind](tmp_path / "file")


def test_damaged_files(originals: list[tuple[str, bytes]], tmp_path: Path) -> None:
    refused, read = try_files(originals, tmp_path / "file", CASES, random.Random(0))
    assert min(refused, read) > CASES // 50, "the damage is too small or too large"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_many_damaged_files(
    originals: list[tuple[str, bytes]],
    tmp_path: Path,
    seed: int,
    offline: bool,
    record_property: Callable[[str, object], None],
) -> None:
    refused, read = try_files(originals, tmp_path / "file", 10**6 if offline else 10**4, random.Random(seed))
    record_property("damaged files refused", refused)
    record_property("read", read)

"""A small plan, its files, and forged files with a valid checksum."""

import hashlib
import io
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytest

import privhp as hp
from privhp.core.container import CHECKPOINT, RELEASE, TALLY, VERSION

PLAN = hp.Plan(
    hp.Integers(0, 12),
    epsilon=1,
    budgets={0: "1/4", 1: "1/4", 3: "1/2"},
    exact_depth=1,
    sketch_rows=2,
    sketch_width=4,
    hot_cells=1,
    hash_group=1,
    hash_seed=2**127 + 1,
)
READERS: dict[bytes, Callable[[BinaryIO], object]] = {
    RELEASE: hp.load,
    CHECKPOINT: hp.resume,
    TALLY: lambda file: hp.Tally.from_bytes(file.read()),
}


def bytes_of(item: hp.Generator | hp.Summary | hp.Tally, path: Path) -> bytes:
    if isinstance(item, hp.Tally):
        return item.to_bytes()
    hp.save(item, path, replace=True)
    return path.read_bytes()


def sign(content: bytes) -> bytes:
    return content + hashlib.sha256(content).digest()


def forge(header: Any, *, magic: bytes = RELEASE, body: bytes = b"") -> bytes:
    """A file with a valid checksum and a header, given as bytes or as a JSON object."""
    text = header if isinstance(header, bytes) else json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    return sign(struct.pack("<8sII", magic, VERSION, len(text)) + text + body)


def refusal(data: bytes, magic: bytes) -> str:
    with pytest.raises(hp.FileError) as caught:
        READERS[magic](io.BytesIO(data))
    return str(caught.value)

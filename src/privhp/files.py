"""Releases and checkpoints as files. The format is written down in docs/format.md.

Takes generators and summaries, gives files and back. A release file is public;
a checkpoint is confidential, and the two cannot be taken for each other.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from privhp.cells import Counts
from privhp.errors import FileError, PrivhpError
from privhp.generator import Generator
from privhp.plan import Plan
from privhp.release import Release
from privhp.summary import Summary

RELEASE, CHECKPOINT = b"PRIVHP-R", b"PRIVHP-C"
VERSION = 1
MAX_HEADER = 64 * 1024
MAX_LINEAGE = 2**20
_NAME_BYTES = 16
_DIGEST_BYTES = 32


def save(item: Generator | Summary, path: str | os.PathLike[str]) -> None:
    """Write a release or a checkpoint, whole or not at all.

    The release of a generator is public. The checkpoint of a summary is
    confidential: together with a later release it would reveal the records in
    between. It is written for its owner's eyes only and resumed with `resume`.
    """
    if isinstance(item, Generator):
        _write(Path(path), RELEASE, {"plan": item.plan.spec()}, item.release.cells(), b"", mode=0o644)
    elif isinstance(item, Summary):
        names = b"".join(sorted(item.lineage))
        header = {"plan": item.plan.spec(), "lineage": len(item.lineage)}
        _write(Path(path), CHECKPOINT, header, item.state(), names, mode=0o600)
    else:
        raise FileError(f"expected a Generator or a Summary to save, got {type(item).__name__}")


def load(path: str | os.PathLike[str]) -> Generator:
    """The generator of a release file."""
    plan, cells, _ = _read(Path(path), RELEASE)
    return Generator(Release(plan, plan.unpack(cells)))


def resume(path: str | os.PathLike[str]) -> Summary:
    """The summary of a checkpoint, to go on with. Resume each checkpoint once: two would share their noise."""
    plan, cells, names = _read(Path(path), CHECKPOINT)
    lineage = frozenset(names[start : start + _NAME_BYTES] for start in range(0, len(names), _NAME_BYTES))
    return Summary.from_state(plan, cells, lineage)


def _write(path: Path, magic: bytes, header: dict[str, Any], cells: Counts, names: bytes, *, mode: int) -> None:
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    if len(text) > MAX_HEADER:
        raise FileError(f"expected a header of at most {MAX_HEADER} bytes; the spec of the domain is too long")
    parts = [magic, VERSION.to_bytes(4, "little"), len(text).to_bytes(4, "little"), text]
    parts += [cells.astype("<i8").tobytes(), names]
    digest = hashlib.sha256()
    partial = path.with_name(path.name + ".partial")
    partial.unlink(missing_ok=True)
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with open(descriptor, "wb") as file:
            for part in parts:
                digest.update(part)
                file.write(part)
            file.write(digest.digest())
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _read(path: Path, magic: bytes) -> tuple[Plan, Counts, bytes]:
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        _check_magic(file.read(len(magic)), magic)
        version = int.from_bytes(file.read(4), "little")
        if version != VERSION:
            raise FileError(f"expected format version {VERSION}, got {version}; a newer privhp may read this file")
        length = int.from_bytes(file.read(4), "little")
        if length > MAX_HEADER:
            raise _damaged()
        text = file.read(length)
        plan, names = _read_header(text, magic)
        body = plan.nbytes + names * _NAME_BYTES
        if size != len(magic) + 8 + length + body + _DIGEST_BYTES:
            raise _damaged()
        content = file.read(body)
        digest = file.read()
    whole = magic + version.to_bytes(4, "little") + length.to_bytes(4, "little") + text
    if hashlib.sha256(whole + content).digest() != digest:
        raise _damaged()
    return plan, np.frombuffer(content, dtype="<i8", count=plan.cells).astype(np.int64), content[plan.nbytes :]


def _read_header(text: bytes, magic: bytes) -> tuple[Plan, int]:
    """Plan and number of lineage names; nothing is allocated before these have been checked."""
    keys = {"plan"} if magic == RELEASE else {"plan", "lineage"}
    try:
        header = json.loads(text)
        if not isinstance(header, dict) or set(header) != keys or not isinstance(header["plan"], dict):
            raise _damaged()
        names = header.get("lineage", 0)
        if not isinstance(names, int) or not 0 <= names <= MAX_LINEAGE:
            raise _damaged()
        return Plan.from_spec(header["plan"]), names
    except (ValueError, RecursionError) as error:
        if isinstance(error, PrivhpError):
            raise FileError(f"the plan in this file cannot be honoured: {error}") from None
        raise _damaged() from None


def _check_magic(found: bytes, expected: bytes) -> None:
    if found == expected:
        return
    if found == CHECKPOINT:
        raise FileError("this is a checkpoint, confidential and not released yet; open it with privhp.resume")
    if found == RELEASE:
        raise FileError("this is a release, which cannot be updated any more; open it with privhp.load")
    raise FileError("this is not a privhp file; expected one written by privhp.save or privhp fit")


def _damaged() -> FileError:
    return FileError("this file is damaged or was cut short; restore it from a copy")

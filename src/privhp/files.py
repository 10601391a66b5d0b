"""Releases and checkpoints as files. The format is written down in docs/format.md.

Takes generators and summaries, gives files and back. A release file is public;
a checkpoint is confidential, and the two cannot be taken for each other.

A file is not trusted. Its checksum is compared before anything in it is
interpreted, its header is held against limits before anything is allocated,
and it must be, byte for byte, what `save` writes for the plan that it holds.
"""

import json
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np

from privhp.answers.generator import Generator
from privhp.collect.summary import Summary
from privhp.core.cells import Counts
from privhp.errors import FileError, PrivhpError
from privhp.io.disk import partial_name, refusing_company, remove_leftover, replacing
from privhp.planning.plan import Plan
from privhp.release import Release

RELEASE, CHECKPOINT = b"PRIVHP-R", b"PRIVHP-C"
VERSION = 1
MAX_HEADER = 64 * 1024
MAX_MERGED_IDS = 2**20

Source: TypeAlias = dict[str, int | str]
"""Where a checkpoint has come to in what it reads, in the words of whoever reads."""

_PREFIX = struct.Struct("<8sII")  # magic, version, length of the header
_NAME_BYTES = 16
_DIGEST_BYTES = 32
_CHUNK = 1 << 20


def save(
    item: Generator | Summary, path: str | os.PathLike[str], *, source: Mapping[str, int | str] | None = None
) -> None:
    """Write a release or a checkpoint, whole or not at all.

    When this returns the file is on the disk; until then what was there before
    still is, whatever fails. A second process that saves to the path meanwhile is refused.

    The release of a generator is public. The checkpoint of a summary is
    confidential: together with a later release it would reveal the records in
    between. It is written for its owner's eyes only and resumed with `resume`.

    Args:
        item: What to save.
        path: Where to.
        source: Where a checkpoint has come to in what it reads, a few names and values that
            `resume_reading` gives back: counters and position are then one file, and nothing counts twice.
    """
    if not Path(path).parent.is_dir():
        raise FileError(f"expected a folder to save in, got {Path(path).parent}, which is none; make it first")
    if source is not None and not isinstance(item, Summary):
        raise FileError("expected a source with a Summary alone, since a release says nothing of what was read")
    if isinstance(item, Generator):
        header = _header(RELEASE, item.plan, refinements=item.release.refinements, parts=item.release.merged)
        parts, mode = _pack(RELEASE, header, item.release.cells()), 0o644
    elif isinstance(item, Summary):
        cells, names = item.state(), sorted(item.merged_ids)
        header = _header(
            CHECKPOINT,
            item.plan,
            names=len(names),
            refinements=item.refinements,
            parts=item.merged,
            rows=item.rows,
            source=None if source is None else _checked_source(source),
        )
        parts, mode = _pack(CHECKPOINT, header, cells, names), 0o600
    else:
        raise FileError(f"expected a Generator or a Summary to save, got {type(item).__name__}")
    with replacing(Path(path), mode=mode) as file:
        file.writelines(parts)


def load(path: str | os.PathLike[str]) -> Generator:
    """The generator of a release file."""
    with Path(path).open("rb") as file:
        return read_release(file)


def resume(path: str | os.PathLike[str]) -> Summary:
    """The summary of a checkpoint, to go on with. Resume each checkpoint once: two would share their noise.

    What a crash left of an unfinished checkpoint next to it is removed, being as confidential.
    """
    return resume_reading(path)[0]


def resume_reading(path: str | os.PathLike[str]) -> tuple[Summary, Source | None]:
    """The summary of a checkpoint, as `resume` gives it, and the source that it was saved with."""
    with Path(path).open("rb") as file:
        found = read_checkpoint_and_source(file)
    with refusing_company(Path(path)):
        remove_leftover(partial_name(Path(path)))
    return found


def read_release(file: BinaryIO) -> Generator:
    """The generator of a release in an open file that can be sought."""
    header, cells, _ = _unpack(file, RELEASE)
    with _honoured():
        counts = header.plan.unpack(cells)
        return Generator(Release(header.plan, counts, refinements=header.refinements, merged=header.parts))


def read_checkpoint(file: BinaryIO) -> Summary:
    """The summary of a checkpoint in an open file that can be sought."""
    return read_checkpoint_and_source(file)[0]


def read_checkpoint_and_source(file: BinaryIO) -> tuple[Summary, Source | None]:
    """The same, and the source that it was saved with."""
    header, cells, names = _unpack(file, CHECKPOINT)
    with _honoured():
        summary = Summary.from_state(
            header.plan,
            cells,
            frozenset(names),
            rows=header.rows,
            refinements=header.refinements,
            merged=header.parts,
        )
    return summary, header.source


_NUMBERS = {"lineage": 0, "refinements": 0, "parts": 1, "rows": 0}
"""Whole numbers of a header, in the order of `_Header`, and what they are where they are missing."""


class _Header(NamedTuple):
    """What a file says of itself before its cells."""

    plan: Plan
    names: int
    refinements: int
    parts: int
    rows: int
    source: Source | None


def _pack(magic: bytes, header: bytes, cells: Counts, names: Sequence[bytes] = ()) -> list[bytes | memoryview]:
    """All bytes of a file, in parts."""
    if len(names) > MAX_MERGED_IDS:
        raise FileError(f"expected a summary of at most {MAX_MERGED_IDS} parts; merge their tallies before saving")
    if len(header) > MAX_HEADER:
        raise FileError(f"expected a header of at most {MAX_HEADER} bytes; the spec of the domain is too long")
    prefix, body = _PREFIX.pack(magic, VERSION, len(header)), cells.astype("<i8", copy=False).data
    parts: list[bytes | memoryview] = [prefix, header, body, *names]
    digest = _checksum()
    for part in parts:
        digest.update(part)
    return [*parts, digest.digest()]


def _header(
    magic: bytes,
    plan: Plan,
    *,
    names: int = 0,
    refinements: int = 0,
    parts: int = 1,
    rows: int = 0,
    source: Source | None = None,
) -> bytes:
    header: dict[str, Any] = {"plan": plan.spec()} | ({} if parts == 1 else {"parts": parts})
    if magic == CHECKPOINT:
        header["lineage"] = names
        header |= {} if source is None else {"source": source}
    if plan.growth is not None:
        header |= {"refinements": refinements} | ({"rows": rows} if magic == CHECKPOINT else {})
    return json.dumps(header, sort_keys=True, separators=(",", ":")).encode()


def _checked_source(source: Any) -> Source:
    """A source that a header can hold: a mapping of a few names to texts and whole numbers."""
    plain = isinstance(source, Mapping) and all(
        isinstance(name, str) and (isinstance(value, str) or (type(value) is int and abs(value) < 2**63))
        for name, value in source.items()
    )
    if not plain:
        raise FileError("expected the source of a checkpoint as a mapping from names to texts and whole numbers")
    return dict(source)


def _unpack(file: BinaryIO, magic: bytes) -> tuple[_Header, Counts, list[bytes]]:
    """Header, cells and merged ids of a file of one kind."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    prefix = file.read(_PREFIX.size)
    _check_magic(prefix[: len(magic)], magic)
    if size < _PREFIX.size + _DIGEST_BYTES:
        raise _damaged()
    _, version, length = _PREFIX.unpack(prefix)
    if version != VERSION:
        raise FileError(f"expected format version {VERSION}, got {version}; a newer privhp may read this file")
    _check_digest(file, size)
    if length > MAX_HEADER:
        raise _foreign("its header is too long")
    file.seek(_PREFIX.size)
    header = _read_header(file.read(length), magic)
    nbytes = header.plan.nbytes
    if size != _PREFIX.size + length + nbytes + header.names * _NAME_BYTES + _DIGEST_BYTES:
        raise _foreign("its size does not fit its plan")
    cells = np.frombuffer(file.read(nbytes), dtype="<i8").astype(np.int64, copy=False)
    merged_ids = [file.read(_NAME_BYTES) for _ in range(header.names)]
    if merged_ids != sorted(set(merged_ids)):
        raise _foreign("its parts are not listed in order, each once")
    return header, cells, merged_ids


def _checksum() -> Any:
    from hashlib import sha256  # takes long to import, and who neither saves nor loads does not need it

    return sha256()


def _check_digest(file: BinaryIO, size: int) -> None:
    """Compare the checksum of all that comes before it, in bounded memory."""
    digest = _checksum()
    file.seek(0)
    end = size - _DIGEST_BYTES
    for start in range(0, end, _CHUNK):
        digest.update(file.read(min(_CHUNK, end - start)))
    if digest.digest() != file.read():
        raise _damaged()


def _read_header(text: bytes, magic: bytes) -> _Header:
    """What a header says, if `save` would write it in the same bytes."""
    with _honoured():
        try:
            header = json.loads(text)
            numbers = [header.get(key, least) for key, least in _NUMBERS.items()]
            source = _checked_source(header["source"]) if "source" in header else None
            names, refinements, parts, rows = numbers
            read = _Header(Plan.from_spec(header["plan"]), names, refinements, parts, rows, source)
            again = _header(magic, **read._asdict())
        except PrivhpError:
            raise
        except Exception as error:  # a domain may raise anything when its spec makes no sense
            raise _foreign("its header makes no sense") from error
    possible = range(1, MAX_MERGED_IDS + 1) if magic == CHECKPOINT else range(1)
    sensible = all(type(number) is int and 0 <= number < 2**62 for number in numbers) and read.names in possible
    if again != text or not sensible:
        raise _foreign("its header is not written in the one way it could be")
    return read


@contextmanager
def _honoured() -> Iterator[None]:
    """Say of a file what its plan or its cells are refused for."""
    try:
        yield
    except FileError:
        raise
    except PrivhpError as error:
        raise FileError(f"the plan in this file cannot be honoured: {str(error)[:500]}") from None


def _check_magic(found: bytes, expected: bytes) -> None:
    if found == expected:
        return
    if found == CHECKPOINT:
        raise FileError(
            "this is a checkpoint or a summary, confidential and not released yet; "
            "go on with it by privhp fit --resume, add it to others by privhp merge, or open it with privhp.resume"
        )
    if found == RELEASE:
        raise FileError(
            "this is a release, which cannot be updated or merged any more; "
            "privhp fit --no-release writes what can; open it with privhp.load"
        )
    raise FileError("this is not a privhp file; expected one written by privhp.save or privhp fit")


def _damaged() -> FileError:
    return FileError("this file is damaged or was cut short; restore it from a copy")


def _foreign(reason: str) -> FileError:
    """The error for a file whose checksum is right and which is still not ours."""
    return FileError(f"expected a file as privhp.save writes it, but {reason}; ask for the file to be made again")

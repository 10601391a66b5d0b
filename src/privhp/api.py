"""Functions on generators and summaries: save and load, resume, report and compare."""

import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from privhp.answers.generator import Generator
from privhp.collect.checkpoint import Checkpoint
from privhp.collect.summary import Summary
from privhp.collect.tally import Tally
from privhp.core.container import RELEASE
from privhp.core.path_texts import check_path
from privhp.core.progress_displays import watch_session
from privhp.core.regular_files import open_regular
from privhp.domains import Domain
from privhp.errors import DomainError, FileError, QueryError, RecordsError, StateError, file_errors
from privhp.io.disk import check_absent, write_file
from privhp.release import Release

if TYPE_CHECKING:
    from privhp.core.record_counts import RecordCounts
    from privhp.evaluate.comparison import Comparison
    from privhp.io.sources import CsvDialect, Format, Source

File: TypeAlias = str | os.PathLike[str] | BinaryIO
"""A path, or a file object opened in binary mode."""


@file_errors()
def save(
    obj: Generator | Summary, file: File, *, position: Mapping[str, int | str] | None = None, replace: bool = False
) -> None:
    """Write a generator as a release file, or a summary as a checkpoint.

    A file at a path is written atomically and is durable when this returns:
    after any failure the path still holds the previous file. A file that exists
    is a FileExistsError unless `replace` is set, as for the next version of a
    checkpoint. A file object is written as it is.

    A release file is public. A checkpoint is confidential: together with a later
    release it reveals the records in between. At a path only its owner may read
    it. `resume` opens it.

    Args:
        obj: A generator or a summary.
        file: A path, or a file object opened in binary mode.
        position: Position of your reader, stored with a checkpoint: names with strings and integers. Counters and
            position are one file, so no record is counted twice; `privhp.collect.checkpoint.Checkpoint.resume`
            returns both.
        replace: Whether an existing file at a path is replaced.
    """
    if isinstance(obj, Tally):
        raise FileError(
            "a tally holds noise-free counts and is never saved; let a summary absorb it and save the summary"
        )
    if not isinstance(obj, Generator | Summary):
        raise FileError(f"expected a Generator or a Summary to save, got {type(obj).__name__}")
    if position is not None and not isinstance(obj, Summary):
        raise FileError("position= belongs to a checkpoint; a release holds nothing about its source")
    if isinstance(obj, Summary):
        chunks, mode = Checkpoint(obj, position).chunks(), 0o600
    else:
        chunks, mode = obj.release.chunks(), 0o644
    if isinstance(file, str | os.PathLike):
        check_path(file)
        write_file(Path(file), chunks, mode=mode, replace=replace)
    elif isinstance(file, io.TextIOBase) or not hasattr(file, "write"):
        raise _not_binary("wb")
    else:
        _write_all(file, chunks)


@file_errors()
def load(file: File) -> Generator:
    """Read the generator of a release file.

    It does not know which data frame was fitted: `sample(frame="pandas")` samples
    a table as a frame, `sample()` as a dict of arrays.

    Args:
        file: A path, or a file object opened in binary mode, which is read from its position to its end.
    """
    with _seekable(file) as opened, watch_session():
        return Generator(Release.read(opened))


@file_errors()
def resume(file: File) -> Summary:
    """Read the summary of a checkpoint, to continue with it. Confidential.

    Resume each checkpoint once: two resumed summaries have the same noise. The
    partial files that a crashed `save` may have left beside the path are removed,
    since they are confidential too.

    Args:
        file: A path, or a file object opened in binary mode, which is read from its position to its end.
    """
    if isinstance(file, str | os.PathLike):
        checkpoint = Checkpoint.resume(file)
    else:
        with _seekable(file) as opened:
            checkpoint = Checkpoint.read(opened)
    if checkpoint.learning:
        raise StateError("this checkpoint is that of a learning pass; continue it with privhp fit --resume")
    return checkpoint.summary


@file_errors()
def report(
    generator: Generator,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    columns: Sequence[str] | None = None,
    against: Any = None,
    header: bool = True,
    csv: "CsvDialect | None" = None,
    format: "Format | None" = None,  # noqa: A002 - the name of the parameter in the public API
    replace: bool = False,
) -> "RecordCounts | None":
    """Write an HTML report on a generator: guarantee, accuracy and plots.

    The page is as private as the release. With `against` it shows real records:
    it is then NOT private, says so, and only its owner may read the file. The
    numbers of real records that were read and that are inside the domain are
    on the page, and are returned.

    Args:
        generator: A generator.
        path: HTML file to write.
        title: Heading of the page; by default the name of the file.
        columns: Names of the values of a record, if the domain has none; also the columns of `against`.
        against: Real records to show beside the synthetic ones, as `fit` takes them.
        header: Whether the first record of a CSV file in `against` names its columns.
        csv: Dialect of CSV files in `against`.
        format: Format of `against`, if its name does not say.
        replace: Whether an existing file is replaced; otherwise it is a FileExistsError.
    """
    from privhp.reporting import RealRecords, report_page  # slow to import, and needed by report only

    if not isinstance(generator, Generator):
        raise QueryError(
            f"report needs a generator, got {type(generator).__name__}; load(path) reads one from a release"
        )
    check_page(path)
    if not replace:
        check_absent(Path(path))
    size = len(generator.domain.value_names)
    if columns is not None and len(columns) != size:
        raise RecordsError(
            f"columns= needs {size} name{'s' * (size > 1)} for this release, got {len(columns)}: {', '.join(columns)}"
        )
    real = None
    if against is not None:
        source = _open(against, generator.domain, columns=columns, header=header, csv=csv, format=format)
        real = RealRecords(generator.domain, (batch.records for batch in source.batches()))
    with watch_session():
        page = report_page(generator, title=title or Path(path).stem, names=columns, against=real)
    write_file(Path(path), [page.encode()], mode=0o644 if against is None else 0o600, replace=replace)
    return None if real is None else real.counts


@file_errors()
def compare(
    generator: Any,
    data: Any,
    *,
    domain: Domain | None = None,
    columns: Sequence[str] | None = None,
    header: bool = True,
    csv: "CsvDialect | None" = None,
    format: "Format | None" = None,  # noqa: A002 - the name of the parameter in the public API
) -> "Comparison":
    """Measure the distance between a generator and real records. NOT private.

    The result depends on the real records without noise: do not publish it. Each
    distance has a baseline, the distance between two random halves of the real
    records. A generator closer than the baseline is within sampling error. If one
    side alone is a generator or the path of a release, the other side is the real
    records, in either order.

    Args:
        generator: A generator, the path of a release, or synthetic records as `fit` takes them.
        data: Real records as `fit` takes them, or another generator. Records outside the domain are skipped; the
            others are held in memory, at least 16 bytes each.
        domain: Domain of the records, if neither side is a generator.
        columns: Columns of a record, by name or, without names, by number from 1.
        header: Whether the first record of a CSV file of real records names its columns. A sample always has a header.
        csv: Dialect of CSV files of real records. Synthetic records are in plain CSV, as samples are.
        format: Format of a file, if its name does not say.
    """
    from privhp.evaluate.comparison import compare_sides  # slow to import, and needed by compare only

    sides = [load(side) if is_release(side) else side for side in (data, generator)]
    if isinstance(sides[0], Generator) and not isinstance(sides[1], Generator):
        sides.reverse()
    domains = [side.domain for side in sides if isinstance(side, Generator)]
    domains += [] if domain is None else [domain]
    if not domains:
        raise DomainError("the domain is unknown, because neither side is a generator; give domain=")
    if any(other != domains[0] for other in domains):
        raise DomainError("the two sides have different domains; compare them in one domain, that of the release")
    with watch_session():
        real, counts = _read_side(sides[0], domains[0], columns=columns, header=header, csv=csv, format=format)
        named = columns if header else None  # numbers of columns are those of the real records
        synthetic, _ = _read_side(sides[1], domains[0], columns=named, format=format)
        return compare_sides(real, synthetic, domain=domains[0], counts=counts)


def check_page(path: str | os.PathLike[str]) -> None:
    """Refuse a path that is not that of an HTML page."""
    check_path(path)
    if not os.fspath(path).lower().endswith((".html", ".htm")):
        raise FileError(f"a report is an HTML page; choose a name such as fares.html in place of {os.fspath(path)}")


def is_release(file: Any) -> bool:
    """Whether an object is the path of a release file."""
    check_path(file)
    if not isinstance(file, str | os.PathLike) or not Path(file).is_file():  # a pipe can be read only once
        return False
    with Path(file).open("rb") as opened:
        return opened.read(len(RELEASE)) == RELEASE


def _open(data: Any, domain: Domain, **options: Any) -> "Source":
    """Source of records; data that is a source already stays as it is."""
    from privhp.io.sources import open_source

    return data if hasattr(data, "batches") else open_source(data, domain=domain, **options)


def _read_side(side: Any, domain: Domain, **options: Any) -> tuple[Any, "RecordCounts | None"]:
    """A generator as it is, or all records inside the domain, in random order, and their numbers.

    The records have the resolution of the deepest cells.
    """
    import numpy as np

    from privhp.core.cells import OUTSIDE
    from privhp.core.record_counts import RecordCounts

    if isinstance(side, Generator):
        return side, None
    read, inside = 0, [np.zeros(0, dtype=np.uint64)]
    for batch in _open(side, domain, **options).batches():
        codes = domain.encode(batch.records, level=domain.depth)
        read += codes.size
        inside.append(codes[codes != OUTSIDE])
    codes = np.concatenate(inside)
    if codes.size < 2:
        raise RecordsError(
            "compare needs at least two records inside the domain; check columns=, how CSV files are written, "
            "and the bounds"
        )
    rng = np.random.default_rng(0)
    rng.shuffle(codes)  # the halves of the baseline are random, whatever the order of the records
    return domain.decode(codes, level=domain.depth, rng=rng), RecordCounts(read, codes.size)


def _write_all(file: BinaryIO, chunks: Iterable[bytes | memoryview]) -> None:
    """Write all chunks, also to an unbuffered file, whose `write` may write a part only."""
    if isinstance(file, io.RawIOBase):
        buffered = io.BufferedWriter(file)
        try:
            buffered.writelines(chunks)
        finally:
            buffered.detach()  # flushes, and leaves the file open
        return
    for chunk in chunks:
        file.write(chunk)


@contextmanager
def _seekable(file: File) -> Iterator[BinaryIO]:
    """A seekable file with the content of a path or of a file object."""
    if isinstance(file, str | os.PathLike):
        with open_regular(file) as opened:
            yield opened
        return
    content = None if isinstance(file, io.TextIOBase) or not hasattr(file, "read") else file.read()
    if not isinstance(content, bytes):
        raise _not_binary("rb")
    yield io.BytesIO(content)


def _not_binary(mode: str) -> FileError:
    return FileError(f"expected a path, or a file object opened in binary mode, such as open(path, '{mode}')")

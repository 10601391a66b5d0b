"""Synthetic records of a generator, written to a file or a pipe."""

import gzip
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path, PurePath
from typing import Any, BinaryIO, Literal

from privhp.domains import Domain
from privhp.domains.fields import check_crossed_names
from privhp.errors import FileError, RecordsError
from privhp.io.disk import new_file
from privhp.io.optional import import_pyarrow
from privhp.io.sample_chunks import Samplable, as_columns, sample_chunks
from privhp.io.sinks.columnar import Ipc, IpcStream, Npy, Parquet, Sink, check_npy
from privhp.io.sinks.text_writer import Csv, Ndjson
from privhp.io.sources.byte_streams import COMPRESSION_BY_SUFFIX, Compression, compression_of
from privhp.io.sources.csv_dialect import TAB_SUFFIXES, CsvDialect
from privhp.io.sources.files import Format, check_format, format_of

TEXT_SUFFIXES = (".csv", *TAB_SUFFIXES, ".ndjson", ".jsonl")
OUTPUT_SUFFIXES = (*TEXT_SUFFIXES, ".parquet", ".pq", ".arrow", ".feather", ".npy")
"""Suffixes of output files; texts may also be compressed."""


def write_sample(
    generator: Samplable,
    output: Path | BinaryIO,
    *,
    rows: int,
    format: Format | None = None,  # noqa: A002 - public parameter name
    method: Literal["balanced", "independent"] = "balanced",
    seed: int | None = None,
    columns: Sequence[str] | None = None,
    watch: Callable[[int], None] = lambda _: None,
    replace: bool = True,
) -> None:
    """Write synthetic records to a file, atomically, or to a pipe.

    The memory needed is that of a million rows. The same seed gives the same rows.

    Args:
        generator: Distribution of the records.
        output: A path, whose suffixes give the format and the compression, or an open pipe.
        rows: Number of records.
        format: Format; by default that of the suffix, or CSV for a pipe.
        method: "balanced" or "independent", as for `Generator.sample`; balanced within each million rows.
        seed: Seed of the sampling.
        columns: Names of the columns; by default those of the domain's values.
        watch: Called with the number of rows written so far after each million.
        replace: Whether an existing file is replaced; otherwise it is an error.
    """
    kind, compression = _format_and_compression(output, format)
    example = generator.sample(0, frame="numpy")
    names = _names(generator.domain, columns)
    if kind == "npy":
        check_npy(example)
    domain, written = generator.domain, 0
    with _open_output(output, compression, replace=replace) as file:
        sink = _sink(kind, file, names, example, domain=domain, rows=rows, output=output)
        try:
            for columns_of_chunk in sample_chunks(generator, rows, method=method, seed=seed):
                sink.write(columns_of_chunk)
                written += len(columns_of_chunk[0][1])
                watch(written)
        except BaseException:
            with suppress(Exception):  # an open Arrow writer fails when its file is closed first
                sink.close()
            raise
        sink.close()


def _sink(
    kind: Format,
    file: Any,
    names: Sequence[str],
    example: Any,
    *,
    domain: Domain,
    rows: int,
    output: Path | BinaryIO,
) -> Sink:
    """Writer of a format to an open file."""
    match kind:
        case "csv":
            dialect = CsvDialect().for_file(output.name) if isinstance(output, Path) else CsvDialect()
            return Csv(file, names, delimiter=dialect.separator.decode())
        case "ndjson":
            return Ndjson(file, names)
        case "npy":
            return Npy(file, (rows, *example.shape[1:]), example.dtype)
        case "parquet":
            return Parquet(file, names, as_columns(domain, example))
        case "arrow":
            return (Ipc if isinstance(output, Path) else IpcStream)(file, names, as_columns(domain, example))


def _format_and_compression(
    output: Path | BinaryIO,
    format: Format | None,  # noqa: A002 - see above
) -> tuple[Format, Compression | None]:
    """Format and compression of the output."""
    check_format(format)
    if not isinstance(output, Path):
        if format == "parquet":
            raise FileError('Parquet needs a file, since it is read from its end; for a pipe, choose format="arrow"')
        return format or "csv", None
    name = output.name.lower()
    compression = compression_of(name)
    text = name if compression is None else name.removesuffix(PurePath(name).suffix)
    known = text.endswith(OUTPUT_SUFFIXES if compression is None else TEXT_SUFFIXES)
    if not known and (format is None or (compression is not None and format not in ("csv", "ndjson"))):
        raise FileError(
            f"expected an output that ends in {', '.join(OUTPUT_SUFFIXES[:-1])} or {OUTPUT_SUFFIXES[-1]}, "
            f"or compressed text that ends in {' or '.join(COMPRESSION_BY_SUFFIX)}, got {output}"
        )
    return format or format_of(name), compression


@contextmanager
def _open_output(output: Path | BinaryIO, compression: Compression | None, *, replace: bool) -> Iterator[Any]:
    """Open file or pipe, compressed if its suffix asks for it."""
    if not isinstance(output, Path):
        yield output
        output.flush()
        return
    with new_file(output, replace=replace) as file, _COMPRESSORS[compression](file) as compressed:
        yield compressed


def _compress_gzip(file: BinaryIO) -> AbstractContextManager[Any]:
    """Gzip stream without the name and the time, so that the same rows give the same bytes."""
    return gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0)


@contextmanager
def _compress_zstd(file: BinaryIO) -> Iterator[Any]:
    pa = import_pyarrow("zstd")
    # The stream closes its file, so it gets a duplicate.
    with open(os.dup(file.fileno()), "wb") as duplicate, pa.CompressedOutputStream(duplicate, "zstd") as stream:
        yield stream


_COMPRESSORS: dict[Compression | None, Callable[[BinaryIO], AbstractContextManager[Any]]] = {
    None: nullcontext,
    "gzip": _compress_gzip,
    "zstd": _compress_zstd,
}


def _names(domain: Domain, columns: Sequence[str] | None) -> list[str]:
    """Names of the columns: the given ones, or those of the domain's values."""
    declared = domain.value_names
    names = list(columns or declared)
    if len(names) != len(declared):
        raise RecordsError(
            f"expected {len(declared)} column names for this release, got {len(names)}: {', '.join(names)}"
        )
    check_crossed_names(names, declared)
    if len(set(names)) != len(names):
        raise RecordsError(f"expected each column name once, got one twice in {', '.join(names)}")
    return names

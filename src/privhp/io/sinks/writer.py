"""A generator to a file or a pipe of synthetic records."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import gzip
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Literal, Protocol

import numpy as np

from privhp.domains import Domain
from privhp.errors import FileError, RecordsError
from privhp.io.disk import replace_file
from privhp.io.sinks.columnar import Ipc, IpcStream, Npy, Parquet, Sink, check_plain
from privhp.io.sinks.text_writer import Columns, Csv, Ndjson
from privhp.io.sources.byte_streams import COMPRESSION_SUFFIXES
from privhp.io.sources.files import Format, format_of
from privhp.io.sources.optional import arrow

CHUNK = 10**6
"""Rows made at once, within which they are balanced; the seed gives the same rows because it is fixed."""

TEXT_SUFFIXES = (".csv", ".ndjson", ".jsonl")
OUTPUT_SUFFIXES = (*TEXT_SUFFIXES, ".parquet", ".pq", ".arrow", ".feather", ".npy")
"""How the names of files end that synthetic records can be written to; those of texts may be packed besides."""


class Samplable(Protocol):
    """What synthetic records are drawn from: a generator or any other distribution."""

    domain: Domain

    def sample(
        self,
        n: int | None = None,
        *,
        method: Literal["balanced", "independent"] = "balanced",
        rng: np.random.Generator | int | None = None,
        frame: Literal["numpy"] | None = None,
    ) -> Any:
        """Draw n records."""


def write_sample(
    generator: Samplable,
    output: Path | BinaryIO,
    *,
    rows: int,
    format: Format | None = None,  # noqa: A002 - what callers call it
    method: Literal["balanced", "independent"] = "balanced",
    seed: int | None = None,
    columns: Sequence[str] | None = None,
    watch: Callable[[int], None] = lambda _: None,
) -> None:
    """Write synthetic records, to a file whole or not at all, in memory for a million rows whatever their number.

    The same seed gives the same rows.

    Args:
        generator: Where they come from.
        output: The file, whose name says the format, and whether text is packed; or a pipe.
        rows: How many.
        format: What is written, where no name says it; to a pipe CSV unless given.
        method: "balanced" or "independent", as for `Generator.sample`; balanced within each million rows.
        seed: Seed of the sampling.
        columns: Names of the columns; by default those of the domain's values.
        watch: Told how many rows are written, now and then.
    """
    kind, packing = _kind_and_packing(output, format)
    like = generator.sample(0, frame="numpy")
    names = _names(generator.domain, columns)
    if kind == "npy":
        check_plain(like)
    rng = np.random.default_rng(seed)
    domain = generator.domain
    with _opened(output, packing) as file:
        if kind == "csv":
            sink: Sink = Csv(file, names)
        elif kind == "ndjson":
            sink = Ndjson(file, names)
        elif kind == "npy":
            sink = Npy(file, (rows, *like.shape[1:]), like.dtype)
        else:
            arrows = Parquet if kind == "parquet" else Ipc if isinstance(output, Path) else IpcStream
            sink = arrows(file, names, _columns(domain, like))
        try:
            for start in range(0, rows, CHUNK):
                size = min(CHUNK, rows - start)
                sink.write(_columns(domain, generator.sample(size, method=method, rng=rng, frame="numpy")))
                watch(start + size)
        except BaseException:
            with suppress(Exception):  # a writer that is left open complains when it finds its file closed
                sink.close()
            raise
        sink.close()


def _kind_and_packing(output: Path | BinaryIO, format: Format | None) -> tuple[Format, str]:  # noqa: A002 - see above
    """What is written, and how the name of a packed file ends."""
    if not isinstance(output, Path):
        if format == "parquet":
            raise FileError('Parquet needs a file, since it is read from its end; for a pipe, choose format="arrow"')
        return format or "csv", ""
    name = output.name.lower()
    packing = next((ending for ending in COMPRESSION_SUFFIXES if name.endswith(ending)), "")
    known = name.removesuffix(packing).endswith(TEXT_SUFFIXES if packing else OUTPUT_SUFFIXES)
    if not known and (format is None or (packing and format not in ("csv", "ndjson"))):
        raise FileError(
            f"expected an output that ends in {', '.join(OUTPUT_SUFFIXES[:-1])} or {OUTPUT_SUFFIXES[-1]}, text also in "
            f"{' or '.join(COMPRESSION_SUFFIXES)} after that, got {output}"
        )
    return format or format_of(name), packing


@contextmanager
def _opened(output: Path | BinaryIO, packing: str) -> Iterator[Any]:
    """The file or pipe to write to, packed if its name says so."""
    if not isinstance(output, Path):
        yield output
        output.flush()
        return
    with replace_file(output) as file:
        if packing == ".gz":
            # Without a name and a time in it: the same rows are the same bytes.
            with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as packed:
                yield packed
        elif packing == ".zst":
            pa = arrow("zstd")
            with open(os.dup(file.fileno()), "wb") as twin, pa.CompressedOutputStream(twin, "zstd") as packed:
                yield packed  # which closes what it writes to
        else:
            yield file


def _names(domain: Domain, columns: Sequence[str] | None) -> list[str]:
    """Names of the columns: those asked for, or the names of the domain's values."""
    own = domain.value_names
    names = list(columns or own)
    if len(names) != len(own):
        raise RecordsError(f"expected {len(own)} column names for this release, got {len(names)}: {', '.join(names)}")
    if len(set(names)) != len(names):
        raise RecordsError(f"expected each column name once, got one twice in {', '.join(names)}")
    return names


def _columns(domain: Domain, sample: Any) -> Columns:
    """The columns of a sample, each with its output form."""
    if isinstance(sample, dict):
        columns = [sample[name] for name in domain.value_names]
    else:
        columns = list((sample[:, None] if sample.ndim == 1 else sample).T)
    return list(zip(domain.output_forms(), columns, strict=True))

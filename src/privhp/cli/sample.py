"""`privhp sample`: a release in, synthetic records out."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import csv
import io
from argparse import Namespace
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from privhp.cli.output import check_output
from privhp.cli.reading import as_written, read_file
from privhp.distribution import Method
from privhp.domains import Domain, Table
from privhp.errors import FileError, RecordsError
from privhp.files import load, replacing
from privhp.generator import Generator

CHUNK = 10**7  # rows made by one call, within which they are balanced: a few hundred megabytes
_LINES = 2**16  # rows turned into text at once


def run(options: Namespace) -> None:
    """Sample in chunks, so that any number of rows fits in memory."""
    output = check_output(options.output, force=options.force)
    if output.suffix not in (".csv", ".npy"):
        raise FileError(f"expected an output that ends in .csv or .npy, got {output}")
    generator = read_file(load, options.release)
    rows = round(generator.total) if options.n is None else options.n
    method: Method = "independent" if options.independent else "balanced"
    like = generator.sample(0)
    if output.suffix == ".npy" and not _is_plain(like):
        raise FileError(f"expected an output that ends in .csv for what is no array of numbers, got {output}")
    with replacing(output) as file:
        chunks = _chunks(generator, rows, method, np.random.default_rng(options.seed))
        if output.suffix == ".npy":
            _write_npy(file, (rows, *like.shape[1:]), like.dtype, chunks)
        else:
            _write_csv(file, _header(like, options.columns), generator.plan.domain, chunks)
    if not options.quiet:
        print(f"wrote {output}: {rows:,} synthetic records")


def _is_plain(like: Any) -> bool:
    """Whether a sample is an array that a .npy file can hold as it is."""
    return isinstance(like, np.ndarray) and not isinstance(like, np.ma.MaskedArray) and like.dtype.kind != "O"


def _chunks(generator: Generator, rows: int, method: Method, rng: np.random.Generator) -> Iterator[Any]:
    for start in range(0, rows, CHUNK):
        yield generator.sample(min(CHUNK, rows - start), method=method, rng=rng)


def _header(like: Any, columns: list[str] | None) -> list[str]:
    """Names of the columns: those asked for, those of a table, or x1, x2 and so on."""
    own = list(like) if isinstance(like, dict) else ["value"]
    if not isinstance(like, dict) and like.ndim > 1:
        own = [f"x{column}" for column in range(1, like.shape[1] + 1)]
    names = columns or own
    if len(names) != len(own):
        raise RecordsError(f"expected {len(own)} column names for this release, got {len(names)}: {', '.join(names)}")
    return names


def _write_csv(file: BinaryIO, header: list[str], domain: Domain, chunks: Iterator[Any]) -> None:
    _write_rows(file, [header])
    for chunk in chunks:
        columns = _columns(domain, chunk)
        for start in range(0, len(columns[0][1]), _LINES):
            part = slice(start, start + _LINES)
            _write_rows(file, zip(*(as_written(own, values[part]) for own, values in columns), strict=True))


def _columns(domain: Domain, sample: Any) -> list[tuple[Domain, NDArray[Any]]]:
    """Each column of a sample with the domain that it belongs to."""
    if isinstance(domain, Table):
        return [(column.domain, sample[name]) for column in domain.columns for name in column.names]
    return [(domain, values) for values in (sample[:, None] if sample.ndim == 1 else sample).T]


def _write_rows(file: BinaryIO, rows: Iterable[Iterable[Any]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    file.write(text.getvalue().encode())


def _write_npy(file: BinaryIO, shape: tuple[int, ...], dtype: np.dtype[Any], chunks: Iterator[NDArray[Any]]) -> None:
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    for chunk in chunks:
        file.write(np.ascontiguousarray(chunk).data)

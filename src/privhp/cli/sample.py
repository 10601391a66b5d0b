"""`privhp sample`: a release in, synthetic records out."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import csv
import io
from argparse import Namespace
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from privhp.cli.output import check_output
from privhp.cli.reading import as_text, read_file
from privhp.domains import Domain
from privhp.errors import FileError, RecordsError
from privhp.files import load, replacing
from privhp.generator import Generator, Method

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
    with replacing(output) as file:
        chunks = _chunks(generator, rows, method, np.random.default_rng(options.seed))
        if output.suffix == ".npy":
            _write_npy(file, (rows, *like.shape[1:]), like.dtype, chunks)
        else:
            _write_csv(file, _header(like, options.columns), generator.plan.domain, chunks)
    if not options.quiet:
        print(f"wrote {output}: {rows:,} synthetic records")


def _chunks(generator: Generator, rows: int, method: Method, rng: np.random.Generator) -> Iterator[NDArray[Any]]:
    for start in range(0, rows, CHUNK):
        yield generator.sample(min(CHUNK, rows - start), method=method, rng=rng)


def _header(like: NDArray[Any], columns: list[str] | None) -> list[str]:
    """Names of the columns: those asked for, or x1, x2 and so on."""
    width = 1 if like.ndim == 1 else like.shape[1]
    names = columns or (["value"] if width == 1 else [f"x{column}" for column in range(1, width + 1)])
    if len(names) != width:
        raise RecordsError(f"expected {width} column names for this release, got {len(names)}: {', '.join(names)}")
    return names


def _write_csv(file: BinaryIO, header: list[str], domain: Domain, chunks: Iterator[NDArray[Any]]) -> None:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(header)
    file.write(line.getvalue().encode())
    text = as_text(domain)
    for chunk in chunks:
        table = chunk.reshape(len(chunk), -1)
        for start in range(0, len(table), _LINES):
            rows = table[start : start + _LINES].tolist()
            file.write("".join([",".join(map(text, row)) + "\n" for row in rows]).encode())


def _write_npy(file: BinaryIO, shape: tuple[int, ...], dtype: np.dtype[Any], chunks: Iterator[NDArray[Any]]) -> None:
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    for chunk in chunks:
        file.write(np.ascontiguousarray(chunk).data)

"""A generator to a file of synthetic records."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

from privhp.disk import replacing
from privhp.domains import Domain, Table
from privhp.errors import FileError, RecordsError
from privhp.generator import Generator
from privhp.sinks.formats import Columns, Csv, Ipc, Ndjson, Npy, Parquet, Sink, check_plain

CHUNK = 10**6
"""Rows made at once, within which they are balanced; the seed gives the same rows because it is fixed."""

ENDINGS = (".csv", ".ndjson", ".jsonl", ".parquet", ".pq", ".arrow", ".feather", ".npy")
"""How the names of files end that synthetic records can be written to."""


def write_sample(
    generator: Generator,
    path: Path,
    *,
    rows: int,
    method: Literal["balanced", "independent"] = "balanced",
    seed: int | None = None,
    columns: Sequence[str] | None = None,
    watch: Callable[[int], None] = lambda _: None,
) -> None:
    """Write synthetic records, whole or not at all, in memory for a million rows whatever their number.

    The same seed gives the same rows.

    Args:
        generator: Where they come from.
        path: The file, whose name says the format.
        rows: How many.
        method: "balanced" or "independent", as for `Generator.sample`; balanced within each million rows.
        seed: Seed of the sampling.
        columns: Names of the columns; by default those of a table, or value, or x1, x2 and so on.
        watch: Told how many rows are written, now and then.
    """
    if path.suffix.lower() not in ENDINGS:
        raise FileError(f"expected an output that ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}, got {path}")
    like = generator.sample(0)
    names = _names(like, columns)
    if path.suffix.lower() == ".npy":
        check_plain(like, path.name)
    rng = np.random.default_rng(seed)
    domain = generator.plan.domain
    with replacing(path) as file:
        sink = _sink(path.suffix.lower(), file, names, domain, like, rows)
        try:
            for start in range(0, rows, CHUNK):
                size = min(CHUNK, rows - start)
                sink.write(_columns(domain, generator.sample(size, method=method, rng=rng)))
                watch(start + size)
        except BaseException:
            with suppress(Exception):  # a writer that is left open complains when it finds its file closed
                sink.close()
            raise
        sink.close()


def _sink(ending: str, file: BinaryIO, names: list[str], domain: Domain, like: Any, rows: int) -> Sink:
    if ending == ".csv":
        return Csv(file, names)
    if ending in (".ndjson", ".jsonl"):
        return Ndjson(file, names)
    if ending == ".npy":
        return Npy(file, (rows, *like.shape[1:]), like.dtype)
    return (Parquet if ending in (".parquet", ".pq") else Ipc)(file, names, _columns(domain, like))


def _names(like: Any, columns: Sequence[str] | None) -> list[str]:
    """Names of the columns: those asked for, those of a table, or x1, x2 and so on."""
    own = list(like) if isinstance(like, dict) else ["value"]
    if not isinstance(like, dict) and like.ndim > 1:
        own = [f"x{column}" for column in range(1, like.shape[1] + 1)]
    names = list(columns or own)
    if len(names) != len(own):
        raise RecordsError(f"expected {len(own)} column names for this release, got {len(names)}: {', '.join(names)}")
    if len(set(names)) != len(names):
        raise RecordsError(f"expected each column name once, got one twice in {', '.join(names)}")
    return names


def _columns(domain: Domain, sample: Any) -> Columns:
    """Each column of a sample with the domain that it belongs to."""
    if isinstance(domain, Table):
        return [(column.domain, sample[name]) for column in domain.columns for name in column.names]
    return [(domain, values) for values in (sample[:, None] if sample.ndim == 1 else sample).T]

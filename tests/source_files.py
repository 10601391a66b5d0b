"""Small files, and the values that are read from them."""

from pathlib import Path

import numpy as np

from privhp import Box, Domain, Integers, Interval
from privhp.io.sources import open_source
from texts import text_batches

UNIT = Interval(0, 1)
DECADE = Interval(0, 10)
SQUARE = Box([(0, 10), (0, 10)])
BIG = Integers(0, 2**61 - 1)


def read(path: Path, domain: Domain, columns: list[str] | None = None, *, header: bool = True) -> np.ndarray:
    source = open_source(path, domain=domain, columns=columns, header=header)
    batches = [np.asarray(batch.records) for batch in source.batches()]
    return np.concatenate(batches) if batches else np.zeros(0)


def write(folder: Path, content: bytes, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def parse(records: list[bytes], domain: Domain = DECADE) -> list[float | list[float]]:
    """Values of lines without a header, NaN for those that are null or invalid."""
    is_point = len(domain.fields()) > 1
    batches = text_batches(b"".join(line + b"\n" for line in records), domain)
    values = [value for batch in batches for value in (np.asarray(batch).tolist() if is_point else batch)]
    return [np.nan if value is None else value for value in values]


def same(one: list[float | list[float]], other: list[float | list[float]]) -> bool:
    """Equality in which NaN equals NaN."""
    return repr(one) == repr(other)


def codes(records: list[bytes], domain: Domain) -> list[int]:
    """The cell of each line."""
    batches = text_batches(b"".join(line + b"\n" for line in records), domain)
    return [code for batch in batches for code in domain.encode(batch, level=domain.depth).tolist()]

"""From a path to a source."""

import gzip
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO, Protocol, cast

from privhp.domains import Domain
from privhp.errors import FileError
from privhp.sources.arrays import ArraySource
from privhp.sources.columns import check_columns
from privhp.sources.text import TextSource


class Source(Protocol):
    """Records in batches, once."""

    def batches(self) -> Iterator[Any]:
        """Batches that `Summary.update` takes, of about 65,536 records."""

    def share_read(self) -> float | None:
        """Share of the file's bytes that has been read; None where its size is not known."""


@contextmanager
def open_source(
    path: str | os.PathLike[str], *, domain: Domain, columns: Sequence[str] | None = None, header: bool = True
) -> Iterator[Source]:
    """Open a file of records: CSV text, also gzipped (.gz) or from standard input ("-"), or a NumPy array (.npy).

    Args:
        path: Where the records are.
        domain: The domain that they will be counted in.
        columns: The columns that make a record, by name or, without a header, by number from 1.
        header: Whether the first line of a text names its columns.
    """
    check_columns(columns, domain)
    name = os.fspath(path)
    if name.endswith(".npy"):
        yield ArraySource(name, domain=domain, columns=columns)
        return
    with ExitStack() as stack:
        raw = sys.stdin.buffer if name == "-" else stack.enter_context(open(name, "rb"))
        file = cast(BinaryIO, stack.enter_context(gzip.open(raw))) if name.endswith(".gz") else raw
        try:
            yield TextSource(file, raw=raw, domain=domain, columns=columns, header=header)
        except (gzip.BadGzipFile, EOFError, zlib.error):
            raise FileError("expected a whole gzip file, got one that is damaged or was cut short") from None

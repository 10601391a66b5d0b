"""Protocols of sources and readers: batches of records, each with the position of the next."""

from collections.abc import Generator, Iterator
from typing import Any, NamedTuple, Protocol, TypeAlias

Position: TypeAlias = tuple[int, int]
"""Index of a file, and the offset in it: bytes of text, rows of other formats."""

START: Position = (0, 0)


class Batch(NamedTuple):
    """A batch of records with the position after it.

    Args:
        records: Records for `Summary.update`, one for each row or line of the source.
        position: Position of the next batch; None if the source cannot be read from a position.
        read: Bytes of the source read so far; None if unknown.
    """

    records: Any
    position: Position | None = None
    read: int | None = None


class Source(Protocol):
    """Batches of records, in bounded memory."""

    @property
    def size(self) -> int | None:
        """Bytes of the whole source; None if unknown."""

    @property
    def identity(self) -> str | None:
        """Digest of the files and the selection; None if the source cannot be read from a position."""

    @property
    def rereadable(self) -> bool:
        """Whether all records can be read again from the start."""

    def batches(self, after: Position = START) -> Generator[Batch, None, None]:
        """Batches after a position."""


class FileBatch(NamedTuple):
    """A batch of one file, the offset after it, and the share of the file read so far; None for a pipe."""

    records: Any
    offset: int
    share: float | None


class Reader(Protocol):
    """One open file with the selected columns."""

    def batches(self, start: int) -> Iterator[FileBatch]:
        """Batches from an offset."""

    def close(self) -> None:
        """Close the file."""

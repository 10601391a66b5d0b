"""Protocols of sources and readers: batches of records, each with the position of the next."""

from collections.abc import Callable, Generator, Iterator
from typing import Any, NamedTuple, Protocol, TypeAlias

from privhp.domains.column import Indices

Position: TypeAlias = tuple[int, int]
"""Index of a file, and the offset in it: bytes of text, rows of other formats."""

START: Position = (0, 0)

Sample: TypeAlias = Callable[[int], Indices]
"""Function that draws a sample: indices of the rows taken out of a number of rows, in order."""


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

    def batches(self, after: Position = START, *, sample: Sample | None = None) -> Generator[Batch, None, None]:
        """Batches after a position.

        Args:
            after: Position of the first batch.
            sample: Draws the rows to take of each batch, by default all; called once for the rows of each.
        """


class Rows(Protocol):
    """Rows of a file, not yet converted to records."""

    def __len__(self) -> int:
        """Number of rows, skipped ones included."""

    def records(self, taken: Indices | None = None) -> Any:
        """Records of the rows taken, by default of all. Rows that are not taken are not converted."""


class FileBatch(NamedTuple):
    """Rows of one file, the offset after them, and the share of the file read so far; None for a pipe."""

    rows: Rows
    offset: int
    share: float | None


class Reader(Protocol):
    """One open file with the selected columns."""

    def batches(self, start: int) -> Iterator[FileBatch]:
        """Batches from an offset."""

    def close(self) -> None:
        """Close what the reader opened; not the file."""

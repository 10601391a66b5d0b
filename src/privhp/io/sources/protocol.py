"""What a source is: batches of records, each with the place where the next one begins."""

from collections.abc import Generator, Iterator
from typing import Any, NamedTuple, Protocol, TypeAlias

Position: TypeAlias = tuple[int, int]
"""Which file, from 0, and the place in it: bytes of text, or rows of anything else."""

START: Position = (0, 0)


class Batch(NamedTuple):
    """Some records, and how far they bring the reader.

    Args:
        records: What `Summary.update` takes, every row or line of the source at its place.
        position: Where the next batch begins; None where nothing can be read again.
        read: Bytes of the source read so far; None where that means nothing.
    """

    records: Any
    position: Position | None = None
    read: int | None = None


class Source(Protocol):
    """Records in batches, in bounded memory."""

    @property
    def size(self) -> int | None:
        """Bytes to read in all, where that is known."""

    @property
    def identity(self) -> str | None:
        """A digest of what is read and how; None for what cannot be read again from a position."""

    def batches(self, after: Position = START) -> Generator[Batch, None, None]:
        """All batches after a position."""


class FileBatch(NamedTuple):
    """A batch of one file."""

    records: Any
    place: int
    share: float | None


class Reader(Protocol):
    """One open file, whose columns are known to be there."""

    def batches(self, start: int) -> Iterator[FileBatch]:
        """All batches from a place on."""

    def close(self) -> None:
        """Let go of the file."""

"""Protocols of sources and readers: batches of records, each with the position of the next."""

from collections.abc import Callable, Generator, Iterator
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from privhp.domains.column import Column, Indices

Position: TypeAlias = tuple[int, int]
"""Index of a file, and the offset in it: bytes of text, rows of other formats."""

START: Position = (0, 0)

Sample: TypeAlias = Callable[[int], Indices]
"""Function that draws a sample: indices of the rows taken out of a number of rows, in order."""

Cap: TypeAlias = Callable[[Column], Indices]
"""Function that bounds the rows of each person: indices of the rows kept, in order, by the id of the person of each."""

NullPerson: TypeAlias = Literal["refuse", "one"]
"""What a row without a person means: it is refused, or all such rows are one person's."""


class Persons(NamedTuple):
    """The persons of a source, as declared.

    Args:
        column: Column of their ids.
        null: What a null id means.
        most: Largest number of rows of a person in this source; by default that of the plan. Parties that share a plan
            share its number.
        in_memory: Whether all rows are in memory, so that they are bounded together, in any order.
    """

    column: str
    null: NullPerson = "refuse"
    most: int | None = None
    in_memory: bool = False


class Batch(NamedTuple):
    """A batch of records with the position after it.

    Args:
        records: Records for `Summary.update`, one for each row or line of the source.
        position: Position of the next batch; None if the source cannot be read from a position.
        read: Bytes of files, or rows in memory, read so far; None if unknown.
    """

    records: Any
    position: Position | None = None
    read: int | None = None


class Source(Protocol):
    """Batches of records, in bounded memory."""

    @property
    def size(self) -> int | None:
        """Bytes of all files, or rows in memory; None if unknown."""

    @property
    def identity(self) -> str | None:
        """Digest of the files and the selection; None if the source cannot be read from a position."""

    @property
    def rereadable(self) -> bool:
        """Whether all records can be read again from the start."""

    @property
    def formats(self) -> frozenset[str]:
        """Formats of the files; none for data in memory."""

    @property
    def declared(self) -> frozenset[str]:
        """Parameters of the reading that the caller gave."""

    @property
    def persons(self) -> Persons | None:
        """The declared persons; None if no column of persons is declared."""

    def batches(
        self, after: Position = START, *, sample: Sample | None = None, cap: Cap | None = None
    ) -> Generator[Batch, None, None]:
        """Batches after a position.

        Args:
            after: Position of the first batch.
            sample: Draws the rows to take of each batch, by default all; called once for the rows of each.
            cap: Bounds the rows of each person, before the sample is drawn from the rows kept; called once for the
                rows of each batch, in order, or for all rows if they are in memory.
        """


class Rows(Protocol):
    """Rows of a file, not yet converted to records."""

    def __len__(self) -> int:
        """Number of rows, skipped ones included."""

    def records(self, taken: Indices | None = None) -> Any:
        """Records of the rows taken, by default of all. Rows that are not taken are not converted."""

    def persons(self) -> Column:
        """Id of the person of each row."""


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


def choose_rows(rows: int, kept: Indices | None, sample: Sample | None) -> Indices | None:
    """Indices of the rows of a batch to count; None for all of them.

    The sample is drawn from the rows kept: a person with many rows would else be in
    the sample more often than one with few.

    Args:
        rows: Number of rows.
        kept: Indices of the rows that a cap keeps, if there is one.
        sample: Draws a sample.
    """
    if kept is None:
        return None if sample is None else sample(rows)
    return kept if sample is None else kept[sample(kept.size)]

"""Numbers of real records of a comparison. NOT PRIVATE."""

from typing import NamedTuple


class RecordCounts(NamedTuple):
    """Numbers of real records. NOT PRIVATE.

    Args:
        read: Records that were read.
        inside: Those inside the domain.
    """

    read: int
    inside: int

    def __str__(self) -> str:
        """Both numbers, for people, with advice if most records are outside the domain."""
        counts = f"real: {self.read:,} records read, {self.inside:,} inside the domain"
        if 2 * self.inside >= self.read:
            return counts
        return f"{counts}: fewer than half, so check that the columns and the options of CSV files are those of the fit"

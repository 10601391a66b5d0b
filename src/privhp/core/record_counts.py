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
        """Both numbers, for people."""
        return f"real: {self.read:,} records read, {self.inside:,} inside the domain"

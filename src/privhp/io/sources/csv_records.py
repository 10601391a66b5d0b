"""Records of CSV: the two readings, and the rule of RFC 4180.

`_record_bounds` defines the rule; the compiled scanner finds the same bounds.
"""

from enum import IntEnum

import numpy as np

from privhp.errors import FileError
from privhp.io.sources.csv_dialect import CsvDialect
from privhp.io.sources.text_records import LineFeeds, Offsets, Rule
from privhp.kernels import native


class Place(IntEnum):
    """Where a byte of CSV stands. The numbers are those of the compiled scanner."""

    FIELD_START = 0
    UNQUOTED = 1
    QUOTED = 2
    AFTER_QUOTE = 3
    """After a quote in a quoted field: it closes the field, or is the first of two."""


class UnquotedLineFeeds:
    """Rule that a record ends at a line feed outside quotes, as RFC 4180 says.

    A quote opens a field only as its first byte. A record whose quotes are balanced leaves the rule in the place in
    which it found it, so the ends of other records do not depend on it. A record with an open quote continues into the
    records after it.

    Args:
        separator: The delimiter.
    """

    def __init__(self, separator: bytes = b",") -> None:
        self._separator, self._place = separator, Place.FIELD_START

    def bounds(self, piece: bytes) -> Offsets:
        """0, and the offset after each line feed outside quotes."""
        if native is None:
            bounds, self._place = _record_bounds(piece, self._place, self._separator)
            return bounds
        found = np.empty(native.count_line_feeds(piece) + 1, dtype=np.int64)
        size, place = native.find_record_bounds(piece, int(self._place), ord(self._separator), found)
        self._place = Place(place)
        return found[:size]

    def finish(self) -> None:
        """Refuse a text that ends inside quotes: records of it were read as a part of another."""
        if self._place is Place.QUOTED:
            raise FileError(
                "the file ends inside a quoted field, so it is truncated or its quotes are not balanced; "
                'write it again with a CSV writer or, if each line is a record, choose csv=CsvDialect(records="lines")'
            )


def _record_bounds(piece: bytes, place: Place, separator: bytes) -> tuple[Offsets, Place]:
    """0, and the offset after each line feed outside quotes; the place after the piece."""
    if b'"' not in piece and place is not Place.QUOTED:
        return LineFeeds().bounds(piece), Place.FIELD_START if piece.endswith((separator, b"\n")) else Place.UNQUOTED
    bounds = [0]
    for offset, byte in enumerate(piece):
        if place is Place.QUOTED:
            place = Place.AFTER_QUOTE if byte == ord('"') else Place.QUOTED
        elif byte == ord('"') and place is not Place.UNQUOTED:
            place = Place.QUOTED
        elif byte == ord("\n"):
            bounds.append(offset + 1)
            place = Place.FIELD_START
        else:
            place = Place.FIELD_START if byte == ord(separator) else Place.UNQUOTED
    return np.array(bounds, dtype=np.int64), place


def ends_in_quotes(text: bytes, dialect: CsvDialect) -> bool:
    """Whether a part of a record ends inside a quoted field."""
    return dialect.has_quotes and _record_bounds(text, Place.FIELD_START, dialect.separator)[1] is Place.QUOTED


def record_rule(dialect: CsvDialect) -> Rule:
    """Rule that finds the records of a dialect."""
    return UnquotedLineFeeds(dialect.separator) if dialect.records == "rfc4180" else LineFeeds()

"""Fields: the values of a record, by name, and the columns that hold them in files and data frames."""

import re
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.errors import RecordsError

NULL_TEXTS = ("NA", "N/A", "null", "NaN", r"\N")
"""Texts that usually stand for null, in upper or lower case; databases export the last one."""


class FieldKind(IntEnum):
    """How a value is read from text. The numbers are those of the compiled CSV scanner."""

    REAL = 0
    INTEGER = 1
    ADDRESS = 2
    TIME = 3
    DATE = 4
    """The date of a time: with an offset, that of the clock beside it."""
    TEXT = 5
    DICTIONARY = 6
    """Text that repeats, such as one of a few declared values: each distinct text is read once."""


class Field(NamedTuple):
    """One value of a record, as readers of files and data frames see it."""

    name: str
    kind: FieldKind
    nullable: bool = False
    repeats: bool = False
    """Whether values repeat, such as those of a few declared values."""
    accepts: frozenset[str] | None = None
    """Kinds of column types that its values can be read from; None if any."""
    declared_as: str = ""
    """Kind of the domain that declares it, for messages."""
    fractional: bool = False
    """Whether samples of whole numbers would have fractions, and another domain of the same distances has none."""
    zone: str | None = None
    """Declared time zone of times that have none."""
    declared_texts: frozenset[str] = frozenset()
    """The few declared values as text, which no file can declare as null."""
    textual: bool = False
    """Whether the declared values are texts, so that no number is one of them."""


class DictionaryForm(NamedTuple):
    """Type of a column that stores indices into a list of distinct texts."""

    texts: NDArray[np.str_]
    index_dtype: np.dtype[Any]
    """Type of the indices in Arrow."""
    ordered: bool


class OutputForm(NamedTuple):
    """Type of a column of samples in data frames and files, beyond its NumPy dtype."""

    zone: str | None = None
    """Name or offset of the time zone. The times themselves are UTC."""
    dictionary: DictionaryForm | None = None
    """Dictionary of a categorical column."""
    large: bool = False
    """Whether texts have Arrow's large_string type."""
    to_text: Callable[[NDArray[Any]], NDArray[np.str_]] | None = None
    """Converts values to the text that files hold instead of them."""

    def apply_text(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values in the text form, if there is one; otherwise unchanged."""
        if self.to_text is None:
            return values
        texts = self.to_text(np.ma.getdata(values))
        return np.ma.MaskedArray(texts, mask=values.mask) if isinstance(values, np.ma.MaskedArray) else texts


_NAMES_OF_PLACES = (
    (
        re.compile("longitud|laenge|länge|(^|[^a-z])(lon|lng|long)([^a-z]|$)"),
        re.compile("latitud|breite|(^|[^a-z])lat([^a-z]|$)"),
    ),
    (re.compile("(^|[^a-z])x([^a-z]|$)"), re.compile("(^|[^a-z])y([^a-z]|$)")),
)
"""Names of longitudes and latitudes, in English, German, French and Spanish, before those of coordinates."""


def _coordinate(name: str) -> int | None:
    """Coordinate that a name stands for: 0 for a longitude, 1 for a latitude, None if the name says neither or both."""
    words = re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()
    for patterns in _NAMES_OF_PLACES:
        found = [coordinate for coordinate, pattern in enumerate(patterns) if pattern.search(words)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def place_columns(names: Sequence[str], fields: Sequence[Field]) -> list[tuple[str, str]]:
    """Columns of each point on Earth: that of its longitude and that of its latitude."""
    owned = [name for name, field in zip(names, fields, strict=True) if field.declared_as == "geo"]
    return list(zip(owned[::2], owned[1::2], strict=True))


def check_longitude_first(names: Sequence[str], fields: Sequence[Field]) -> None:
    """Refuse points on Earth whose columns name the latitude first. A header may be a record: names are not quoted."""
    if any((_coordinate(x), _coordinate(y)) == (1, 0) for x, y in place_columns(names, fields)):
        raise RecordsError(
            "a point of geo is a longitude and a latitude, and its columns are named the other way round; "
            "name the longitude first, such as columns=['lon', 'lat']"
        )


_KINDS = {"f": FieldKind.REAL, "i": FieldKind.INTEGER, "u": FieldKind.INTEGER, "M": FieldKind.TIME}


def default_kind(dtype: np.dtype[Any]) -> FieldKind:
    """How values of a NumPy type are read from text."""
    return _KINDS.get(dtype.kind, FieldKind.TEXT)


def default_names(width: int | None) -> tuple[str, ...]:
    """Names of the values of a record that declares none: value, or x1, x2 ... for the numbers of a point."""
    return ("value",) if width is None else tuple(f"x{index}" for index in range(1, width + 1))


def check_crossed_names(columns: Sequence[str], names: Sequence[str]) -> None:
    """Refuse names of columns that stand for other columns of the same table, which they would be taken for.

    Args:
        columns: Names of columns of the data, one for each of those of the table.
        names: Names of the columns of the table.
    """
    for column, own in zip(columns, names, strict=True):
        if column != own and column in names:
            raise RecordsError(
                f"column {column!r} would be taken for {own!r}: columns= names a column of the data for each of "
                f"{', '.join(map(repr, names))}, in this order; leave it out if the data has these names"
            )

"""Types of columns in memory, which say what kind of values a column has. No value is read."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from privhp.domains.conversion import type_name
from privhp.domains.domain import ValueKind
from privhp.domains.to_column import is_column
from privhp.errors import RecordsError

Kind = ValueKind | Literal["objects"]

_NUMPY_KINDS: dict[str, Kind] = {"b": "integers", "i": "integers", "u": "integers", "f": "numbers", "M": "times"}
_NUMBERS = ("integers", "numbers", "decimals")


class ColumnType(NamedTuple):
    """Type of the values of a column; of a categorical column, that of its categories.

    Args:
        kind: Kind of the values; None if the type does not determine it.
        name: Name of the type, for messages.
    """

    kind: Kind | None
    name: str


def column_type(column: Any) -> ColumnType:
    """Type of the values of an array, a series or an Arrow array. Of polars and Arrow, types of numbers are known."""
    library = type(column).__module__.partition(".")[0] if is_column(column) else ""
    if library == "pyarrow":
        from privhp.io.sources.arrow import value_kind, value_type  # after the column's own library

        own = value_type(column.type)
        found = value_kind(own)
        return ColumnType(found if found in _NUMBERS else None, str(own))
    dtype = getattr(column, "dtype", None)
    if library == "polars":
        return ColumnType(_polars_kind(dtype), str(dtype))
    dtype = getattr(getattr(dtype, "categories", None), "dtype", dtype)
    kind = _numpy_kind(dtype)
    return ColumnType(kind, "" if kind is None else type_name(dtype))


def check_no_objects(frame: Any, names: Sequence[str] | None) -> None:
    """Refuse columns of Python objects in a polars frame: in Arrow they are addresses in place of values.

    Args:
        frame: The frame; other data is not looked at.
        names: Names of the columns to read; None for all.
    """
    if type(frame).__module__.partition(".")[0] != "polars":
        return
    for name, dtype in frame.schema.items():
        if str(dtype) == "Object" and (names is None or name in names):
            raise RecordsError(
                f"column {name!r} holds Python objects (the type Object of polars), which cannot be read as numbers or "
                "text; cast it to a type of its values first, such as with pl.Series(column.to_list(), strict=False)"
            )


def _polars_kind(dtype: Any) -> Kind | None:
    if dtype.is_integer() or str(dtype) == "Boolean":
        return "integers"
    if dtype.is_float():
        return "numbers"
    return "decimals" if dtype.is_decimal() else None


def _numpy_kind(dtype: Any) -> Kind | None:
    """Kind of a type of NumPy or pandas."""
    if dtype == np.dtype(object):
        return "objects"
    if issubclass(getattr(dtype, "type", object), str):
        return "text"
    return _NUMPY_KINDS.get(getattr(dtype, "kind", ""))

"""Data that is computed while it is read: queries, Arrow streams and objects of other libraries that give one.

An error of its execution may quote records, as that of a database does for a text that is no number. Such an error is
replaced by one that says nothing about them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from privhp.domains.to_column import is_column
from privhp.errors import PrivhpError, RecordsError

_IN_MEMORY = ("iloc", "height", "num_rows")
"""Attributes of data frames and tables: of pandas, of polars and of Arrow."""


def collect(records: Any) -> Any:
    """The Arrow table or column of a batch that is computed while it is read; any other batch unchanged."""
    kind = type(records)  # no attribute of the object is read: a relation of DuckDB has those of its columns
    if kind.__name__ == "LazyFrame" and hasattr(kind, "collect"):
        raise RecordsError("expected a batch of records, got a LazyFrame, which is a query; pass its .collect()")
    if not hasattr(kind, "__arrow_c_stream__") or is_column(records):
        return records
    if hasattr(kind, "__getitem__") and any(hasattr(kind, name) for name in _IN_MEMORY):
        return records
    try:
        import pyarrow as pa
    except ImportError:
        raise RecordsError(f"reading a {kind.__name__} needs pyarrow; install it, or pass a dict of arrays") from None
    with execution_errors():
        found = pa.chunked_array(records)
        return pa.Table.from_struct_array(found) if pa.types.is_struct(found.type) else found


def run(batches: Iterable[Any]) -> Iterator[Any]:
    """The batches of a query or a stream, with errors of its execution replaced."""
    with execution_errors():
        yield from batches


@contextmanager
def execution_errors() -> Iterator[None]:
    """Replace errors of a query or a stream, which may quote records, by the same error for all."""
    try:
        yield
    except PrivhpError:
        raise
    except Exception:  # noqa: BLE001 - libraries raise errors of their own, and even the type may follow from a record
        raise RecordsError(
            "the query or stream failed while it was read; its error may quote records and is not shown: run it "
            "without privhp to see the error, and let it skip what it cannot convert, such as with TRY_CAST in SQL or "
            "cast(..., strict=False) in polars"
        ) from None

"""Columns as data frames. A library is imported when it is asked for."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from privhp.errors import QueryError

Frame = Literal["pandas", "polars", "pyarrow"]


def as_frame(columns: Mapping[str, NDArray[Any]], frame: Frame) -> Any:
    """A data frame, or an Arrow table, with these columns; what is masked is null in it."""
    if frame not in get_args(Frame):
        raise QueryError(f'expected frame="pandas", "polars" or "pyarrow", got {frame!r}')
    try:
        library = import_module(frame)
    except ImportError:
        raise QueryError(f'expected {frame} to be installed for frame="{frame}"; pip install {frame}') from None
    return _BUILDERS[frame](library, columns)


def _pandas(pd: Any, columns: Mapping[str, NDArray[Any]]) -> Any:
    return pd.DataFrame({name: _pandas_values(pd, column) for name, column in columns.items()})


def _pandas_values(pd: Any, column: NDArray[Any]) -> Any:
    """Whole numbers that may be null in pandas' own type for that, all else as NumPy has it."""
    if not isinstance(column, np.ma.MaskedArray):
        return column
    null = np.ma.getmaskarray(column)
    if column.dtype.kind in "iu":
        return pd.arrays.IntegerArray(column.data, null)
    if column.dtype.kind in "fM":
        return column.filled(np.datetime64("NaT") if column.dtype.kind == "M" else np.nan)
    values = column.data.astype(object)
    values[null] = None
    return values


def _polars(pl: Any, columns: Mapping[str, NDArray[Any]]) -> Any:
    return pl.DataFrame([_polars_series(pl, name, column) for name, column in columns.items()])


def _polars_series(pl: Any, name: str, column: NDArray[Any]) -> Any:
    data = np.ma.getdata(column)
    if data.dtype == "M8[s]":  # which polars does not have
        data = data.astype("M8[ms]")
    series = pl.Series(name, data.tolist() if data.dtype.kind == "O" else data)
    null = np.ma.getmaskarray(column)
    return series.set(pl.Series(null), None) if null.any() else series


def _pyarrow(pa: Any, columns: Mapping[str, NDArray[Any]]) -> Any:
    arrays = {}
    for name, column in columns.items():
        null = np.ma.getmaskarray(column)
        arrays[name] = pa.array(np.ma.getdata(column), mask=null if null.any() else None)
    return pa.table(arrays)


_BUILDERS: dict[str, Callable[[Any, Mapping[str, NDArray[Any]]], Any]] = {
    "pandas": _pandas,
    "polars": _polars,
    "pyarrow": _pyarrow,
}

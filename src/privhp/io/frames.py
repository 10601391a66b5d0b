"""Columns as data frames. Each library is imported on first use."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from privhp.domains.fields import OutputForm
from privhp.errors import QueryError

Frame = Literal["pandas", "polars", "pyarrow"]


def frame_kind(data: Any) -> Frame | None:
    """Library of a data frame or Arrow table; None for any other data."""
    library = type(data).__module__.partition(".")[0]
    return next((frame for frame in get_args(Frame) if frame == library), None)


Columns = Mapping[str, tuple[NDArray[Any], OutputForm]]
"""Columns and their output forms by name."""


def as_frame(columns: Mapping[str, NDArray[Any]], frame: Frame, *, forms: Mapping[str, OutputForm]) -> Any:
    """Data frame or Arrow table of columns, with null for masked values.

    Args:
        columns: The columns by name.
        frame: Library of the frame.
        forms: Output forms of columns by name, where they have one.
    """
    if frame not in get_args(Frame):
        raise QueryError(f'expected frame="pandas", "polars" or "pyarrow", got {frame!r}')
    try:
        library = import_module(frame)
    except ImportError:
        raise QueryError(f'frame="{frame}" needs {frame}, which is not installed; pip install {frame}') from None
    return _BUILDERS[frame](
        library, {name: (column, forms.get(name, OutputForm())) for name, column in columns.items()}
    )


def _pandas(pd: Any, columns: Columns) -> Any:
    return pd.DataFrame({name: _pandas_column(pd, *column) for name, column in columns.items()})


def _pandas_column(pd: Any, column: NDArray[Any], form: OutputForm) -> Any:
    if form.dictionary is not None:
        codes = np.where(np.ma.getmaskarray(column), -1, _codes(column, form.dictionary.texts))
        return pd.Categorical.from_codes(codes, form.dictionary.texts, ordered=form.dictionary.ordered)
    values = _pandas_values(pd, column)
    return values if form.zone is None else pd.DatetimeIndex(values, tz="UTC").tz_convert(form.zone)


def _codes(column: NDArray[Any], texts: NDArray[np.str_]) -> NDArray[np.int64]:
    """Index of each value in the texts; arbitrary for masked values."""
    order = np.argsort(texts)
    ranks = np.searchsorted(texts, np.ma.getdata(column), sorter=order)
    return order[np.minimum(ranks, texts.size - 1)]


def _pandas_values(pd: Any, column: NDArray[Any]) -> Any:
    """Nullable integers and booleans in the nullable types of pandas, other values in NumPy types."""
    if not isinstance(column, np.ma.MaskedArray):
        return column
    null = np.ma.getmaskarray(column)
    if column.dtype.kind in "iu":
        return pd.arrays.IntegerArray(column.data, null)
    if column.dtype.kind == "b":
        return pd.arrays.BooleanArray(column.data, null)
    if column.dtype.kind in "fM":
        return column.filled(np.datetime64("NaT", "s") if column.dtype.kind == "M" else np.nan)
    if not null.any():
        return column.data  # keeps the type of the array, also for no rows
    values = column.data.astype(object)
    values[null] = None
    return values


def _polars(pl: Any, columns: Columns) -> Any:
    return pl.DataFrame([_polars_series(pl, name, *column) for name, column in columns.items()])


def _polars_series(pl: Any, name: str, column: NDArray[Any], form: OutputForm) -> Any:
    data = np.ma.getdata(column)
    if data.dtype == "M8[s]":  # a type that polars lacks
        data = data.astype("M8[ms]")
    series = pl.Series(name, data.tolist() if data.dtype.kind == "O" else data)
    if form.zone is not None:
        series = series.dt.replace_time_zone("UTC")
        with suppress(pl.exceptions.ComputeError):  # polars lacks fixed offsets of half an hour
            series = series.dt.convert_time_zone(form.zone)
    null = np.ma.getmaskarray(column)
    if null.any():
        series = pl.select(pl.when(pl.Series(~null)).then(series)).to_series()
    if form.dictionary is None:
        return series
    return series.cast(pl.Enum(form.dictionary.texts.tolist()) if form.dictionary.ordered else pl.Categorical)


def _pyarrow(pa: Any, columns: Columns) -> Any:
    return pa.table({name: arrow_array(pa, *column) for name, column in columns.items()})


def arrow_array(pa: Any, column: NDArray[Any], form: OutputForm) -> Any:
    """Column as an Arrow array; `pa` is the package pyarrow."""
    data, mask = np.ma.getdata(column), np.ma.getmaskarray(column)
    null = mask if mask.any() else None
    if form.dictionary is not None:
        codes = pa.array(_codes(column, form.dictionary.texts).astype(form.dictionary.index_dtype), mask=null)
        return pa.DictionaryArray.from_arrays(codes, form.dictionary.texts, ordered=form.dictionary.ordered)
    kind = pa.large_string() if form.large else None
    if form.zone is not None:
        kind = pa.timestamp(np.datetime_data(data.dtype)[0], tz=form.zone)
    return pa.array(data, type=kind, mask=null)


def arrow_batch(pa: Any, names: Sequence[str], columns: Sequence[tuple[OutputForm, NDArray[Any]]]) -> Any:
    """Columns as an Arrow record batch, in their text form if they have one; `pa` is the package pyarrow."""
    arrays = []
    for form, values in columns:
        texts = form.apply_text(values)
        if texts.dtype.kind == "O":  # long texts, and integers beyond the types of Arrow
            texts = texts.astype(np.str_)
        arrays.append(arrow_array(pa, texts, form))
    return pa.RecordBatch.from_arrays(arrays, names=list(names))


_BUILDERS: dict[str, Callable[[Any, Columns], Any]] = {
    "pandas": _pandas,
    "polars": _polars,
    "pyarrow": _pyarrow,
}

"""Columns as data frames. A library is imported when it is asked for."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from privhp.domains.base import Domain
from privhp.domains.nullable import Nullable
from privhp.domains.table import Table
from privhp.domains.time import Time
from privhp.errors import QueryError

Frame = Literal["pandas", "polars", "pyarrow"]

Columns = Mapping[str, tuple[NDArray[Any], str | None]]
"""Each column by name, with the zone of its times if they have one."""


def zones_of(table: Table) -> dict[str, str]:
    """Zones of the times that have one, by the names of their columns."""
    zones = {name: zone_of(column.domain) for column in table.columns for name in column.names}
    return {name: zone for name, zone in zones.items() if zone is not None}


def zone_of(domain: Domain) -> str | None:
    """Name of the zone that times of a domain have in data frames and files, if they have one."""
    inner = domain.domain if isinstance(domain, Nullable) else domain
    return inner.zone if isinstance(inner, Time) else None


def as_frame(columns: Mapping[str, NDArray[Any]], frame: Frame, *, zones: Mapping[str, str]) -> Any:
    """A data frame, or an Arrow table, with these columns; what is masked is null in it.

    Args:
        columns: The columns by name.
        frame: Whose frame it is.
        zones: Names of the zones of times, which are UTC, by column. Others have none.
    """
    if frame not in get_args(Frame):
        raise QueryError(f'expected frame="pandas", "polars" or "pyarrow", got {frame!r}')
    try:
        library = import_module(frame)
    except ImportError:
        raise QueryError(f'expected {frame} to be installed for frame="{frame}"; pip install {frame}') from None
    return _BUILDERS[frame](library, {name: (column, zones.get(name)) for name, column in columns.items()})


def _pandas(pd: Any, columns: Columns) -> Any:
    return pd.DataFrame({name: _pandas_column(pd, *column) for name, column in columns.items()})


def _pandas_column(pd: Any, column: NDArray[Any], zone: str | None) -> Any:
    values = _pandas_values(pd, column)
    return values if zone is None else pd.DatetimeIndex(values, tz="UTC").tz_convert(zone)


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


def _polars(pl: Any, columns: Columns) -> Any:
    return pl.DataFrame([_polars_series(pl, name, *column) for name, column in columns.items()])


def _polars_series(pl: Any, name: str, column: NDArray[Any], zone: str | None) -> Any:
    data = np.ma.getdata(column)
    if data.dtype == "M8[s]":  # which polars does not have
        data = data.astype("M8[ms]")
    series = pl.Series(name, data.tolist() if data.dtype.kind == "O" else data)
    if zone is not None:
        series = series.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    null = np.ma.getmaskarray(column)
    return series.set(pl.Series(null), None) if null.any() else series


def _pyarrow(pa: Any, columns: Columns) -> Any:
    return pa.table({name: arrow_array(pa, *column) for name, column in columns.items()})


def arrow_array(pa: Any, column: NDArray[Any], zone: str | None) -> Any:
    """A column as an array of pyarrow, which is what `pa` is."""
    data, null = np.ma.getdata(column), np.ma.getmaskarray(column)
    kind = None if zone is None else pa.timestamp(np.datetime_data(data.dtype)[0], tz=zone)
    return pa.array(data, type=kind, mask=null if null.any() else None)


_BUILDERS: dict[str, Callable[[Any, Columns], Any]] = {
    "pandas": _pandas,
    "polars": _polars,
    "pyarrow": _pyarrow,
}

"""Opening what `privhp fit` wrote, and writing its records as text."""

import ipaddress
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from privhp.domains import Domain, IPv4, Nullable
from privhp.errors import FileError

Item = TypeVar("Item")


def read_file(read: Callable[[str], Item], path: str) -> Item:
    """What `load` or `resume` makes of a file; an error names the file."""
    try:
        return read(path)
    except FileError as error:
        raise FileError(f"{path}: {error}") from None


def as_written(domain: Domain, values: NDArray[Any]) -> list[Any]:
    """Values of a domain as they are written in text: numbers so that they read back the same, null as None."""
    inner = domain.domain if isinstance(domain, Nullable) else domain
    if isinstance(inner, IPv4):
        return [None if value is None else str(ipaddress.IPv4Address(value)) for value in values.tolist()]
    if values.dtype.kind == "M":
        times: NDArray[np.datetime64] = np.ma.getdata(values)
        texts = np.datetime_as_string(times, timezone="naive" if times.dtype == "M8[D]" else "UTC")
        values = np.ma.MaskedArray(texts, mask=np.ma.getmaskarray(values))
    written: list[Any] = values.tolist()
    return written

"""Values of a sample as they are written."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.domains import Domain, IPv4, Nullable
from privhp.io.frames import form_of
from privhp.io.sinks.time_zones import zoned_texts


def format_values(domain: Domain, values: NDArray[Any]) -> list[Any]:
    """Values of a domain as they are written in text: numbers so that they read back the same, null as None."""
    return listed(with_texts(domain, values))


def with_texts(domain: Domain, values: NDArray[Any]) -> NDArray[Any]:
    """Addresses and times as text, anything else as it is."""
    values = with_dotted_addresses(domain, values)
    if values.dtype.kind != "M":
        return values
    texts = _times(np.ma.getdata(values), form_of(domain).zone)
    return np.ma.MaskedArray(texts, mask=np.ma.getmaskarray(values))


def listed(values: NDArray[Any]) -> list[Any]:
    """Values as Python's own."""
    if values.dtype == np.float32:
        values = values.astype(np.str_).astype(np.float64)  # the shortest number that is rounded to it
    written: list[Any] = values.tolist()
    return written


def _times(times: NDArray[np.datetime64], zone: str | None) -> NDArray[np.str_]:
    """ISO texts of times, with the offset of the zone, and of dates, which have none."""
    if zone is not None:
        return zoned_texts(times, zone)
    return np.datetime_as_string(times, timezone="naive" if times.dtype == "M8[D]" else "UTC")


def with_dotted_addresses(domain: Domain, values: NDArray[Any]) -> NDArray[Any]:
    """IPv4 addresses as text unless they have a type of their own, anything else as it is."""
    inner = domain.domain if isinstance(domain, Nullable) else domain
    if not isinstance(inner, IPv4) or inner.dtype is not None:
        return values
    texts = inner.texts(np.ma.getdata(values))
    return np.ma.MaskedArray(texts, mask=values.mask) if isinstance(values, np.ma.MaskedArray) else texts

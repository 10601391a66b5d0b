"""Values of a sample as they are written."""

import socket
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.domains import Domain, IPv4, Nullable


def as_written(domain: Domain, values: NDArray[Any]) -> list[Any]:
    """Values of a domain as they are written in text: numbers so that they read back the same, null as None."""
    values = with_dotted_addresses(domain, values)
    if values.dtype.kind == "M":
        times: NDArray[np.datetime64] = np.ma.getdata(values)
        texts = np.datetime_as_string(times, timezone="naive" if times.dtype == "M8[D]" else "UTC")
        values = np.ma.MaskedArray(texts, mask=np.ma.getmaskarray(values))
    written: list[Any] = values.tolist()
    return written


def with_dotted_addresses(domain: Domain, values: NDArray[Any]) -> NDArray[Any]:
    """IPv4 addresses as text, anything else as it is."""
    inner = domain.domain if isinstance(domain, Nullable) else domain
    if not isinstance(inner, IPv4):
        return values
    packed = np.ma.getdata(values).astype(">u4").tobytes()
    texts = np.array([socket.inet_ntoa(packed[start : start + 4]) for start in range(0, len(packed), 4)], dtype="U15")
    return np.ma.MaskedArray(texts, mask=values.mask) if isinstance(values, np.ma.MaskedArray) else texts

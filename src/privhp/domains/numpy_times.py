"""Times of NumPy as counts of steps since 1970."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Counts
from privhp.errors import RecordsError

SECOND = 10**9
TICKS = {"D": 86_400 * SECOND, "s": SECOND, "ms": 10**6, "us": 10**3, "ns": 1}
"""Nanoseconds per tick of each unit of the domain."""

_STEPS = {"W": 7 * TICKS["D"], "h": 3600 * SECOND, "m": 60 * SECOND, **TICKS}
"""Nanoseconds per step of each NumPy unit of fixed length."""

_CALENDAR = {"Y": 10**6, "M": 12 * 10**6}
"""Limit for NumPy's calendar units: beyond every bound, and small enough to convert to days."""


def counts_and_step(times: NDArray[Any]) -> tuple[Counts, int]:
    """Steps of NumPy times since 1970, arbitrary for NaT, and the nanoseconds per step."""
    unit, steps = np.datetime_data(times.dtype)
    if unit == "generic":
        return np.zeros(times.shape, dtype=np.int64), 1  # the type of NaT alone
    counts = times.astype(times.dtype.newbyteorder("="), copy=False).view(np.int64)
    if unit in _CALENDAR:
        far = _CALENDAR[unit]
        counts = np.clip(counts, -far, far).view(f"M8[{unit}]").astype("M8[D]").view(np.int64)
        unit = "D"
    if steps != 1 or unit not in _STEPS:
        raise RecordsError(f"expected times in a plain unit from years to nanoseconds, got {times.dtype}; convert them")
    return counts, _STEPS[unit]

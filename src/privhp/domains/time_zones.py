"""Times in a time zone: as text with the offset, and as local times."""

import datetime as dt
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Counts
from privhp.domains.time_formats import parse_zone
from privhp.errors import DomainError

_TYPE = re.compile(r"(?s)(?:datetime64|timestamp)\[\w+, (?:tz=)?(.+?)\](?:\[pyarrow\])?")
_FIXED = re.compile(r"pytz\.FixedOffset\((-?\d+)\)")
_DAY = 86_400
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_LIMITS = (dt.datetime(1, 1, 2, tzinfo=dt.UTC), dt.datetime(9999, 12, 30, tzinfo=dt.UTC))
_FIRST, _LAST = (int((limit - _EPOCH).total_seconds()) for limit in _LIMITS)
"""Seconds between which Python computes offsets; outside, the offset of the nearer end is used."""


def zone_of_type(type_name: str) -> str | None:
    """Time zone of a column type, such as `datetime64[us, UTC+02:00]` or `timestamp[us, tz=Europe/Berlin]`.

    None for a type without a zone, "UTC" for any name of it, and an empty text for a zone that no domain can declare.
    """
    found = _TYPE.fullmatch(type_name)
    if found is None:
        return None
    name, fixed = re.sub(r"^UTC(?=[+-]\d\d:)", "", found[1]), _FIXED.fullmatch(found[1])
    if fixed is not None:
        name = _text(int(fixed[1]))
    try:
        zone = parse_zone(name)
    except DomainError:
        return ""
    months = (dt.datetime(2020, month, 1, tzinfo=zone).utcoffset() for month in (1, 7))
    return "UTC" if not any(months) else name


def time_texts(times: NDArray[np.datetime64], zone: str | None) -> NDArray[np.str_]:
    """ISO texts of UTC times with the offset of the zone, Z without one; of dates, without either."""
    if zone is not None:
        return zoned_texts(times, zone)
    return np.datetime_as_string(times, timezone="naive" if times.dtype == "M8[D]" else "UTC")


def zoned_texts(times: NDArray[np.datetime64], zone: str) -> NDArray[np.str_]:
    """ISO texts of UTC times, such as 2020-07-01T12:00:00+02:00."""
    minutes = _offsets(times.astype("M8[s]").view(np.int64), parse_zone(zone)) // 60
    distinct, inverse = np.unique(minutes, return_inverse=True)
    local = np.datetime_as_string(times + minutes.view("m8[m]"), timezone="naive")
    return np.strings.add(local, np.array([_text(offset) for offset in distinct.tolist()], dtype="U6")[inverse])


def local_times(times: NDArray[np.datetime64], zone: Any) -> NDArray[np.datetime64]:
    """Local times of UTC times, to the second.

    Args:
        times: The times; NaT becomes an arbitrary time.
        zone: Time zone, as a name or a tzinfo.
    """
    seconds = np.clip(times.astype("M8[s]").view(np.int64), -(2**62), 2**62)
    return (seconds + _offsets(seconds, parse_zone(zone) if isinstance(zone, str) else zone)).view("M8[s]")


def _text(minutes: int) -> str:
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}"


def _offsets(seconds: Counts, zone: dt.tzinfo) -> Counts:
    """Seconds ahead of UTC, computed once per day, except for days in which the offset changes."""
    seconds = np.clip(seconds, _FIRST, _LAST)
    days, inverse = np.unique(seconds // _DAY, return_inverse=True)
    starts, ends = (_each_offset(days * _DAY + after, zone) for after in (0, _DAY))
    offsets = starts[inverse]
    changing = (starts != ends)[inverse]
    offsets[changing] = _each_offset(seconds[changing], zone)
    return offsets


def _each_offset(seconds: Counts, zone: dt.tzinfo) -> Counts:
    offsets = [(_EPOCH + dt.timedelta(seconds=second)).astimezone(zone).utcoffset() for second in seconds.tolist()]
    return np.array([(offset or dt.timedelta()) // dt.timedelta(seconds=1) for offset in offsets], dtype=np.int64)

"""One time in any form, as nanoseconds since 1970."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import numpy as np

from privhp.domains.conversion import single_value
from privhp.domains.numpy_times import SECOND, counts_and_step
from privhp.domains.time_formats import parse_zone
from privhp.errors import warn

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_BEYOND_MICROSECONDS = re.compile(r"[.,][0-9]{6}([0-9]{1,3})")


class TimeReader:
    """Reads ISO texts, datetimes, dates, and times of NumPy and pandas.

    Args:
        name: Zone of texts, datetimes and dates without one; None for UTC.
        unit: Unit of the domain.

    Attributes:
        zone: The zone.
    """

    def __init__(self, name: str | None, unit: str) -> None:
        self._name, self._unit = name, unit
        self.zone = dt.UTC if name is None else parse_zone(name)
        self._noted: set[Any] = set()

    def nanoseconds(self, value: Any) -> int:
        """Nanoseconds of one time since 1970, at least to the precision of the unit; raises if it cannot be read."""
        value = _plain(single_value(value))
        if isinstance(value, np.datetime64):
            counts, step = counts_and_step(np.array([value]))
            if np.isnat(value):
                raise ValueError
            return int(counts[0]) * step
        nanoseconds = getattr(value, "nanosecond", 0)  # pandas timestamps are datetimes with nanoseconds
        if isinstance(value, bytes):
            value = value.decode("ascii")
        if isinstance(value, str):
            beyond = _BEYOND_MICROSECONDS.search(value) if self._unit == "ns" else None
            nanoseconds = int(beyond[1].ljust(3, "0")) if beyond else 0
            value = dt.datetime.fromisoformat(value.strip())
        elif isinstance(value, dt.date) and not isinstance(value, dt.datetime):
            value = dt.datetime(value.year, value.month, value.day)
        if value.tzinfo is None or self._unit == "D":  # a date is the one that a clock beside it shows
            value = value.replace(tzinfo=self.zone)
        since = value - _EPOCH
        seconds = since.days * 86_400 + since.seconds
        return int(seconds * SECOND + since.microseconds * 1000 + nanoseconds)

    def span(self, value: Any) -> tuple[int, int]:
        """First and last nanosecond of a date without a time of day, in the zone; of a time, twice its own."""
        first, day = self.nanoseconds(value), as_date(value)
        if day is None:
            return first, first
        end = dt.datetime.combine(day, dt.time.max, self.zone).replace(fold=1)  # the later one, where it occurs twice
        return first, self.nanoseconds(end) + 999

    def note_utc(self, *values: Any) -> None:
        """Warn that pandas timestamps without a zone, which a user wrote, are not read in the declared zone.

        Each is noted once: a region is read at each level, and again for its standard error.
        """
        naive = {value for value in values if self.zone is not dt.UTC and _plain(value) is not value}
        if not naive <= self._noted:
            self._noted |= naive
            warn(
                "a pandas timestamp without a zone is read as UTC, as NumPy's times are, and not in the zone of the "
                f'domain, {self._name}; write a text such as "2020-02-29T19:30", or localise it with tz_localize'
            )


def _plain(value: Any) -> Any:
    """NumPy's time for a pandas timestamp without a zone; any other value unchanged."""
    naive = hasattr(value, "to_datetime64") and value.tzinfo is None
    return value.to_datetime64() if naive else value


def month_days(value: Any) -> tuple[str, str] | None:
    """First and last day of a month as text, such as 2024-03; None for other values."""
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]{4}-(0[1-9]|1[0-2])", value.strip()):
        return None
    first = np.datetime64(value.strip(), "M")
    return f"{first}-01", str((first + 1).astype("M8[D]") - 1)


def month_advice(value: Any) -> str:
    """End of a message on a month in place of a time; empty for other values."""
    days = month_days(value)
    return "" if days is None else f"; this month is from {days[0]} to {days[1]}"


def as_date(value: Any) -> dt.date | None:
    """A date, or an ISO text of one, without a time of day; None for other values."""
    if isinstance(value, str | bytes):
        text = value if isinstance(value, str) else value.decode("ascii")
        try:
            return dt.date.fromisoformat(text.strip())
        except ValueError:
            return None
    return value if isinstance(value, dt.date) and not isinstance(value, dt.datetime) else None

"""Declared formats and zones of times in records: directives of strptime, numbers since 1970, zones."""

import datetime as dt
import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from privhp.domains.conversion import single_value
from privhp.domains.fixed_times import FixedTimes
from privhp.domains.validation import quote
from privhp.errors import DomainError

_EPOCHS = {"epoch": 10**9, "epoch_ms": 10**6, "epoch_us": 10**3, "epoch_ns": 1}
"""Nanoseconds per unit of numbers since 1970 in UTC."""

_DIRECTIVE = re.compile(r"%(.)", re.DOTALL)
_EXAMPLE = dt.datetime(2024, 12, 31, tzinfo=dt.UTC)
_OFFSET = re.compile(r"([+-])([01][0-9]|2[0-3]):([0-5][0-9])")


class TimeFormat:
    """How records write times. It is declared, never inferred, so no record decides how another one is read.

    Args:
        text: Directives of strptime, such as "%d.%m.%Y %H:%M", or "epoch", "epoch_ms", "epoch_us" or "epoch_ns" for
            numbers since 1970 in UTC.

    Attributes:
        text: The declared text.
        step: Nanoseconds per unit of a number; None for directives.
        fixed: Reads many texts at once; None if one of these directives has no fixed width.
    """

    def __init__(self, text: Any) -> None:
        self.text: str = text
        self.step = _EPOCHS.get(text) if isinstance(text, str) else None
        if isinstance(text, str) and len({"p", "I"}.intersection(_DIRECTIVE.findall(text))) == 1:
            raise DomainError(
                f"expected %I and %p together, for hours such as 07 PM, or %H for 24 hours, got {quote(text)}; one of "
                "them alone would read evenings as mornings"
            )
        if self.step is None and not _is_complete(text):
            raise DomainError(
                f'expected a format with year, month and day, such as "%d.%m.%Y" or "%m/%d/%Y %H:%M", or "epoch", '
                f"got {quote(text)}; for times of day without a date declare integers, such as minutes since midnight"
            )
        self.fixed = FixedTimes.of_format(text.strip()) if self.step is None else None

    def nanoseconds(self, value: Any, read_iso: Callable[[Any], int]) -> int:
        """Nanoseconds of one time since 1970; raises if it cannot be read.

        Args:
            value: The time in this format, as text or as a number; or a time in ISO 8601 or of a library.
            read_iso: Reads the others.
        """
        value = single_value(value)
        if isinstance(value, bytes):
            value = value.decode("utf-8")
        try:
            return self._epoch(value) if self.step is not None else read_iso(self._parse(value))
        except (TypeError, ValueError):
            return read_iso(value)

    def _parse(self, value: Any) -> dt.datetime:
        """A text, or a whole number such as 20241231, by the directives."""
        if _is_number(value) and value == int(value):
            value = str(int(value))
        return dt.datetime.strptime(value.strip() if isinstance(value, str) else value, self.text.strip())

    def _epoch(self, value: Any) -> int:
        """A number since 1970 in nanoseconds, rounded down."""
        assert self.step is not None
        if isinstance(value, str):
            if "_" in value:
                raise ValueError
            value = int(value) if value.strip().lstrip("+-").isdecimal() else float(value)
        if not _is_number(value):
            raise TypeError
        exact = int(value) if isinstance(value, int | np.integer) else Fraction(float(value))
        return math.floor(exact * self.step)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _is_complete(text: Any) -> bool:
    """Whether a text reads back the year, month and day that it writes."""
    try:
        return dt.datetime.strptime(_EXAMPLE.strftime(text), text).date() == _EXAMPLE.date()
    except (TypeError, ValueError, re.error):  # the last for a directive that is given twice
        return False


def parse_zone(name: Any) -> dt.tzinfo:
    """Time zone of a name or an offset."""
    if name == "UTC":
        return dt.UTC
    offset = _OFFSET.fullmatch(name) if isinstance(name, str) else None
    if offset is not None:
        ahead = dt.timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return dt.timezone(ahead if offset[1] == "+" else -ahead)
    from zoneinfo import ZoneInfo  # slow to import, and rarely needed

    try:
        return ZoneInfo(name)
    except Exception:  # noqa: BLE001 - ZoneInfo raises several types for an unknown name
        raise DomainError(
            f'expected a time zone such as "Europe/Berlin" or an offset such as "+02:00", got {quote(name)}'
        ) from None

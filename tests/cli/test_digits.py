"""Digits of the tables of `query` and `inspect`."""

import numpy as np
import pytest

from privhp.cli.column_tables import _texts


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (200_000.0, "2021-07-29"),
        (9_000.0, "2021-07-29T14:17+02:00"),
        (5.0, "2021-07-29T14:17:43+02:00"),
        (0.01, "2021-07-29T14:17:43.123456+02:00"),
    ],
)
def test_times_to_the_digits_that_their_error_leaves(seconds: float, text: str) -> None:
    time = "2021-07-29T14:17:43.123456+02:00"
    error = np.timedelta64(int(seconds * 1e6), "us")
    value, _, *ends = _texts(error, time, time, time)
    assert [value, *ends] == [text] * 3


def test_dates_and_durations() -> None:
    hours = np.timedelta64(3, "h")
    assert _texts(hours, "2021-07-29", "2021-07-28", "2021-07-30")[:2] == ["2021-07-29", "3 hours"]
    none, day = np.timedelta64(0, "D"), "2021-07-29"
    assert _texts(none, day, day, day) == [day, "0 days", day, day]
    assert _texts(np.timedelta64(0, "s"), *["2021-07-29T00:00"] * 3)[1] == "0 seconds"
    assert _texts(None, day, day, "2021-07-30", least="1 day") == [day, "under 1 day", day, "2021-07-30"]
    assert _texts(hours, 864_000.0, 86_400.0, 8_640_000.0) == ["10 days", "3 hours", "1 day", "100 days"]


def test_numbers_without_error() -> None:
    assert _texts(None, 1.23456789, None, None) == ["1.23457", "", "", ""]
    assert _texts(None, 5, 5, 6, least="1") == ["5", "under 1", "5", "6"]
    assert _texts(None, 5, None, None, least="1") == ["5", "", "", ""]

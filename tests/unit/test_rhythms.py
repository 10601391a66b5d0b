"""Intervals of questions about days and hours where the cells of a release are wider than these.

Cells of whole days look alike although nights are empty, so a release does not show how uneven a day is.
"""

from itertools import product
from typing import Any

import numpy as np
import pytest

import privhp as hp

START, DAYS, SIZE = np.datetime64("2024-01-01", "s"), 364, 60_000
YEAR = hp.Time("2024-01-01", "2024-12-29")
FIELDS = hp.Table(at=YEAR, age=hp.Interval(0, 100), amount=hp.Interval(0, 500))


def visits(rng: np.random.Generator) -> dict[str, Any]:
    """A year of visits between 8:00 and 20:00, half as many at weekends."""
    days = rng.choice(np.repeat(np.arange(DAYS), np.where(np.arange(DAYS) % 7 < 5, 2, 1)), SIZE)
    seconds = ((days + (8 + 12 * rng.beta(2, 2, SIZE)) / 24) * 86_400).astype("m8[s]")
    return {"at": START + seconds, "age": rng.normal(50, 12, SIZE), "amount": rng.gamma(2, 30, SIZE)}


def share_held() -> float:
    """Share of intervals that hold the share of single days and of three hours of a day."""
    held = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        records = visits(rng)
        generator = hp.fit(records, FIELDS, epsilon=1, expected_records=SIZE)
        for day, ends in product(rng.integers(0, DAYS, 20).tolist(), [(0, 24), (9, 12)]):
            low, high = (START + np.timedelta64(24 * day + hour, "h") for hour in ends)
            truth = ((records["at"] >= low) & (records["at"] < high)).mean()
            interval = generator.mass({"at": (low, high - np.timedelta64(1, "s"))}).interval(0.9)
            held.append(interval[0] <= truth <= interval[1])
    return float(np.mean(held))


def test_intervals_hold() -> None:
    assert share_held() >= 0.9


def test_without_rhythms_intervals_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hp.Time, "rhythms", lambda self, axis: {})
    assert share_held() < 0.85


def test_what_the_release_shows_is_believed() -> None:
    """Of 500,000 even times, all cells of an hour are counted, so no day is taken to be uneven."""
    times = START + np.random.default_rng(0).integers(0, 30 * 86_400, 500_000).astype("m8[s]")
    month = hp.fit(times, hp.Time("2024-01-01", "2024-01-30"), epsilon=1, expected_records=500_000)
    assert month.mass(("2024-01-10T09:00", "2024-01-10T11:59:59")).stderr < 3e-4


def test_cuts_of_days_and_weeks() -> None:
    """A day is a cell after nine cuts of 512 days; four and two days are cells after seven and eight."""
    cuts = YEAR.rhythms(0)
    assert [YEAR.diameter(own) + 1 for own in sorted(cuts)] == [86_400 * days for days in (4, 2, 1, 0.5, 0.25)]
    assert sorted(hp.Time("2024-01-01", "2024-12-29", unit="D").rhythms(0)) == [7, 8]
    assert hp.Nullable(YEAR).rhythms(0) == {}
    assert hp.Nullable(YEAR).rhythms(1) == FIELDS.rhythms(0) == cuts
    assert FIELDS.rhythms(1) == {}
    morning = hp.Time("2024-01-01T07:00", "2024-01-01T11:59:59")
    assert max(morning.rhythms(0)) <= 1

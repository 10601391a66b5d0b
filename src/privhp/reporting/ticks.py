"""Tick labels of an axis: round numbers and calendar dates."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from privhp.core.number_format import format_number, format_rounded

_MAX_TICKS = 6
_CALENDAR = [
    ("s", (1, 2, 5, 10, 15, 30)),
    ("m", (1, 2, 5, 10, 15, 30)),
    ("h", (1, 2, 3, 6, 12)),
    ("D", (1, 2, 7, 14)),
    ("M", (1, 2, 3, 6)),
    ("Y", (1, 2, 5, 10, 20, 50, 100, 200, 500)),
]
"""Steps between ticks: NumPy's unit of time and its multiples."""

_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


class Tick(NamedTuple):
    """A value on an axis and its label."""

    value: float
    text: str


def thin_out(ticks: Sequence[Tick], character: float) -> Sequence[Tick]:
    """Every tick, or every second, third ..., so that no label touches the next one.

    Args:
        ticks: Labels with their positions from 0 to 1.
        character: Width of a character, as a share of the axis.
    """
    steps = range(1, len(ticks))
    return next((ticks[::step] for step in steps if _are_apart(ticks[::step], character)), ticks[:1])


def side(position: float) -> str:
    """Which end of a label is at its position: that at the edge of the axis, or none but the middle."""
    return "first" if position < 0.04 else "last" if position > 0.96 else "middle"


def _are_apart(ticks: Sequence[Tick], character: float) -> bool:
    free = -1.0
    for position, text in ticks:
        width = character * len(text)
        start = position - width * {"first": 0.0, "middle": 0.5, "last": 1.0}[side(position)]
        if start < free:
            return False
        free = start + width + character
    return True


def number_ticks(low: float, high: float, max_ticks: int = _MAX_TICKS) -> list[Tick]:
    """Multiples of a round step between two numbers."""
    least = (high - low) / max_ticks
    magnitude = 10.0 ** math.floor(math.log10(least))
    step = next(nice * magnitude for nice in (1.0, 2.0, 5.0, 10.0) if nice * magnitude >= least * (1 - 1e-9))
    multiples = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    values = [multiple * step for multiple in multiples]
    texts = [format_number(value) for value in values]
    if len(set(texts)) < len(texts):
        texts = [format_rounded(value, 10.0 * step) for value in values]  # to the last digit of the step
    return [Tick(value, text) for value, text in zip(values, texts, strict=True)]


def decade_ticks(low: float, high: float) -> list[Tick]:
    """Powers of ten between two numbers, or round numbers if there are few powers."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1,) if last - first > 3 else (1, 3) if last - first > 1 else (1, 2, 3, 5)
    skip = max(1, (last - first) // _MAX_TICKS)
    values = [nice * 10.0**power for power in range(first, last + 1, skip) for nice in steps]
    return [Tick(value, format_number(value)) for value in values if low <= value <= high]


def time_ticks(low: np.datetime64, high: np.datetime64) -> list[tuple[float, str]]:
    """Seconds since 1970 and text of calendar dates, or times of day, between two times."""
    for unit, steps in _CALENDAR:
        for step in steps:
            times = _between(low, high, unit, step)
            if times.size <= _MAX_TICKS or step == 500:
                return [(float(time.astype(np.int64)), _text(time, unit)) for time in times]
    raise AssertionError("the last step is always taken")


def _between(
    low: np.datetime64, high: np.datetime64, unit: str, step: int
) -> "np.ndarray[tuple[int], np.dtype[np.datetime64]]":
    first = low.astype(f"M8[{unit}]").astype(np.int64) // step * step
    last = high.astype(f"M8[{unit}]").astype(np.int64)
    if (last - first) // step > 4 * _MAX_TICKS:  # far too many to list
        last = first + 4 * _MAX_TICKS * step
    times = np.arange(first, last + 1, step).astype(f"M8[{unit}]").astype("M8[s]")
    return times[(times >= low) & (times <= high)]


def _text(time: np.datetime64, unit: str) -> str:
    date, clock = str(time.astype("M8[s]")).split("T")
    year, month, day = map(int, date.split("-"))
    if unit in "smh" and not (unit == "h" and clock == "00:00:00"):
        return clock if unit == "s" else clock[:5]
    if unit in "hD":
        return f"{day} {_MONTHS[month - 1]}"
    return f"{_MONTHS[month - 1]} {year}" if unit == "M" else str(year)

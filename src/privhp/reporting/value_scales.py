"""Numeric scales of the axes of pictures: linear, logarithmic, longitudes and times.

Values are floats here; times are units since 1970.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Floats
from privhp.core.number_format import format_duration, format_number
from privhp.domains.plot_scale import PlotScale
from privhp.reporting.ticks import Tick, decade_ticks, number_ticks, time_ticks

_MAX_BINS = 72
_NICE = (1.0, 2.0, 5.0)
_SECONDS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200)
_DAYS = (1, 2, 7, 14, 28, 91, 182, 364, 728, 3640, 36400)


@dataclass(frozen=True)
class ValueScale:
    """Real numbers or integers between two bounds, on a linear scale.

    Args:
        low: Lower bound.
        high: Upper bound; of integers, the number after the last.
        whole: Whether the values are integers.
        step: Distance of neighbouring values, counted from the lower bound; 0 for all real numbers. Edges of bins lie
            in the middle between two values.
    """

    low: float
    high: float
    whole: bool = False
    step: float = 0.0

    def region(self, low: float, high: float) -> Any:
        """Region of the domain between two numbers, without the upper one unless it is the upper bound."""
        if self.whole:
            return int(low), int(high) - 1
        return low, high if high >= self.high else math.nextafter(high, low)

    def positions(self, numbers: Floats) -> Floats:
        """Positions of numbers on the drawn axis, in any unit."""
        return numbers

    def cut(self, low: float, high: float, bins: int) -> Floats:
        """Edges of about `bins` bins of equal drawn width."""
        if self._unit == 0:
            return np.unique(np.linspace(low, high, bins + 1))
        step = self._unit * max(1, math.ceil((high - low) / bins / self._unit))
        return self._between_values(np.arange(low, high + step, step).clip(max=high))

    @property
    def _unit(self) -> float:
        """Distance of neighbouring values; 0 for all real numbers."""
        return 1.0 if self.whole else self.step

    def _between_values(self, edges: Floats) -> Floats:
        """Edges of bins, each in the middle before the value at it or after it, except at the bounds."""
        if self.step == 0:
            return edges
        values_below = np.floor((edges - self.low) / self.step + (0.5 + 1e-9))
        middles = np.maximum(self.low + (values_below - 0.5) * self.step, self.low)
        return np.unique(np.where(edges < self.high, middles, self.high))

    def nice_cut(self, low: float, high: float) -> Floats:
        """Edges of at most about 70 bins, at round numbers."""
        edges = _multiples(self._step((high - low) / _MAX_BINS), low, high, self.low, self.high)
        return self._between_values(edges)

    def _step(self, least: float) -> float:
        """Smallest round step of at least `least`."""
        magnitude = 10.0 ** math.floor(math.log10(least))
        step = next(nice * magnitude for nice in (*_NICE, 10.0) if nice * magnitude >= least * (1 - 1e-9))
        return self._unit * math.ceil(step / self._unit * (1 - 1e-9)) if self._unit else step

    def ticks(self, low: float, high: float) -> list[Tick]:
        """Tick labels of the axis."""
        return number_ticks(low, high)

    def text(self, value: float) -> str:
        """A number as text."""
        return format_number(value)

    def describe_range(self, low: float, high: float) -> str:
        """A bin as text."""
        if self.whole and high - low == 1:
            return self.text(low)
        first = low + self.step / 2 if low > self.low else low
        last = high - self.step / 2 if high < self.high else high
        if self.step and last - first < self.step / 2:
            return self.text(first)
        return f"{self.text(first)} to {self.text(last - self.whole)}"

    def width(self, edges: Floats) -> str:
        """Width of a bin as text."""
        return format_number(float(np.diff(edges).max()))

    def numbers(self, values: NDArray[Any]) -> Floats:
        """Values of the domain as numbers of the scale."""
        return values.astype(np.float64)


@dataclass(frozen=True)
class LogValueScale(ValueScale):
    """Positive numbers on a logarithmic scale."""

    def positions(self, numbers: Floats) -> Floats:
        """Logarithms of the numbers."""
        return np.log10(numbers)

    def cut(self, low: float, high: float, bins: int) -> Floats:
        """Edges of bins of equal ratio."""
        return np.unique(np.concatenate([[low], np.geomspace(low, high, bins + 1)[1:-1].clip(low, high), [high]]))

    def nice_cut(self, low: float, high: float) -> Floats:
        """Bins of equal ratio."""
        return self.cut(low, high, _MAX_BINS)

    def ticks(self, low: float, high: float) -> list[Tick]:
        """Powers of ten, or round numbers if there are few powers."""
        return decade_ticks(low, high)

    def width(self, edges: Floats) -> str:
        """Ratio of the ends of a bin as text."""
        return f"a factor of {edges[1] / edges[0]:.3g}"


@dataclass(frozen=True)
class DegreeScale(ValueScale):
    """Degrees of latitude."""

    def ticks(self, low: float, high: float) -> list[Tick]:
        """Round numbers of degrees."""
        return [Tick(value, self.text(value)) for value, _ in super().ticks(low, high)]

    def text(self, value: float) -> str:
        """A number of degrees."""
        return f"{format_number(value)}\N{DEGREE SIGN}"

    def width(self, edges: Floats) -> str:
        """Width of a bin in degrees."""
        return f"{super().width(edges)}\N{DEGREE SIGN}"


@dataclass(frozen=True)
class LongitudeScale(DegreeScale):
    """Degrees of longitude east of a bound, above 180 beyond the antimeridian."""

    def text(self, value: float) -> str:
        """A longitude from -180 to 180."""
        return super().text(value - 360 * (value > 180))

    def numbers(self, values: NDArray[Any]) -> Floats:
        """Longitudes at or above the lower bound."""
        return np.where(values < self.low, values + 360.0, values)


@dataclass(frozen=True)
class TimeScale(ValueScale):
    """Times, as units since 1970.

    Args:
        unit: NumPy's unit of time.
    """

    unit: str = "s"

    @property
    def _second(self) -> float:
        """Units per second."""
        return {"D": 1 / 86_400, "s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[self.unit]

    def region(self, low: float, high: float) -> Any:
        """First and last time."""
        return self._time(low), self._time(high - 1)

    def _time(self, tick: float) -> np.datetime64:
        return np.datetime64(int(tick), self.unit)  # type: ignore[call-overload, no-any-return]  # NumPy's stub wants the unit spelled out

    def _step(self, least: float) -> float:
        seconds = least / self._second
        known = [*_SECONDS, *(86_400 * days for days in _DAYS)]
        step = next((known_step for known_step in known if known_step >= seconds), None)
        return max(1.0, super()._step(least) if step is None or seconds < 1 else step * self._second)

    def ticks(self, low: float, high: float) -> list[Tick]:
        """Calendar dates or times of day."""
        ends = self._time(low).astype("M8[s]"), self._time(high).astype("M8[s]")
        return [Tick(value * self._second, text) for value, text in time_ticks(*ends)]

    def text(self, value: float) -> str:
        """A date, or a date and a time of day."""
        time = self._time(value)
        if self.unit == "D":
            return str(time)
        seconds = time.astype("M8[s]")
        midnight = seconds == seconds.astype("M8[D]").astype("M8[s]")
        return str(seconds.astype("M8[D]")) if midnight else str(seconds).replace("T", " ")

    def width(self, edges: Floats) -> str:
        """Duration of a bin as text."""
        return format_duration(float(edges[min(2, len(edges) - 1)] - edges[min(1, len(edges) - 2)]) / self._second)

    def numbers(self, values: NDArray[Any]) -> Floats:
        """Times as units since 1970."""
        return values.view(np.int64).astype(np.float64)


def scale_of(scale: PlotScale | None) -> ValueScale | None:
    """The numeric scale of an axis; None if there is no axis, or one of categories."""
    if scale is None or scale.kind == "categorical":
        return None
    if scale.kind == "time":
        return TimeScale(scale.low, scale.high, whole=True, unit=scale.unit)
    classes = {"log": LogValueScale, "longitude": LongitudeScale, "latitude": DegreeScale}
    return classes.get(scale.kind, ValueScale)(scale.low, scale.high, whole=scale.integer, step=scale.step)


def _multiples(step: float, low: float, high: float, least: float, most: float) -> Floats:
    """Multiples of a step that enclose two numbers, clipped to the bounds."""
    first, last = math.floor(low / step * (1 + 1e-12)), math.ceil(high / step * (1 - 1e-12))
    edges = np.arange(first, max(last, first + 1) + 1) * step
    return np.unique(np.clip(edges, least, most))

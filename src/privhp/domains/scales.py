"""Scales of real numbers: linear, logarithmic, or by declared quantiles.

A scale is a monotone map from numbers to positions on the axis that is split,
so it preserves order exactly. Positions on the two nonlinear scales are
integers, no finer than the floats, so a drawn number stays in its cell.
"""

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from privhp import kernels
from privhp.core.cells import Floats
from privhp.domains.decimal_lattice import Step, make_axis
from privhp.domains.grid import Axis, check_axis, spacing_at
from privhp.errors import DomainError
from privhp.kernels import CutIndex, PiecewiseLinear

_NOT_IN_FLOATS = "the cuts and bounds are too close or too far apart for floating point"


class Scale(ABC):
    """Map from the numbers between two bounds to positions on an axis."""

    axis: Axis

    @abstractmethod
    def positions(self, numbers: Floats) -> Floats:
        """Position of each number; for numbers out of bounds, one out of bounds or NaN."""

    @abstractmethod
    def numbers(self, positions: Floats) -> Floats:
        """The number at each position, up to rounding."""

    @abstractmethod
    def diameter(self, level: int) -> float:
        """Diameter of the widest cell of a level."""


class LinearScale(Scale):
    """Linear scale: positions are the numbers."""

    def __init__(self, low: float, high: float, dtype: np.dtype[Any], step: Step | None = None) -> None:
        self.axis = make_axis(low, high, dtype, step=step, name="the interval")

    def positions(self, numbers: Floats) -> Floats:
        """The numbers."""
        return numbers

    def numbers(self, positions: Floats) -> Floats:
        """The positions."""
        return positions

    def diameter(self, level: int) -> float:
        """Width of a cell, the same for all cells."""
        return self.axis.side(level)


class LogScale(Scale):
    """Logarithmic scale, linear within each octave: positions are ranks among the floats from the lower bound on."""

    def __init__(self, low: float, high: float, dtype: np.dtype[Any]) -> None:
        own = np.finfo(dtype)
        if own.bits < 64 and low < own.tiny:
            raise DomainError(f"expected a lower bound of at least {own.tiny} on a log scale in {dtype}, got {low}")
        self._low, self._high = low, high
        self._first = np.float64(low).view(np.int64)
        width = float(np.float64(high).view(np.int64) - self._first)
        self.axis = Axis(0.0, width, integer=True, spacing=2.0 ** (52 - own.nmant))
        check_axis(self.axis, "the interval", low=low, high=high)

    def positions(self, numbers: Floats) -> Floats:
        """Ranks; NaN out of bounds."""
        inside = (numbers >= self._low) & (numbers <= self._high)
        ranks = np.where(inside, numbers, self._low).view(np.int64) - self._first
        return np.where(inside, ranks, np.nan)

    def numbers(self, positions: Floats) -> Floats:
        """The floats of these ranks."""
        ranks = np.rint(positions).astype(np.int64) + self._first
        return np.minimum(ranks.view(np.float64), self._high)  # beyond 2**53 ranks, positions are rounded

    def diameter(self, level: int) -> float:
        """Width in octaves, the same for all cells."""
        return self.axis.width / 2.0**52 * 2.0**-level


class QuantileScale(Scale):
    """Scale by declared quantiles: positions are proportional to the base measure below a number.

    The base measure is uniform between two cuts, with the same mass in each of
    these segments. The axis has 2**b steps, with b as large as the segment with
    the fewest floats allows.
    """

    MAX_STEPS = 2.0**52

    def __init__(self, low: float, high: float, cuts: tuple[float, ...], dtype: np.dtype[Any]) -> None:
        if high - low == math.inf:
            raise DomainError(_NOT_IN_FLOATS)
        self._knots = np.array([low, *cuts, high])
        self._widths = np.diff(self._knots)
        self._segments = self._widths.size
        largest = np.maximum(np.abs(self._knots[:-1]), np.abs(self._knots[1:]))
        spacing = np.array([spacing_at(number, dtype) for number in largest.tolist()])
        steps = min(self._segments * float((self._widths / spacing).min()), self.MAX_STEPS)
        self._steps = math.ldexp(1.0, math.frexp(steps)[1] - 1)
        self.axis = Axis(0.0, self._steps, integer=True)
        if self.axis.depth < 1:
            raise DomainError(_NOT_IN_FLOATS)
        self._line = PiecewiseLinear(low, high, self._widths, self._steps, CutIndex.build(self._knots))
        self._diameters = self._level_diameters()

    def positions(self, numbers: Floats) -> Floats:
        """Number of steps below each number; NaN out of bounds."""
        return kernels.interpolate(np.ravel(numbers), self._line).reshape(np.shape(numbers))

    def numbers(self, positions: Floats) -> Floats:
        """The number with this number of steps below it."""
        scaled = np.clip(positions / self._steps * self._segments, 0.0, self._segments)
        segment = np.minimum(scaled.astype(np.int64), self._segments - 1)
        numbers = self._knots[segment] + (scaled - segment) * self._widths[segment]
        within: Floats = np.minimum(numbers, self._knots[segment + 1])
        return within

    def diameter(self, level: int) -> float:
        """Width of the cell with the lowest density."""
        return float(self._diameters[level])

    def _level_diameters(self) -> Floats:
        """Diameter of each level. Once cells are at most half a segment, the widest cell is in the widest segment."""
        widest = []
        for level in range(self.axis.depth + 1):
            if 2**level < 2 * self._segments:
                edges = self.numbers(np.arange(2**level + 1) * (self._steps * 2.0**-level))
                widest.append(np.diff(edges).max())
            else:
                widest.append(self._widths.max() * (self._segments * 2.0**-level))
        return np.minimum.accumulate(widest)

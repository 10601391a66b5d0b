"""Mean, standard deviation and correlation, with their errors.

They are computed from the unprojected counts of the leaves in the core of each
variable. The interval has three parts. Noise: the variances of the counts
propagate to the answer. Resolution: the mean of a leaf's records differs from
that of the base measure, by as much as the unevenness of the release shows and
at most by half the width. Records of all leaves with the same side, such as the
same range of ages, may lie to the same end of it, and so may those of other sides:
the deviations of sides add up. So do those of the shares of leaves that meet a
condition. Tails: records outside the core are too few to be significant. What the
shell next to the core may hold, and less in each further shell, bounds what they add; so does what each may hold.
"""

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from privhp.answers.estimate import Estimate
from privhp.answers.leaf_numbers import LineUnit
from privhp.answers.variables import MIN_Z, Tail, Variable
from privhp.core.cells import Floats

Z_90 = 1.6449
"""Standard errors of the interval of level 0.9."""


class Influence(NamedTuple):
    """How the records of each leaf determine a moment.

    Args:
        of_leaf: Change of the moment by a record at the mean of each leaf, per share of all records.
        slopes: For each variable, change of the moment as the records of a leaf move up.
        by_dependence: Change of the moment if the records inside each leaf lie on a line.
    """

    of_leaf: Floats
    slopes: Sequence[Floats]
    by_dependence: float = 0.0


class TailBounds(NamedTuple):
    """What the records on one side of the core change in a central moment at most.

    Args:
        less: What is missing if there are none where all records together show some.
        more: What those add that do not count.
    """

    less: float
    more: float


class Moments:
    """Moments of one or two variables on the same leaves, over the intersection of their cores."""

    def __init__(self, variables: Sequence[Variable]) -> None:
        self._variables, self._errors = variables, variables[0].errors
        self._condition = variables[0].condition
        self._values: Floats = np.prod([variable.core for variable in variables], axis=0)
        self._core: Floats = self._values * self._condition.share

    @cached_property
    def _shares(self) -> Floats:
        """Share of each leaf among the records of the core.

        The non-negative counts replace unprojected ones that give a negative variance, and equal counts an empty core.
        """
        for counts in (self._errors.unprojected.counts, self._errors.counts, np.ones(self._core.shape)):
            shares = counts * self._core / max(float(counts @ self._core), 1e-300)
            if counts @ self._core > 0 and all(_variance(shares, variable) >= 0 for variable in self._variables):
                break
        return shares

    @cached_property
    def _records(self) -> float:
        """Number of records in the core, at least 1."""
        return max(float(self._errors.unprojected.counts @ self._core), 1.0)

    @cached_property
    def _offsets(self) -> list[Floats]:
        """Mean of each leaf less the mean of all records, for each variable."""
        return [variable.numbers.mean - self._shares @ variable.numbers.mean for variable in self._variables]

    def mean(self, unit: LineUnit) -> Estimate[Any]:
        """Mean of a variable, within the bounds of its domain."""
        (variable,), (offsets,) = self._variables, self._offsets
        value = min(max(float(self._shares @ variable.numbers.mean), unit.low), unit.high)
        influence = Influence(offsets, [np.ones(offsets.shape)])

        def ends(z: float) -> tuple[float, float]:
            side, (below, above) = self._margin(influence, z), self._tail_bounds(variable, offsets, 1, z)
            down, up = math.hypot(side, below.more, above.less), math.hypot(side, above.more, below.less)
            return max(value - down, unit.low), min(value + up, unit.high)

        uncertainty = MomentUncertainty(ends, unit.to_value, unit.to_length)
        return Estimate(unit.to_value(value), uncertainty, zone=unit.zone)

    def std(self, unit: LineUnit) -> Estimate[Any]:
        """Standard deviation of a variable."""
        (variable,), (offsets,) = self._variables, self._offsets
        numbers, largest = variable.numbers, (unit.high - unit.low) / 2.0
        variance = min(_variance(self._shares, variable), largest**2)
        squares = offsets**2 + numbers.variance
        influence = Influence(squares - variance, [2.0 * np.abs(offsets) + numbers.width / 4.0])

        def ends(z: float) -> tuple[float, float]:
            side, tails = self._margin(influence, z), self._tail_bounds(variable, offsets, 2, z)
            down, up = (math.hypot(side, *own) for own in zip(*tails, strict=True))
            return math.sqrt(max(variance - down, 0.0)), min(math.sqrt(variance + up), largest)

        return Estimate(unit.to_length(math.sqrt(variance)), MomentUncertainty(ends, unit.to_length, unit.to_length))

    def correlation(self) -> Estimate[float]:
        """Pearson correlation of two variables.

        Records in a tail of one variable are taken to depend on the other one as those of the core do. A share q of
        records, t standard deviations away, then changes a correlation r by r q t^2 (1 - r^2) / 2. Inside a leaf, two
        variables may depend on each other in full, while the base measure has them independent: of variables with the
        variances u and v inside leaves, in units of their own, this changes r by up to r (u + v) + sqrt(u v).
        """
        deviations = [math.sqrt(_variance(self._shares, variable)) for variable in self._variables]
        if not all(deviations):
            return Estimate(0.0, MomentUncertainty(lambda _: (-1.0, 1.0), float, float))
        first, second = (own / deviation for own, deviation in zip(self._offsets, deviations, strict=True))
        value = min(max(float(self._shares @ (first * second)), -1.0), 1.0)
        pairs = list(zip(self._variables, deviations, strict=True))
        inside = [variable.numbers.variance / deviation**2 for variable, deviation in pairs]
        influence = Influence(
            first * second - value / 2.0 * (first**2 + second**2 + sum(inside)),
            [(second - value * first) / deviations[0], (first - value * second) / deviations[1]],
            float(self._masses @ (abs(value) * sum(inside) + np.sqrt(np.prod(inside, axis=0)))),
        )

        def ends(z: float) -> tuple[float, float]:
            margin, parts = self._margin(influence, z), []
            largest = min(abs(value) + margin, 1.0)
            for (variable, deviation), offsets in zip(pairs, self._offsets, strict=True):
                tails = self._tail_bounds(variable, offsets, 2, z)
                parts += [largest * (1.0 - value**2) / 2.0 * sum(tail) / deviation**2 for tail in tails]
            side = math.hypot(margin, *parts)
            return max(value - side, -1.0), min(value + side, 1.0)

        return Estimate(value, MomentUncertainty(ends, float, float))

    @cached_property
    def _masses(self) -> Floats:
        """Share of each leaf among the records of the core, by the non-negative counts."""
        masses = self._errors.counts * self._core
        return masses / max(float(masses.sum()), 1e-300)

    @cached_property
    def _is_significant(self) -> bool:
        """Whether the release shows that the core holds records."""
        counted = self._errors.unprojected
        return float(counted.counts @ self._core) > MIN_Z * counted.deviation(self._core)

    def _margin(self, influence: Influence, z: float) -> float:
        """Margin of a moment by noise and resolution, for an interval of z standard errors."""
        if not self._is_significant:
            return math.inf
        shares = self._masses
        numbers = [variable.numbers for variable in self._variables]
        inside = sum(slope**2 * own.variance for slope, own in zip(influence.slopes, numbers, strict=True))
        weights, parts = influence.of_leaf / self._records, self._core * (1.0 - self._core)
        variances = shares * inside / self._records + self._errors.counts * parts * weights**2
        noise = self._errors.unprojected.deviation(weights * self._core, variance_inside=float(variances.sum()))
        chosen = self._errors.counts * self._values * np.abs(weights)
        together, alone = float(chosen @ np.minimum(z * self._condition.deviation, 1.0)), 0.0
        scatter = float(np.linalg.norm(chosen * np.minimum(z * self._condition.scatter, 1.0)))
        for variable, slope in zip(self._variables, influence.slopes, strict=True):
            moved = shares * slope * variable.numbers.width * np.minimum(z * variable.deviation, 0.5)
            together += float(np.abs(np.bincount(variable.side, moved)).sum())
            alone += float(moved @ moved)
        # Dependence inside leaves has the same sign in all of them: it is a bias, and adds to the noise in full.
        return min(z / Z_90, 1.0) * influence.by_dependence + math.hypot(
            z * noise, scatter, max(together, math.sqrt(alone))
        )

    def _tail_bounds(self, variable: Variable, offsets: Floats, power: int, z: float) -> tuple[TailBounds, TailBounds]:
        """What records in the tails below and above the core change in a central moment at most."""
        first, second = (self._tail_bound(variable, tail, offsets, power, z) for tail in variable.tails)
        return first, second

    def _tail_bound(self, variable: Variable, tail: Tail, offsets: Floats, power: int, z: float) -> TailBounds:
        unbiased, distances = self._errors.unprojected, variable.present * np.abs(offsets) ** power
        most, total = math.inf, 0.0
        for shell in tail.shells:
            weights = distances * shell.leaves
            noise = unbiased.deviation(weights)
            counted = max(float(unbiased.counts @ weights) + z * noise, 0.0)
            most = counted if shell.is_shown else min(most * tail.ratio(power), counted)
            total += most
        likely = max(float(unbiased.counts @ (distances * tail.likely)), 0.0)
        return TailBounds(min(z / Z_90, 1.0) * likely / self._records, total / self._records)


def _variance(shares: Floats, variable: Variable) -> float:
    """Variance of a variable, by the share of each leaf."""
    offsets = variable.numbers.mean - shares @ variable.numbers.mean
    return float(shares @ (offsets**2 + variable.numbers.variance))


class MomentUncertainty:
    """Uncertainty of a moment, by its intervals.

    Args:
        ends: Both ends of the interval of z standard errors, as numbers.
        to_value: Turns a number into a value.
        to_length: Turns a number into a difference of values.
    """

    resolved = True

    def __init__(
        self,
        ends: Callable[[float], tuple[float, float]],
        to_value: Callable[[float], Any],
        to_length: Callable[[float], Any],
    ) -> None:
        self._ends, self._to_value, self._to_length = ends, to_value, to_length

    @cached_property
    def stderr(self) -> Any:
        """Half the length of the interval of one standard error."""
        low, high = self._ends(1.0)
        return self._to_length((high - low) / 2.0)

    def interval(self, z: float) -> tuple[Any, Any]:
        """Both ends of the interval of z standard errors."""
        low, high = self._ends(z)
        return self._to_value(low), self._to_value(high)

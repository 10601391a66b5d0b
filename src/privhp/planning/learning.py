"""Learning passes: how a partition is learned before the data is measured.

A learning pass counts a Poisson sample of the rows in the leaves of the
partition so far, under noise, and refines the partition by the noisy counts.
Sampling makes a pass cost far less than its budget.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from privhp.core.budget import MAX_EPSILON, amplified_cost, exact
from privhp.errors import PlanError, describe_value
from privhp.planning.parameter_checks import COUNTER_BYTES, check_integer
from privhp.planning.partition import MAX_LEAVES

MAX_PASSES = 8
COIN_SIDES = 256
"""Sampling rates are multiples of 1 / 256: the coin of a row takes eight random bits at most."""


class LearningPass(NamedTuple):
    """One learning pass.

    Args:
        rate: Probability with which each row is in the sample.
        budget: Budget of the noise; the pass costs less, see `cost`.
    """

    rate: Fraction
    budget: Fraction

    @property
    def cost(self) -> Fraction:
        """Privacy loss of the pass, by amplification: at least ln(1 + rate (exp(budget) - 1))."""
        return amplified_cost(self.rate, self.budget)


@dataclass(frozen=True)
class Learning:
    """The learning passes of a plan.

    Args:
        nbytes: Bytes of the partition, at most: its counters and its nodes.
        passes: The passes, in their order.
    """

    _: KW_ONLY
    nbytes: int
    passes: tuple[LearningPass, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "nbytes", check_integer(self.nbytes, "nbytes", 1, COUNTER_BYTES * MAX_LEAVES))
        listed = isinstance(self.passes, tuple | list) and 1 <= len(self.passes) <= MAX_PASSES
        if not listed or not all(isinstance(own, LearningPass) for own in self.passes):
            raise PlanError(f"expected 1 to {MAX_PASSES} learning passes, got {describe_value(self.passes)}")
        object.__setattr__(self, "passes", tuple(_read_pass(*own) for own in self.passes))

    @property
    def cost(self) -> Fraction:
        """Privacy loss of all learning passes."""
        return sum((own.cost for own in self.passes), Fraction(0))

    def spec(self) -> dict[str, Any]:
        """The learning passes as a JSON object."""
        passes = [{"rate": str(own.rate), "budget": str(own.budget)} for own in self.passes]
        return {"nbytes": self.nbytes, "passes": passes}

    @classmethod
    def from_spec(cls, spec: Any) -> "Learning":
        """The learning passes of a JSON object."""
        if not isinstance(spec, Mapping) or set(spec) != {"nbytes", "passes"} or not isinstance(spec["passes"], list):
            raise PlanError("learning must have exactly the keys nbytes and passes")
        if any(not isinstance(own, Mapping) or set(own) != {"rate", "budget"} for own in spec["passes"]):
            raise PlanError("a learning pass must have exactly the keys budget and rate")
        return cls(nbytes=spec["nbytes"], passes=tuple(LearningPass(**own) for own in spec["passes"]))


def _read_pass(rate: Any, budget: Any) -> LearningPass:
    """A learning pass with exact rationals within their limits."""
    checked = LearningPass(exact(rate, name="the rate of a learning pass"), exact(budget, name="its budget"))
    if not 0 < checked.rate <= 1 or (checked.rate * COIN_SIDES).denominator != 1:
        raise PlanError(f"expected the sampling rate of a pass as a multiple of 1/{COIN_SIDES}, got {rate}")
    if not 0 < checked.budget <= MAX_EPSILON:
        raise PlanError(f"expected the budget of a pass above 0 and at most {MAX_EPSILON}, got {budget}")
    return checked

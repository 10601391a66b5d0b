"""Discrete Laplace noise within a budget, as all baselines draw it."""

from fractions import Fraction

from privhp.collect.noise import discrete_laplace
from privhp.core.budget import Neighbours, check_neighbours, exact_epsilon
from privhp.core.cells import Counts
from privhp.errors import PlanError


class Mechanism:
    """Adds exact noise to counts, and refuses to spend more than its budget.

    Noise is for adding or removing one record. Replacing a record removes one and
    adds another, so under replace-one the budget is half.

    Attributes:
        budget: Epsilon of the method under add-remove.
    """

    def __init__(self, epsilon: int | float | str | Fraction, *, neighbours: Neighbours = "add-remove") -> None:
        check_neighbours(neighbours)
        self.budget = exact_epsilon(epsilon) / (2 if neighbours == "replace-one" else 1)
        self._left = self.budget

    def measure(self, counts: Counts, *, epsilon: Fraction) -> Counts:
        """Counts of disjoint cells with noise of scale 1 / epsilon: a record changes one of them, by one."""
        self.spend(epsilon)
        return counts + self.draw(counts.size, scale=1 / epsilon)

    def spend(self, epsilon: Fraction) -> None:
        """Take a part of the budget, for noise that a method draws and accounts for itself."""
        if not 0 < epsilon <= self._left:
            raise PlanError("the measurements of a baseline exceed its budget")
        self._left -= epsilon

    def draw(self, size: int, *, scale: Fraction) -> Counts:
        """Noise of a scale, for a method whose proof is not by sensitivity."""
        return discrete_laplace(size, scale=scale)

"""Planner: the sizes and budgets with the least predicted error.

The planner takes public parameters (domain, epsilon, expected number of
records, memory), takes all candidate shapes, optimises the budgets of the best
ones and returns the sizes and budgets with the least error under the error model.
"""

import math
from bisect import bisect_left, insort
from fractions import Fraction
from functools import cached_property
from operator import itemgetter

from privhp.core.budget import Neighbours, amplified_budget, noise_variance, sensitivity, split_epsilon
from privhp.domains.domain import Domain
from privhp.errors import PlanError
from privhp.planning.error_model import KNOWN, LearnedPartition, Sketches, distance_without_noise, predict
from privhp.planning.learning import Learning, LearningPass
from privhp.planning.parameter_checks import COUNTER_BYTES, MAX_MEMORY
from privhp.planning.partition import MAX_LEAVES, Partition
from privhp.planning.plan_sizes import PlanSizes
from privhp.planning.shapes import Shape, Shapes
from privhp.planning.streams import STREAMS, Geometry, expect
from privhp.planning.tuning import LEARNING_SHARE

LEAST_ERROR = 1e-30
"""Predicted errors below it are equal: of a stream that the leaves of a domain show exactly."""


def learning_rates(domain: Domain, passes: int, *, known: bool) -> tuple[Fraction, ...]:
    """Sampling rates of some learning passes.

    Args:
        domain: Domain of the records.
        passes: Number of learning passes.
        known: Whether the partition is known before, so that nothing is learned.
    """
    rates = Geometry.of(domain).tuning.learning_rates
    if passes > len(rates) or (passes and known):
        raise PlanError(f"expected passes= from 1 to {len(rates) + 1}, and 1 with partition=, got {passes + 1}")
    return rates[-passes:] if passes else ()


class Planner:
    """Search for the sizes and budgets of least predicted error.

    Args:
        domain: Domain of the records.
        epsilon: Total privacy budget.
        expected_records: Expected number of records.
        memory: Bytes for counters and scratch memory.
        neighbours: Neighbouring relation.
        max_records_per_person: Maximum number of records of one person.
        rates: Sampling rates of the passes that learn a partition.
        beside: Budgets with which the columns of a table are learned on the samples of these passes.
        partition: A partition that is known before.
        pan_private: Whether every counter of a release has two noise draws.
        is_column: Whether the domain is a column of a table that is measured by itself.
    """

    def __init__(
        self,
        domain: Domain,
        *,
        epsilon: Fraction,
        expected_records: int,
        memory: int,
        neighbours: Neighbours,
        max_records_per_person: int,
        rates: tuple[Fraction, ...],
        beside: tuple[Fraction, ...] | None = None,
        partition: Partition | None,
        pan_private: bool,
        is_column: bool = False,
    ) -> None:
        self._geometry = Geometry.of(domain)
        self._tuning = self._geometry.tuning
        if is_column:  # single values and ranges count, for which fine cells are better than few
            self._tuning = self._tuning._replace(roughness_exponent=0.0)
        self._epsilon, self._expected_records = epsilon, expected_records
        self._float_epsilon, self._weights = float(epsilon), tuple(float(LEARNING_SHARE * rate) for rate in rates)
        self._changes = [
            sensitivity(neighbours, level=level, rows=1, max_records_per_person=max_records_per_person)
            for level in (0, 1)  # the root, and other levels
        ]
        self._partition, self._draws = partition, 1 + pan_private
        self._rates, self._beside = rates, beside
        self._expected = [expect(self._geometry, expected_records, stream) for stream in STREAMS]
        self._bounds: dict[tuple[int, int], list[float]] = {}
        self._counters = self._count_counters(memory)
        if self._counters < 16:
            raise PlanError(f"expected a memory of at least 256 bytes, got {memory}")
        if partition is not None:
            self._check_fit(partition, memory)
        self._shapes = Shapes(
            self._geometry,
            self._tuning,
            epsilon=epsilon,
            expected_records=expected_records,
            counters=self._counters,
            has_rates=bool(rates),
            partition=partition,
        )

    def sizes(self) -> PlanSizes:
        """Sizes and budgets of the best plan."""
        optimised = (self._optimise(shape) for _, shape in self._finalists)
        _, shape, shares = min(optimised, key=lambda found: found[0])
        budgets, tuning = split_epsilon(self._epsilon, shares), self._tuning
        if shape.root is not None:
            budget = amplified_budget(self._rates, budgets[shape.root], share=LEARNING_SHARE, beside=self._beside)
            budgets[shape.root] = budget
            passes = tuple(LearningPass(rate, LEARNING_SHARE * budget) for rate in self._rates)
            learning = Learning(nbytes=shape.nbytes, passes=passes) if passes else None
            return PlanSizes(budgets, max(shape.exact, default=0), learning=learning, partition=self._partition)
        if shape.sketched:
            return PlanSizes(
                budgets,
                shape.exact[-1],
                sketch_rows=tuning.sketch_rows,
                sketch_width=shape.width,
                hot_cells=shape.width // tuning.buckets_per_hot_cell,
                hash_group=tuning.sketch_hash_group,
            )
        return PlanSizes(budgets, shape.exact[-1])

    def least_error(self, limit: float = math.inf) -> float:
        """Least predicted error of all shapes with the budgets that the search starts from, the mean of all streams.

        Args:
            limit: Errors from this on count as infinite, and are known sooner.
        """
        best = self._best_shapes(1, limit ** len(STREAMS))
        return best[0][0] ** (1.0 / len(STREAMS)) if best else math.inf

    @cached_property
    def _finalists(self) -> list[tuple[float, Shape]]:
        """The shapes whose budgets are optimised, the best one first."""
        return self._best_shapes(self._tuning.finalists, math.inf)

    def _best_shapes(self, number: int, limit: float) -> list[tuple[float, Shape]]:
        """Some shapes with the least predicted errors, for the budgets that the search starts from, below a limit."""
        shapes = list(self._shapes)
        learned = [shape for shape in shapes if shape.root is not None] if self._shapes.learns else []
        best: list[tuple[float, Shape]] = []
        for shape in learned or shapes:
            if math.prod(self._least_errors(shape)) >= limit:
                continue
            error = self._error(shape, self._initial_shares(shape), limit=limit)
            if error < limit:
                insort(best, (error, shape), key=itemgetter(0))
                del best[number:]
                limit = best[-1][0] if len(best) == number else limit
        return best

    @property
    def is_adaptive(self) -> bool:
        """Whether each shape that may be chosen has a partition."""
        return all(shape.root is not None for _, shape in self._finalists)

    def _count_counters(self, memory: int) -> int:
        """Number of counters in a memory, beside the scratch memory."""
        scratch = max(int(memory * self._tuning.scratch_share), min(memory // 4, self._tuning.min_scratch))
        return min((memory - min(scratch, self._tuning.max_scratch)) // COUNTER_BYTES, MAX_LEAVES)

    def _check_fit(self, partition: Partition, memory: int) -> None:
        """Refuse a partition that leaves no level for exact counters above it."""
        if partition.min_level < 2:
            raise PlanError(f"expected a partition with leaves of level 2 or deeper, got level {partition.min_level}")
        needed = -(-partition.nbytes // COUNTER_BYTES) + 2  # one exact level of two cells
        if needed > self._counters:
            least = bisect_left(range(MAX_MEMORY), needed, key=self._count_counters)
            raise PlanError(
                f"the partition of {partition.size:,} leaves needs memory= of at least {least} bytes, got {memory}; "
                "give more, or leave out partition="
            )

    def _optimise(self, shape: Shape) -> tuple[float, Shape, dict[int, float]]:
        """Coordinate descent on the budget shares of a shape: the predicted error, the shape and its shares."""
        shares = self._initial_shares(shape)
        least, step = self._error(shape, shares), 0.5
        while step > 0.1 and len(shares) > 1:
            improved = False
            for group in shape.groups:
                for factor in (1.0 + step, 1.0 / (1.0 + step)):
                    moved = {level: share * (factor if level in group else 1.0) for level, share in shares.items()}
                    total = sum(moved.values())
                    moved = {other: share / total for other, share in moved.items()}
                    error = self._error(shape, moved, limit=least)
                    if error < least and self._is_admissible(shape, moved):
                        least, shares, improved = error, moved, True
            step = step if improved else step / 2
        return least, shape, shares

    def _initial_shares(self, shape: Shape) -> dict[int, float]:
        """Budget shares to start from: falling from coarse to fine, with the minimum share where that is often best."""
        tuning = self._tuning
        rest = dict.fromkeys(shape.sketched, tuning.min_level_share)
        if shape.root is not None:
            rest[shape.root] = max(tuning.min_learned_share, 1.0 / len(shape.levels)) if shape.exact else 1.0
        falling = {level: tuning.share_ratio**index for index, level in enumerate(shape.exact)}
        scale = (1.0 - sum(rest.values())) / sum(falling.values()) if falling else 0.0
        return {level: share * scale for level, share in falling.items()} | rest

    def _is_admissible(self, shape: Shape, shares: dict[int, float]) -> bool:
        learned = 1.0 if shape.root is None else shares[shape.root]
        return min(shares.values()) >= self._tuning.min_level_share and learned >= self._tuning.min_learned_share

    def _error(self, shape: Shape, shares: dict[int, float], *, limit: float = math.inf) -> float:
        """Product of the predicted errors of all streams, which orders like their geometric mean.

        It is infinite once it is known to reach the limit: the noise of the other streams need not be computed.
        """
        exact, deeper = self._measurements(shape, shares)
        errors = list(self._least_errors(shape))
        for index, own in enumerate(self._expected):
            errors[index] = max(predict(own, exact, deeper).total, LEAST_ERROR)
            if math.prod(errors) >= limit:
                return math.inf
        return math.prod(errors)

    def _least_errors(self, shape: Shape) -> list[float]:
        """Lower bounds of the predicted errors of all streams, computed fast: those without noise.

        A learned partition may have leaves of any level; sketches may find all atoms.
        """
        leaf = self._geometry.depth if shape.root is not None else max(shape.exact)
        levels = leaf, max(shape.sketched, default=leaf)
        if levels not in self._bounds:
            self._bounds[levels] = [max(distance_without_noise(own, *levels), LEAST_ERROR) for own in self._expected]
        return self._bounds[levels]

    def _measurements(
        self, shape: Shape, shares: dict[int, float]
    ) -> tuple[dict[int, float], LearnedPartition | Sketches | None]:
        """Noise variances of the exact levels, and what measures those below them."""
        tuning, epsilon = self._tuning, self._float_epsilon
        noise = {
            level: noise_variance(self._changes[level > 0] / (share * epsilon)) * self._draws
            for level, share in shares.items()
        }
        deeper: LearnedPartition | Sketches | None = None
        if shape.root is not None:
            # The learning passes take about the sum of their weights of the budget.
            variance = noise[shape.root] * (1.0 + sum(self._weights)) ** 2
            weights = self._weights or KNOWN
            deeper = LearnedPartition(level=shape.root, variance=variance, nbytes=shape.nbytes, weights=weights)
        elif shape.sketched:
            rows = tuning.sketch_rows
            variances = {level: noise[level] * rows**2 for level in shape.sketched}
            deeper = Sketches(variances, rows, shape.width, shape.width // tuning.buckets_per_hot_cell)
        return {level: noise[level] for level in shape.exact}, deeper

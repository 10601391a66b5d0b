"""What the baselines add noise to: one record changes each measurement by at most one, within the budget."""

import contextlib
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any
from unittest import mock

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from cases import case_count
from privhp import Box, Interval, PrivhpError
from privhp.baselines import METHODS, CellCounts, Mechanism, SignedHistogram, dawa, fit, privtree
from privhp.baselines.window_deviations import WindowDeviations
from privhp.core.cells import Counts
from spies import record_draws

MEMORY = 2**12
BY_DECISIONS = {"PrivTree": "privtree.split_cells", "DAWA": "dawa.choose_buckets"}
"""Methods that publish decisions, and the function that decides."""


class Recorder(Mechanism):
    """A mechanism with fixed noise, which records the noise-free counts and its answers."""

    def __init__(self, epsilon: float, *, seed: int) -> None:
        super().__init__(epsilon)
        self.rng, self.calls = np.random.default_rng(seed), list[tuple[Counts, Counts]]()

    def measure(self, counts: Counts, *, epsilon: Fraction) -> Counts:
        self.spend(epsilon)
        answers = counts + self.rng.integers(-20, 20, counts.size)
        self.calls.append((counts, answers))
        return answers

    def draw(self, size: int, *, scale: Fraction) -> Counts:
        return self.rng.integers(-20, 20, size)


class Replayer(Recorder):
    """Gives the recorded answers to a neighbour's questions, which must be the same but for one count, by one."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder.budget, seed=0)
        self.left = list(recorder.calls)

    def measure(self, counts: Counts, *, epsilon: Fraction) -> Counts:
        self.spend(epsilon)
        recorded, answers = self.left.pop(0)
        assert counts.size == recorded.size
        assert np.abs(counts - recorded).sum() <= 1
        return answers


def check_neighbours(method: Callable[..., SignedHistogram], points: Any, place: int, decision: str | None) -> None:
    """Measure with and without one record, given the same answers and decisions so far."""
    domain, limits = Box([(0, 1), (0, 1)]), {"expected_records": 200, "memory": MEMORY}
    recorder, decided = Recorder(1, seed=5), list[Any]()
    with deciding(decision, decided.append):
        method(CellCounts(domain, points), recorder, **limits)
    replayer = Replayer(recorder)
    with deciding(decision, *decided):
        method(CellCounts(domain, np.delete(points, place, axis=0)), replayer, **limits)
    assert not replayer.left


@contextlib.contextmanager
def deciding(decision: str | None, result: Any = None) -> Iterator[None]:
    """Replace a deciding function by its recorded result, or record it if the result is a function."""
    if decision is None:
        yield
        return
    module, name = decision.split(".")
    owner = {"privtree": privtree, "dawa": dawa}[module]
    original = getattr(owner, name)

    def decide(*given: Any, **named: Any) -> Any:
        if not callable(result):
            return result
        found = original(*given, **named)
        result(found)
        return found

    with mock.patch.object(owner, name, decide):
        yield


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=case_count(20))
@given(seed=st.integers(0, 2**32), place=st.integers(0, 149))
def test_record_changes_each_measurement_by_at_most_one(name: str, seed: int, place: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.random((150, 2)) ** rng.integers(1, 8)
    check_neighbours(METHODS[name], points, place, BY_DECISIONS.get(name))


def test_check_rejects_a_method_that_counts_records_twice() -> None:
    def twice(counts: CellCounts, mechanism: Mechanism, **limits: int) -> SignedHistogram:
        noisy = mechanism.measure(2 * counts.of_level(4), epsilon=mechanism.budget)
        return SignedHistogram.of_level(counts.domain, 4, noisy.astype(float), np.ones(16))

    with pytest.raises(AssertionError):
        check_neighbours(twice, np.full((150, 2), 0.5), 3, None)


@pytest.mark.parametrize("name", METHODS)
def test_noise_has_the_scale_of_its_budget(name: str) -> None:
    """Methods by sensitivity spend the sum of 1 / scale; under replace-one all scales double."""
    points = np.random.default_rng(1).random((300, 2))
    scales = []
    for neighbours in ("add-remove", "replace-one"):
        with record_draws(lambda size, scale: np.zeros(size, dtype=np.int64)) as draws:
            fit(
                name,
                points,
                Box([(0, 1), (0, 1)]),
                epsilon=0.5 if neighbours == "add-remove" else 1,
                expected_records=300,
                memory=MEMORY,
                neighbours=neighbours,
            )
        scales.append([draw.scale for draw in draws])
    assert scales[0] == scales[1]
    if name not in BY_DECISIONS:
        assert Fraction(1, 2) - Fraction(1, 10**9) < sum(1 / scale for scale in scales[0]) <= Fraction(1, 2)


def test_mechanism_refuses_more_than_its_budget() -> None:
    mechanism = Mechanism(1)
    mechanism.measure(np.zeros(3, dtype=np.int64), epsilon=Fraction(2, 3))
    with pytest.raises(PrivhpError, match="exceed its budget"):
        mechanism.measure(np.zeros(3, dtype=np.int64), epsilon=Fraction(1, 2))


def split_log_probability(biased: int, *, scale: Fraction, threshold: int) -> float:
    """Logarithm of the probability that biased + noise exceeds a threshold, for discrete Laplace noise."""
    ratio, distance = math.exp(-1 / scale), threshold - biased
    if distance >= 0:
        return (distance + 1) * math.log(ratio) - math.log1p(ratio)
    return math.log1p(-(ratio**-distance) / (1 + ratio))


def path_loss(counts: list[int], *, bits: int, scale: Fraction, delta: int, threshold: int) -> float:
    """Privacy loss of the decisions on a path of split cells, from a record in all of them."""
    loss = 0.0
    for depth, count in enumerate(counts):
        with_record, without = (
            int(privtree.biased_counts(np.array([each]), depth=depth, delta=delta, threshold=threshold)[0])
            for each in (count, count - 1)
        )
        loss += split_log_probability(with_record, scale=scale, threshold=threshold)
        loss -= split_log_probability(without, scale=scale, threshold=threshold)
    return loss


@given(
    counts=st.lists(st.integers(1, 400), min_size=1, max_size=40),
    bits=st.integers(1, 3),
    epsilon=st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(3)]),
    threshold=st.sampled_from([0, 1, 50]),
)
def test_splits_of_privtree_cost_at_most_their_budget(
    counts: list[int], bits: int, epsilon: Fraction, threshold: int
) -> None:
    scale = privtree.noise_scale(bits, epsilon=epsilon)
    delta = privtree.decay(bits, scale=scale)
    path = sorted(counts, reverse=True)
    assert 0 <= path_loss(path, bits=bits, scale=scale, delta=delta, threshold=threshold) <= epsilon + 1e-9
    worst = [depth * delta + 1 for depth in reversed(range(12))]  # bias cancelled by growing counts
    assert path_loss(worst, bits=bits, scale=scale, delta=delta, threshold=threshold) <= epsilon + 1e-9


def test_check_rejects_privtree_without_decay() -> None:
    scale = privtree.noise_scale(1, epsilon=Fraction(1))
    assert path_loss([1] * 12, bits=1, scale=scale, delta=0, threshold=5) == 0  # clipped at the threshold
    with_decay = path_loss([6] * 12, bits=1, scale=scale, delta=privtree.decay(1, scale=scale), threshold=5)
    assert with_decay <= 1 < path_loss([6] * 12, bits=1, scale=scale, delta=0, threshold=5)


def bucket_lists(size: int) -> list[list[tuple[int, int]]]:
    """All partitions into buckets whose lengths are powers of two, as pairs of first cell and length."""
    if size == 0:
        return [[]]
    lengths = [2**power for power in range(size.bit_length()) if 2**power <= size]
    return [[*rest, (size - length, length)] for length in lengths for rest in bucket_lists(size - length)]


@settings(max_examples=case_count(40))
@given(seed=st.integers(0, 2**32), place=st.integers(0, 4))
def test_record_moves_the_threshold_of_a_bucket_by_at_most_its_scale(seed: int, place: int) -> None:
    """The step of DAWA's proof: the largest noise of a bucket with which its partition is chosen."""
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, 6, 5) * rng.integers(1, 20, 5)
    partitions = bucket_lists(5)
    noise = {bucket: int(rng.integers(-5, 5)) for partition in partitions for bucket in partition}
    neighbours = [deviations_of(values) for values in (cells, cells + (np.arange(5) == place))]
    for partition in partitions:
        (own,) = [bucket for bucket in partition if bucket[0] <= place < bucket[0] + bucket[1]]
        known = noise | {own: 0}
        thresholds = []
        for deviations in neighbours:
            costs = [sum(deviations[bucket] + known[bucket] for bucket in each) for each in partitions]
            rivals = [cost for cost, each in zip(costs, partitions, strict=True) if own not in each]
            thresholds.append(min(rivals) - costs[partitions.index(partition)])
        assert abs(thresholds[0] - thresholds[1]) <= dawa.largest_change(own[1]) + 2


def deviations_of(cells: Counts) -> dict[tuple[int, int], int]:
    """Deviation of each bucket whose length is a power of two."""
    found = WindowDeviations(cells)
    lengths = [2**power for power in range(cells.size.bit_length()) if 2**power <= cells.size]
    return {(first, length): int(own) for length in lengths for first, own in enumerate(found.of_length(length))}


@pytest.mark.parametrize("length", [1, 2, 4, 8, 16])
def test_largest_change_of_a_deviation_is_reached_and_not_exceeded(length: int) -> None:
    rng, changes = np.random.default_rng(7), set()
    for _ in range(1_000):
        cells = rng.integers(0, 10, length) * (rng.random(length) < 0.3)
        more = cells + (np.arange(length) == rng.integers(length))
        before, after = (int(WindowDeviations(each).of_length(length)[0]) for each in (cells, more))
        changes.add(abs(after - before))
    assert max(changes) == dawa.largest_change(length)


def test_line_and_plane_take_the_same_methods() -> None:
    records = np.random.default_rng(3).random(500)
    for name in METHODS:
        histogram = fit(name, records, Interval(0, 1), epsilon=1, expected_records=500)
        assert histogram.codes.size * 8 <= 2**16

"""The split rule: refined partitions for given noisy counts."""

import inspect
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import case_count
from privhp import Partition
from privhp.collect.refinement import LearningCounts, refine
from privhp.core.cells import Counts, Floats
from privhp.planning.tuning import COLUMN_PAIR_Z, GENERAL, HALVING, LINE, Tuning
from split_rule import refine_slowly
from strategies import partitions

HALVED: Floats = 0.5 ** np.arange(33)
"""Diameters of a domain of 32 levels, each half of the one above."""

COLUMN = LINE._replace(pair_z=COLUMN_PAIR_Z)
TUNINGS = st.sampled_from([LINE, COLUMN, HALVING, GENERAL])
SMALL = st.integers(0, 5).flatmap(lambda level: partitions(root_level=level, max_level=32))


def counted(counts: Any, *, rate: float = 1 / 16, variance: float = 8.0, measured: float = 8.0) -> LearningCounts:
    return LearningCounts(np.array(counts, dtype=np.int64), rate, variance, measured)


def refined_by(partition: Partition, learned: LearningCounts, nbytes: int, tuning: Tuning, **options: Any) -> Partition:
    """A refinement; by default no leaf may be coarser than the coarsest one."""
    options = {"root_level": partition.min_level, "diameters": HALVED} | options
    return refine(partition, learned, nbytes=nbytes, tuning=tuning, **options)


def steps_of(partition: Partition, refined: Partition) -> list[int]:
    """Levels by which each leaf was split; a leaf is split into cells of one level."""
    steps, levels = [], refined.levels.tolist()
    for level in partition.levels.tolist():
        step = levels[0] - level
        assert levels[: 2**step] == [level + step] * 2**step
        del levels[: 2**step]
        steps.append(step)
    assert not levels
    return steps


def split(counts: list[int], nbytes: int, *, tuning: Tuning = GENERAL, **details: float) -> list[int]:
    """Steps of a refinement of all cells of a level."""
    partition = Partition.complete(len(counts).bit_length() - 1)
    learned = counted(counts, **details)
    return steps_of(partition, refined_by(partition, learned, nbytes, tuning))


@st.composite
def cases(draw: st.DrawFn, *, largest: int = 30_000) -> tuple[Partition, LearningCounts, int]:
    """A partition, counts of its leaves and bytes for its refinement: none, few or many more than it has."""
    partition = draw(SMALL)
    amounts = st.one_of(st.integers(-50, 50), st.integers(0, 2000), st.integers(-largest, largest))
    counts = draw(st.lists(amounts, min_size=partition.size, max_size=partition.size))
    details = {name: draw(st.sampled_from([0.5, 2.0, 8.0, 2048.0])) for name in ("variance", "measured")}
    learned = counted(counts, rate=draw(st.sampled_from([1 / 256, 1 / 16, 1.0])), **details)
    extra = draw(st.one_of(st.just(0), st.integers(0, 400), st.integers(0, 40_000)))
    return partition, learned, partition.nbytes + extra


@settings(max_examples=case_count(300))
@given(case=cases(), tuning=TUNINGS, above=st.integers(0, 2))
def test_refinement_equals_reference(case: tuple[Partition, LearningCounts, int], tuning: Tuning, above: int) -> None:
    partition, learned, nbytes = case
    root_level = max(partition.min_level - above, 0)
    refined = refined_by(partition, learned, nbytes, tuning, root_level=root_level)
    assert refined == refine_slowly(
        partition, learned, nbytes=nbytes, root_level=root_level, diameters=HALVED.tolist(), tuning=tuning
    )


@settings(max_examples=case_count(300))
@given(case=cases(largest=2**62), tuning=TUNINGS, flat=st.booleans())
def test_refinement_fits_the_memory(case: tuple[Partition, LearningCounts, int], tuning: Tuning, flat: bool) -> None:
    """For any counts, negative and huge ones too, and for domains whose cells have no diameter."""
    partition, learned, nbytes = case
    diameters = np.zeros(33) if flat else HALVED
    refined = refined_by(partition, learned, nbytes, tuning, diameters=diameters)
    assert refined.nbytes <= nbytes
    assert refined.max_level <= 32
    assert refined.min_level >= partition.min_level


@given(case=cases(), tuning=TUNINGS)
def test_refinement_is_a_pure_function(case: tuple[Partition, LearningCounts, int], tuning: Tuning) -> None:
    partition, learned, nbytes = case
    counts, levels, diameters = learned.counts.copy(), partition.levels.copy(), HALVED.copy()
    once, twice = (refined_by(partition, learned, nbytes, tuning, diameters=diameters) for _ in range(2))
    assert once == twice
    assert np.array_equal(learned.counts, counts)
    assert np.array_equal(partition.levels, levels)
    assert np.array_equal(diameters, HALVED)


def test_refinement_knows_no_rows() -> None:
    """Its inputs are public: no number of rows, no noise-free counts, no domain, no summary."""
    known = ["partition", "learned", "nbytes", "root_level", "diameters", "tuning"]
    assert list(inspect.signature(refine).parameters) == known
    assert [own.name for own in fields(LearningCounts)] == ["counts", "rate", "variance", "measured_variance"]


@pytest.mark.parametrize("nbytes", [0, 8, 4 + 8 * 16])
def test_partition_that_fills_the_memory_is_not_split(nbytes: int) -> None:
    assert not any(split([5000] * 16, nbytes))


def test_ample_memory() -> None:
    """With memory for all, each cell is split until the difference of its halves is in the noise."""
    steps = split([0] * 8 + [200] * 8, 10**6)
    assert steps[:8] == [0] * 8
    assert set(steps[8:]) == {8}
    assert set(split([200] * 16, 10**6, measured=10**4)[8:]) == {3}


def test_empty_leaves_are_merged_where_memory_is_short() -> None:
    """With memory for all splits, or for records in all leaves, none is."""
    partition = Partition([1, *[6] * 32])
    one_place = counted([0, *[0] * 31, 10**5])
    short, ample = (refined_by(partition, one_place, nbytes, GENERAL).levels.tolist() for nbytes in (500, 10**6))
    assert short[:6] == [1, 2, 3, 4, 5, 6]
    assert len(set(short[6:])) == 1
    assert short[-1] > 9
    assert ample[:32] == [1, *[6] * 31]
    full = refined_by(partition, counted([100] * 33), partition.nbytes + 40, GENERAL)
    assert full.size >= partition.size


def test_noise_is_merged_but_not_a_few_records_in_many_leaves() -> None:
    """A pair of leaves is empty by its sum: the threshold grows with the root of the number of leaves."""
    noise = [3, -3] * 16
    few = [2] * 32
    for counts, merged in ((noise, True), (few, False)):
        refined = refined_by(Partition([1, *[6] * 32]), counted([10**6, *counts]), 500, GENERAL)
        assert (refined.levels.tolist()[-1] == 1) is merged


def test_heavier_cells_are_split_first() -> None:
    counts = [1000 + 20 * place for place in np.random.default_rng(0).permutation(64)]
    for nbytes in (1100, 2000, 4000):
        steps = split(counts, nbytes)
        assert any(steps)
        by_count = [step for _, step in sorted(zip(counts, steps, strict=True), reverse=True)]
        ranks = [by_count[place : place + 16] for place in range(0, 64, 16)]
        means = [sum(own) / 16 for own in ranks]
        assert means == sorted(means, reverse=True)
    assert split([100, 90, 10_000, 80], 60)[2] > 0


@given(counts=st.lists(st.integers(0, 5000), min_size=16, max_size=16), place=st.integers(0, 15))
def test_a_fuller_cell_is_split_no_less(counts: list[int], place: int) -> None:
    """Without a limit on memory, and cells by themselves."""
    fuller = [*counts]
    fuller[place] *= 2
    assert split(fuller, 10**7)[place] >= split(counts, 10**7)[place]


@pytest.mark.parametrize("variance", [8.0, 200.0])
def test_only_significant_counts_are_split(variance: float) -> None:
    """The threshold is `split_z` standard deviations of the noise of the learning pass."""
    threshold = GENERAL.split_z * variance**0.5
    below, above = int(threshold), int(threshold) + 1
    steps = split([below, above, -(10**6), 0], 10**6, rate=1 / 256, variance=variance)
    assert steps[0] == steps[2] == steps[3] == 0
    assert steps[1] > 0


def test_split_signal() -> None:
    """A cell is split while the squared difference of its halves is `split_signal` variances of a measured leaf.

    From 28 records on, records**2 + records is at least 100 x 8.
    """
    tuning = GENERAL._replace(split_signal=100.0, max_split_levels=30)
    for records, expected in ((27, 0), (28, 1), (55, 1), (56, 2), (111, 2), (112, 3)):
        learned = {"rate": 1.0, "variance": 1.0, "measured": 8.0}
        assert split([records, 0], 10**6, tuning=tuning, **learned)[0] == expected


def test_levels_of_one_refinement() -> None:
    """At most `max_split_levels`, or `zoom_levels` for a cell with a large share of the records."""
    tuning = GENERAL._replace(max_split_levels=2, zoom_levels=5, zoom_share=0.5)
    assert split([10**6] * 4, 10**6, tuning=tuning) == [2] * 4
    assert split([10**6, 10**6, 10**7, 10**6], 10**6, tuning=tuning) == [2, 2, 5, 2]


def test_leaves_of_the_deepest_level_are_not_split() -> None:
    partition = Partition([1, *[4] * 8])
    learned = counted([10**6] * 9)
    refined = refined_by(partition, learned, 10**6, GENERAL, diameters=HALVED[:5])
    assert refined == Partition.complete(4)


@pytest.mark.parametrize("chunk", [1, 7, 64])
def test_splits_of_equal_gain_are_spread_evenly(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is memory for 84 counters and for a node of each of the 64 cells and of the four families."""
    monkeypatch.setattr("privhp.collect.refinement._CHUNK", chunk)
    steps = split([60] * 64, 8 * 84 + 4 * 68, measured=10_000.0)
    assert set(steps) == {0, 1}
    assert sum(steps) == 20
    assert set(np.diff(np.flatnonzero(steps)).tolist()) <= {3, 4}


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the groups of sibling pairs, which are those of a chunk."""
    counts: Counts = np.random.default_rng(1).integers(0, 3000, 256)
    whole = split(counts.tolist(), 6000)
    for chunk in (16, 100, 256):
        monkeypatch.setattr("privhp.collect.refinement._CHUNK", chunk)
        assert split(counts.tolist(), 6000) == whole


def test_even_cells_are_split_less_than_uneven_ones() -> None:
    """On a line, halves that differ are evidence that halves of halves do."""
    even, uneven = [1000] * 32, [1900, 100] * 16
    steps = split(even + uneven, 10**6, tuning=LINE, measured=3000.0)
    assert max(steps[:32]) < min(steps[32::2])


def test_unevenness_needs_certainty() -> None:
    """Differences of the size of the noise, or of chance, are none."""
    noisy = [30, 20] * 32
    assert split(noisy, 10**6, tuning=LINE, measured=500.0) == split([25] * 64, 10**6, tuning=LINE, measured=500.0)


def test_a_heap_alone_is_split_in_a_measured_column() -> None:
    """Even neighbours hide it in the estimate of their block."""
    counts = [400, 20, *[100] * 14]
    column, line = (split(counts, 10**6, tuning=own, variance=300.0, measured=9000.0)[0] for own in (COLUMN, LINE))
    assert column > line
    noise = [60, 0, *[25] * 14]
    assert split(noise, 10**6, tuning=COLUMN, variance=300.0) == split(noise, 10**6, tuning=LINE, variance=300.0)

"""Leaves of a release."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import DataObject

from privhp import Domain, Geo, Integers, Interval, IPv4, Plan, Summary
from privhp.answers.generator import Generator
from privhp.answers.leaves import Leaves
from privhp.release import Release
from strategies import noise, plans


def exact_plan(*levels: int) -> Plan:
    budgets = dict.fromkeys(levels, "1/10")
    return Plan(Interval(0, 1), epsilon=1, budgets=budgets, exact_depth=max(levels))


def sketched_plan(expand: str) -> Plan:
    """Plan with four exact cells and two sketched levels of one wide row, almost without collisions."""
    return Plan(
        Interval(0, 1),
        epsilon=1,
        budgets=dict.fromkeys([0, 2, 3, 4], "1/10"),
        exact_depth=2,
        sketch_rows=1,
        sketch_width=1024,
        hot_cells=1,
        expand=expand,
        hash_group=2,
        hash_seed=1,
    )


@pytest.mark.parametrize("domain", [Interval(0, 1), IPv4(), Geo()], ids=repr)
def test_empty_stream_under_sketches(domain: Domain) -> None:
    """Where no estimate of a sketched level is positive, deeper levels have no cells."""
    plan = Plan.auto(domain, epsilon=1, expected_records=2e5)
    assert plan.sketched_levels
    for _ in range(5):
        generator = Summary(plan).release()
        assert generator.leaves().codes.size >= 2**plan.exact_depth
        assert np.array_equal(generator.partition.codes(), generator.leaves().codes)
    zeros = {level: np.zeros(shape, dtype=np.int64) for level, shape in plan.shapes.items()}
    assert Generator(Release(plan, zeros)).leaves().codes.size == 2**plan.exact_depth


def leaves_of(plan: Plan, counts: dict[int, list[int]]) -> Leaves:
    """Leaves of noise-free counts, with zeros at the sketched levels."""
    tables = {level: np.zeros(plan.shapes[level], dtype=np.int64) for level in plan.sketched_levels}
    counters = {level: np.array(values) for level, values in counts.items()}
    return Generator(Release(plan, counters | tables)).leaves()


def as_triples(leaves: Leaves) -> list[tuple[int, int, float]]:
    return list(zip(leaves.levels.tolist(), leaves.codes.tolist(), leaves.counts.tolist(), strict=True))


@given(data=st.data(), plan=plans())
def test_leaves_are_a_partition_in_order(data: DataObject, plan: Plan) -> None:
    leaves = Generator(Release(plan, data.draw(noise(plan)))).leaves()
    steps = plan.depth - leaves.levels
    starts = [code << step for code, step in zip(leaves.codes.tolist(), steps.tolist(), strict=True)]
    ends = [start + (1 << step) for start, step in zip(starts, steps.tolist(), strict=True)]
    assert starts == [0, *ends[:-1]]
    assert ends[-1] == 2**plan.depth
    measures = [
        plan.domain.measure(np.array([code], dtype=np.uint64), level=level)[0]
        for code, level in zip(leaves.codes.tolist(), leaves.levels.tolist(), strict=True)
    ]
    assert sum(measures) == pytest.approx(1, rel=1e-12)


@given(data=st.data(), plan=plans())
def test_number_of_leaves(data: DataObject, plan: Plan) -> None:
    leaves = Generator(Release(plan, data.draw(noise(plan)))).leaves()
    assert leaves.codes.size == leaves.levels.size == leaves.counts.size == plan.leaves
    assert (leaves.codes.dtype, leaves.counts.dtype) == (np.uint64, np.float64)


def test_complete_tree_without_sketches() -> None:
    leaves = leaves_of(exact_plan(0, 1, 2), {0: [12], 1: [5, 5], 2: [4, 0, 1, 9]})
    assert as_triples(leaves) == [(2, 0, 5), (2, 1, 1), (2, 2, 0), (2, 3, 6)]


def test_negative_root() -> None:
    assert not leaves_of(exact_plan(0, 1), {0: [-3], 1: [5, 9]}).counts.any()


def test_first_level_without_root() -> None:
    leaves = leaves_of(exact_plan(1, 2), {1: [-3, 8], 2: [5, 5, 5, 1]})
    assert leaves.counts.tolist() == [0, 0, 6, 2]


def test_skipped_levels() -> None:
    leaves = leaves_of(exact_plan(0, 2), {0: [12], 2: [1, 2, 3, -4]})
    assert leaves.counts.tolist() == [2.5, 3.5, 4.5, 1.5]


def test_expand_top() -> None:
    leaves = leaves_of(sketched_plan("top"), {0: [16], 2: [1, 2, 9, 4]})
    assert as_triples(leaves) == [(2, 0, 1), (2, 1, 2), (4, 8, 2.25), (4, 9, 2.25), (3, 5, 4.5), (2, 3, 4)]


def test_expand_all() -> None:
    leaves = leaves_of(sketched_plan("all"), {0: [16], 2: [1, 2, 9, 4]})
    assert as_triples(leaves) == [
        *[(3, 0, 0.5), (3, 1, 0.5), (3, 2, 1), (3, 3, 1)],
        *[(4, 8, 2.25), (4, 9, 2.25), (3, 5, 4.5), (3, 6, 2), (3, 7, 2)],
    ]


def test_expansion_ties() -> None:
    leaves = leaves_of(sketched_plan("top"), {0: [16], 2: [4, 4, 4, 4]})
    assert leaves.levels.tolist() == [4, 4, 3, 2, 2, 2]


def test_cells_beyond_last_integer() -> None:
    plan = Plan(Integers(0, 4), epsilon=1, budgets=dict.fromkeys([0, 1, 2, 3], "1/10"), exact_depth=3)
    leaves = leaves_of(plan, {0: [10], 1: [4, 6], 2: [2, 2, 0, 90], 3: [1, 1, 1, 1, 0, 90, 90, 90]})
    assert leaves.counts.tolist() == [1, 1, 1, 1, 6, 0, 0, 0]


def test_leaves_are_read_only() -> None:
    leaves = leaves_of(exact_plan(1), {1: [1, 2]})
    for array in (leaves.codes, leaves.levels, leaves.counts):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0

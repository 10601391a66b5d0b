"""Tallies, leaves and samples compared with the reference implementation."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
from hypothesis import assume, given, settings
from hypothesis.strategies import DataObject
from numpy.typing import NDArray

import reference
from cases import case_count
from privhp import Box, Categories, Domain, Generator, Integers, Interval, Plan, Tally, Taxonomy, Time
from privhp.core.cells import OUTSIDE, Counts
from privhp.release import Release
from reference import Node
from releases import exact_counts, leaf_indices, nodes_of, release_of
from strategies import HASH_SEEDS, as_batch, batches, free_plans, generators, integers, noise, paper_plans, plans

CLOSE = 1e-9


def codes_of(plan: Plan, records: NDArray[np.generic]) -> list[int]:
    """Code of each record with a cell, encoded one by one."""
    cells = [plan.domain.encode(records[index : index + 1], level=plan.depth)[0] for index in range(len(records))]
    return [int(cell) for cell in cells if cell != OUTSIDE]


def alive_in(plan: Plan) -> Callable[[Node], bool]:
    """Predicate of cells that can hold a record: not beyond the last value, and with a declared one."""
    domain = plan.domain
    if isinstance(domain, Time):
        last = int(domain.encode([domain.spec()["high"]], level=domain.depth)[0])
        return lambda node: node[1] << (domain.depth - node[0]) <= last
    if isinstance(domain, Categories | Taxonomy):
        declared = domain.values if isinstance(domain, Categories) else [path[-1] for path in domain.paths]
        codes = domain.encode(list(declared), level=domain.depth).tolist()
        return lambda node: any(code >> (domain.depth - node[0]) == node[1] for code in codes)
    if isinstance(domain, Integers):
        return lambda node: node[1] << (domain.depth - node[0]) <= domain.high - domain.low
    # A pattern, and decimals with a step.
    return lambda node: bool(domain.measure(np.array([node[1]], dtype=np.uint64), level=node[0])[0] > 0)


def reference_tree(
    plan: Plan, records: NDArray[np.generic], amounts: Mapping[int, Counts]
) -> tuple[reference.Tree, set[Node]]:
    bucket = reference.hash_of(plan)
    tree, sketches = reference.summarise(codes_of(plan, records), plan, bucket, amounts)
    return reference.build_leaves(tree, sketches, plan, bucket, alive_in(plan))


def sort_nodes(plan: Plan, nodes: set[Node]) -> list[Node]:
    return sorted(nodes, key=lambda node: node[1] << (plan.depth - node[0]))


def is_binary(plan: Plan) -> bool:
    """Whether every cell has two children at the next measured level, so that counts are not rounded."""
    return all(deeper == level + 1 for level, deeper in pairwise(plan.budgets))


def depends_on_rounding(plan: Plan, tree: reference.Tree) -> bool:
    """Whether a choice of hot cells depends on digits beyond float precision."""
    binary = is_binary(plan)
    if binary and plan.depth <= 40:
        return False
    for level in [plan.exact_depth, *plan.sketched_levels][plan.expand == "all" : -1]:
        counts = sorted((count for node, count in tree.items() if node[0] == level), reverse=True)
        hot, cold = counts[: plan.hot_cells][-1], (counts[plan.hot_cells :] or [Fraction(-1)])[0]
        if hot - cold < Fraction(1, 10**6) and not (binary and hot == cold == 0):
            return True
    return False


def check_leaves(plan: Plan, records: NDArray[np.generic], amounts: Mapping[int, Counts]) -> None:
    tree, leaves = reference_tree(plan, records, amounts)
    assume(not depends_on_rounding(plan, tree))
    generator = Generator(release_of(plan, records, amounts))
    expected = sort_nodes(plan, leaves)
    assert nodes_of(generator) == expected
    counts = [float(tree[node]) for node in expected]
    np.testing.assert_allclose(generator.leaves().counts, counts, rtol=CLOSE, atol=CLOSE * max(1.0, sum(counts)))


def check_tally(plan: Plan, records: NDArray[np.generic]) -> None:
    no_noise = {level: np.zeros(shape, dtype=np.int64) for level, shape in plan.shapes.items()}
    tally = Tally(plan)
    tally.add(records)
    tree, sketches = reference.summarise(codes_of(plan, records), plan, reference.hash_of(plan), no_noise)
    for level, counts in exact_counts(tally).items():
        slow = sketches[level] if level in sketches else {(cell,): tree[level, cell] for cell in range(2**level)}
        assert dict(np.ndenumerate(counts)) == slow


@given(data=st.data(), plan=plans())
def test_tally_equals_algorithm_1(data: DataObject, plan: Plan) -> None:
    check_tally(plan, data.draw(batches(plan.domain)))


@given(data=st.data(), plan=paper_plans(max_depth=7))
def test_leaves_of_paper_plans_equal_algorithm_2(data: DataObject, plan: Plan) -> None:
    check_leaves(plan, data.draw(batches(plan.domain)), data.draw(noise(plan)))


@given(data=st.data(), plan=free_plans())
def test_leaves_of_plans_with_gaps_equal_algorithm_2(data: DataObject, plan: Plan) -> None:
    check_leaves(plan, data.draw(batches(plan.domain)), data.draw(noise(plan)))


@given(data=st.data(), plan=paper_plans(max_depth=4))
def test_hot_cell_ties(data: DataObject, plan: Plan) -> None:
    """Noise of at most 1 makes most counts equal."""
    check_leaves(plan, as_batch(plan.domain, []), data.draw(noise(plan, largest=1)))


@settings(max_examples=case_count(20))
@given(data=st.data(), domain=st.sampled_from([Interval(0, 1), Integers(-(2**60), 2**60), Box([(0, 1)] * 2)]))
def test_deep_plans_equal_algorithms(data: DataObject, domain: Domain) -> None:
    """Codes above 32 bits, which are hashed in two halves."""
    plan = Plan.paper(
        domain,
        epsilon=1,
        expected_records=1000,
        hot_cells=2,
        exact_depth=2,
        depth=domain.depth,
        sketch_rows=2,
        sketch_width=16,
        hash_seed=data.draw(HASH_SEEDS),
    )
    records = data.draw(batches(domain))
    check_tally(plan, records)
    check_leaves(plan, records, data.draw(noise(plan)))


@given(data=st.data(), plan=plans(), root=st.integers(-5, 0))
def test_non_positive_total(data: DataObject, plan: Plan, root: int) -> None:
    coarsest = min(plan.budgets)
    amounts = {**data.draw(noise(plan)), coarsest: np.full(plan.shapes[coarsest], root)}
    if plan.inference == "least-squares":  # all levels count, not the coarsest alone
        amounts = {level: np.minimum(counts, 0) for level, counts in amounts.items()}
    generator = Generator(Release(plan, amounts))
    nodes = nodes_of(generator)
    measures = [plan.domain.measure(np.array([code], dtype=np.uint64), level=level)[0] for level, code in nodes]
    assert generator.total == 0
    assert generator.probabilities.tolist() == measures


@given(generator=generators(integers()))
def test_cells_beyond_last_integer_have_no_mass(generator: Generator) -> None:
    alive = [alive_in(generator.plan)(node) for node in nodes_of(generator)]
    assert not generator.probabilities[~np.array(alive)].any()


@given(generator=generators(max_depth=4), size=st.integers(1, 30), seed=st.integers(0, 999))
def test_systematic_sample_equals_sampling_procedure(generator: Generator, size: int, seed: int) -> None:
    assume(generator.total > 0)
    nodes = nodes_of(generator)
    counts = dict(zip(nodes, map(Fraction, generator.leaves().counts.tolist()), strict=True))
    start = 1 - np.random.default_rng(seed).random()
    points = (np.arange(size) + start) / size
    ends = np.cumsum(generator.probabilities)
    assume(np.abs(ends - points[:, None]).min() > CLOSE)
    walked = [reference.sample_leaf(Fraction(point) * sum(counts.values()), counts) for point in points.tolist()]
    indices = leaf_indices(generator, generator.sample(size, shuffle=False, rng=seed))
    assert [nodes[index] for index in indices] == walked

"""The fast code equals the slow reference."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
from hypothesis import assume, given, settings
from hypothesis.strategies import DataObject
from numpy.typing import NDArray

import reference
from privhp import Box, Categories, Domain, Generator, Integers, Interval, Plan, Tally, Taxonomy, Time
from privhp.core.cells import OUTSIDE, Counts
from privhp.release import Release
from reference import Node
from releases import exact_counts, leaf_places, nodes_of, release_of
from strategies import HASH_SEEDS, as_batch, batches, free_plans, generators, integers, noise, paper_plans, plans

CLOSE = 1e-9


def codes_of(plan: Plan, records: NDArray[np.generic]) -> list[int]:
    """Cell of each record that has one, found by itself."""
    cells = [plan.domain.encode(records[place : place + 1], level=plan.depth)[0] for place in range(len(records))]
    return [int(cell) for cell in cells if cell != OUTSIDE]


def alive_in(plan: Plan) -> Callable[[Node], bool]:
    """Which cells can hold a record: all, but for those past the last of the integers, or without a declared value."""
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
    return lambda _: True


def reference_tree(
    plan: Plan, records: NDArray[np.generic], amounts: Mapping[int, Counts]
) -> tuple[reference.Tree, set[Node]]:
    bucket = reference.hash_of(plan)
    tree, sketches = reference.summarise(codes_of(plan, records), plan, bucket, amounts)
    return reference.grow(tree, sketches, plan, bucket, alive_in(plan))


def in_order(plan: Plan, nodes: set[Node]) -> list[Node]:
    return sorted(nodes, key=lambda node: node[1] << (plan.depth - node[0]))


def steps_are_halves(plan: Plan) -> bool:
    """Whether every cell has two children at the next measured level, so that there are no thirds to round."""
    return all(deeper == level + 1 for level, deeper in pairwise(plan.budgets))


def rounding_decides(plan: Plan, tree: reference.Tree) -> bool:
    """Whether some choice of hot cells hangs on digits that floats have not got."""
    halves = steps_are_halves(plan)
    if halves and plan.depth <= 40:
        return False
    for level in [plan.exact_depth, *plan.sketched_levels][plan.expand == "all" : -1]:
        counts = sorted((count for node, count in tree.items() if node[0] == level), reverse=True)
        hot, cold = counts[: plan.hot_cells][-1], (counts[plan.hot_cells :] or [Fraction(-1)])[0]
        if hot - cold < Fraction(1, 10**6) and not (halves and hot == cold == 0):
            return True
    return False


def check_leaves(plan: Plan, records: NDArray[np.generic], amounts: Mapping[int, Counts]) -> None:
    tree, leaves = reference_tree(plan, records, amounts)
    assume(not rounding_decides(plan, tree))
    generator = Generator(release_of(plan, records, amounts))
    expected = in_order(plan, leaves)
    assert nodes_of(generator) == expected
    counts = [float(tree[node]) for node in expected]
    np.testing.assert_allclose(generator.leaves().counts, counts, rtol=CLOSE, atol=CLOSE * max(1.0, sum(counts)))


def check_tally(plan: Plan, records: NDArray[np.generic]) -> None:
    nothing = {level: np.zeros(shape, dtype=np.int64) for level, shape in plan.shapes.items()}
    tally = Tally(plan)
    tally.add(records)
    tree, sketches = reference.summarise(codes_of(plan, records), plan, reference.hash_of(plan), nothing)
    for level, counts in exact_counts(tally).items():
        slow = sketches[level] if level in sketches else {(cell,): tree[level, cell] for cell in range(2**level)}
        assert dict(np.ndenumerate(counts)) == slow


@given(data=st.data(), plan=plans())
def test_a_tally_counts_as_algorithm_1(data: DataObject, plan: Plan) -> None:
    check_tally(plan, data.draw(batches(plan.domain)))


@given(data=st.data(), plan=paper_plans(max_depth=7))
def test_the_paper_s_plans_grow_as_algorithm_2(data: DataObject, plan: Plan) -> None:
    check_leaves(plan, data.draw(batches(plan.domain)), data.draw(noise(plan)))


@given(data=st.data(), plan=free_plans())
def test_plans_with_gaps_grow_as_algorithm_2_with_groups(data: DataObject, plan: Plan) -> None:
    check_leaves(plan, data.draw(batches(plan.domain)), data.draw(noise(plan)))


@given(data=st.data(), plan=paper_plans(max_depth=4))
def test_ties_go_to_the_lower_cell(data: DataObject, plan: Plan) -> None:
    """Tiny noise makes most counts equal."""
    check_leaves(plan, as_batch(plan.domain, []), data.draw(noise(plan, largest=1)))


@settings(max_examples=20)
@given(data=st.data(), domain=st.sampled_from([Interval(0, 1), Integers(-(2**60), 2**60), Box([(0, 1)] * 2)]))
def test_deep_plans_count_and_grow_as_the_algorithms(data: DataObject, domain: Domain) -> None:
    """Cells beyond 32 bits, which are hashed in two halves."""
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
def test_a_total_of_0_or_less_means_the_base_measure(data: DataObject, plan: Plan, root: int) -> None:
    coarsest = min(plan.budgets)
    amounts = {**data.draw(noise(plan)), coarsest: np.full(2**coarsest, root)}
    generator = Generator(Release(plan, amounts))
    nodes = nodes_of(generator)
    measures = [plan.domain.measure(np.array([code], dtype=np.uint64), level=level)[0] for level, code in nodes]
    assert generator.total == 0
    assert generator.probabilities.tolist() == measures


@given(generator=generators(integers()))
def test_cells_past_the_last_integer_get_no_mass(generator: Generator) -> None:
    alive = [alive_in(generator.plan)(node) for node in nodes_of(generator)]
    assert not generator.probabilities[~np.array(alive)].any()


@given(generator=generators(max_depth=4), size=st.integers(1, 30), seed=st.integers(0, 999))
def test_evenly_spaced_points_lead_to_the_leaves_of_the_sampling_procedure(
    generator: Generator, size: int, seed: int
) -> None:
    assume(generator.total > 0)
    nodes = nodes_of(generator)
    counts = dict(zip(nodes, map(Fraction, generator.leaves().counts.tolist()), strict=True))
    start = 1 - np.random.default_rng(seed).random()
    points = (np.arange(size) + start) / size
    ends = np.cumsum(generator.probabilities)
    assume(np.abs(ends - points[:, None]).min() > CLOSE)
    walked = [reference.walk(Fraction(point) * sum(counts.values()), counts) for point in points.tolist()]
    places = leaf_places(generator, generator.sample(size, shuffle=False, rng=seed))
    assert [nodes[place] for place in places] == walked

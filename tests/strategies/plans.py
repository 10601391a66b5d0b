"""Strategies for plans, partitions, noise and generators."""

from dataclasses import replace
from fractions import Fraction

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np

from privhp import Domain, Generator, Partition, Plan
from privhp.core.cells import Counts
from privhp.planning.plan_sizes import PlanSizes
from privhp.release import Release
from strategies.domains import domains, tables

HASH_SEEDS = st.integers(0, 2**128 - 1)


@st.composite
def paper_plans(draw: st.DrawFn, domain: st.SearchStrategy[Domain] | None = None, *, max_depth: int = 6) -> Plan:
    """Plans that measure every level, with the paper's budget split."""
    space = draw(domains() if domain is None else domain)
    depth = draw(st.integers(1, min(space.depth, max_depth)))
    return Plan.paper(
        space,
        epsilon=draw(st.sampled_from(["0.1", "1", "3"])),
        expected_records=1000,
        hot_cells=draw(st.integers(1, 6)),
        depth=depth,
        exact_depth=draw(st.integers(0, depth)),
        sketch_rows=draw(st.integers(1, 3)),
        sketch_width=draw(st.integers(1, 12)),
        expand=draw(st.sampled_from(["top", "all"])),
        neighbours=draw(st.sampled_from(["add-remove", "replace-one"])),
        max_records_per_person=draw(st.integers(1, 3)),
        hash_group=draw(st.sampled_from([None, 0])),
        hash_seed=draw(HASH_SEEDS),
    )


@st.composite
def free_plans(draw: st.DrawFn, domain: st.SearchStrategy[Domain] | None = None, *, max_depth: int = 6) -> Plan:
    """Plans with random measured levels and budgets, possibly with gaps and without the root."""
    space = draw(domains() if domain is None else domain)
    levels = sorted(draw(st.sets(st.integers(0, min(space.depth, max_depth)), min_size=1)))
    exact_depth = draw(st.sampled_from(levels))
    sketched = exact_depth < levels[-1]
    weights = draw(st.lists(st.integers(1, 9), min_size=len(levels), max_size=len(levels)))
    hash_group = draw(st.integers(0, 3)) if sketched else 0
    epsilon = draw(st.sampled_from([Fraction(1, 10), Fraction(1), Fraction(7, 2)]))
    return Plan(
        space,
        epsilon=epsilon,
        budgets={level: epsilon * weight / sum(weights) for level, weight in zip(levels, weights, strict=True)},
        exact_depth=exact_depth,
        sketch_rows=draw(st.integers(1, 3)) if sketched else 0,
        sketch_width=draw(st.integers(1, 6)) * 2**hash_group if sketched else 0,
        hot_cells=draw(st.integers(1, 6)) if sketched else 0,
        expand=draw(st.sampled_from(["top", "all"])),
        neighbours=draw(st.sampled_from(["add-remove", "replace-one"])),
        max_records_per_person=draw(st.integers(1, 3)),
        hash_group=hash_group,
        hash_seed=draw(HASH_SEEDS),
    )


@st.composite
def partitions(draw: st.DrawFn, *, root_level: int = 0, max_level: int = 63, max_splits: int = 12) -> Partition:
    """Partitions below all cells of a level: any leaves are split, one after another."""
    levels = [root_level] * 2**root_level
    for _ in range(draw(st.integers(0, max_splits))):
        leaf = draw(st.integers(0, len(levels) - 1))
        step = draw(st.integers(1, 3))
        if levels[leaf] + step <= max_level:
            levels[leaf : leaf + 1] = [levels[leaf] + step] * 2**step
    return Partition(levels)


@st.composite
def partition_plans(draw: st.DrawFn, domain: st.SearchStrategy[Domain] | None = None, *, max_depth: int = 6) -> Plan:
    """Plans with a partition, which may be deeper than the other levels, above or without exact levels."""
    space = draw((domains() if domain is None else domain).filter(lambda own: own.depth > 1))
    root = draw(st.integers(1, min(space.depth, max_depth)))
    partition = draw(partitions(root_level=root, max_level=space.depth, max_splits=6))
    exact = sorted(draw(st.sets(st.integers(0, root - 1))))
    epsilon = draw(st.sampled_from([Fraction(1, 10), Fraction(1), Fraction(7, 2)]))
    return Plan(
        space,
        epsilon=epsilon,
        budgets=dict.fromkeys([*exact, root], epsilon / (len(exact) + 1)),
        exact_depth=max(exact, default=0),
        partition=partition,
        inference="least-squares",
        neighbours=draw(st.sampled_from(["add-remove", "replace-one"])),
        max_records_per_person=draw(st.integers(1, 3)),
    )


@st.composite
def measured_plans(draw: st.DrawFn, domain: st.SearchStrategy[Domain] | None = None, *, max_depth: int = 6) -> Plan:
    """Plans of a table that measure some columns by themselves, with any levels, sketches or a partition."""
    table = st.just(draw(tables() if domain is None else domain))
    kinds = [free_plans, partition_plans]
    plan = draw(st.one_of(*(kind(table, max_depth=max_depth) for kind in kinds)))
    columns, epsilon = {}, plan.epsilon
    for column in draw(st.lists(st.sampled_from(plan.domain.columns), min_size=1, unique_by=lambda own: own.label)):
        deep = kinds if column.domain.depth > 1 else kinds[:1]
        own = draw(st.one_of(*(kind(st.just(column.domain), max_depth=max_depth) for kind in deep)))
        columns[column.label] = PlanSizes(**{name: getattr(own, name) for name in PlanSizes._fields})
        epsilon += own.epsilon
    return replace(plan, epsilon=epsilon, columns=columns, inference="least-squares", hash_seed=draw(HASH_SEEDS))


def plans(domain: st.SearchStrategy[Domain] | None = None, *, max_depth: int = 6) -> st.SearchStrategy[Plan]:
    return st.one_of(
        paper_plans(domain, max_depth=max_depth),
        free_plans(domain, max_depth=max_depth),
        partition_plans(domain, max_depth=max_depth),
    )


@st.composite
def noise(draw: st.DrawFn, plan: Plan, *, largest: int = 9) -> dict[int, Counts]:
    """Noise for every counter of every measured level, in the shapes of the plan."""
    amounts = st.integers(-largest, largest)
    return {level: draw(hnp.arrays(np.int64, shape, elements=amounts)) for level, shape in plan.shapes.items()}


@st.composite
def releases(draw: st.DrawFn, plan: Plan, *, largest: int = 9) -> Release:
    """A release with noise in every counter, also of measured columns."""
    columns = {label: draw(releases(own, largest=largest)) for label, own in plan.column_plans.items()}
    return Release(plan, draw(noise(plan, largest=largest)), columns=columns)


@st.composite
def generators(draw: st.DrawFn, domain: st.SearchStrategy[Domain] | None = None, *, max_depth: int = 6) -> Generator:
    plan = draw(plans(domain, max_depth=max_depth))
    return Generator(Release(plan, draw(noise(plan))))

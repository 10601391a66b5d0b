"""Laws of queries in every domain, against brute force over leaves and cells."""

from collections.abc import Iterator
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis.strategies import DataObject

from privhp import Distribution, Domain, Generator, Interval, Nullable, Table
from privhp.answers.hierarchy import Hierarchy
from regions import contains, regions, rows
from releases import nodes_of
from strategies import any_domains, generators, tables

CLOSE = 1e-9


def cell(code: int) -> Any:
    return np.array([code], dtype=np.uint64)


def some_cell(data: DataObject, domain: Domain) -> tuple[int, int]:
    level = data.draw(st.integers(0, domain.depth))
    return level, data.draw(st.integers(0, 2**level - 1))


def brute_mass(distribution: Distribution, region: Any) -> float:
    shares = [
        float(distribution.domain.overlap(region, cell(code), level=level)[0]) for level, code in nodes(distribution)
    ]
    return float(np.dot(distribution.probabilities, shares))


def resolved_leaves(hierarchy: Hierarchy) -> tuple[list[tuple[int, int]], list[float]]:
    codes, levels, counts = (hierarchy.leaf_values(name).tolist() for name in ("codes", "levels", "estimate"))
    return list(zip(levels, codes, strict=True)), counts


def nodes(distribution: Distribution) -> list[tuple[int, int]]:
    return nodes_of(distribution)  # type: ignore[arg-type]  # a distribution has leaves as a generator does


@given(data=st.data(), generator=generators(any_domains()))
def test_mass(data: DataObject, generator: Generator) -> None:
    region = data.draw(regions(generator.domain))
    assert generator.mass(region).value == pytest.approx(brute_mass(generator, region), abs=CLOSE)


@given(data=st.data(), generator=generators(any_domains()))
def test_mass_bounds(data: DataObject, generator: Generator) -> None:
    region = data.draw(regions(generator.domain))
    leaves, chances = nodes(generator), generator.probabilities.tolist()
    if generator.plan.inference == "least-squares" and generator.total:
        # Cells that a sketch hardly tells apart are one leaf.
        leaves, counts = resolved_leaves(Hierarchy(generator.release).resolved())
        chances = [count / sum(counts) for count in counts]
    shares = [float(generator.domain.overlap(region, cell(code), level=level)[0]) for level, code in leaves]
    inside, touched = (
        sum(chance for chance, share in zip(chances, shares, strict=True) if chosen(share))
        for chosen in (lambda share: share >= 1, lambda share: share > 0)
    )
    assert generator.mass_bounds(region) == pytest.approx((inside, touched), abs=CLOSE)


@given(data=st.data(), domain=any_domains())
def test_overlap_of_children(data: DataObject, domain: Domain) -> None:
    level, code = some_cell(data, domain)
    assume(level < domain.depth)
    region = data.draw(regions(domain))
    overlap = float(domain.overlap(region, cell(code), level=level)[0])
    children = np.array([2 * code, 2 * code + 1], dtype=np.uint64)
    shares = domain.overlap(region, children, level=level + 1)
    measures = domain.measure(children, level=level + 1)
    assert ((shares >= 0) & (shares <= 1)).all()
    if overlap == 0:
        assert (shares[measures > 0] == 0).all()
    if overlap == 1:
        assert (shares[measures > 0] == 1).all()
    if measures.sum() > 0:
        assert overlap == pytest.approx(float(shares @ measures / measures.sum()), abs=CLOSE)


@given(data=st.data(), domain=any_domains())
def test_draws_within_region(data: DataObject, domain: Domain) -> None:
    level, code = some_cell(data, domain)
    region = data.draw(regions(domain))
    overlap = float(domain.overlap(region, cell(code), level=level)[0])
    assume(overlap > 0 and domain.measure(cell(code), level=level)[0] > 0)
    codes = np.repeat(cell(code), 20)
    records = domain.decode_within(region, codes, level=level, rng=np.random.default_rng(1))
    assert all(contains(domain, region, record) for record in rows(domain, domain.to_output(records)))
    if overlap > 2.0**-40:  # otherwise the region may be within the few floats at the edge of a cell
        assert np.array_equal(domain.encode(records, level=level), codes)


@given(
    data=st.data(),
    generator=generators(any_domains()),
    size=st.integers(0, 50),
    method=st.sampled_from(["balanced", "independent"]),
    shuffle=st.booleans(),
)
def test_conditional_sampling(data: DataObject, generator: Generator, size: int, method: Any, shuffle: bool) -> None:
    region = data.draw(regions(generator.domain))
    assume(generator.mass(region).value > 1e-6 and region is not None)
    sample = generator.sample(size, where=region, method=method, shuffle=shuffle, rng=1)
    records = rows(generator.domain, sample)
    assert len(records) == size
    assert all(contains(generator.domain, region, record) for record in records)


@given(data=st.data(), generator=generators(any_domains()), size=st.integers(1, 50), shuffle=st.booleans())
def test_balanced_conditional_sampling(data: DataObject, generator: Generator, size: int, shuffle: bool) -> None:
    region = data.draw(regions(generator.domain))
    mass = generator.mass(region).value
    assume(mass > 1e-6 and region is not None)
    sample = generator.sample(size, where=region, shuffle=shuffle, rng=1)
    codes = generator.domain.encode(sample, level=generator.plan.depth)
    for (level, code), leaf_mass in zip(nodes(generator), generator.probabilities.tolist(), strict=True):
        share = leaf_mass * float(generator.domain.overlap(region, cell(code), level=level)[0]) / mass
        found = int((codes >> np.uint64(generator.plan.depth - level) == code).sum())
        assert abs(found - share * size) < 1 + 1e-6


def cells_above(distribution: Distribution) -> Iterator[tuple[int, int]]:
    """Every cell of the tree except the root, deepest first."""
    found = {(level - up, code >> up) for level, code in nodes(distribution) for up in range(level)}
    yield from sorted(found, reverse=True)


def brute_heavy_hitters(
    distribution: Distribution, threshold: float, allowed: set[tuple[int, int]], counted: list[tuple[int, int, float]]
) -> dict[tuple[int, int], tuple[float, float]]:
    """Mass and residual of each heavy hitter, by sums over leaves and over the cells that the release counts."""
    left, supports = distribution.probabilities.copy(), np.array([count for *_, count in counted])
    supports /= supports.sum() or 1.0
    found = {}
    for level, code in cells_above(distribution):
        inside = [own >= level and leaf >> (own - level) == code for own, leaf in nodes(distribution)]
        supporting = [own >= level and one >> (own - level) == code for own, one, _ in counted]
        residual, supported = float(left[inside].sum()), float(supports[supporting].sum())
        assume(abs(residual - threshold) > CLOSE and abs(supported - threshold / 2) > CLOSE)
        if residual >= threshold and supported >= threshold / 2 and (level, code) in allowed:
            found[level, code] = float(distribution.probabilities[inside].sum()), residual
            left[inside] = 0
            supports[supporting] = 0
    return found


@given(data=st.data(), generator=generators(any_domains()), threshold=st.floats(0.001, 1))
def test_heavy_hitters(data: DataObject, generator: Generator, threshold: float) -> None:
    levels = data.draw(st.none() | st.lists(st.integers(1, generator.domain.depth), min_size=1))
    domain = generator.domain
    allowed = {
        (level, code)
        for level, code in cells_above(generator)
        if (domain.is_reportable(cell(code), level=level)[0] if levels is None else level in levels)
    }
    counts = generator.leaves().counts.tolist()
    counted = [(*node, count) for node, count in zip(nodes(generator), counts, strict=True)]
    expected = brute_heavy_hitters(generator, threshold, allowed, counted)
    hitters = generator.heavy_hitters(threshold, levels=levels)
    assert {(hitter.level, hitter.code) for hitter in hitters} == set(expected)
    for hitter in hitters:
        assert (hitter.mass, hitter.residual_mass) == pytest.approx(expected[hitter.level, hitter.code])
        assert (hitter.count, hitter.residual_count) == pytest.approx(
            (hitter.mass * generator.total, hitter.residual_mass * generator.total)
        )
    masses = [hitter.mass for hitter in hitters]
    assert masses == sorted(masses, reverse=True)
    assert sum(hitter.residual_mass for hitter in hitters) <= 1 + CLOSE


@given(generator=generators(tables()), threshold=st.floats(0.001, 1))
def test_heavy_hitters_of_marginal(generator: Generator, threshold: float) -> None:
    column, leaves = generator.domain.columns[0], generator.leaves()
    marginal = generator.marginal(column.name)
    codes, levels = generator.domain.project(leaves.codes, leaves.levels, columns=[column])
    counted = list(zip(levels.tolist(), codes.tolist(), leaves.counts.tolist(), strict=True))
    expected = brute_heavy_hitters(marginal, threshold, set(cells_above(marginal)), counted)
    hitters = marginal.heavy_hitters(threshold, levels=range(1, marginal.domain.depth + 1))
    assert {(hitter.level, hitter.code) for hitter in hitters} == set(expected)


@given(generator=generators(any_domains()), threshold=st.floats(0.001, 0.2))
def test_region_of_heavy_hitter(generator: Generator, threshold: float) -> None:
    for hitter in generator.heavy_hitters(threshold):
        assert generator.mass(hitter.region).value == pytest.approx(hitter.mass, abs=1e-6)


@given(data=st.data(), domain=any_domains())
def test_region_of_cell(data: DataObject, domain: Domain) -> None:
    """Up to a few floats at the edges of the cell."""
    level, code = some_cell(data, domain)
    assume(level <= 20 and domain.measure(cell(code), level=level)[0] > 0)
    if level == 0:
        assume(not isinstance(domain, Nullable))
    region = domain.describe(code, level=level)
    others = np.arange(2**level, dtype=np.uint64) if level < 8 else np.array([code, code ^ 1], dtype=np.uint64)
    others = others[domain.measure(others, level=level) > 0]
    shares = domain.overlap(region, others, level=level)
    np.testing.assert_allclose(shares, others == code, rtol=0, atol=1e-6)


@st.composite
def tables_with_columns(draw: st.DrawFn) -> tuple[Generator, Any]:
    """A generator of a table, with one of its columns or a list of columns."""
    generator = draw(generators(tables()))
    names = [column.name for column in generator.domain.columns]
    columns = st.one_of(st.sampled_from(names), st.lists(st.sampled_from(names), min_size=1, unique=True))
    return generator, draw(columns)


@given(data=st.data(), case=tables_with_columns())
def test_mass_of_marginal(data: DataObject, case: tuple[Generator, Any]) -> None:
    generator, columns = case
    marginal = generator.marginal(columns)
    region = data.draw(regions(marginal.domain))
    table_region = region if isinstance(columns, list) else {columns: region}
    assert marginal.mass(region).value == pytest.approx(brute_mass(generator, table_region), abs=CLOSE)
    assert marginal.total == pytest.approx(generator.total)


@given(case=tables_with_columns())
def test_leaves_of_marginal(case: tuple[Generator, Any]) -> None:
    generator, columns = case
    marginal = generator.marginal(columns)
    assert isinstance(marginal.domain, Table) == isinstance(columns, list)
    leaves = marginal.leaves()
    depth = int(leaves.levels.max())
    starts = [code << (depth - level) for level, code in nodes(marginal)]
    ends = [code + 1 << (depth - level) for level, code in nodes(marginal)]
    assert starts == [0, *ends[:-1]]
    assert ends[-1] == 2**depth
    assert (leaves.counts >= 0).all()
    assert marginal.probabilities.sum() == pytest.approx(1)


@given(data=st.data(), generator=generators(tables()))
def test_marginal_of_marginal(data: DataObject, generator: Generator) -> None:
    names = [column.name for column in generator.domain.columns]
    some = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    one = data.draw(st.sampled_from(some))
    region = data.draw(regions(dict(zip(names, generator.domain.columns, strict=True))[one].domain))
    twice = generator.marginal(some).marginal(one)
    assert twice.mass(region).value == pytest.approx(generator.marginal(one).mass(region).value, abs=CLOSE)


@given(generator=generators(st.builds(lambda: Table(a=Interval(0, 1), b=Interval(0, 4)))), share=st.floats(0.01, 0.99))
def test_quantiles_of_column(generator: Generator, share: float) -> None:
    for column in ("a", "b"):
        marginal = generator.marginal(column)
        record = float(marginal.quantile(share))
        assert generator.mass({column: (None, record)}).value == pytest.approx(share, abs=1e-6)
        assert float(marginal.cdf(record)) == pytest.approx(share, abs=1e-6)

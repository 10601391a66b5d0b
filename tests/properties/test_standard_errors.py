"""Laws of standard errors: sparse and for many regions at once, they equal their dense definition."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cases import case_count
from dense_errors import dense_shares, dense_standard_error
from privhp import Generator, Integers, Nullable, Table
from privhp.answers import hierarchy_errors
from privhp.answers.leaf_errors import LeafErrors
from privhp.answers.leaves import Leaves
from privhp.domains import Domain
from privhp.release import Release
from regions import regions
from strategies import any_domains, noise, ordered_domains, plans


@st.composite
def solved(draw: st.DrawFn, domain: st.SearchStrategy[Domain]) -> Generator:
    """Generators with standard errors, some of whose counts are far above the noise."""
    plan = draw(plans(domain).filter(lambda own: own.inference == "least-squares"))
    counts = draw(noise(plan))
    many = draw(st.integers(0, 3))
    return Generator(Release(plan, {level: own + 40 * many * (own > 0) for level, own in counts.items()}))


def errors_of(generator: Generator) -> LeafErrors:
    assert isinstance(generator._errors, LeafErrors)
    return generator._errors


@settings(max_examples=case_count(150))
@given(st.data())
def test_errors_equal_dense_definition(data: st.DataObject) -> None:
    generator = data.draw(solved(any_domains()))
    region, errors = data.draw(regions(generator.domain)), errors_of(generator)
    dense, sparse = dense_shares(errors.leaves, region), errors.region_shares(region)
    assume(not 0 < errors.leaves.release.counts.sum() < 1e-9)  # nothing but rounding
    leaves = Leaves(errors.leaves.codes, errors.leaves.levels, errors.leaves.release.counts)
    has_values = leaves.measure(generator.domain) > 0  # the other leaves hold no record
    kept = has_values[sparse.leaves]
    assert np.array_equal(sparse.leaves[kept], np.flatnonzero(dense.mean * has_values))
    for own, expected in zip(sparse[1:], dense[1:], strict=True):
        np.testing.assert_allclose(own[kept], expected[sparse.leaves[kept]], rtol=1e-12)
        assert not expected[dense.mean == 0].any()
    expected = [dense_standard_error(errors.leaves.release, own) for own in (dense, *whole_leaves(dense))]
    found = errors.standard_errors([sparse, sparse.inside, sparse.touched])
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def whole_leaves(dense: Any) -> list[Any]:
    """The leaves inside a region, and those that it touches."""
    masks = [(dense.mean >= 1).astype(float), (dense.mean > 0).astype(float)]
    return [dense._replace(mean=mask, variance=0 * mask, deviation=0 * mask, scatter=0 * mask) for mask in masks]


@settings(max_examples=case_count(100))
@given(st.data())
def test_many_regions_equal_each(data: st.DataObject) -> None:
    generator = data.draw(solved(any_domains()))
    asked = data.draw(st.lists(regions(generator.domain), max_size=5))
    asked += asked[:2]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hierarchy_errors, "CHUNK", data.draw(st.sampled_from([1, 10, 2**18])))
        patch.setattr(hierarchy_errors, "SPARSE", data.draw(st.sampled_from([0, 1000])))  # sorts keys always, or rarely
        found = generator.masses(asked)
        ends = found.interval(0.9)
    each = [generator.mass(region) for region in asked]
    np.testing.assert_allclose(found.value, [own.value for own in each], atol=1e-9)
    np.testing.assert_allclose(found.stderr, [own.stderr for own in each], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        np.stack(ends, axis=-1), np.reshape([own.interval() for own in each], (-1, 2)), atol=1e-7
    )
    assert found.resolved == all(own.resolved for own in each)


@settings(max_examples=case_count(60))
@given(st.data())
def test_errors_of_cdf_equal_those_of_mass(data: st.DataObject) -> None:
    lines = ordered_domains().filter(lambda own: own.is_line)
    column = data.draw(st.one_of(lines, lines.map(Nullable)))
    generator = data.draw(solved(st.just(Table(one=column, other=Integers(0, 3)))))
    values = generator.marginal("one", null=not column.nullable)
    _, value = data.draw(regions(column.inner))
    assume(value is not None)
    below, cdf = values.mass((None, value)), values.cdf(value)
    assert cdf.value == pytest.approx(below.value, abs=1e-9)
    assert cdf.stderr == pytest.approx(below.stderr, rel=1e-6, abs=1e-9)

"""Laws of reports: every release has a page, and its plots equal the generator's answers."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cases import case_count
from pages import Reader, coarse_pictures
from privhp import Generator, RecordsError
from privhp.reporting import report_page
from privhp.reporting.overlay import RealBatch, RealRecords, real_shares
from privhp.reporting.pictures import HistogramPicture, Map, pictures_of
from privhp.reporting.region_masses import RegionSides, mean_levels, pair_masses
from strategies import any_domains, batches, generators


@pytest.fixture(autouse=True, scope="module")
def fast_pictures() -> Iterator[None]:
    with coarse_pictures():
        yield


@settings(max_examples=case_count(60))
@given(generators(any_domains()))
def test_page_is_self_contained(generator: Generator) -> None:
    page = report_page(generator, title="A release")
    assert page == report_page(generator, title="A release")
    reader = Reader(page)
    assert all(address.startswith("data:") for address in reader.addresses)
    assert "script" not in reader.tags
    assert "nan" not in reader.text.lower().split()


def leaf_overlaps(generator: Generator, regions: list[Any]) -> NDArray[np.float64]:
    """Share of each leaf in each region, leaf by leaf."""
    leaves, domain = generator.leaves(), generator.domain
    pairs = [(leaves.codes[[index]], int(level)) for index, level in enumerate(leaves.levels)]
    return np.array([[domain.overlap(region, code, level=level)[0] for region in regions] for code, level in pairs])


def check_sums_over_leaves(generator: Generator, across: list[Any], up: list[Any]) -> None:
    """Masses and mean levels of bins as sums over the leaves, by definition."""
    leaves, shares = generator.leaves(), generator.probabilities
    columns, rows = leaf_overlaps(generator, across), leaf_overlaps(generator, up)
    np.testing.assert_allclose(generator.masses(across).value, shares @ columns, atol=1e-12)
    sides = [RegionSides(generator, regions) for regions in (across, up)]
    np.testing.assert_allclose(pair_masses(generator, *sides), (shares[:, None] * rows).T @ columns, atol=1e-12)
    pairs = zip(leaves.codes, leaves.levels.tolist(), strict=True)
    measures = np.array([generator.domain.measure(np.array([code]), level=level)[0] for code, level in pairs])
    total, weighted = ((weights[:, None] * rows).T @ columns for weights in (measures, measures * leaves.levels))
    levels = mean_levels(generator, *sides)
    np.testing.assert_allclose((levels * total)[total > 0], weighted[total > 0], rtol=1e-9)


@settings(max_examples=case_count(60))
@given(generators(any_domains()))
def test_plots_equal_generator(generator: Generator) -> None:
    for picture in pictures_of(generator, max_maps=1):
        if isinstance(picture, HistogramPicture):
            regions = picture.axis.regions
            indices = [0, len(regions) // 2, len(regions) - 1]
            expected = [generator.mass(regions[index]).value for index in indices]
            np.testing.assert_allclose(picture.shares[1:-1][indices], expected, atol=1e-9)
            assert abs(picture.shares.sum() + picture.missing - 1) < 1e-6
        elif isinstance(picture, Map):
            up, across = picture.up.regions, picture.across.regions
            check_sums_over_leaves(generator, across, up)
            assert (picture.shares.sum(axis=0) <= generator.masses(across).value + 1e-9).all()
            assert (picture.shares.sum(axis=1) <= generator.masses(up).value + 1e-9).all()


@settings(max_examples=case_count(60))
@given(st.data())
def test_counts_of_real_records(data: st.DataObject) -> None:
    generator = data.draw(generators(any_domains()))
    domain = generator.domain
    inputs = [data.draw(batches(domain)) for _ in range(2)]
    drawn = pictures_of(generator, max_maps=1)
    encoded = np.concatenate([domain.encode(domain.as_batch(batch), level=domain.depth) for batch in inputs])
    size = np.count_nonzero(encoded != np.uint64(2**64 - 1))
    against = RealRecords(domain, inputs)
    if not size:
        with pytest.raises(RecordsError, match="at least one real record inside the domain"):
            real_shares(drawn, against)
        return
    found = real_shares(drawn, against)
    assert against.counts == (encoded.size, size)
    for picture, shares in zip(drawn, found, strict=True):
        assert (shares >= 0).all()
        if isinstance(picture, HistogramPicture):
            valid = sum(int((~RealBatch(domain, batch).is_null(picture.axis.variable)).sum()) for batch in inputs)
            assert abs(shares.sum() - valid / size) < 1e-9

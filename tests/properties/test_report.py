"""Laws of reports: any release of any domain can be shown, and what is shown is what the release says."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pages import Reader
from privhp import Generator
from privhp.reporting import pictures, report_page
from privhp.reporting.overlay import RealBatch, RealShares
from privhp.reporting.pictures import Histogram, Map, pictures_of
from privhp.reporting.region_masses import masses, survey
from strategies import any_domains, batches, generators


@pytest.fixture(autouse=True, scope="module")
def coarse_maps() -> Iterator[None]:
    """Maps of few cells, to be quick."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pictures, "MAP_BINS", 12)
        yield


@settings(max_examples=60)
@given(generators(any_domains()))
def test_page_is_self_contained(generator: Generator) -> None:
    page = report_page(generator, title="A release")
    assert page == report_page(generator, title="A release")
    reader = Reader(page)
    assert all(address.startswith("data:") for address in reader.addresses)
    assert "script" not in reader.tags
    assert "nan" not in reader.text.lower().split()


@settings(max_examples=60)
@given(generators(any_domains()))
def test_plots_equal_generator(generator: Generator) -> None:
    for picture in pictures_of(generator, most_maps=1):
        if isinstance(picture, Histogram):
            regions = picture.axis.regions
            places = [0, len(regions) // 2, len(regions) - 1]
            expected = [generator.mass(regions[place]).value for place in places]
            np.testing.assert_allclose(picture.shares[1:-1][places], expected, atol=1e-9)
            assert abs(picture.shares.sum() + picture.missing - 1) < 1e-6
        elif isinstance(picture, Map):
            up, across = picture.up.regions, picture.across.regions
            np.testing.assert_allclose(masses(generator, across), survey(generator, across)[0][0], atol=1e-9)
            assert (picture.shares.sum(axis=0) <= masses(generator, across) + 1e-9).all()
            assert (picture.shares.sum(axis=1) <= masses(generator, up) + 1e-9).all()


@settings(max_examples=60)
@given(st.data())
def test_counts_of_real_records(data: st.DataObject) -> None:
    generator = data.draw(generators(any_domains()))
    domain = generator.domain
    parts = [data.draw(batches(domain)) for _ in range(2)]
    drawn = pictures_of(generator, most_maps=1)
    beside = RealShares(domain, drawn, parts)
    assert beside.size == sum(RealBatch(domain, part).size for part in parts)
    whole = [domain.encode(domain.as_batch(part), level=domain.depth) for part in parts]
    assert beside.size == sum(np.count_nonzero(codes != np.uint64(2**64 - 1)) for codes in whole)
    for picture, shares in zip(drawn, beside.shares, strict=True):
        assert (shares >= 0).all()
        if isinstance(picture, Histogram) and beside.size:
            there = sum(int((~RealBatch(domain, part).is_null(picture.axis.variable)).sum()) for part in parts)
            assert abs(shares.sum() - there / beside.size) < 1e-9

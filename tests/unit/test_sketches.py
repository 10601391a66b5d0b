"""Decoding of sketches for all candidates at once."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

from cases import case_count
from privhp.answers.sketch_decoding import decode_sketch

Places = NDArray[np.int64]
Floats = NDArray[np.float64]


def table_of(counts: Floats, places: Places, width: int) -> NDArray[np.int64]:
    """Sketch table of these counts, without noise."""
    rows = [np.bincount(row.ravel(), weights=counts.ravel(), minlength=width) for row in places]
    return np.stack(rows).astype(np.int64)


def hashed(shape: tuple[int, int], *, rows: int, width: int, seed: int) -> Places:
    return np.random.default_rng(seed).integers(0, width, (rows, *shape))


def all_live(counts: Floats) -> NDArray[np.bool_]:
    return np.ones(counts.shape, dtype=np.bool_)


@pytest.mark.parametrize("seed", range(5))
def test_decoding_without_noise(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = np.where(rng.random((10, 4)) < 0.4, 0.0, rng.integers(100, 5000, (10, 4)).astype(np.float64))
    places = hashed(counts.shape, rows=2, width=512, seed=seed)
    found, _ = decode_sketch(table_of(counts, places, 512), places, counts.sum(axis=1), all_live(counts))
    np.testing.assert_allclose(found, counts, atol=0.02 * counts.max())


def test_decoding_separates_collisions() -> None:
    counts = np.array([[1000.0, 0.0], [0.0, 3000.0]])
    places = np.array([[[7, 1], [2, 7]], [[3, 4], [5, 6]]])
    found, _ = decode_sketch(table_of(counts, places, 64), places, np.array([2000.0, 2000.0]), all_live(counts))
    assert found.sum(axis=1) == pytest.approx([2000, 2000])
    found, _ = decode_sketch(table_of(counts, places, 64), places, counts.sum(axis=1), all_live(counts))
    np.testing.assert_allclose(found, counts, atol=60)


def test_prior_dominates_under_large_noise() -> None:
    counts = np.full((20, 4), 5.0)
    places = hashed(counts.shape, rows=2, width=256, seed=0)
    noise = np.random.default_rng(1).laplace(scale=1000.0, size=(2, 256))
    table = (table_of(counts, places, 256) + noise).astype(np.int64)
    found, _ = decode_sketch(table, places, counts.sum(axis=1), all_live(counts))
    np.testing.assert_allclose(found, counts, rtol=0.1)


def test_sketch_dominates_under_small_noise() -> None:
    counts = np.tile([8000.0, 0.0, 2000.0, 0.0], (20, 1))
    places = hashed(counts.shape, rows=2, width=1024, seed=0)
    noise = np.random.default_rng(1).laplace(scale=5.0, size=(2, 1024))
    table = (table_of(counts, places, 1024) + noise).astype(np.int64)
    found, variances = decode_sketch(table, places, counts.sum(axis=1), all_live(counts))
    np.testing.assert_allclose(found, counts, atol=200)
    assert (variances < 200**2).all()


@settings(max_examples=case_count(50))
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([0.0, 1.0, 100.0, 1e6]))
def test_decoded_counts_are_consistent(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    parents = np.where(rng.random(6) < 0.2, 0.0, rng.exponential(1000, 6))
    possible = rng.random((6, 4)) < 0.7
    possible[:, 1] = True
    places = hashed((6, 4), rows=3, width=32, seed=seed)
    table = rng.normal(0, scale + 1.0, (3, 32)).astype(np.int64)
    found, variances = decode_sketch(table, places, parents, possible)
    assert (found >= 0).all()
    assert not found[~possible].any()
    np.testing.assert_allclose(found.sum(axis=1), parents, rtol=1e-9, atol=1e-9)
    assert (variances > 0).all()

"""Samples with a seed equal the stored ones, for every domain, method, order and kernel."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privhp as hp
from backends import both, selected_kernels
from releases import histogram

__all__ = ["selected_kernels"]

STORED = Path(__file__).parent / "samples.json"
COUNTS = [1, 5, 2, 0, 3, 8, 4, 7]
SIZE, SHOWN = 500, 3

DOMAINS: dict[str, tuple[hp.Domain, Any]] = {
    "interval": (hp.Interval(0, 100), (3.3, 71.7)),
    "log": (hp.Interval(1, 1e4, scale="log"), (2.5, 770)),
    "cuts": (hp.Interval(0, 100, cuts=[1, 5, 20]), (0.5, 30.3)),
    "integers": (hp.Integers(-5, 1000), (3, 770)),
    "box": (hp.Box([(0, 1), (0, 4)]), [(0.1, 0.55), (0.2, 3.9)]),
    "geo": (hp.Geo(), (100, -45, -100, 80)),
    "ipv4": (hp.IPv4(), "128.0.0.0/2"),
    "time": (hp.Time("2020-01-01", "2021-01-01T00:00"), ("2020-02-03T00:00", "2020-11-05T00:00")),
    "categories": (hp.Categories(list("abcdefgh")), ["b", "e", "g"]),
    "nullable": (hp.Nullable(hp.Interval(0, 1)), (0.21, 0.77)),
    "table": (
        hp.Table({"a": hp.Interval(0, 1), "b": hp.Integers(0, 99), "c": hp.Categories(["x", "y"])}),
        {"a": (0.1, 0.7), "c": ["x", "y"]},
    ),
}


def first_values(sample: Any) -> Any:
    """The first records of a sample as JSON values."""
    if isinstance(sample, dict):
        return {name: first_values(values) for name, values in sample.items()}
    sample = np.asarray(sample[:SHOWN].filled(-1) if isinstance(sample, np.ma.MaskedArray) else sample[:SHOWN])
    return (sample.astype(str) if sample.dtype.kind == "M" else sample).tolist()


def samples(name: str) -> dict[str, Any]:
    """The first records of samples of one domain, by region, method and order."""
    domain, region = DOMAINS[name]
    generator = histogram(domain, 3, COUNTS)
    return {
        f"{'region' if where is not None else 'all'}, {method}, {'shuffled' if shuffle else 'ordered'}": first_values(
            generator.sample(SIZE, where=where, method=method, shuffle=shuffle, rng=7)
        )
        for where in (None, region)
        for method in ("balanced", "independent")
        for shuffle in (True, False)
    }


def assert_same(found: Any, stored: Any) -> None:
    if isinstance(stored, dict):
        assert found.keys() == stored.keys()
        for key, value in stored.items():
            assert_same(found[key], value)
    elif np.asarray(stored).dtype.kind == "f":
        np.testing.assert_allclose(found, stored, rtol=1e-12)  # libraries of functions differ in the last digit
    else:
        assert found == stored


@both
@pytest.mark.parametrize("name", DOMAINS)
def test_samples_with_a_seed(name: str, native: bool) -> None:
    stored = json.loads(STORED.read_text())["native" if native else "plain"][name]
    assert_same(samples(name), stored)

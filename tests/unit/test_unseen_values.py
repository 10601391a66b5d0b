"""Single values of which the release shows nothing but wider cells are answered by bounds."""

from typing import Any

import numpy as np
import pytest

import privhp as hp
from learning_runs import ingest

HEAPS = np.repeat(np.arange(0, 1024, 8), 100)
"""Heaps at multiples of eight, each as high: cells of 32 values look even."""


def released(domain: hp.Domain, records: Any, *, deepest: int) -> hp.Generator:
    """A release that measures all levels down to one, with hardly any noise."""
    levels = dict.fromkeys(range(deepest + 1), 10.0)
    plan = hp.Plan(domain, epsilon=1000, budgets=levels, exact_depth=deepest, inference="least-squares")
    return hp.Generator(ingest(plan, [records]).summary.close())


@pytest.mark.parametrize("region", [(64, 64), (65, 65), [64, 80]], ids=str)
def test_values_inside_even_cells_are_bounds(region: Any) -> None:
    generator = released(hp.Integers(0, 1023), HEAPS, deepest=5)
    answer = generator.mass(region)
    assert not answer.resolved
    low, high = answer.interval(0.9)
    assert low == 0.0
    values = region if isinstance(region, list) else region[:1]
    assert low <= np.isin(HEAPS, values).mean() <= high
    assert not np.all(generator.masses([region, (0, 511)])[0].resolved)


def test_ranges_and_whole_cells_are_resolved() -> None:
    generator = released(hp.Integers(0, 1023), HEAPS, deepest=5)
    assert generator.mass((0, 511)).resolved
    assert generator.mass((64, 66)).resolved
    assert generator.cdf([0, 64, 511]).resolved
    low, high = generator.cdf([0, 64, 511]).interval()
    assert (low <= high).all()


@pytest.mark.parametrize(("deepest", "resolved"), [(8, False), (9, False), (10, True)])
def test_only_sides_of_single_values_show_these(deepest: int, resolved: bool) -> None:
    """Of even numbers alone, sides of two values are as even as those of all numbers."""
    for step in (1, 2):
        generator = released(hp.Integers(0, 1023), np.repeat(np.arange(0, 1024, step), 50 * step), deepest=deepest)
        answer = generator.mass((64, 64))
        assert answer.resolved is resolved
        assert answer.interval(0.9)[1] > 0.99 * step / 1024


def test_values_of_a_column_in_a_group() -> None:
    domain = hp.Table(pay=hp.Integers(0, 1023), sex=hp.Categories(["f", "m"]))
    records = {"pay": HEAPS, "sex": np.resize(["f", "m"], HEAPS.size)}
    generator = released(domain, records, deepest=6)
    assert not generator.mass({"pay": (64, 64), "sex": "f"}).resolved
    assert not generator.marginal("pay", where={"sex": "f"}).mass((64, 64)).resolved
    assert generator.mass({"pay": (0, 511), "sex": "f"}).resolved

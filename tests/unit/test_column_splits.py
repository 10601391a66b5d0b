"""Splits of wide leaves of a table along its measured columns, and what they are good for."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import privhp as hp
from learning_runs import ingest
from privhp.answers.column_splits import ColumnSplits
from privhp.answers.leaves import Leaves, build_leaves
from privhp.answers.side_splits import SIGNIFICANCE, learn_splits

TABLE = hp.Table(age=hp.Integers(0, 99), fare=hp.Interval(0, 64), day=hp.Integers(0, 365))


def records(seed: int, size: int = 60_000) -> dict[str, NDArray[Any]]:
    """Ages with heaps, skewed fares, and days that depend on the ages."""
    rng = np.random.default_rng(seed)
    age = np.where(rng.random(size) < 0.4, rng.integers(1, 9, size) * 10, rng.integers(0, 100, size))
    return {"age": age, "fare": 64 * rng.random(size) ** 3, "day": (3 * age + rng.integers(0, 60, size)) % 366}


def plan(passes: int = 1) -> hp.Plan:
    return hp.Plan.auto(TABLE, epsilon=1, expected_records=60_000, memory="64 KiB", passes=passes, hash_seed=3)


@cache
def fitted(passes: int) -> hp.Generator:
    own = plan(passes)
    assert list(own.columns) == ["age", "fare", "day"]
    return hp.Generator(ingest(own, [records(1)]).summary.close())


def splits_of(generator: hp.Generator, label: str) -> tuple[ColumnSplits, Leaves, Any, float]:
    leaves, solved = build_leaves(generator._hierarchy), generator._measured[label]._hierarchy
    variance = float(generator._hierarchy.leaf_values("variance").mean())
    return ColumnSplits(solved, label, TABLE, leaves, variance=variance), leaves, solved, variance


def levels_of(axis: int) -> Iterator[tuple[int, int]]:
    """Levels that are cut along an axis, with the number of cuts before."""
    root = np.zeros(1, dtype=np.uint64)
    for level in range(TABLE.depth):
        before, after = (TABLE.axis_cells(root, level=own)[axis][1] for own in (level, level + 1))
        if after > before:
            yield level, before


@pytest.mark.parametrize("passes", [1, 3])
@pytest.mark.parametrize("axis", range(3))
def test_pool_equals_slow_definition(passes: int, axis: int) -> None:
    """The records of a side in narrower leaves are taken from both halves; the others are in leaves as wide as it."""
    column, generator = TABLE.columns[axis], fitted(passes)
    splits, leaves, solved, variance = splits_of(generator, column.label)
    cells = [
        (int(TABLE.axis_cells(leaves.codes[[at]], level=int(level))[axis][0][0]), level, count)
        for at, (level, count) in enumerate(zip(leaves.levels.tolist(), leaves.counts.tolist(), strict=True))
    ]
    sides = [(code, TABLE.axis_cells(np.zeros(1, np.uint64), level=own)[axis][1], count) for code, own, count in cells]
    scale = sum(leaves.counts.tolist()) / float(solved.layers[0].estimate.sum())
    alone, compared = learn_splits(solved, column.domain), 0
    for level, cuts in levels_of(axis):
        found, expected = splits.pool(axis, level, own=0.25), {}
        known = alone[cuts].cells if cuts < len(alone) else None
        assert splits.is_counted(level) == (cuts < len(alone) and alone[cuts].counted)
        for code, first, count, noise in zip(*known, strict=True) if known is not None else ():
            half = np.array([2 * code, 2 * code + 1], dtype=np.uint64)
            measures = column.domain.measure(half, level=cuts + 1)
            narrow, number = [0.0, 0.0], 0
            for side, own, records_of_leaf in sides:
                if own > cuts and side >> (own - cuts) == code:
                    narrow[side >> (own - cuts - 1) & 1] += records_of_leaf
                    number += 1
            rest, error = scale * count - sum(narrow), scale**2 * noise + number * variance
            if rest > SIGNIFICANCE * np.sqrt(error) and (measures > 0).all():
                even = measures[0] / measures.sum()
                expected[int(code)] = (rest, ((scale * first - narrow[0]) / rest - even) / np.sqrt(even * (1 - even)))
        if not expected:
            assert found is None
            continue
        assert found is not None
        assert found.sides.tolist() == sorted(expected)
        np.testing.assert_allclose(found.counts, [expected[side][0] for side in sorted(expected)], rtol=1e-9)
        np.testing.assert_allclose(
            found.imbalances, [expected[side][1] for side in sorted(expected)], rtol=1e-6, atol=1e-9
        )
        assert found.own == 0.25
        assert not found.concentrations.any()
        own_cells = TABLE.axis_cells(found.codes, level=level)
        assert np.array_equal(own_cells[axis][0], found.sides), "a cell that stands for another side"
        compared += len(expected)
    assert compared > 3


def test_embedded_cells_are_projected_back() -> None:
    rng = np.random.default_rng(2)
    for level in range(TABLE.depth + 1):
        for column in TABLE.columns:
            bits = TABLE.splits_by_column(level)[column.label]
            codes = rng.integers(0, 2**bits, 20, dtype=np.uint64)
            cells = TABLE.embed(codes, level=level, column=column)
            assert (cells < 2**level).all()
            projected, own = TABLE.project(cells, np.full(20, level), columns=[column])
            assert np.array_equal(projected, codes)
            assert (own == bits).all()


def test_other_domains_have_no_columns() -> None:
    line = hp.Interval(0, 1)
    assert line.encode_columns(np.array([0.3]), level=2, columns={})[1] == {}
    with pytest.raises(hp.DomainError, match="has no columns"):
        line.embed(np.zeros(1, np.uint64), level=2, column=TABLE.columns[0])


RANGES: list[dict[str, Any]] = [
    *({"age": (low, low + 9)} for low in range(0, 90, 10)),
    *({"age": (age, age)} for age in (10, 13, 40, 41, 80)),
    *({"fare": (low / 2, 3 * low)} for low in range(1, 16, 2)),
    *({"day": (low, low + 29)} for low in range(0, 330, 30)),
]
CONJUNCTIONS: list[dict[str, Any]] = [
    {"age": (low, low + 9), "fare": (high / 4, high)} for low in (0, 20, 50) for high in (1, 4, 16, 40)
]


def truth(data: dict[str, NDArray[Any]], region: dict[str, Any]) -> float:
    return float(np.mean(np.all([(low <= data[n]) & (data[n] <= high) for n, (low, high) in region.items()], axis=0)))


def error(generator: hp.Generator, data: dict[str, NDArray[Any]], regions: list[dict[str, Any]]) -> float:
    return float(np.mean([abs(float(generator.mass(region)) - truth(data, region)) for region in regions]))


@pytest.mark.parametrize("passes", [1, 3])
def test_columns_answer_better(passes: int) -> None:
    """Mean errors of one-column ranges, and of conjunctions, are smaller with columns than without them.

    The leaves have the same budgets in both. In 12 fits, the mean ratios were 0.1 to 0.4, and the largest was 0.5.
    """
    ratios = []
    for seed in (1, 2):
        data, own = records(seed), plan(passes)
        both = [hp.Generator(ingest(each, [data]).summary.close()) for each in (own, replace(own, columns={}))]
        errors = np.array([[error(each, data, regions) for regions in (RANGES, CONJUNCTIONS)] for each in both])
        ratios.append(errors[0] / errors[1])
    ranges, conjunctions = np.exp(np.log(ratios).mean(axis=0))
    assert ranges < 0.8
    assert conjunctions < 0.95

"""Speed of counting records, relative to a histogram library, a sketch library and np.bincount."""

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import boost_histogram
import datasketches
import numpy as np
from numpy.typing import NDArray

import privhp as hp
from benchmarks.timing import best_seconds, numpy_kernels
from privhp.collect.ingest import READING_SCRATCH

POINTS = 1 << 21
FEW = 1 << 14  # for anchors that take one record per call


def plan(domain: hp.Domain, *, exact_depth: int, levels: range, rows: int, width: int) -> hp.Plan:
    """Plan of a given shape, with equal budgets."""
    measured = [*range(exact_depth + 1), *levels]
    return hp.Plan(
        domain,
        epsilon=Fraction(1),
        budgets=dict.fromkeys(measured, Fraction(1, len(measured))),
        exact_depth=exact_depth,
        sketch_rows=rows,
        sketch_width=width,
        hot_cells=width // 2,
        hash_group=4,
    )


def six_levels(domain: hp.Domain) -> hp.Plan:
    """Plan with six sketched levels of two rows below an exact depth of 12."""
    return plan(domain, exact_depth=12, levels=range(13, 19), rows=2, width=512)


def paper_shape(domain: hp.Domain) -> hp.Plan:
    """Plan of depth 24, exact depth 12, four rows and 256 hot cells."""
    return plan(domain, exact_depth=12, levels=range(13, 25), rows=4, width=512)


def skewed_mixture(size: int, sides: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Narrow clusters with weights that follow a power law."""
    weights = 1.0 / np.arange(1, 41) ** 1.5
    cluster = rng.choice(40, size=size, p=weights / weights.sum())
    points: NDArray[np.float64] = rng.random((40, sides))[cluster] + rng.normal(0, 0.002, (size, sides))
    return np.clip(points, 0, 1)


def counting(tally: hp.Tally, records: NDArray[Any], **options: Any) -> Callable[[], None]:
    """Function that counts all records."""
    return lambda: tally.add(records, **options)


def with_numpy_kernels(run: Callable[[], None]) -> Callable[[], None]:
    """Function that runs another with the NumPy kernels."""

    def turn() -> None:
        with numpy_kernels():
            run()

    return turn


def histogram_fill(points: NDArray[np.float64], bins: int) -> Callable[[], object]:
    """Function that fills a boost histogram with equal bins on every axis."""
    axes = [boost_histogram.axis.Regular(bins, 0, 1) for _ in range(points.shape[1])]
    histogram = boost_histogram.Histogram(*axes)
    columns = [np.ascontiguousarray(column) for column in points.T]
    return lambda: histogram.fill(*columns)


def sketch_library(cells: NDArray[np.uint64], *, levels: int, rows: int, width: int) -> Callable[[], None]:
    """Function that updates Count-Min sketches of Apache DataSketches, which take one item per call."""
    sketches = [datasketches.count_min_sketch(rows, width) for _ in range(levels)]
    paths = [(cells >> np.uint64(levels - 1 - level)).tolist() for level in range(levels)]

    def turn() -> None:
        for sketch, path in zip(sketches, paths, strict=True):
            for cell in path:
                sketch.update(cell)

    return turn


def measure() -> list[tuple[str, float, float | None]]:
    """Rows of (name, ratio, minimum)."""
    rng = np.random.default_rng(0)
    square = hp.Box([(0, 1), (0, 1)])
    points = rng.random((POINTS, 2))
    some = points[: 1 << 19]
    paper, six = hp.Tally(paper_shape(square)), hp.Tally(six_levels(square))
    codes = square.encode(points[:FEW], level=24)
    best = best_seconds(
        {
            "boost": histogram_fill(points, 64),
            "six": counting(six, points),
            "paper": counting(paper, points),
            "histogramdd": lambda: np.histogramdd(some, bins=64, range=[(0, 1), (0, 1)]),
            "six, plain": with_numpy_kernels(counting(six, some)),
            "datasketches": sketch_library(codes, levels=12, rows=4, width=512),
        }
    )
    dd = best["histogramdd"] * len(points) / len(some)
    library = best["datasketches"] * len(points) / FEW
    plain = best["six, plain"] * len(points) / len(some)
    rows: list[tuple[str, float, float | None]] = [
        ("2-D uniform, 6 sketched levels x 2 rows / boost-histogram 64 x 64", best["boost"] / best["six"], 0.50),
        ("2-D uniform, paper's shape (24, 12, 4, 256) / boost-histogram 64 x 64", best["boost"] / best["paper"], 0.30),
        ("the same / Apache DataSketches, 12 levels", library / best["paper"], 120.0),
        ("the same / numpy.histogramdd 64 x 64", dd / best["paper"], 6.0),
        ("two threads / one, 6 x 2", two_threads(six, points), 1.8),
        ("NumPy kernels, 6 x 2 / numpy.histogramdd 64 x 64", dd / plain, 2.0),
    ]
    clusters = skewed_mixture(POINTS, 4, rng)
    hypercube = hp.Box([(0, 1)] * 4)
    best = best_seconds(
        {
            "boost": histogram_fill(clusters, 8),
            "boost 2-D": histogram_fill(np.ascontiguousarray(clusters[:, :2]), 64),
            "paper": counting(hp.Tally(paper_shape(hypercube)), clusters),
        }
    )
    rows += [
        ("skewed 4-D mixture, paper's shape / boost-histogram 8 x 8 x 8 x 8", best["boost"] / best["paper"], 1.4),
        ("the same / boost-histogram 64 x 64 of two columns", best["boost 2-D"] / best["paper"], None),
    ]
    return rows + learned_partition(points, rng) + one_dimension(rng)


def learned_partition(points: NDArray[np.float64], rng: np.random.Generator) -> list[tuple[str, float, float | None]]:
    """Measuring passes of default plans, with the small blocks that their memory allows and with those of `fit`."""
    rows: list[tuple[str, float, float | None]] = []
    for name, records in {"uniform": points, "skewed": skewed_mixture(POINTS, 2, rng)}.items():
        turns: dict[str, Callable[[], object]] = {"boost": histogram_fill(records, 64)}
        for memory in ("64 KiB", "1 MiB"):
            square = hp.Box([(0, 1), (0, 1)])
            learned = hp.learn(records, square, epsilon=1, expected_records=POINTS, memory=memory)
            turns[memory] = counting(hp.Tally(learned), records)
            turns[f"{memory}, blocks of fit"] = counting(hp.Tally(learned), records, scratch=READING_SCRATCH)
        best = best_seconds(turns)
        rows += [
            (f"learned partition, {case}, 2-D {name} / boost-histogram 64 x 64", best["boost"] / best[case], None)
            for case in list(turns)[1:]
        ]
    return rows


def two_threads(tally: hp.Tally, points: NDArray[np.float64]) -> float:
    """Speed-up of two threads, in wall-clock time."""
    points = np.concatenate([points] * 4)  # enough work for two threads
    turns = {threads: counting(tally, points, threads=threads) for threads in (1, 2)}
    best = best_seconds({str(threads): turn for threads, turn in turns.items()}, clock=time.perf_counter)
    return best["1"] / best["2"]


def one_dimension(rng: np.random.Generator) -> list[tuple[str, float, float | None]]:
    """Speed of IPv4 addresses and numbers, relative to np.bincount with the same number of increments."""
    addresses = rng.integers(0, 2**32, size=POINTS, dtype=np.uint32)
    numbers = rng.random(POINTS)
    buckets = rng.integers(0, 512, size=POINTS)
    best = best_seconds(
        {
            "bincount": lambda: np.bincount(buckets, minlength=512),
            "IPv4": counting(hp.Tally(six_levels(hp.IPv4())), addresses),
            "1-D": counting(hp.Tally(six_levels(hp.Interval(0, 1))), numbers),
        }
    )
    increments = 1 + 6 * 2
    return [
        (
            f"{name}, 6 x 2 / np.bincount of {increments} increments per record",
            increments * best["bincount"] / best[name],
            2,
        )
        for name in ("IPv4", "1-D")
    ]


def scaling() -> list[tuple[str, float]]:
    """Time per record by number of records, levels and rows, relative to the first of each."""
    rng = np.random.default_rng(1)
    square = hp.Box([(0, 1), (0, 1)])
    points = rng.random((POINTS, 2))

    def seconds(shape: hp.Plan, records: NDArray[np.float64]) -> float:
        return best_seconds({"": counting(hp.Tally(shape), records)}, turns=3)[""] / len(records)

    rows: list[tuple[str, float]] = []
    base = seconds(six_levels(square), points[: 1 << 16])
    rows += [
        (f"records: {1 << power:,}", seconds(six_levels(square), points[: 1 << power]) / base) for power in (16, 19, 22)
    ]
    shapes = {
        f"levels: {levels}, rows: {sketch_rows}": plan(
            square, exact_depth=12, levels=range(13, 13 + levels), rows=sketch_rows, width=512
        )
        for levels, sketch_rows in ((1, 2), (6, 2), (12, 2), (12, 4), (12, 8))
    }
    first = seconds(next(iter(shapes.values())), points)
    return rows + [(name, seconds(shape, points) / first) for name, shape in shapes.items()]

"""A stream with the distances of fits from it, and the file of all results."""

import hashlib
import json
import math
import secrets
from collections.abc import Callable, Collection
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import privhp as hp
from benchmarks.methods import KNOWN, MEMORY
from benchmarks.streams import Records, Stream
from privhp.baselines import METHODS, CellCounts, Mechanism, SignedHistogram
from privhp.baselines.memory import finest_level
from privhp.core.cells import Floats
from privhp.evaluate import random_regions
from privhp.evaluate.range_queries import region_masses, relative_errors

RESULTS = Path(__file__).with_name("results") / "accuracy.jsonl"
NAMES = ("part", "data", "records", "method", "memory", "level", "form", "epsilon", "run")
"""Keys that identify a line."""

REGIONS, RECTANGLES = 50, 20
SIZES_OF_RECTANGLES = {"small": (1e-4, 1e-3), "medium": (1e-3, 1e-2), "large": (1e-2, 1e-1)}
"""Shares of the plane that rectangles cover."""

SIGNED = "signed"
"""The rule of answers without post-processing."""

Line = dict[str, Any]


class Results:
    """Lines of the results file, the last line of each fit."""

    def __init__(self, path: Path = RESULTS) -> None:
        self.path = path
        path.parent.mkdir(exist_ok=True)
        self.lines: dict[tuple[Any, ...], Line] = {}
        for text in path.read_text().splitlines() if path.exists() else []:
            line = json.loads(text)
            self.lines[self._key(line)] = line

    @staticmethod
    def _key(line: Line) -> tuple[Any, ...]:
        return tuple(line.get(name) for name in NAMES)

    def fill(self, line: Line, measure: Callable[[], Line]) -> Line:
        """Complete a line with the stored figures of the same fit and plan, or measure and store them."""
        key = self._key(line)
        if key not in self.lines or self.lines[key].get("plan") != line.get("plan"):
            self.lines[key] = line | measure()
            with self.path.open("a") as file:
                file.write(json.dumps(self.lines[key]) + "\n")
        return self.lines[key]

    def forget(self, streams: list[str], methods: list[str]) -> None:
        """Drop the lines of some streams and methods."""
        kept = [line for line in self.lines.values() if line["data"] not in streams or line["method"] not in methods]
        self.lines = {self._key(line): line for line in kept}
        self.path.write_text("".join(json.dumps(line) + "\n" for line in kept))


class Bench:
    """Records of a stream, and the distances of fits from them."""

    def __init__(self, stream: Stream, *, names: Line, earlier: Callable[[], Records] | None = None) -> None:
        """Take a stream.

        Args:
            stream: The records and their domain.
            names: Keys of all lines of this stream.
            earlier: Function that returns the records of an earlier release.
        """
        self.stream, self.domain, self._earlier = stream, stream.domain, earlier
        codes = self.domain.encode(self.domain.as_batch(stream.records), level=self.domain.depth)
        self.names = names | {"data": stream.name, "records": len(stream)}
        self.in_order = stream.records[np.argsort(codes, kind="stable")]  # sorting it again in the metrics is fast
        self.unit = self.domain.diameter(0) / len(stream)

    @cached_property
    def counts(self) -> CellCounts:
        """Counts of cells for the baselines."""
        return CellCounts(self.domain, self.stream.records)

    def distance(self, one: Any, other: Any) -> float:
        """W1 x n with the domain scaled to 1: exact on the line, in the hierarchy elsewhere."""
        on_line = isinstance(self.domain, hp.Interval)
        return (hp.wasserstein if on_line else hp.tree_wasserstein)(one, other, domain=self.domain) / self.unit

    @property
    def in_plane(self) -> bool:
        """Whether ranges and the exact distance on a grid are defined."""
        return isinstance(self.domain, hp.Box) and len(self.domain.axes) == 2

    @cached_property
    def regions(self) -> list[Any]:
        """Random query regions, the same for all methods."""
        return random_regions(self.domain, REGIONS, rng=7)

    @cached_property
    def rectangles(self) -> dict[str, Floats]:
        """Rectangles in the plane around random records, by size: their lows and highs along both axes."""
        rng, found = np.random.default_rng(8), {}
        low, high = np.array(self.domain.rectangle).T
        for name, (least, most) in SIZES_OF_RECTANGLES.items():
            sides = np.sqrt(np.exp(rng.uniform(math.log(least), math.log(most), RECTANGLES)))
            shape = np.exp(rng.uniform(-1, 1, RECTANGLES))
            half = np.stack([sides * shape, sides / shape], axis=1) * (high - low) / 2
            centres = self.stream.records[rng.integers(len(self.stream), size=RECTANGLES)]
            found[name] = np.stack([np.maximum(centres - half, low), np.minimum(centres + half, high)], axis=2)
        return found

    @cached_property
    def true_counts(self) -> dict[str, Floats]:
        """Number of records in each rectangle."""
        points = self.stream.records
        return {
            name: np.array([((points >= low) & (points <= high)).all(axis=1).sum() for low, high in each.mT])
            for name, each in self.rectangles.items()
        }

    @cached_property
    def truth(self) -> Floats:
        """True masses of the regions."""
        return region_masses(self.stream.records, self.regions, domain=self.domain)

    def other_errors(self, side: hp.Distribution | SignedHistogram, extras: Collection[str]) -> Line:
        """Mean relative error of regions, errors of rectangles in records, and the exact distance on a grid."""
        errors: Line = {}
        if "ranges" in extras:
            errors["ranges"] = float(relative_errors(masses(side, self.regions), self.truth).mean())
        if "rectangles" in extras:
            for name, each in self.rectangles.items():
                found = masses(side, [list(map(tuple, sides)) for sides in each.tolist()]) * side.total
                errors[name] = float(np.abs(found - self.true_counts[name]).mean())
        if "grid" in extras and isinstance(side, hp.Distribution):
            errors["grid"] = hp.grid_wasserstein(side, self.in_order) * len(self.stream)
        return errors

    def fit(self, plan: hp.Plan, method: str, *, extras: Collection[str]) -> Line:
        """Errors of one fit of a plan with new hash functions: its W1 distance, and extras by name."""
        plan = self.known_partition(plan) if method == KNOWN else replace(plan, hash_seed=secrets.randbits(128))
        generator = hp.fit(self.stream.records, plan=plan)
        assert not plan.memory or generator.plan.nbytes <= plan.memory
        line: Line = {"w1": self.distance(generator, self.in_order)}
        if "resolution" in extras:
            cells = generator.partition
            line["resolution"] = self.resolution(cells.codes(), cells.levels.astype(np.int64))
        return line | self.other_errors(generator, extras)

    def known_partition(self, plan: hp.Plan) -> hp.Plan:
        """Plan of one pass with the partition that a plan learns from the earlier records."""
        assert self._earlier is not None
        return hp.Plan.auto(
            plan.domain,
            epsilon=plan.epsilon,
            expected_records=plan.expected_records,
            memory=plan.memory,
            partition=hp.fit(self._earlier(), plan=plan),
        )

    def fit_baseline(self, method: str, options: Line, *, epsilon: float, memory: str, extras: Collection[str]) -> Line:
        """Errors of one fit of a baseline, by rule of post-processing."""
        limits = {"expected_records": len(self.stream), "memory": MEMORY.get(memory, 0)}
        histogram = METHODS[method](self.counts, Mechanism(epsilon), **limits, **options)
        line: Line = {}

        def note(rule: str, errors: Line) -> None:
            for name, error in errors.items():
                line.setdefault(name, {})[rule] = error

        if histogram.variances is not None:
            note(SIGNED, self.other_errors(histogram, extras))
        for rule in histogram.rules:
            distribution = histogram.distribution(rule)
            note(rule, {"w1": self.distance(distribution, self.in_order)})
            if rule == "projection":
                note(rule, self.other_errors(distribution, extras))
        return line

    def resolution(self, codes: NDArray[np.uint64], levels: NDArray[np.int64]) -> float:
        """W1 x n of a partition with noise-free counts."""
        exact = self.counts.of_cells(codes, levels).astype(np.float64)
        return self.distance(SignedHistogram(self.domain, codes, levels, exact).distribution(), self.in_order)

    def finest(self, memory: str) -> Line:
        """Resolution of the finest level that fits."""
        level = finest_level(MEMORY[memory], self.domain.depth)
        codes = np.arange(2**level, dtype=np.uint64)
        return {"w1": self.resolution(codes, np.full(codes.shape, level))}

    def halves(self, *, grid: bool) -> Line:
        """Distances between two random halves of the records."""
        order = np.random.default_rng(11).permutation(len(self.stream))
        one, other = np.array_split(self.stream.records[order], 2)
        shares = [region_masses(half, self.regions, domain=self.domain) for half in (one, other)]
        line: Line = {"w1": self.distance(one, other), "ranges": float(relative_errors(*shares).mean())}
        if grid and self.in_plane:
            line["grid"] = hp.grid_wasserstein(one, other, domain=self.domain) * len(self.stream)
        return line


def masses(side: hp.Distribution | SignedHistogram, regions: list[Any]) -> Floats:
    """Masses of regions under a distribution or a signed histogram."""
    if isinstance(side, SignedHistogram):
        return np.array([side.mass(region) for region in regions])
    return np.array([side.mass(region).value for region in regions])


def digest(plan: hp.Plan) -> str:
    """Digest of a plan without its domain, its hash seed and its defaults."""
    own = {item.name for item in fields(plan) if getattr(plan, item.name) != item.default} - {"domain", "hash_seed"}
    spec = {name: value for name, value in plan.spec().items() if name in own}
    return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:12]

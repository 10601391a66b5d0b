"""Accuracy of several methods by stream, memory and epsilon.

    make accuracy           (or: python -m benchmarks.accuracy --quick)

Every fit is a line in results/accuracy.jsonl, so an interrupted run resumes
where it stopped. A fit is repeated when its plan has changed, or with
`--fresh`. Writes ACCURACY.md, accuracy.svg and the table of README.md from all
lines of the file.
"""

import argparse
import hashlib
import json
import secrets
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

import privhp as hp
from benchmarks import methods
from benchmarks.accuracy_report import ENDS, METHODS, Figures, write_report
from benchmarks.balance import FORMS, LINES, PLANES, measure_balance
from benchmarks.headline import write_headline
from benchmarks.methods import BALANCE, BASELINE, BOUNDED, COMPLETE, FLAT, KNOWN, MEMORY, RESOLUTION
from benchmarks.streams import Records, available, earlier_records, load
from privhp.evaluate import random_regions
from privhp.evaluate.range_queries import region_masses, relative_errors
from privhp.release import Release

RESULTS = Path(__file__).with_name("results") / "accuracy.jsonl"
REGIONS = 50
SIZES = (None, 100_000, 10_000)  # None: all records
EPSILONS = (1.0, 0.1, 10.0)
RUNS = {1.0: 5, 0.1: 3, 10.0: 3}
MORE_ON_A_LINE = {methods.DEFAULT: 8}
"""Factor for the runs of whole streams, whose error a single noisy cell far from all records can dominate."""
OTHERS_ON_A_LINE = 2

NAMES = ("data", "records", "method", "memory", "level", "form", "epsilon", "run")
"""Keys that identify a line."""

Line = dict[str, Any]


@dataclass(frozen=True)
class Selection:
    """Streams, methods and settings to measure."""

    streams: list[str]
    methods: list[str]
    memories: tuple[str, ...] = tuple(MEMORY)
    epsilons: tuple[float, ...] = EPSILONS
    sizes: tuple[int | None, ...] = SIZES
    runs: dict[float, int] = field(default_factory=lambda: RUNS)


QUICK: dict[str, Any] = {
    "memories": ("64 KiB", "1 MiB"),
    "epsilons": (1.0,),
    "sizes": (None,),
    "runs": {1.0: 2},
}


class Results:
    """Lines of the results file, the last line of each fit."""

    def __init__(self, path: Path) -> None:
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

    def forget(self, selection: Selection) -> None:
        """Drop the lines of the selected streams and methods."""
        kept = [
            line
            for line in self.lines.values()
            if line["data"] not in selection.streams or line["method"] not in selection.methods
        ]
        self.lines = {self._key(line): line for line in kept}
        self.path.write_text("".join(json.dumps(line) + "\n" for line in kept))


class Bench:
    """A stream of a number of records, by default all, and the distances of fits from it."""

    def __init__(self, name: str, size: int | None) -> None:
        stream = load(name, records=size)
        codes = stream.domain.encode(stream.records, level=stream.domain.depth)
        self.stream, self.size, self.whole = stream, size, size is None
        self.names: Line = {"data": stream.name, "records": len(stream), "whole": self.whole}
        self.in_order = stream.records[np.argsort(codes, kind="stable")]  # sorting it again in the metrics is fast
        self.unit = stream.domain.diameter(0) / len(stream)

    def runs(self, selection: Selection, epsilon: float, method: str) -> range:
        """Runs of each plan of a method."""
        many = self.whole and self.stream.domain.is_line and epsilon == 1
        return range(selection.runs[epsilon] * (MORE_ON_A_LINE.get(method, OTHERS_ON_A_LINE) if many else 1))

    def distance(self, one: Any, other: Any) -> float:
        """W1 x n with the domain scaled to 1: exact on the line, in the hierarchy elsewhere."""
        domain = self.stream.domain
        on_line = isinstance(domain, hp.Interval)
        return (hp.wasserstein if on_line else hp.tree_wasserstein)(one, other, domain=domain) / self.unit

    @property
    def in_plane(self) -> bool:
        """Whether the exact distance on a grid is defined, too."""
        domain = self.stream.domain
        return isinstance(domain, hp.Box) and len(domain.axes) == 2

    @cached_property
    def regions(self) -> list[Any]:
        """Query regions, the same for all methods."""
        return random_regions(self.stream.domain, REGIONS, rng=7)

    @cached_property
    def truth(self) -> Any:
        """True masses of the regions."""
        return region_masses(self.stream.records, self.regions, domain=self.stream.domain)

    @cached_property
    def earlier(self) -> Records:
        """Records of an earlier release."""
        return earlier_records(self.stream.name, records=self.size)

    def known_partition(self, plan: hp.Plan) -> hp.Plan:
        """Plan of one pass with the partition that a plan learns from the earlier records."""
        return hp.Plan.auto(
            plan.domain,
            epsilon=plan.epsilon,
            expected_records=plan.expected_records,
            memory=plan.memory,
            partition=hp.fit(self.earlier, plan=plan),
        )

    def fit(self, plan: hp.Plan, method: str, *, more: bool) -> Line:
        """Errors of one fit with new hash functions; with `more` also on a grid and of range queries."""
        plan = self.known_partition(plan) if method == KNOWN else replace(plan, hash_seed=secrets.randbits(128))
        generator = hp.fit(self.stream.records, plan=plan)
        assert not plan.memory or generator.plan.nbytes <= plan.memory
        line: Line = {"w1": self.distance(generator, self.in_order)}
        if more:
            found = region_masses(generator, self.regions, domain=self.stream.domain)
            line["ranges"] = float(relative_errors(found, self.truth).mean())
            if self.in_plane and self.whole:
                line["grid"] = hp.grid_wasserstein(generator, self.in_order) * len(self.stream)
        return line

    def resolution(self, memory: str) -> Line:
        """Error of the finest histogram that fits, without noise."""
        level = max(methods.flat_levels(self.stream.domain, memory))
        tally = hp.Tally(methods.flat(self.stream.domain, epsilon=1, level=level))
        tally.add(self.stream.records)
        return {"w1": self.distance(hp.Generator(Release(tally.plan, {level: tally.counters})), self.in_order)}

    def baseline(self) -> Line:
        """Distances between two random halves of the records."""
        order = np.random.default_rng(11).permutation(len(self.stream))
        one, other = np.array_split(self.stream.records[order], 2)
        domain = self.stream.domain
        masses = [region_masses(half, self.regions, domain=domain) for half in (one, other)]
        line: Line = {"w1": self.distance(one, other), "ranges": float(relative_errors(*masses).mean())}
        if self.in_plane and self.whole:
            line["grid"] = hp.grid_wasserstein(one, other, domain=domain) * len(self.stream)
        return line


def digest(plan: hp.Plan) -> str:
    """Digest of a plan without its domain, its hash seed and its defaults."""
    own = {item.name for item in fields(plan) if getattr(plan, item.name) != item.default} - {"domain", "hash_seed"}
    spec = {name: value for name, value in plan.spec().items() if name in own}
    return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:12]


def measure(bench: Bench, selection: Selection, results: Results) -> None:
    """Measure the fits of one stream that are not stored yet."""
    stream = bench.stream
    sizes = {"expected_records": len(stream)}
    if BASELINE in selection.methods:
        results.fill(bench.names | {"method": BASELINE}, bench.baseline)
    if RESOLUTION in selection.methods:
        for memory in selection.memories:
            results.fill(bench.names | {"method": RESOLUTION, "memory": memory}, partial(bench.resolution, memory))
    for epsilon in selection.epsilons:
        more = range((selection.runs[epsilon] - 1) // 2)
        for method in BOUNDED:
            runs = bench.runs(selection, epsilon, method)
            for memory in selection.memories if method in selection.methods else ():
                plan = methods.plan_of(method, stream.domain, epsilon=epsilon, memory=memory, **sizes)
                assert plan.nbytes <= MEMORY[memory], f"{method} needs {plan.nbytes} bytes, more than {memory}"
                reported = more if method in METHODS and memory in ENDS else runs[:0]
                fit(bench, plan, results, runs=runs, more=reported, method=method, memory=memory)
        if COMPLETE in selection.methods:
            plan = methods.complete(stream.domain, epsilon=epsilon, **sizes)
            fit(bench, plan, results, runs=bench.runs(selection, epsilon, COMPLETE), more=more, method=COMPLETE)
        if FLAT in selection.methods:
            fit_flat(bench, epsilon, selection, results)
    if BALANCE in selection.methods and bench.whole and stream.name in (*LINES, *PLANES):
        for form in FORMS:
            names = {"data": stream.name, "method": BALANCE, "form": form}
            results.fill(names, partial(measure_balance, stream.name, form))


def fit_flat(bench: Bench, epsilon: float, selection: Selection, results: Results) -> None:
    """Fit flat histograms: two runs of each level, the deepest first until errors double, then all runs of the best."""
    domain, runs = bench.stream.domain, bench.runs(selection, epsilon, FLAT)
    for memory in selection.memories:
        errors: dict[int, float] = {}
        for level in reversed(methods.flat_levels(domain, memory)):
            plan = methods.flat(domain, epsilon=epsilon, level=level)
            errors[level] = fit(bench, plan, results, runs=runs[:2], more=runs[:0], method=FLAT, level=level)
            if errors[level] > 2 * min(errors.values()):
                break
        best = min(errors, key=errors.__getitem__)
        plan = methods.flat(domain, epsilon=epsilon, level=best)
        fit(bench, plan, results, runs=runs, more=runs[2:4], method=FLAT, level=best)


def fit(bench: Bench, plan: hp.Plan, results: Results, *, runs: range, more: range, method: str, **names: Any) -> float:
    """Mean W1 x n of some runs of a plan; the runs in `more` also measure the other distances, at epsilon 1."""
    found = []
    for run in runs:
        line = bench.names | {"method": method} | names | {"epsilon": float(plan.epsilon), "run": run}
        line |= {"plan": digest(plan), "bytes": plan.nbytes}
        measure_fit = partial(bench.fit, plan, method, more=run in more and plan.epsilon == 1)
        found.append(results.fill(line, measure_fit)["w1"])
    return float(np.mean(found))


def measure_stream(name: str, size: int | None, selection: Selection) -> None:
    """Measure one stream in a process of its own."""
    start = time.perf_counter()
    measure(Bench(name, size), selection, Results(RESULTS))
    print(f"{name}, {size or 'all'} records: {time.perf_counter() - start:.0f} s", flush=True)


def main() -> None:
    """Measure the selected fits that are not stored, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="epsilon 1, 64 KiB and 1 MiB, two runs, W1 alone")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="streams and methods; default all")
    parser.add_argument("--fresh", action="store_true", help="repeat the selected fits")
    parser.add_argument("--processes", type=int, default=1, help="streams that are measured at the same time")
    options = parser.parse_args()
    names, fits = available(), [*BOUNDED, COMPLETE, FLAT]
    everything = [BASELINE, RESOLUTION, *fits, BALANCE]
    unknown = set(options.only) - {*names, *everything}
    if unknown:
        parser.error(f"expected streams ({', '.join(names)}) or methods ({', '.join(everything)}), got {unknown}")
    selection = Selection(
        streams=[name for name in names if name in options.only] or names,
        methods=[name for name in everything if name in options.only] or (fits if options.quick else everything),
        **(QUICK if options.quick else {}),
    )
    if options.fresh:
        Results(RESULTS).forget(selection)
    tasks = [(name, size, selection) for size in selection.sizes for name in selection.streams]
    with ProcessPoolExecutor(options.processes) as pool:
        for _ in pool.map(measure_stream, *zip(*tasks, strict=True)):
            pass
    figures = Figures(Results(RESULTS).lines.values())
    write_report(figures)
    if not options.quick:
        write_headline(figures)


if __name__ == "__main__":
    main()

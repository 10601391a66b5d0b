"""Accuracy of privhp and of the baselines, by stream, memory and epsilon.

    make accuracy           (or: python -m benchmarks.accuracy --quick)

The first part measures real and synthetic streams in several memories, the second
part the zoo of streams in one memory. Every fit is a line in results/accuracy.jsonl, so
an interrupted run resumes where it stopped. A fit is repeated when its plan has
changed, or with `--fresh`. Writes ACCURACY.md, accuracy.svg and the table of
README.md from all lines of the file.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks import methods, streams, zoo
from benchmarks.accuracy_figures import SCREENING, Figures, rule_errors
from benchmarks.accuracy_report import ENDS, GRID_METHODS, RANGE_METHODS, write_report
from benchmarks.balance import FORMS, LINES, PLANES, measure_balance
from benchmarks.bench import Bench, Results, digest
from benchmarks.headline import write_headline
from benchmarks.methods import BALANCE, BASELINES, COMPLETE, DEFAULT, HALVES, MEMORY, ONE_PASS, PAPER, PLANS, RESOLUTION
from benchmarks.zoo_report import ZOO_MEMORY

STREAMS, ZOO = "streams", "zoo"
SIZES = (None, 100_000, 10_000)  # None: all records
EPSILONS = (1.0, 0.1, 10.0)
RUNS, RUNS_ON_A_LINE = dict.fromkeys(PLANS, 5), dict.fromkeys(PLANS, 10) | {DEFAULT: 40}
"""Runs of a plan, and runs at epsilon 1 of whole streams on a line, whose error one noisy cell can dominate."""
BASELINE_RUNS, BASELINE_RUNS_ON_A_LINE = 3, 6
ZOO_RUNS = {DEFAULT: 4, ONE_PASS: 3, PAPER: 1}
ZOO_RUNS_ON_A_LINE = {DEFAULT: 20, ONE_PASS: 10, PAPER: 2}
ZOO_BASELINE_RUNS, ZOO_BASELINE_RUNS_ON_A_LINE = 2, 10

Line = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """A stream of a number of records, and what to measure of it."""

    part: str
    stream: str
    size: int | None
    methods: tuple[str, ...]
    quick: bool

    def bench(self) -> Bench:
        """The stream."""
        if self.part == ZOO:
            return Bench(zoo.load(self.stream, records=self.size), names={"part": ZOO})
        loaded = streams.load(self.stream, records=self.size)
        earlier = partial(streams.earlier_records, self.stream, records=self.size)
        return Bench(loaded, names={"part": STREAMS, "whole": self.size is None}, earlier=earlier)


class Measuring:
    """Fills the results of one task."""

    def __init__(self, task: Task) -> None:
        self.task, self.bench, self.results = task, task.bench(), Results()

    def wants(self, method: str) -> bool:
        """Whether a method is selected."""
        return method in self.task.methods

    def fit_plans(self, runs: dict[str, int], *, epsilon: float, memory: str, extras: bool) -> None:
        """Fit plans of privhp so many times each."""
        size = len(self.bench.stream)
        for method in filter(self.wants, runs):
            plan = methods.plan_of(method, self.bench.domain, epsilon=epsilon, expected_records=size, memory=memory)
            assert plan.nbytes <= MEMORY[memory], f"{method} needs {plan.nbytes} bytes, more than {memory}"
            for run in range(runs[method]):
                line = self.bench.names | {"method": method, "memory": memory, "epsilon": epsilon, "run": run}
                measure = partial(
                    self.bench.fit, plan, method, extras=self.extras(method) if run < 2 and extras else ()
                )
                self.results.fill(line | {"plan": digest(plan)}, measure)

    def extras(self, method: str) -> tuple[str, ...]:
        """Other errors to measure in some runs, beside the W1 distance."""
        of_zoo = self.task.part == ZOO
        wanted = {
            "ranges": method in RANGE_METHODS and not of_zoo,
            "rectangles": method in (DEFAULT, "AGrid") and of_zoo and self.bench.in_plane,
            "grid": method in GRID_METHODS and self.bench.in_plane and not of_zoo and self.task.size is None,
            "resolution": method == DEFAULT and of_zoo,
        }
        return tuple(name for name, own in wanted.items() if own)

    def fit_baseline(
        self, method: str, options: Line, *, epsilon: float, memory: str, runs: range, extras: bool
    ) -> list[Line]:
        """Fit a baseline for each of some runs."""
        names = self.bench.names | {"method": method, "memory": memory, "epsilon": epsilon} | options
        fits = []
        for run in runs:
            more = self.extras(method) if extras and run < SCREENING + 2 else ()
            measure = partial(self.bench.fit_baseline, method, options, epsilon=epsilon, memory=memory, extras=more)
            fits.append(self.results.fill(names | {"run": run}, measure))
        return fits

    def screen(self, *, epsilon: float, memory: str, runs: int) -> dict[str, tuple[float, Line]]:
        """Least mean error of each baseline in a few fits, and the options that have it."""
        found: dict[str, tuple[float, Line]] = {}
        for method in filter(self.wants, BASELINES):
            errors: list[tuple[float, Line]] = []
            for options in methods.variants(method, self.bench.domain, memory):
                fits = self.fit_baseline(
                    method, options, epsilon=epsilon, memory=memory, runs=range(runs), extras=False
                )
                errors.append((min(rule_errors(fits).values()), options))
                if errors[-1][0] > 2 * min(errors, key=_first)[0]:
                    break  # a coarser level is worse
            if errors:
                found[method] = min(errors, key=_first)
        return found

    def measure_stream(self) -> None:
        """Measure one size of a stream in all memories, with all epsilons."""
        bench, task = self.bench, self.task
        whole, line = task.size is None, bench.domain.is_line
        if self.wants(HALVES):
            self.results.fill(bench.names | {"method": HALVES}, partial(bench.halves, grid=whole))
        for memory in MEMORY if whole and self.wants(RESOLUTION) else ():
            names = bench.names | {"method": RESOLUTION, "memory": memory}
            self.results.fill(names, partial(bench.finest, memory))
        for epsilon in (1.0,) if task.quick else EPSILONS:
            most = whole and epsilon == 1
            many = most and line and not task.quick
            runs = RUNS_ON_A_LINE if many else RUNS
            fresh = range(SCREENING, SCREENING + (BASELINE_RUNS_ON_A_LINE if many else BASELINE_RUNS))
            for memory in MEMORY if most and not task.quick else ENDS:
                extras = epsilon == 1 and memory in ENDS and not task.quick
                self.fit_plans(runs, epsilon=epsilon, memory=memory, extras=extras)
                screened = self.screen(epsilon=epsilon, memory=memory, runs=SCREENING if line else 1)
                for method, (_, options) in screened.items():
                    self.fit_baseline(method, options, epsilon=epsilon, memory=memory, runs=fresh, extras=extras)
            if self.wants(COMPLETE):
                extras = epsilon == 1 and not task.quick
                self.fit_baseline(COMPLETE, {}, epsilon=epsilon, memory="", runs=fresh, extras=extras)
        if self.wants(BALANCE) and whole and task.stream in (*LINES, *PLANES):
            for form in FORMS:
                names = {"part": STREAMS, "data": task.stream, "method": BALANCE, "form": form}
                self.results.fill(names, partial(measure_balance, task.stream, form))

    def measure_zoo(self) -> None:
        """Measure one size of a stream of the zoo in one memory; the two best baselines of a screening again."""
        line = self.bench.domain.is_line
        for epsilon in (1.0,) if self.task.quick else zoo.EPSILONS:
            where: Line = {"epsilon": epsilon, "memory": ZOO_MEMORY}
            self.fit_plans(ZOO_RUNS_ON_A_LINE if line else ZOO_RUNS, **where, extras=True)
            screened = self.screen(**where, runs=SCREENING if line else 1)
            best = sorted(screened, key=lambda method: screened[method][0])[:2]
            in_plane = ["AGrid"] if self.bench.in_plane and "AGrid" in screened else []
            for method in dict.fromkeys([*best, *in_plane]):
                fresh = range(SCREENING, SCREENING + (ZOO_BASELINE_RUNS_ON_A_LINE if line else ZOO_BASELINE_RUNS))
                self.fit_baseline(method, screened[method][1], **where, runs=fresh, extras=True)


def _first(pair: tuple[float, Line]) -> float:
    return pair[0]


def measure(task: Task) -> None:
    """Measure one task in a process of its own."""
    start = time.process_time()
    measuring = Measuring(task)
    (measuring.measure_zoo if task.part == ZOO else measuring.measure_stream)()
    print(f"{task.part}, {task.stream}, {task.size or 'all'}: {time.process_time() - start:.0f} s of CPU", flush=True)


def tasks(parts: list[str], names: list[str], chosen: list[str], *, quick: bool) -> Iterator[Task]:
    """Selected streams with their sizes, the largest first."""
    everything = (HALVES, RESOLUTION, *PLANS, *BASELINES, COMPLETE, BALANCE)
    selected = tuple(method for method in everything if method in chosen or not chosen)
    sizes: dict[str, tuple[int | None, ...]] = {STREAMS: SIZES, ZOO: tuple(reversed(zoo.SIZES))}
    own: dict[str, Callable[[], list[str]]] = {STREAMS: streams.available, ZOO: zoo.available}
    for number in range(1 if quick else 3):
        for part in parts:
            for name in own[part]():
                if name in names or not names:
                    yield Task(part, name, sizes[part][number], selected, quick)


def main() -> None:
    """Measure the selected fits that are not stored, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="epsilon 1, 64 KiB and 1 MiB, largest sizes, few runs")
    parser.add_argument("--part", nargs="+", default=[STREAMS, ZOO], choices=[STREAMS, ZOO])
    parser.add_argument("--streams", nargs="+", default=[], metavar="NAME", help="streams of these parts; default all")
    parser.add_argument("--methods", nargs="+", default=[], metavar="NAME", help="methods and distances; default all")
    parser.add_argument("--fresh", action="store_true", help="repeat the selected fits")
    parser.add_argument("--processes", type=int, default=1, help="streams that are measured at the same time")
    options = parser.parse_args()
    selected = list(tasks(options.part, options.streams, options.methods, quick=options.quick))
    if not selected or not selected[0].methods:
        parser.error("no stream or no method has this name")
    if options.fresh:
        Results().forget([task.stream for task in selected], list(selected[0].methods))
    with ProcessPoolExecutor(options.processes) as pool:
        for _ in pool.map(measure, selected):
            pass
    figures = Figures(Results().lines.values())
    write_report(figures)
    if not options.quick:
        write_headline(figures)


if __name__ == "__main__":
    main()

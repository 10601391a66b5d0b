"""Coverage of 90% intervals by stream and by family of queries; writes COVERAGE.md.

    python -m benchmarks.coverage [--processes 2] [--streams NAME ...] [--releases 1]

Every release is a line in results/coverage.jsonl, so an interrupted run resumes.
Delete the file to measure again after a change.
"""

import argparse
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import privhp as hp
from benchmarks import coverage_streams
from benchmarks.coverage_queries import Query, families
from benchmarks.methods import DEFAULT, ONE_PASS, plan_of

REPORT = Path(__file__).with_name("COVERAGE.md")
RESULTS = Path(__file__).with_name("results") / "coverage.jsonl"
MEMORIES, EPSILONS, METHODS = ("64 KiB", "1 MiB"), (1.0, 0.1), (DEFAULT, ONE_PASS)
QUERIES = 10
LEAST, MOST = 0.85, 0.97

WIDE = 1.5
"""Width from which an interval counts as wide, in units of the width that would hold 90% of the true answers."""

ROUNDING, MOST_SIDES = 1e-12, 100.0
"""Relative errors that are rounding, and the largest error that is recorded, in units of the interval."""

Line = dict[str, Any]
Answer = tuple[float, bool]
"""Error of an answer as a share of its interval on the side of the truth, and whether the answer is resolved."""

Setting = tuple[str, str, float, int]
"""Method, memory, epsilon, and number of the release."""


def ask(query: Query, generator: hp.Generator) -> Answer:
    """Error of an answer as a share of its 90% interval on that side, and whether the answer is resolved."""
    estimate = query.ask(generator)
    value, truth, low, high = (
        float(np.asarray(own).astype(np.int64) if np.asarray(own).dtype.kind == "M" else own)
        for own in (estimate.value, query.truth, *estimate.interval(0.9))
    )
    error, side = abs(truth - value), (high - value) if truth > value else (value - low)
    if error <= ROUNDING * max(abs(truth), 1.0):
        return 0.0, estimate.resolved
    return min(error / max(side, ROUNDING), MOST_SIDES), estimate.resolved


def measure(name: str, setting: Setting) -> Line:
    """One release of a stream: the answers of each family."""
    method, memory, epsilon, release = setting
    stream = coverage_streams.load(name)
    plan = plan_of(method, stream.domain, epsilon=epsilon, expected_records=len(stream), memory=memory)
    generator = hp.fit(stream.records, plan=plan)
    rng = np.random.default_rng([release, MEMORIES.index(memory), EPSILONS.index(epsilon), METHODS.index(method)])
    found = {family: [ask(draw(rng), generator) for _ in range(QUERIES)] for family, draw in families(stream).items()}
    return {"stream": name, "setting": list(setting), "families": found}


def read_results() -> list[Line]:
    """Releases that were measured before."""
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def _group(lines: Iterable[Line], key_of: Callable[[Line], str]) -> dict[tuple[str, str], list[Answer]]:
    """Answers by key and family."""
    answers: dict[tuple[str, str], list[Answer]] = defaultdict(list)
    for line in lines:
        for family, own in line["families"].items():
            answers[key_of(line), family] += own
    return answers


def _coverage(answers: list[Answer], width: float = 1.0) -> float:
    """Share of the intervals that hold the true answer, or would with another width; bounds keep theirs."""
    return float(np.mean([error <= (width if resolved else 1.0) + ROUNDING for error, resolved in answers]))


def _width(answers: list[Answer]) -> float:
    """Width of the intervals over the width that would hold 90% of the true answers; infinite if 90% are exact."""
    quantile = float(np.quantile([error for error, _ in answers], 0.9))
    return 1.0 / quantile if quantile > 0 else math.inf


def _entry(answers: list[Answer] | None) -> str:
    if not answers:
        return ""
    width = _width(answers)
    return f"{_coverage(answers):.0%}, {width:.1f}" if width < math.inf else f"{_coverage(answers):.0%}, exact"


def _table(answers: dict[tuple[str, str], list[Answer]], title: str) -> list[str]:
    """Coverage and width by key and family."""
    keys, names = (list(dict.fromkeys(cell[index] for cell in answers)) for index in (0, 1))
    rows = [f"| {title} | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    return rows + [f"| {key} | {' | '.join(_entry(answers.get((key, name))) for name in names)} |" for key in keys]


def _bounds_table(lines: Iterable[Line]) -> list[str]:
    """Coverage of answers that are intervals and of those that are bounds, by family."""
    rows = ["| family | bounds | coverage of bounds | coverage of the others |", "|---|---:|---:|---:|"]
    for (_, family), answers in _group(lines, lambda _: "").items():
        bounds, others = ([own for own in answers if own[1] is resolved] for resolved in (False, True))
        if bounds:
            rows.append(
                f"| {family} | {len(bounds) / len(answers):.0%} | {_coverage(bounds):.0%} | {_coverage(others):.0%} |"
            )
    return rows


def _widths_table(answers: Iterable[list[Answer]]) -> list[str]:
    """Mean coverage of the entries, and how many are below, between and above the limits, with shorter intervals."""
    rows = ["| width | mean | below | between | above |", "|---:|---:|---:|---:|---:|"]
    for width in (1.0, 0.95, 0.9, 0.8):
        shares = np.array([_coverage(own, width) for own in answers])
        below, above = int((shares < LEAST).sum()), int((shares > MOST).sum())
        rows.append(f"| {width:g} | {shares.mean():.1%} | {below} | {shares.size - below - above} | {above} |")
    return rows


def _setting(line: Line) -> str:
    method, memory, epsilon, _ = line["setting"]
    return f"{method}, {memory}, epsilon {epsilon:g}"


def _stream(line: Line) -> str:
    return str(line["stream"])


def report(lines: list[Line]) -> str:
    """The report as Markdown."""
    answers = _group(lines, _stream)
    streams = {stream for stream, _ in answers}
    shares = {cell: _coverage(own) for cell, own in answers.items()}
    widths = {cell: _width(own) for cell, own in answers.items()}
    finite = [math.log(width) for width in widths.values() if width < math.inf]
    between = sum(LEAST <= share <= MOST for share in shares.values())

    def listed(chosen: Callable[[float, float], bool]) -> str:
        cells = [cell for cell in answers if chosen(shares[cell], widths[cell])]
        return "; ".join(f"{', '.join(cell)} ({_entry(answers[cell])})" for cell in cells) or "none"

    return "\n".join(
        [
            "# Coverage of 90% intervals",
            "",
            "Share of the intervals `interval(0.9)` that hold the true answer, by stream and family of queries; then",
            "their width over the width that would hold 90% of the true answers.",
            f"An entry by stream has {len(lines) // max(len(streams), 1)} releases (two memories, two",
            f"epsilons, the default with three passes and a plan of one pass) with {QUERIES} queries of its own each.",
            "Answers of one release share its noise, so the standard error of a coverage is about 3%. Streams are in",
            "`benchmarks/coverage_streams.py`, the queries in `benchmarks/coverage_queries.py`.",
            "Made by `make coverage`.",
            "",
            "## By stream",
            "",
            *_table(answers, "stream"),
            "",
            "## By plan",
            "",
            *_table(_group(lines, _setting), "plan"),
            "",
            "## Bounds",
            "",
            "Regions that are finer than the leaves they touch have no value that the release shows; their interval",
            "is printed as bounds. They are part of the entries above.",
            "",
            *_bounds_table(lines),
            "",
            "## Outside 85% to 97%",
            "",
            f"Mean {np.mean(list(shares.values())):.1%}, geometric mean of the widths {math.exp(np.mean(finite)):.2f};"
            f" {between} of {len(shares)} entries by stream are between {LEAST:.0%} and {MOST:.0%}.",
            "",
            f"Below: {listed(lambda share, _: share < LEAST)}.",
            "",
            f"Above, and more than {WIDE:g} times as wide as needed:"
            f" {listed(lambda share, width: share > MOST and width > WIDE)}.",
            "",
            f"Above, and no wider: {listed(lambda share, width: share > MOST and width <= WIDE)}.",
            "",
            CAUSES,
            f"With intervals of another width, entries below {LEAST:.0%}, between, and above {MOST:.0%}:",
            "",
            *_widths_table(list(answers.values())),
            "",
        ]
    )


CAUSES = """Causes of entries above that are wide: ends and columns that do not err in the same direction, leaves
that might hold a heap, and noise that might hide a bias, where there is none.

Causes of entries above that are not wide: values on heaps or on a lattice are all inside a region or all outside. The
error of such an answer is the same in every release, at most the mass of the leaves that the end cuts, and often equal
to it. An interval that ends there holds always; a narrower one would hold never.

Possible causes of entries below: values on a lattice that is finer than the cells of the release, so that the interval
does not know of it, although `mass_bounds` holds the answer; many cells with one or two records each, which inference
takes for empty. Chance, where an entry is within 3% of the limit.
"""


def main() -> None:
    """Measure what is missing, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=1, help="streams that are measured at the same time")
    parser.add_argument("--streams", nargs="+", default=coverage_streams.names(), help="names of streams")
    parser.add_argument("--releases", type=int, default=1, help="releases of each plan")
    options = parser.parse_args()
    settings = list(product(METHODS, MEMORIES, EPSILONS, range(options.releases)))
    lines = read_results()
    done = {(line["stream"], *line["setting"]) for line in lines}
    missing = {name: [own for own in settings if (name, *own) not in done] for name in options.streams}
    RESULTS.parent.mkdir(exist_ok=True)
    with ProcessPoolExecutor(options.processes) as pool, RESULTS.open("a") as file:
        for name, own in missing.items():
            for line in pool.map(partial(measure, name), own):
                lines.append(line)
                file.write(json.dumps(line) + "\n")
                file.flush()
            print(name, flush=True)
    REPORT.write_text(report(lines))


if __name__ == "__main__":
    main()

"""Coverage of 90% intervals by stream and by family of queries; writes COVERAGE.md.

    python -m benchmarks.coverage [--processes 2] [--streams NAME ...] [--releases 1]

Every release is a line in results/coverage.jsonl, so an interrupted run resumes.
Delete the file to measure again after a change.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable
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

Line = dict[str, Any]
Setting = tuple[str, str, float, int]
"""Method, memory, epsilon, and number of the release."""


def holds(query: Query, generator: hp.Generator) -> tuple[bool, float]:
    """Whether the 90% interval holds the true answer, and its width in units of twice 1.645."""
    low, high = query.ask(generator).interval(0.9)
    if isinstance(query.truth, float) and 0 <= query.truth <= 1:
        return bool(low - 1e-12 <= query.truth <= high + 1e-12), float(high - low) / 3.29
    return bool(low <= query.truth <= high), float("nan")


def measure(name: str, setting: Setting) -> Line:
    """One release of a stream: for each family, how many intervals hold, and their median width."""
    method, memory, epsilon, release = setting
    stream = coverage_streams.load(name)
    plan = plan_of(method, stream.domain, epsilon=epsilon, expected_records=len(stream), memory=memory)
    generator = hp.fit(stream.records, plan=plan)
    rng, found = np.random.default_rng(release), {}
    for family, draw in families(stream).items():
        answers = [holds(draw(rng), generator) for _ in range(QUERIES)]
        found[family] = [sum(held for held, _ in answers), float(np.median([width for _, width in answers]))]
    return {"stream": name, "setting": list(setting), "families": found}


def read_results() -> list[Line]:
    """Releases that were measured before."""
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def _table(lines: Iterable[Line], keys: list[Any], key_of: Any, title: str) -> list[str]:
    """Coverage by key and family."""
    hits: dict[tuple[Any, str], list[int]] = defaultdict(list)
    for line in lines:
        for family, (held, _) in line["families"].items():
            hits[key_of(line), family].append(held)
    names = list(dict.fromkeys(family for _, family in hits))
    rows = [f"| {title} | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for key in keys:
        cells = [f"{np.mean(found) / QUERIES:.0%}" if (found := hits.get((key, name))) else "" for name in names]
        rows.append(f"| {key} | {' | '.join(cells)} |")
    return rows


def _setting(line: Line) -> str:
    method, memory, epsilon, _ = line["setting"]
    return f"{method}, {memory}, epsilon {epsilon:g}"


def _stream(line: Line) -> str:
    return str(line["stream"])


def report(lines: list[Line]) -> str:
    """The report as Markdown."""
    streams = [name for name in coverage_streams.names() if any(line["stream"] == name for line in lines)]
    settings = list(dict.fromkeys(map(_setting, lines)))
    by_cell: dict[tuple[str, str], list[int]] = defaultdict(list)
    for line in lines:
        for family, (held, _) in line["families"].items():
            by_cell[line["stream"], family].append(held)
    shares = {cell: float(np.mean(held)) / QUERIES for cell, held in by_cell.items()}
    narrow = [f"{stream}, {family} ({share:.0%})" for (stream, family), share in shares.items() if share < LEAST]
    wide = [f"{stream}, {family} ({share:.0%})" for (stream, family), share in shares.items() if share > MOST]
    between = len(shares) - len(narrow) - len(wide)
    return "\n".join(
        [
            "# Coverage of 90% intervals",
            "",
            "Share of the intervals `interval(0.9)` that hold the true answer, by stream and family of queries.",
            f"An entry by stream is the mean over {len(lines) // max(len(streams), 1)} releases (two memories, two",
            f"epsilons, the default with three passes and a plan of one pass) with {QUERIES} queries each. Answers of",
            "one release share its noise, so the standard error of an entry is about 3%. The streams are in",
            "`benchmarks/coverage_streams.py`, the queries in `benchmarks/coverage_queries.py`.",
            "Made by `make coverage`.",
            "",
            "## By stream",
            "",
            *_table(lines, streams, _stream, "stream"),
            "",
            "## By plan",
            "",
            *_table(lines, settings, _setting, "plan"),
            "",
            "## Outside 85% to 97%",
            "",
            f"Mean {np.mean(list(shares.values())):.1%}; {between} of {len(shares)} entries by stream are between"
            f" {LEAST:.0%} and {MOST:.0%}.",
            "",
            f"Below: {'; '.join(narrow) or 'none'}.",
            "",
            f"Above: {'; '.join(wide) or 'none'}.",
            "",
            CAUSES,
        ]
    )


CAUSES = """Causes of entries above: values on heaps or on a lattice are all inside a region or all outside. The error
of such an answer is the same in every release, so its interval holds always or never; it is made to hold. Ends and
columns that do not err in the same direction have wider intervals than they need, as do ends with no value at them,
such as those of bars. Regions finer than a cell have bounds, which hold always.

Causes of entries below: lattices that are finer than the release shows at a small epsilon or memory, so that the
interval does not know of them; `mass_bounds` does. Chance, where an entry is within 3% of the limit.
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

"""Errors of means, standard deviations and correlations, and coverage of their intervals; writes MOMENTS.md.

    python -m benchmarks.moments [--fits 40] [--processes 2] [--streams NAME ...]

Every stream is a line in results/moments.jsonl, so an interrupted run resumes;
delete the file to measure again.
"""

import argparse
import datetime as dt
import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import privhp as hp
from benchmarks import coverage_streams, zoo

REPORT = Path(__file__).with_name("MOMENTS.md")
RESULTS = Path(__file__).with_name("results") / "moments.jsonl"
RECORDS, EPSILONS = 100_000, (1.0, 0.1)
LEAST = 0.85
LINES = (
    "nearly flat",
    "beta mixture",
    "pareto",
    "spikes",
    "ages",
    "pay",
    "cents",
    "wide bounds 1e6",
    "wide bounds 1e9",
)
TABLES = ("people (Interval)", "correlated", "patients", "visits")

Values = NDArray[Any]
Line = dict[str, Any]


def numbers(values: Any) -> Values:
    """Values as floats, without null; of times, seconds."""
    known = values.compressed() if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    return known.astype("M8[s]").astype(np.float64) if known.dtype.kind == "M" else known.astype(np.float64)


def number(value: Any) -> float:
    """A value or a length as a float; of times and durations, seconds."""
    kinds = {"M": "M8[ns]", "m": "m8[ns]"}
    array = np.asarray(value)
    return float(array.astype(kinds[array.dtype.kind]).astype(np.int64) / 1e9 if array.dtype.kind in kinds else array)


def load(name: str) -> tuple[hp.Domain, Any]:
    """Domain and records of a stream."""
    if name in LINES:
        stream = zoo.load(name, records=RECORDS)
        return stream.domain, stream.records
    table = coverage_streams.load(name)
    return table.domain, {column: values[:RECORDS] for column, values in table.columns.items()}


class Question(NamedTuple):
    """A moment of one column, or of two; a stream without columns has one that is called value.

    Args:
        moment: "mean", "std" or "correlation".
        columns: The columns.
    """

    moment: str
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return self.moment if self.columns == ("value",) else f"{self.moment} of {', '.join(self.columns)}"

    def ask(self, generator: hp.Generator) -> hp.Estimate[Any]:
        """The answer of a generator."""
        if self.moment == "correlation":
            return generator.correlation(*self.columns)
        own = {column.name: column.domain for column in generator.domain.columns}
        column = self.columns[0]
        line = generator.marginal(column, null=not own[column].nullable) if own else generator
        estimate: hp.Estimate[Any] = getattr(line, self.moment)()
        return estimate

    def of_records(self, records: Any) -> float:
        """The moment of records, real or synthetic ones."""
        columns = [records[column] if isinstance(records, dict) else records for column in self.columns]
        if self.moment != "correlation":
            return float(getattr(numbers(columns[0]), self.moment)())
        known = ~np.logical_or.reduce([np.ma.getmaskarray(each) for each in columns])
        return float(np.corrcoef([numbers(np.ma.getdata(each)[known]) for each in columns])[0, 1])


def questions(domain: hp.Domain) -> Iterator[Question]:
    """The moments of a stream: mean and standard deviation of each numeric column, correlations of neighbours."""
    lines = [str(column.name) for column in domain.columns if column.domain.inner.is_line] or ["value"]
    yield from (Question(moment, (column,)) for column, moment in product(lines, ("mean", "std")))
    yield from (Question("correlation", pair) for pair in pairwise(lines))


def measure(name: str, epsilon: float, fits: int) -> Line:
    """Error of each answer, both ends of its interval less the truth, error of a sample, and standard error."""
    domain, records = load(name)
    truths = {question: question.of_records(records) for question in questions(domain)}
    found: dict[str, list[tuple[float, ...]]] = {str(question): [] for question in truths}
    for _ in range(fits):
        generator = hp.fit(records, domain, epsilon=epsilon, expected_records=RECORDS)
        sample = generator.sample(RECORDS, rng=0)
        for question, truth in truths.items():
            estimate = question.ask(generator)
            answers = [number(each) - truth for each in (estimate.value, *estimate.interval(0.9))]
            found[str(question)].append((*answers, question.of_records(sample) - truth, number(estimate.stderr)))
    named = {str(question): truth for question, truth in truths.items()}
    return {"stream": name, "epsilon": epsilon, "fits": fits, "truths": named, "found": found}


EXPLANATION = f"""\
Moments of {RECORDS:,} records, with the default plan. Root mean square error of the answer, and of the same moment of
as many synthetic records; median standard error; share of the 90% intervals that hold the moment of the records.
Answers leave out noise far from all records, by the rule of [Queries](../docs/queries.md); samples include it. The
streams are those of `benchmarks/zoo.py` and `benchmarks/coverage_streams.py`; times are in seconds. Shares of groups
are the family *category* of [COVERAGE.md](COVERAGE.md).
"""


def report(lines: list[Line]) -> str:
    """The page: a table for each epsilon."""
    fits = max(line["fits"] for line in lines)
    made = f"`python -m benchmarks.moments`, {dt.date.today()}, {fits} fits of lines, {fits // 2} of tables."
    page = f"# Moments\n\n{made}\n\n{EXPLANATION}"
    header = ("stream", "moment", "true", "error", "error of samples", "standard error", "coverage")
    covered = []
    for epsilon in EPSILONS:
        page += f"\n## epsilon = {epsilon:g}\n\n| " + " | ".join(header) + " |\n|---|---|" + "---:|" * 5 + "\n"
        for line in (own for own in lines if own["epsilon"] == epsilon):
            for name, rows in line["found"].items():
                error, low, high, sample, stderr = np.array(rows).T
                covered.append(float(((low <= 0) & (high >= 0)).mean()))
                figures = (line["truths"][name], _rms(error), _rms(sample), float(np.median(stderr)))
                texts = " | ".join(f"{figure:.4g}" for figure in figures)
                page += f"| {line['stream']} | {name} | {texts} | {covered[-1]:.0%} |\n"
    below = sum(own < LEAST for own in covered)
    return f"{page}\nMean coverage {np.mean(covered):.1%}; {below} of {len(covered)} moments are below {LEAST:.0%}.\n"


def _rms(errors: NDArray[np.float64]) -> float:
    return float(np.sqrt((errors**2).mean()))


def main() -> None:
    """Measure what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fits", type=int, default=40)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--streams", nargs="+", choices=[*LINES, *TABLES], default=[*LINES, *TABLES])
    options = parser.parse_args()
    RESULTS.parent.mkdir(exist_ok=True)
    lines = [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    done = {(line["stream"], line["epsilon"]) for line in lines}
    asked = [own for own in product(options.streams, EPSILONS) if own[0] in LINES or own[1] == 1.0]
    missing = [own for own in asked if own not in done]
    with ProcessPoolExecutor(options.processes) as pool:
        fits = {name: options.fits if name in LINES else options.fits // 2 for name in options.streams}
        for waiting in [pool.submit(measure, *own, fits[own[0]]) for own in missing]:
            lines.append(waiting.result())
            with RESULTS.open("a") as file:
                file.write(json.dumps(lines[-1]) + "\n")
    REPORT.write_text(report(lines))


if __name__ == "__main__":
    main()

"""Rank errors of 9 and of 99 quantiles: one release against OpenDP and a quantile tree; writes QUANTILES.md.

    python -m benchmarks.quantiles [--runs 5] [--processes 2] [--streams NAME ...]

All methods have the same records, bounds and epsilon, and the neighbouring relation
add-remove. Every method and stream is a line in results/quantiles.jsonl, so an
interrupted run resumes; delete the file to measure again.
"""

import argparse
import datetime as dt
import importlib.metadata
import json
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import opendp.prelude as dp
from numpy.typing import NDArray

import privhp as hp
from benchmarks import streams, zoo
from privhp import baselines

REPORT = Path(__file__).with_name("QUANTILES.md")
RESULTS = Path(__file__).with_name("results") / "quantiles.jsonl"
NUMBERS = (9, 99)
SETTINGS = ((10_000, 1.0), (100_000, 1.0))
"""Numbers of records with epsilon."""

CANDIDATES, BINS, FAN_OUT = 4096, 4096, 16
REAL = ("taxi fares", "flight delays")

Floats = NDArray[np.float64]
Line = dict[str, Any]

MADE = ("nearly flat", "beta mixture", "pareto", "ages", "pay", "wide bounds 1e9")
"""Streams of the zoo: smooth, with a heavy tail, heaped at whole and at round numbers, and in wide bounds."""


STEPS = {"ages": "1", "pay": "1", "taxi fares": "0.01", "flight delays": "1"}
"""Distance of neighbouring values of streams of decimals, which are public knowledge."""

STEP = "one release, step declared"


def records_of(name: str, size: int) -> tuple[hp.Interval, Floats]:
    """Bounds and records of a stream."""
    stream = (zoo if name in MADE else streams).load(name, records=size)
    assert isinstance(stream.domain, hp.Interval)
    return stream.domain, stream.records.astype(np.float64)


def one_release(records: Floats, domain: hp.Interval, shares: Floats, epsilon: float) -> Floats:
    """All quantiles of a release with the default plan."""
    quantiles: Floats = hp.fit(records, domain, epsilon=epsilon, expected_records=len(records)).quantile(shares).value
    return quantiles


def quantile_tree(records: Floats, domain: hp.Interval, shares: Floats, epsilon: float) -> Floats:
    """All quantiles of a quantile tree in the style of Google's library."""
    tree = baselines.fit("quantile tree", records, domain, epsilon=epsilon, expected_records=len(records))
    quantiles: Floats = tree.distribution().quantile(shares).value
    return quantiles


def opendp_each(records: Floats, domain: hp.Interval, shares: Floats, epsilon: float) -> Floats:
    """Each quantile by OpenDP's `make_private_quantile`, with an equal part of epsilon."""
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    candidates = np.linspace(domain.low, domain.high, CANDIDATES + 1).tolist()
    found = []
    for share in shares.tolist():
        scale = 2 * max(share, 1 - share) * len(shares) / epsilon
        measurement = dp.m.make_private_quantile(*space, dp.max_divergence(), candidates, share, scale)
        assert measurement.check(1, epsilon / len(shares) * (1 + 1e-9))
        found.append(measurement(records))
    return np.array(found)


def opendp_tree(records: Floats, domain: hp.Interval, shares: Floats, epsilon: float) -> Floats:
    """All quantiles of OpenDP's consistent tree over equal bins."""
    edges = np.linspace(domain.low, domain.high, BINS + 1)
    counts = np.histogram(records, edges)[0].tolist()
    space = dp.vector_domain(dp.atom_domain(T=int), size=BINS), dp.l1_distance(T=int)
    tree = space >> dp.t.then_b_ary_tree(leaf_count=BINS, branching_factor=FAN_OUT)
    measurement = dp.binary_search_chain(lambda scale: tree >> dp.m.then_laplace(scale), d_in=1, d_out=epsilon)
    leaves = dp.t.make_consistent_b_ary_tree(branching_factor=FAN_OUT)(measurement(counts))
    quantiles = dp.t.make_quantiles_from_counts(edges.tolist(), alphas=shares.tolist(), TA=float)
    return np.array(quantiles(leaves))


METHODS = {
    "one release": one_release,
    STEP: one_release,
    "quantile tree": quantile_tree,
    "OpenDP, each quantile": opendp_each,
    "OpenDP, tree": opendp_tree,
}


def rank_error(records: Floats, shares: Floats, values: Floats) -> float:
    """Mean distance of each share from the ranks that its value has, as a share of the records."""
    below, through = (np.searchsorted(records, values, side=side) / len(records) for side in ("left", "right"))
    return float(np.maximum(np.maximum(below - shares, shares - through), 0.0).mean())


def measure(name: str, setting: tuple[int, float], method: str, runs: int) -> Line:
    """Rank errors of a method on a stream, one for each run and number of quantiles."""
    dp.enable_features("contrib")
    size, epsilon = setting
    domain, records = records_of(name, size)
    if method == STEP:
        domain = hp.Interval(domain.low, domain.high, step=STEPS[name])
    ordered = np.sort(records)
    errors = {}
    for number in NUMBERS:
        shares = np.arange(1, number + 1) / (number + 1)
        found = (METHODS[method](records, domain, shares, epsilon) for _ in range(runs))
        errors[str(number)] = [rank_error(ordered, shares, values) for values in found]
    return {"stream": name, "records": size, "epsilon": epsilon, "method": method, "runs": runs, "errors": errors}


EXPLANATION = f"""\
Rank error of a quantile: the distance between the share that was asked for and the share of records at or below the
answer, in percent of the records; 0 if the answer is a value of several records that hold the share. Means of all
quantiles and runs, and the standard deviation between runs. The smallest mean is in bold. All methods have the same
records, bounds and epsilon, and pure differential privacy under add-remove.

- **one release**: `privhp.fit` with its defaults; all quantiles come from one release.
- **one release, step declared**: the same with `Interval(..., step=)`, for streams of decimals.
- **quantile tree**: fan-out {FAN_OUT} and height 4, as in Google's library, from `privhp.baselines`; all quantiles come
  from one tree.
- **OpenDP, each quantile**: `make_private_quantile` with {CANDIDATES + 1:,} evenly spaced candidates, and an equal part
  of epsilon for each quantile.
- **OpenDP, tree**: `make_b_ary_tree` over {BINS:,} equal bins with fan-out {FAN_OUT}, Laplace noise,
  `make_consistent_b_ary_tree`, `make_quantiles_from_counts`.

The streams are those of the [accuracy benchmark](ACCURACY.md).
"""


def report(lines: list[Line]) -> str:
    """The page: a table for each setting and number of quantiles."""
    runs, version = lines[0]["runs"], importlib.metadata.version("opendp")
    page = f"# Quantiles\n\n`python -m benchmarks.quantiles`, {dt.date.today()}, {runs} runs; opendp {version}.\n\n"
    page += EXPLANATION
    for (size, epsilon), number in product(SETTINGS, NUMBERS):
        own = [line for line in lines if (line["records"], line["epsilon"]) == (size, epsilon)]
        page += f"\n## {number} quantiles of {size:,} records, epsilon = {epsilon:g}\n\n"
        page += "| stream | " + " | ".join(METHODS) + " |\n|---|" + "---:|" * len(METHODS) + "\n"
        for name in dict.fromkeys(line["stream"] for line in own):
            found = {line["method"]: line["errors"][str(number)] for line in own if line["stream"] == name}
            best = min(np.mean(each) for each in found.values())
            page += f"| {name} | " + " | ".join(_cell(found.get(method), best) for method in METHODS) + " |\n"
    return page


def _cell(errors: list[float] | None, best: np.floating[Any]) -> str:
    if errors is None:
        return ""
    mean = f"{np.mean(errors):.3%}"
    return f"{f'**{mean}**' if np.mean(errors) == best else mean} ± {np.std(errors, ddof=1):.3%}"


def main() -> None:
    """Measure what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--processes", type=int, default=2)
    known = [*MADE, *(name for name in REAL if name in streams.available())]
    parser.add_argument("--streams", nargs="+", choices=known, default=known)
    options = parser.parse_args()
    RESULTS.parent.mkdir(exist_ok=True)
    lines = [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    done = {(line["stream"], line["records"], line["epsilon"], line["method"]) for line in lines}
    missing = [
        (name, setting, method)
        for name, setting, method in product(options.streams, SETTINGS, METHODS)
        if (name, *setting, method) not in done and (method != STEP or name in STEPS)
    ]
    with ProcessPoolExecutor(options.processes) as pool:
        waiting = [pool.submit(measure, *one, options.runs) for one in missing]
        for finished in waiting:
            lines.append(finished.result())
            with RESULTS.open("a") as file:
                file.write(json.dumps(lines[-1]) + "\n")
    REPORT.write_text(report(lines))


if __name__ == "__main__":
    main()

"""Precision and recall of heavy /8 and /16 prefixes of a real blocklist at epsilon = 1.

    python -m benchmarks.heavy_hitters --runs 20

An address occurs once for each list that has it. A prefix is heavy if its share
of the records reaches the threshold; hierarchically heavy if its residual share
without the heavy /16 inside it does. Precision is the share of reported prefixes
that are heavy, recall the share of heavy prefixes that are reported. The worst
error is the largest distance between the threshold and the true share of a false
positive or false negative, in percent of the threshold. True shares are computed
from the records and are NOT private. Writes HEAVY.md.
"""

import argparse
import datetime as dt
import ipaddress
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np

import privhp as hp
from benchmarks.methods import DEFAULT, ONE_PASS, plan_of
from benchmarks.streams import Records, load

LENGTHS = (8, 16)
HALF = Fraction(1, 2)
THRESHOLDS = (0.02, 0.01, 0.005, 0.002)
EXPLANATION = """\
A prefix is heavy if its true share reaches the threshold. Precision is the share of reported prefixes that are
heavy, recall the share of heavy prefixes that are reported. The worst error is the largest distance between the
threshold and the true share of a false positive or false negative, in percent of the threshold.

A plan with exact counters for the prefixes of interest is wrong only within a few percent of the threshold. Plans
for small W1 distances stop splitting where a split no longer reduces the distance, for addresses often before /16;
a prefix inside a leaf is not reported.
"""
Prefixes = dict[str, float]
"""Share or residual share of the records in each prefix."""

PLANS: dict[str, Callable[..., hp.Plan]] = {
    "exact counters for /8 and /16": lambda expected_records: hp.Plan(
        hp.IPv4(), epsilon=Fraction(1), budgets={8: HALF, 16: HALF}, exact_depth=16
    ),
    "paper, k = 1024, 2 rows": partial(
        hp.Plan.paper, hp.IPv4(), epsilon=1, hot_cells=1024, depth=16, exact_depth=12, sketch_rows=2
    ),
    **{
        f"{method}, 256 KiB": partial(plan_of, method, hp.IPv4(), epsilon=1, memory="256 KiB")
        for method in (DEFAULT, ONE_PASS)
    },
}


def shares(records: Records, length: int) -> Prefixes:
    """True share of every prefix of a length in the records. NOT private."""
    codes, counts = np.unique(records >> np.uint32(32 - length), return_counts=True)
    networks = (ipaddress.IPv4Network((code << (32 - length), length)) for code in codes.tolist())
    return {str(network): count / len(records) for network, count in zip(networks, counts.tolist(), strict=True)}


def residuals(records: Records, threshold: float) -> Prefixes:
    """True residual share of every prefix, without the heavy /16 inside it. NOT private."""
    found, long = shares(records, 8), shares(records, 16)
    for prefix, share in long.items():
        if share >= threshold:
            found[str(ipaddress.IPv4Network(prefix).supernet(new_prefix=8))] -= share
    return found | long


def queries(records: Records, threshold: float) -> dict[str, tuple[Prefixes, list[int]]]:
    """True shares and levels of each query, by name."""
    flat = {f"/{length}": (shares(records, length), [length]) for length in LENGTHS}
    return flat | {"both, hierarchical": (residuals(records, threshold), list(LENGTHS))}


def score(found: set[str], truth: Prefixes, threshold: float) -> tuple[float, float, float]:
    """Precision, recall and the worst error."""
    heavy = {prefix for prefix, share in truth.items() if share >= threshold}
    right = len(found & heavy)
    worst = max((abs(truth.get(prefix, 0.0) / threshold - 1) for prefix in found ^ heavy), default=0.0)
    return right / len(found) if found else 1.0, right / len(heavy) if heavy else 1.0, worst


def measure(records: Records, name: str, runs: int) -> list[list[str]]:
    """Rows of a plan, one for each threshold and query: means over releases of the same records."""
    scores: dict[tuple[float, str], list[tuple[float, float, float]]] = {}
    heavy: dict[tuple[float, str], int] = {}
    bytes_used = 0
    queries_at = {threshold: queries(records, threshold) for threshold in THRESHOLDS}
    for _ in range(runs):
        plan = PLANS[name](expected_records=len(records))
        bytes_used = plan.nbytes
        generator = hp.fit(records, plan=plan)
        for threshold in THRESHOLDS:
            for query, (truth, levels) in queries_at[threshold].items():
                found = {str(hitter.region) for hitter in generator.heavy_hitters(threshold, levels=levels)}
                scores.setdefault((threshold, query), []).append(score(found, truth, threshold))
                heavy[threshold, query] = sum(share >= threshold for share in truth.values())
    rows = []
    for (threshold, query), some in scores.items():
        precision, recall, worst = np.mean(some, axis=0)
        figures = [f"{precision:.3f}", f"{recall:.3f}", f"{worst:.0%}"]
        rows.append([name, f"{bytes_used:,}", f"{threshold:.1%}", query, str(heavy[threshold, query]), *figures])
    return rows


def main() -> None:
    """Measure all plans, print the table and write HEAVY.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    records = load("blocklist").records
    header = ["plan", "bytes", "threshold", "prefixes", "heavy", "precision", "recall", "worst error"]
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    for name in PLANS:
        for row in measure(records, name, runs):
            lines.append("| " + " | ".join(row) + " |")
            print(lines[-1], flush=True)
    text = (
        "# Heavy prefixes\n\n"
        f"The IPsum blocklist, {len(records):,} records: each address occurs once for each list that has it. "
        f"epsilon = 1; means of {runs} releases.\n"
        f"`python -m benchmarks.heavy_hitters --runs {runs}`, {dt.date.today()}.\n\n"
        + "\n".join(lines)
        + "\n\n"
        + EXPLANATION
    )
    Path(__file__).with_name("HEAVY.md").write_text(text)


if __name__ == "__main__":
    main()

"""Coverage of the 90% intervals of `mass`; writes COVERAGE.md.

    python -m benchmarks.coverage [records]

For each stream, memory and method, the default with three passes and a plan of
one pass: releases at epsilon 1, each with other random regions.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

import privhp as hp
from benchmarks import streams
from benchmarks.methods import DEFAULT, ONE_PASS, plan_of
from privhp.core.cells import Floats
from privhp.evaluate import random_regions
from privhp.evaluate.range_queries import region_masses

REPORT = Path(__file__).parent / "COVERAGE.md"
MEMORIES = ("64 KiB", "1 MiB")
RELEASES, REGIONS = 64, 10
EXPLANATION = f"""# Coverage of 90% intervals

Intervals `mass(region).interval(0.9)` of {REGIONS} random regions for each of {RELEASES} releases at epsilon 1:
share of intervals that hold the true mass, and the median standard error in brackets. Every release has other
regions, so an entry is a mean over {RELEASES * REGIONS} intervals; its standard error is 1% to 2%, since the
answers of one release share its noise.
"""


def coverage(
    stream: streams.Stream, queries: list[tuple[list[Any], Floats]], memory: str, method: str
) -> tuple[float, float]:
    """Share of the intervals that hold the true mass, and the median standard error."""
    plan = plan_of(method, stream.domain, epsilon=1, expected_records=len(stream), memory=memory)
    hits, errors = [], []
    for regions, truths in queries:
        generator = hp.fit(stream.records, plan=plan)
        for region, truth in zip(regions, truths, strict=True):
            answer = generator.mass(region)
            low, high = answer.interval(0.9)
            hits.append(low - 1e-12 <= truth <= high + 1e-12)
            errors.append(float(answer.stderr))
    return float(np.mean(hits)), float(np.median(errors))


def main(records: int | None = None) -> None:
    """Measure all available streams, and write the report."""
    lines = [
        EXPLANATION,
        "| stream | records | "
        + " | ".join(f"{memory}, {method}" for method in (DEFAULT, ONE_PASS) for memory in MEMORIES)
        + " |",
        "|---|---:|" + "---:|" * 4,
    ]
    shares = []
    for name in streams.available():
        stream = streams.load(name, records=records)
        sets = [random_regions(stream.domain, REGIONS, rng=release) for release in range(RELEASES)]
        queries = [(regions, region_masses(stream.records, regions, domain=stream.domain)) for regions in sets]
        cells = []
        for method in (DEFAULT, ONE_PASS):
            for memory in MEMORIES:
                share, error = coverage(stream, queries, memory, method)
                shares.append(share)
                cells.append(f"{share:.0%} ({error:.1e})")
        lines.append(f"| {name} | {len(stream):,} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    between = sum(0.85 <= share <= 0.97 for share in shares)
    lines += [
        "",
        f"Mean {np.mean(shares):.1%}; {between} of {len(shares)} between 85% and 97%, minimum {min(shares):.0%}.",
    ]
    REPORT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else None)

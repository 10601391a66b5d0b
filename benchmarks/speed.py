"""All speed measurements in one table. Writes RESULTS.md.

    make speed              (or: python -m benchmarks.speed)

Figures are ratios to an anchor in the same process, contenders taking turns,
the best turn of each; one thread unless said. It takes some minutes.
"""

import datetime as dt
from pathlib import Path

from benchmarks import footprint, ingest, noise, sampling
from benchmarks.timing import machine

LIMITS = """
## What stops us

- A record of the paper's shape costs 9 to 10 ns: 13 increments (one for all exact levels, one for each of 3 hash groups
  and 4 rows) at 0.29 ns, which is what the first-level cache allows; 12 hashes at 0.17 ns; 1.5 ns of encoding; and 2 ns
  of folding joint tables and of Python, once a block. DataSketches takes about 1,100 ns for its 12 levels.
- Shuffled samples that do not fit the cache wait for memory: scattering a row costs 3 ns and its turn in the
  Fisher-Yates pass 5 ns, twice what they cost in the cache. In leaf order there is no such limit.
- Independent samples begin with a multinomial draw over the leaves, about 150 ns for each of some 4,000 leaves. This is
  no limit of the machine: drawing a leaf for each record by an alias table would need neither it nor the shuffle.
"""


def main() -> None:
    """Measure everything, print it, keep it."""
    ratios = ingest.measure() + noise.measure() + sampling.measure()
    lines = ["| what | ratio | at least |", "|---|---|---|"]
    lines += [f"| {what} | {ratio:.2f} | {'' if least is None else f'{least:g}'} |" for what, ratio, least in ratios]
    size, growth = footprint.growth_of_memory(100)
    lines += ["", "| what | figure | at most |", "|---|---|---|"]
    lines += [
        f"| growth of peak memory from 1e6 to 1e8 records, plan of {size / 2**20:.2f} MiB, MB | {growth:.1f} | 8 |",
        f"| import of privhp after NumPy, ms | {footprint.time_to_import():.0f} | 30 |",
    ]
    lines += [
        f"| {what} | {seconds:.2f} | {'1' if '1 MiB' in what else ''} |"
        for what, seconds in footprint.time_to_release()
    ]
    lines += ["", "| scaling | time per record, relative |", "|---|---|"]
    lines += [f"| {what} | {relative:.2f} |" for what, relative in ingest.scaling()]
    text = (
        f"# Speed\n\n`python -m benchmarks.speed`, {dt.date.today()}. {machine()}.\n\n"
        "Ratios of speeds in one process, contenders in turns, best of each; more is faster.\n"
        "The shape (24, 12, 4, 256) is depth, exact depth, rows and hot cells, with two buckets for each in a row.\n\n"
        + "\n".join(lines)
        + "\n"
        + LIMITS
    )
    print(text)
    Path(__file__).with_name("RESULTS.md").write_text(text)
    misses = [what for what, ratio, least in ratios if least is not None and ratio < least]
    if misses:
        raise SystemExit("below what they should be: " + "; ".join(misses))


if __name__ == "__main__":
    main()

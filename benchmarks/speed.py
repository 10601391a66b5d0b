"""Speed of counting, noise and sampling, memory and import time; writes RESULTS.md.

    make speed              (or: python -m benchmarks.speed)

Figures are ratios to an anchor that runs in rotation in the same process, from
the best time of each, with one thread unless stated. It takes some minutes.
"""

import datetime as dt
from pathlib import Path

from benchmarks import footprint, ingest, noise, planning, sampling
from benchmarks.timing import load, machine

LIMITS = """
## Limits

- Plans are measured against a million square roots in Python, which take 50 ms on this machine. A plan of one pass over
  a plane or a table chooses from a thousand shapes.
- A record of the paper's shape costs 7 to 8 ns. 13 increments (one for all exact levels, one for each of 3 hash groups
  and 4 rows) take 0.27 to 0.3 ns each, one store per cycle, the limit of the first-level cache; the 12 hashes are
  computed at the same time. Encoding takes 1.2 ns and folding joint tables 0.2 ns; Python runs once per block.
  DataSketches takes about 1,100 ns for its 12 levels.
- A record of a skewed stream costs 5 ns: 3.4 ns for encoding its four coordinates, 1.7 ns for combining equal codes.
- Balanced samples in random order that exceed the cache are limited by memory: scattering a record costs 3 ns and its
  step of the Fisher-Yates shuffle 5 ns, twice the times within the cache. Samples in leaf order have no such limit.
- Two threads need two idle cores, and a shuffle an undisturbed cache. Between runs, two threads varied from 1.43 to
  1.94 with the load, and balanced samples of 262,144 records in random order from 0.74 to 0.86.
- A record of a learned partition costs 3 ns besides its encoding: 64 records descend together, one node per step, so
  that their memory accesses overlap. In a memory of 64 KiB a block has 256 rows, and the 5 us of Python per block are
  four times the counting time; in 1 MiB a block has 2,048 rows.
- Creating dataclasses takes 8 ms of the import time; `decimal`, `fractions` and `dataclasses` of the standard library
  take 3 ms.
- Independent samples in random order need no shuffle: drawing a leaf from an alias table costs 1.4 ns and a point in it
  2.1 ns while both tables, 48 bytes per leaf, fit the second-level cache.
- Independent samples in leaf order start with a Poisson count for each leaf, about 35 ns each. This is the difference
  from balanced samples where leaves get few records.
"""


def main() -> None:
    """Measure all speeds, print the tables and write RESULTS.md."""
    load_average = load()
    ratios = ingest.measure() + noise.measure() + sampling.measure() + planning.measure()
    lines = ["| benchmark | ratio | minimum |", "|---|---|---|"]
    lines += [
        f"| {name} | {ratio:.2f} | {'' if minimum is None else f'{minimum:g}'} |" for name, ratio, minimum in ratios
    ]
    size, growth = footprint.growth_of_memory(100)
    lines += ["", "| cost | measured | maximum |", "|---|---|---|"]
    lines += [
        f"| growth of peak memory from 1e6 to 1e8 records, plan of {size / 2**20:.2f} MiB, MB | {growth:.1f} | 8 |",
        f"| import of privhp after NumPy, ms | {footprint.time_to_import():.0f} | 30 |",
    ]
    lines += [
        f"| {name} | {seconds:.2f} | {'1' if '1 MiB' in name else ''} |"
        for name, seconds in footprint.time_to_release()
    ]
    lines += ["", "| scaling | time per record, relative |", "|---|---|"]
    lines += [f"| {name} | {relative:.2f} |" for name, relative in ingest.scaling()]
    text = (
        f"# Speed\n\n`python -m benchmarks.speed`, {dt.date.today()}. {machine()}; {load_average}.\n\n"
        "Ratios of speeds, from the best time of each contender, run in rotation in one process; higher is faster.\n"
        "The shape (24, 12, 4, 256) is depth, exact depth, rows and hot cells; a row has two buckets per hot cell.\n\n"
        + "\n".join(lines)
        + "\n"
        + LIMITS
    )
    print(text)
    Path(__file__).with_name("RESULTS.md").write_text(text)
    misses = [name for name, ratio, minimum in ratios if minimum is not None and ratio < minimum]
    if misses:
        raise SystemExit("ratios below their minimum: " + "; ".join(misses))


if __name__ == "__main__":
    main()

"""All speed measurements in one table. Writes RESULTS.md.

    make speed              (or: python -m benchmarks.speed)

Figures are ratios to an anchor in the same process, contenders taking turns,
the best turn of each; one thread unless said. It takes some minutes.
"""

import datetime as dt
from pathlib import Path

from benchmarks import footprint, ingest, noise, sampling
from benchmarks.timing import load, machine

LIMITS = """
## What stops us

- A record of the paper's shape costs 7 to 8 ns: 13 increments (one for all exact levels, one for each of 3 hash groups
  and 4 rows) at 0.27 to 0.3 ns, one store a cycle, which is what the first-level cache allows, while the 12 hashes are
  worked out beside them; 1.2 ns of encoding; 0.2 ns of folding joint tables; and Python, once a block. DataSketches
  takes about 1,100 ns for its 12 levels.
- A record of a skewed stream costs 5 ns, of which encoding its four sides takes 3.4 and adding equal codes up 1.7.
- Balanced samples in random order that do not fit the cache wait for memory: scattering a row costs 3 ns and its turn
  in the Fisher-Yates pass 5 ns, twice what they cost in the cache. In leaf order there is no such limit.
- Two threads need two cores, and a shuffle an undisturbed cache. Under load, as given above, two
  threads gain nothing: on a quiet machine they reached 1.89. Balanced samples in random order, 262,144 of them, varied
  between 0.74 and 0.86 with what else was running.
- A record of a learned partition costs 3 ns beside its encoding: all of 64 records go down together, a step at a time,
  and none waits for another. In a memory of 64 KiB blocks have 256 rows, and what Python does for each, 5 us, takes
  four times as long as the counting; in 1 MiB they have 2,048.
- Importing takes longest for the standard library: `decimal`, `json`, `ipaddress`, `dataclasses`, 6 ms in all.
- Independent samples in random order need no shuffle: drawing a leaf from an alias table costs 1.4 ns and a point in it
  2.1 ns, as long as both tables, 48 bytes a leaf, fit the second-level cache.
- Independent samples in leaf order begin with a Poisson number for each leaf, about 35 ns each, which is what tells
  them from balanced ones where leaves get few records.
"""


def main() -> None:
    """Measure everything, print it, keep it."""
    others = load()
    ratios = ingest.measure() + noise.measure() + sampling.measure()
    lines = ["| benchmark | ratio | minimum |", "|---|---|---|"]
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
        f"# Speed\n\n`python -m benchmarks.speed`, {dt.date.today()}. {machine()}; {others}.\n\n"
        "Ratios of speeds, measured in rotation in one process, best turn of each; higher is faster.\n"
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

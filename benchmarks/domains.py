"""Time per record to encode, count and sample in each domain, relative to `Box`; writes DOMAINS.md.

python -m benchmarks.domains
"""

import datetime as dt
import ipaddress
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import privhp as hp
from benchmarks.timing import best_seconds, load, machine, numpy_kernels

TARGET = 3
"""Maximum ratio of the time to encode an array to the time of a box."""
RECORDS = 1_000_000
LISTED = 20_000
SAMPLES = 200_000


def cases() -> dict[str, tuple[hp.Domain, Any]]:
    """Domains with arrays of records, by name."""
    rng = np.random.default_rng(0)
    indices = rng.integers(0, 50, RECORDS)
    words = np.array([f"word {number}" for number in range(50)])
    seconds = rng.integers(10**9, 15 * 10**8, RECORDS).astype("M8[s]")
    tree = {f"group {group}": [f"word {5 * group + leaf}" for leaf in range(5)] for group in range(10)}
    tails = np.tan(np.pi * (np.linspace(0, 1, 1001)[1:-1] - 0.5))  # quantiles of a Cauchy distribution
    columns = {"a": rng.random(RECORDS), "b": rng.integers(0, 10**6, RECORDS), "c": seconds, "d": words[indices]}
    mixed = hp.Table(
        a=hp.Interval(0, 1),
        b=hp.Integers(0, 10**6),
        c=hp.Time("2000-01-01", "2030-01-01"),
        d=hp.Categories(words),
    )
    return {
        "Box, 2 sides": (hp.Box([(0, 1), (0, 1)]), rng.random((RECORDS, 2))),
        "Interval": (hp.Interval(0, 1), rng.random(RECORDS)),
        "Interval, log": (hp.Interval(1e-9, 1, scale="log"), rng.random(RECORDS)),
        "Interval, float32": (hp.Interval(0, 1, dtype="float32"), rng.random(RECORDS, dtype=np.float32)),
        "Interval, 9 cuts": (hp.Interval(0, 1, cuts=list(np.linspace(0, 0.5, 11)[1:-1])), rng.random(RECORDS)),
        "Interval, 999 cuts": (hp.Interval(0, 1, cuts=list(np.linspace(0, 0.5, 1001)[1:-1])), rng.random(RECORDS)),
        "Interval, 999 uneven cuts": (hp.Interval(-1e4, 1e4, cuts=list(tails)), rng.standard_cauchy(RECORDS)),
        "Interval, step": (hp.Interval(0, 10**4, step="0.01"), rng.integers(0, 10**6, RECORDS) / 100),
        "Integers": (hp.Integers(0, 10**6), rng.integers(0, 10**6, RECORDS)),
        "Time, same unit": (hp.Time("2000-01-01", "2030-01-01"), seconds),
        "Time, ns to s": (hp.Time("2000-01-01", "2030-01-01"), seconds.astype("M8[ns]")),
        "Time, s to D": (hp.Time("2000-01-01", "2030-01-01", unit="D"), seconds),
        "IPv4, numbers": (hp.IPv4(), rng.integers(0, 2**32, RECORDS, dtype=np.uint32)),
        "IPv6, halves": (hp.IPv6("2000::/3"), rng.integers(2**61, 2**62, (RECORDS, 2), dtype=np.uint64)),
        "Categories, numbers": (hp.Categories(range(50)), indices),
        "Categories, booleans": (hp.Categories([False, True]), indices < 20),
        "Categories, text": (hp.Categories(words), words[indices]),
        "Categories, text in wide fields": (hp.Categories(words), words[indices].astype("U16")),
        "Taxonomy, text": (hp.Taxonomy(tree), words[indices]),
        "Pattern": (hp.Pattern("[a-z]{4} [0-9]{1,2}"), words[indices]),
        "Geo": (hp.Geo(-9, 49, 2, 61), rng.uniform((-9, 49), (2, 61), (RECORDS, 2))),
        "Geo, step": (hp.Geo(-9, 49, 2, 61, step="0.01"), np.round(rng.uniform((-9, 49), (2, 61), (RECORDS, 2)), 2)),
        "Box, 4 sides": (hp.Box([(0, 1)] * 4), rng.random((RECORDS, 4))),
        "Table of 4 columns": (mixed, mixed.as_batch(columns)),
    }


def as_list(name: str, records: Any) -> list[Any]:
    """Some records as Python objects; times and addresses as texts."""
    if name.startswith("Table"):
        return list(zip(*(np.asarray(column[:LISTED]).tolist() for column in records.columns), strict=True))
    some = records[:LISTED].tolist()
    if name.startswith("Time"):
        return [time.isoformat() for time in records[:LISTED].astype("M8[s]").tolist()]
    if name.startswith("IPv4"):
        return [str(ipaddress.IPv4Address(number)) for number in some]
    if name.startswith("IPv6"):
        return [str(ipaddress.IPv6Address(high << 64 | low)) for high, low in some]
    return list(map(tuple, some)) if name.startswith(("Box", "Geo")) else some


def anchor(name: str) -> str:
    """Name of the box that a domain is compared with."""
    return "Box, 4 sides" if name.startswith("Table") else "Box, 2 sides"


def level_of(domain: hp.Domain) -> int:
    """Level to which records are encoded."""
    return min(domain.depth, 20)


def encoding(domain: hp.Domain, records: Any) -> Callable[[], object]:
    """Function that encodes an array block by block, as a summary does."""
    blocks = [records[start : start + 2**16] for start in range(0, RECORDS, 2**16)]
    return lambda: [domain.encode(block, level=level_of(domain)) for block in blocks]


def seconds_to_encode(known: dict[str, tuple[hp.Domain, Any]]) -> dict[str, float]:
    """Seconds to encode the array of each domain, measured in rotation."""
    return best_seconds({name: encoding(*case) for name, case in known.items()}, turns=9)


def operations(name: str, domain: hp.Domain, records: Any) -> dict[str, Callable[[], object]]:
    """Functions that count an array, encode a list, and sample."""
    plan = hp.Plan.paper(domain, epsilon=1, expected_records=RECORDS, depth=level_of(domain))
    tally, summary = hp.Tally(plan), hp.Summary(plan)
    summary.update(records)
    generator, rng = summary.release(), np.random.default_rng(1)
    listed = as_list(name, records)
    return {
        "count": lambda: tally.add(records),
        "list": lambda: domain.encode(listed, level=level_of(domain)),
        "balanced": lambda: generator.sample(SAMPLES, rng=rng),
        "independent": lambda: generator.sample(SAMPLES, method="independent", rng=rng),
    }


def measure(known: dict[str, tuple[hp.Domain, Any]]) -> dict[str, dict[str, float]]:
    """Nanoseconds per record of each operation of each domain, measured in rotation."""
    runs = {name: operations(name, *case) for name, case in known.items()}
    sizes = {"count": RECORDS, "list": LISTED, "balanced": SAMPLES, "independent": SAMPLES}
    found: dict[str, dict[str, float]] = {name: {} for name in known}
    for operation, size in sizes.items():
        for name, seconds in best_seconds({name: own[operation] for name, own in runs.items()}, turns=9).items():
            found[name][operation] = seconds / size * 1e9
    return found


def main() -> None:
    """Measure all domains, print the tables and write DOMAINS.md."""
    before, known = load(), cases()
    native = seconds_to_encode(known)
    with numpy_kernels():
        plain = seconds_to_encode(known)
    others = measure(known)
    encoded = [
        f"| {name} | {native[name] / RECORDS * 1e9:.1f} | {native[name] / native[anchor(name)]:.2f} "
        f"| {plain[name] / RECORDS * 1e9:.1f} | {plain[name] / plain[anchor(name)]:.2f} |"
        for name in native
    ]
    counted = [
        f"| {name} | {own['count']:.1f} | {own['count'] / others[anchor(name)]['count']:.2f} | {own['list']:.0f} "
        f"| {own['list'] / others[anchor(name)]['list']:.2f} | {own['balanced']:.1f} | {own['independent']:.1f} |"
        for name, own in others.items()
    ]
    text = "\n".join(
        [
            "# Domains",
            "",
            f"`python -m benchmarks.domains`, {dt.date.today().isoformat()}. {machine()}; {before}.",
            "",
            f"Nanoseconds per record for NumPy arrays of {RECORDS:,} records, encoded to level 20 or the deepest",
            "level: the best time of each operation, run in rotation in one process. The ratio is to a box of two",
            f"sides, for the table of four columns to a box of four sides. The target is at most {TARGET}.",
            "",
            "| encode | native kernels | ratio | NumPy kernels | ratio |",
            "|---|---|---|---|---|",
            *encoded,
            "",
            "| count and sample | count | ratio | encode a list | ratio | balanced | independent |",
            "|---|---|---|---|---|---|---|",
            *counted,
            "",
        ]
    )
    print(text)
    (Path(__file__).parent / "DOMAINS.md").write_text(text)


if __name__ == "__main__":
    main()

"""Time per record of each domain, from arrays and lists to cells and to counts and back to samples, against `Box`.

python -m benchmarks.domains
"""

import ipaddress
from typing import Any

import numpy as np

import privhp as hp
from benchmarks.timing import best_seconds

RECORDS = 1_000_000
IN_LISTS = 20_000
SAMPLES = 200_000


def cases() -> dict[str, tuple[hp.Domain, Any]]:
    """A domain and an array of records, by name."""
    rng = np.random.default_rng(0)
    places = rng.integers(0, 50, RECORDS)
    words = np.array([f"word {place}" for place in range(50)])
    seconds = rng.integers(10**9, 15 * 10**8, RECORDS).astype("M8[s]")
    tree = {f"group {group}": [f"word {5 * group + leaf}" for leaf in range(5)] for group in range(10)}
    columns = {"a": rng.random(RECORDS), "b": rng.integers(0, 10**6, RECORDS), "c": seconds, "d": words[places]}
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
        "Interval, 9 cuts": (hp.Interval(0, 1, cuts=list(np.linspace(0, 0.5, 11)[1:-1])), rng.random(RECORDS)),
        "Integers": (hp.Integers(0, 10**6), rng.integers(0, 10**6, RECORDS)),
        "Time, same unit": (hp.Time("2000-01-01", "2030-01-01"), seconds),
        "Time, ns to s": (hp.Time("2000-01-01", "2030-01-01"), seconds.astype("M8[ns]")),
        "Time, s to D": (hp.Time("2000-01-01", "2030-01-01", unit="D"), seconds),
        "IPv4, numbers": (hp.IPv4(), rng.integers(0, 2**32, RECORDS, dtype=np.uint32)),
        "IPv6, halves": (hp.IPv6("2000::/3"), rng.integers(2**61, 2**62, (RECORDS, 2), dtype=np.uint64)),
        "Categories, numbers": (hp.Categories(range(50)), places),
        "Categories, text": (hp.Categories(words), words[places]),
        "Taxonomy, text": (hp.Taxonomy(tree), words[places]),
        "Table of 4 columns": (mixed, mixed.as_batch(columns)),
    }


def texts(name: str, records: Any) -> list[Any]:
    """Some of the records as Python objects: texts of times and addresses, else what they are."""
    if name.startswith("Table"):
        return list(zip(*(column[:IN_LISTS].tolist() for column in records.columns), strict=True))
    some = records[:IN_LISTS].tolist()
    if name.startswith("Time"):
        return [time.isoformat() for time in records[:IN_LISTS].astype("M8[s]").tolist()]
    if name.startswith("IPv4"):
        return [str(ipaddress.IPv4Address(number)) for number in some]
    if name.startswith("IPv6"):
        return [str(ipaddress.IPv6Address(high << 64 | low)) for high, low in some]
    return list(map(tuple, some)) if name.startswith("Box") else some


def measure(name: str, domain: hp.Domain, records: Any) -> dict[str, float]:
    """Nanoseconds a record, at best, to find cells in arrays and in lists, to count an array, and to sample."""
    level = min(domain.depth, 20)
    plan = hp.Plan.paper(domain, epsilon=1, records=RECORDS, depth=level)
    tally, summary = hp.Tally(plan), hp.Summary(plan)
    summary.update(records)
    generator, rng = summary.release(), np.random.default_rng(1)
    blocks = [records[start : start + 2**16] for start in range(0, RECORDS, 2**16)]
    listed = texts(name, records)
    best = best_seconds(
        {
            "encode": lambda: [domain.encode(block, level=level) for block in blocks],
            "count": lambda: tally.add(records),
            "list": lambda: domain.encode(listed, level=level),
            "balanced": lambda: generator.sample(SAMPLES, rng=rng),
            "independent": lambda: generator.sample(SAMPLES, method="independent", rng=rng),
        },
        turns=9,
    )
    sizes = {"encode": RECORDS, "count": RECORDS, "list": IN_LISTS, "balanced": SAMPLES, "independent": SAMPLES}
    return {what: seconds / sizes[what] * 1e9 for what, seconds in best.items()}


def main() -> None:
    """Print the table."""
    print("| ns a record | encode an array | count it | ratio to Box | encode a list | ratio to Box | ", end="")
    print("sample, balanced | sample, independent |")
    print("|---" * 8 + "|")
    box: dict[str, float] = {}
    for name, (domain, records) in cases().items():
        own = measure(name, domain, records)
        box = box or own
        counting, reading = own["count"] / box["count"], own["list"] / box["list"]
        print(
            f"| {name} | {own['encode']:.1f} | {own['count']:.1f} | {counting:.2f} "
            f"| {own['list']:.0f} | {reading:.2f} | {own['balanced']:.1f} | {own['independent']:.1f} |"
        )


if __name__ == "__main__":
    main()

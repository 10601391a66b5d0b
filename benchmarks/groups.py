"""Coverage of the 90% intervals of means, standard deviations, quantiles and shares by group; prints a table.

python -m benchmarks.groups [--fits 20]
"""

import argparse
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import privhp as hp

RECORDS = 20_000
QUESTIONS = ("mean", "std", "median", "0.9 quantile", "share")


class Division(NamedTuple):
    """Records of a table, divided into groups by one column.

    Args:
        name: Name of the division.
        domain: Domain of the records.
        records: Columns by name.
        by: Column of the groups.
        columns: Columns whose answers are measured.
    """

    name: str
    domain: hp.Table
    records: dict[str, Any]
    by: str
    columns: tuple[str, ...]


def divisions() -> Iterator[Division]:
    """Groups of equal and unequal size, whose values differ much or little, with null, on narrow and wide bounds."""
    rng = np.random.default_rng(3)
    paid = rng.choice(["cash", "card", "other"], RECORDS, p=[0.3, 0.6, 0.1])
    fare = np.minimum(rng.gamma(2, np.select([paid == "cash", paid == "card"], [6.0, 9.0], 20.0)), 499)
    missing = rng.random(RECORDS) < np.where(paid == "cash", 0.8, 0.1)
    tip = np.ma.MaskedArray(np.minimum(fare * 0.2 * rng.random(RECORDS), 99), mask=missing)
    trips = hp.Table(
        fare=hp.Interval(0, 500), tip=hp.Nullable(hp.Interval(0, 100)), paid=hp.Categories(["cash", "card", "other"])
    )
    yield Division("trips by payment", trips, {"fare": fare, "tip": tip, "paid": paid}, "paid", ("fare", "tip"))
    regions, number = [f"r{place}" for place in range(12)], rng.choice(12, RECORDS, p=np.arange(1, 13) / 78)
    sex = rng.choice(["f", "m"], RECORDS)
    age = np.clip(rng.normal(35 + 2 * number, 15), 0, 99).astype(int)
    income = np.minimum(rng.lognormal(10 + 0.3 * (sex == "m"), 0.5), 2e5).round(2)
    people = hp.Table(
        age=hp.Integers(0, 99),
        income=hp.Interval(0, 2e5),
        sex=hp.Categories(["f", "m"]),
        region=hp.Categories(regions),
    )
    records = {"age": age, "income": income, "sex": sex, "region": np.array(regions)[number]}
    yield Division("people by sex", people, records, "sex", ("age", "income"))
    yield Division("people by region", people, records, "region", ("age", "income"))
    amount = np.minimum(rng.lognormal(2.5, 0.7, RECORDS), 1e4)
    kind = np.where(rng.random(RECORDS) < np.where(amount > 15, 0.8, 0.3), "a", "b")
    amounts = hp.Table(
        amount=hp.Interval(0, 1e4),
        day=hp.Time("2024-01-01", "2024-12-31", unit="D"),
        kind=hp.Categories(["a", "b", "c"]),
    )
    days = np.datetime64("2024-01-01") + rng.integers(0, 366, RECORDS)
    yield Division("amounts by kind", amounts, {"amount": amount, "day": days, "kind": kind}, "kind", ("amount",))


def holds(part: hp.Distribution, question: str, values: NDArray[np.float64]) -> bool:
    """Whether the 90% interval of an answer holds the answer of the records."""
    if question == "share":
        end = 1.1 * float(np.median(values))
        low, high = part.mass((None, end)).interval(0.9)
        return bool(low <= (values <= end).mean() <= high)
    if question in ("mean", "std"):
        low, high = getattr(part, question)().interval(0.9)
        return bool(low <= getattr(values, question)() <= high)
    share = 0.5 if question == "median" else 0.9
    low, high = part.quantile(share).interval(0.9)
    return bool((values < low).mean() <= share <= (values <= high).mean())


def measure(division: Division, fits: int) -> dict[str, float]:
    """Share of the intervals of each question that hold the answer, over all fits, groups and columns."""
    domains = {column.name: column.domain for column in division.domain.columns}
    held: dict[str, list[bool]] = {question: [] for question in QUESTIONS}
    for _ in range(fits):
        generator = hp.fit(division.records, division.domain, epsilon=1, expected_records=RECORDS)
        for group in np.unique(division.records[division.by]).tolist():
            chosen = division.records[division.by] == group
            for column in division.columns:
                part = generator.marginal(column, null=not domains[column].nullable, where={division.by: group})
                values = np.ma.MaskedArray(division.records[column][chosen]).compressed().astype(np.float64)
                for question in QUESTIONS:
                    held[question].append(holds(part, question, values))
    return {question: float(np.mean(own)) for question, own in held.items()}


def main() -> None:
    """Print a line for each division."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fits", type=int, default=20)
    options = parser.parse_args()
    print(f"| division | {' | '.join(QUESTIONS)} |\n|---|{'---:|' * len(QUESTIONS)}")
    for division in divisions():
        covered = measure(division, options.fits)
        print(f"| {division.name} | {' | '.join(f'{covered[question]:.0%}' for question in QUESTIONS)} |", flush=True)


if __name__ == "__main__":
    main()

"""Error on streams as they come, sorted by time, place and value, and shuffled; writes ORDER.md.

    python -m benchmarks.order [records]

The partition is learned on samples of all records, so the error must not depend
on their order. Plans without a learned partition add up counts, in any order.
"""

import datetime as dt
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyarrow import parquet

import privhp as hp
from benchmarks.methods import DEFAULT, ONE_PASS, PAPER, plan_of
from benchmarks.streams import DATA, FILES, FLIGHTS, SOURCES, TAXI

RUNS, RUNS_ON_A_LINE = 10, 40
MEMORIES = ("64 KiB", "1 MiB")
AS_IT_COMES, BY_TIME, BY_PLACE, BY_VALUE, SHUFFLED = "as it comes", "by time", "by place", "by value", "shuffled"
ORDERS = (AS_IT_COMES, BY_TIME, BY_PLACE, BY_VALUE, SHUFFLED)
TABLES = {
    "taxi trips": (
        TAXI,
        hp.Table(
            pickup_time=hp.Time("2018-01-01", "2020-12-31T23:59:59"),
            fare_amount=hp.Interval(0, 1000),
            total_amount=hp.Interval(0, 1500),
        ),
    ),
    "flights": (
        FLIGHTS,
        hp.Table(
            date=hp.Time("2013-01-01", "2013-12-31", unit="D"),
            arr_delay=hp.Integers(-120, 1440),
            distance=hp.Integers(0, 5000),
        ),
    ),
}
"""File and domain of each table: a time, the value to sort by, and another number."""

STREAMS = ("postcodes", "crimes", "blocklist", "taxi fares", "flight delays", "40 atoms", "drift")
TIMES = {"crimes": (FILES["crimes"], "month"), "taxi fares": (TAXI, "pickup_time"), "flight delays": (FLIGHTS, "date")}
"""File and column of the times of records."""

EXPLANATION = """\
The default of `hp.fit`: two passes learn a partition on samples, a third measures. As it comes is the order of the
file: taxi trips and flights are in order of time, postcodes in order of their text, crimes by month and police force,
the blocklist by address; drift is made in order of time. By place is the order of the cells of the domain, by value the
order of the fare, the delay or the easting; on a line and for addresses both are the same. The ratio, with its standard
error, is that of the largest mean of these orders to the mean of the shuffled stream. The errors of the other plans do
not depend on the order; they are measured on the stream as it comes.
"""

Records = dict[str, NDArray[Any]] | NDArray[Any]
"""Columns by name, or an array."""


@dataclass(frozen=True)
class Case:
    """Records as they come, their domain, and a sort key of each record by the name of the order."""

    name: str
    domain: hp.Domain
    records: Records
    keys: dict[str, NDArray[Any]]

    def __len__(self) -> int:
        return len(next(iter(self.records.values())) if isinstance(self.records, dict) else self.records)

    def take(self, order: NDArray[Any]) -> Records:
        """The records in an order."""
        records = self.records
        return {name: own[order] for name, own in records.items()} if isinstance(records, dict) else records[order]

    def in_order(self, order: str) -> Records:
        """The records in a named order."""
        if order == AS_IT_COMES:
            return self.records
        if order == SHUFFLED:
            return self.take(np.random.default_rng(0).permutation(len(self)))
        return self.take(np.argsort(self.keys[order], kind="stable"))

    def first(self, size: int | None) -> "Case":
        """About as many records, evenly over the stream."""
        some = np.arange(0, len(self), max(len(self) // (size or len(self)), 1))
        return Case(self.name, self.domain, self.take(some), {name: key[some] for name, key in self.keys.items()})


def cases() -> Iterator[Case]:
    """All streams with their orders."""
    for name, (file, table) in TABLES.items():
        columns = read(file, *(name for column in table.columns for name in column.names))
        time, value, _ = columns.values()
        place = table.encode(table.as_batch(columns), level=table.depth)
        yield Case(name, table, columns, {BY_TIME: time, BY_PLACE: place, BY_VALUE: value})
    for name in STREAMS:
        source = SOURCES[name]
        records = source.everything()
        keys = {BY_VALUE: records}
        if records.ndim > 1:
            place = source.domain.encode(records, level=source.domain.depth)
            keys = {BY_PLACE: place, BY_VALUE: records[:, 0]}
        if name in TIMES:
            (keys[BY_TIME],) = read(*TIMES[name]).values()
        yield Case(name, source.domain, records, keys)


def read(file: str, *names: str) -> dict[str, NDArray[Any]]:
    """Columns of a file."""
    found = parquet.read_table(DATA / file, columns=list(names))
    return {name: found[name].to_numpy() for name in names}


def error(plan: hp.Plan, records: Records, size: int) -> float:
    """W1 x n of one fit with the domain scaled to 1: exact on intervals, in the hierarchy elsewhere."""
    distance = hp.wasserstein if isinstance(plan.domain, hp.Interval) else hp.tree_wasserstein
    return distance(hp.fit(records, plan=plan), records) * size / plan.domain.diameter(0)


def measure(case: Case, memory: str) -> str:
    """Line of the table for a stream and a memory."""
    runs = range(RUNS_ON_A_LINE if case.domain.is_line else RUNS)
    plans = {
        method: plan_of(method, case.domain, epsilon=1, expected_records=len(case), memory=memory)
        for method in (DEFAULT, ONE_PASS, PAPER)
    }

    def errors(method: str, order: str) -> list[float]:
        records = case.in_order(order)
        return [error(plans[method], records, len(case)) for _ in runs]

    found = {order: errors(DEFAULT, order) for order in ORDERS if order in (AS_IT_COMES, SHUFFLED, *case.keys)}
    cells = [deviation(found[order]) if order in found else "" for order in ORDERS]
    shuffled = found.pop(SHUFFLED)
    cells.append(ratio(max(found.values(), key=np.mean), shuffled))
    cells += [deviation(errors(method, AS_IT_COMES)) for method in (ONE_PASS, PAPER)]
    return f"| {case.name}, {len(case):,} | {memory} | {' | '.join(cells)} |"


def deviation(values: list[float]) -> str:
    """Mean and standard deviation."""
    digits = 0 if np.mean(values) >= 100 else 1
    return f"{np.mean(values):,.{digits}f} ± {np.std(values, ddof=1):,.{digits}f}"


def ratio(values: list[float], others: list[float]) -> str:
    """Ratio of two means and its standard error."""
    relative = [np.std(own, ddof=1) / np.mean(own) / len(own) ** 0.5 for own in (values, others)]
    found = np.mean(values) / np.mean(others)
    return f"{found:.2f} ± {found * np.hypot(*relative):.2f}"


def main(records: int | None = None) -> None:
    """Measure all streams and orders, print the table and write ORDER.md."""
    lines = []
    for case in cases():
        for memory in MEMORIES:
            lines.append(measure(case.first(records), memory))
            print(lines[-1], flush=True)
    header = ["records", "memory", *ORDERS, "ratio", ONE_PASS, PAPER]
    text = [
        "# Order of records",
        "",
        f"`python -m benchmarks.order`, {dt.date.today()}: W1 x n at epsilon = 1, the domain scaled to 1, exact on a",
        f"line and in the hierarchy elsewhere; mean and standard deviation of {RUNS_ON_A_LINE} fits on a line and of",
        f"{RUNS} elsewhere.",
        "",
        EXPLANATION,
        f"| {' | '.join(header)} |",
        "|---" * len(header) + "|",
        *lines,
        "",
    ]
    (Path(__file__).parent / "ORDER.md").write_text("\n".join(text))


if __name__ == "__main__":
    main(*(int(float(argument)) for argument in sys.argv[1:]))

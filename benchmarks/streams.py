"""Named streams of records for the accuracy benchmarks: real files and synthetic data.

    stream = load("taxi fares", records=100_000, seed=3)
    stream.domain, stream.records

The folder of the real files is the environment variable PRIVHP_DATA, or
../shared/data beside the repository; `available()` lists the streams whose files
exist. Bounds are public facts about the data, never computed from it. Dense
integers, such as delays, have a linear `Interval`, where W1 is exact.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from tests.datasets import gaussian_mixture, lognormal, uniform, zipf

import privhp as hp

DATA = Path(os.environ.get("PRIVHP_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
SYNTHETIC_RECORDS = 1_000_000
DAYS = 365 + 365 + 366  # 2018 to 2020

Records = NDArray[Any]


@dataclass(frozen=True)
class Stream:
    """Records in stream order and their declared domain."""

    name: str
    domain: hp.Domain
    records: Records

    def __len__(self) -> int:
        return len(self.records)


@dataclass(frozen=True)
class Source:
    """Origin of a stream.

    Args:
        domain: Declared domain.
        read: Function that returns all records of a real stream, in the order of the file.
        draw: Function that returns records of a synthetic stream, by number and seed.
        order: "shuffled", "original", or "by cell".
    """

    domain: hp.Domain
    read: Callable[[], Records] | None = None
    draw: Callable[..., Records] | None = None
    order: Literal["shuffled", "original", "by cell"] = "shuffled"

    def everything(self) -> Records:
        """All records of a real stream in the order of the file, or a million synthetic ones."""
        if self.draw is not None:
            return self.draw(SYNTHETIC_RECORDS)
        assert self.read is not None
        return self.read()


@cache
def _columns(file: str, *names: str) -> tuple[Records, ...]:
    table = pq.read_table(DATA / file, columns=list(names))
    return tuple(table[name].to_numpy() for name in names)


TAXI = "num_nyc_yellow_taxi_2018_2020.parquet"
FLIGHTS = "table_nycflights13.parquet"
FILES = {
    "taxi fares": TAXI,
    "taxi timestamps": TAXI,
    "flight delays": FLIGHTS,
    "flights 3-D": FLIGHTS,
    "postcodes": "geo_gb_postcodes_codepoint_2025.parquet",
    "postcodes, sorted": "geo_gb_postcodes_codepoint_2025.parquet",
    "crimes": "geo_uk_street_crime_2018_10_to_2019_02.parquet",
    "blocklist": "ipv4_ipsum_blocklist_2026.parquet",
}


def _timestamps() -> Records:
    """Seconds since the start of 2018."""
    (times,) = _columns(TAXI, "pickup_time")
    seconds: Records = (times - np.datetime64("2018-01-01")) / np.timedelta64(1, "s")
    return seconds


def _flights() -> Records:
    """Departure time, delay and distance of each flight, each as a share of its declared range."""
    columns = _columns(FLIGHTS, "dep_min", "arr_delay", "distance")
    lows, widths = np.array([0, -120, 0]), np.array([1439, 1560, 5000])
    shares: Records = (np.stack(columns, axis=1) - lows) / widths
    return shares


def _blocklist() -> Records:
    """Each address once for each list that has it."""
    addresses, lists = _columns(FILES["blocklist"], "ip", "n_lists")
    return np.repeat(addresses, lists)


def _points(name: str, *columns: str) -> Records:
    return np.stack(_columns(FILES[name], *columns), axis=1).astype(np.float64)


def _postcodes() -> Records:
    return _points("postcodes", "easting", "northing")


def _atoms(size: int, *, seed: int = 0) -> Records:
    """Forty locations, the same for every seed, some with a hundred times the weight of others."""
    fixed = np.random.default_rng(40)
    locations, weights = fixed.random(40), fixed.pareto(1.0, 40) + 1.0
    return np.random.default_rng(seed).choice(locations, size, p=weights / weights.sum())


def _drift(size: int, *, seed: int = 0) -> Records:
    """A narrow cluster that moves through the domain over time."""
    centre = 0.1 + 0.8 * np.arange(size) / size
    return np.clip(np.random.default_rng(seed).normal(centre, 0.03), 0.0, 1.0)


UNIT = hp.Interval(0, 1)
GREAT_BRITAIN = hp.Box([(0, 700_000), (0, 1_300_000)])  # easting and northing in metres
SOURCES: dict[str, Source] = {
    "taxi fares": Source(hp.Interval(0, 1000), read=lambda: _columns(TAXI, "fare_amount")[0]),
    "taxi timestamps": Source(hp.Interval(0, DAYS * 86_400), read=_timestamps, order="original"),
    "flight delays": Source(hp.Interval(-120, 1440), read=lambda: _columns(FLIGHTS, "arr_delay")[0].astype(np.float64)),
    "postcodes": Source(GREAT_BRITAIN, read=_postcodes),
    "postcodes, sorted": Source(GREAT_BRITAIN, read=_postcodes, order="by cell"),
    "crimes": Source(hp.Box([(-8.7, 2.0), (49.8, 55.9)]), read=lambda: _points("crimes", "lon", "lat")),
    "blocklist": Source(hp.IPv4(), read=_blocklist),
    "flights 3-D": Source(hp.Box([(0, 1)] * 3), read=_flights),
    "uniform": Source(UNIT, draw=uniform),
    "gaussian mixture": Source(UNIT, draw=gaussian_mixture),
    "lognormal": Source(UNIT, draw=lognormal),
    "zipf": Source(UNIT, draw=zipf),
    "40 atoms": Source(UNIT, draw=_atoms),
    "drift": Source(UNIT, draw=_drift, order="original"),
}


def available() -> list[str]:
    """Names of the streams whose files exist."""
    return [name for name in SOURCES if name not in FILES or (DATA / FILES[name]).exists()]


def load(name: str, *, records: int | None = None, seed: int = 0) -> Stream:
    """Load a stream by name, shuffled unless its source declares another order.

    Args:
        name: One of `SOURCES`.
        records: Maximum number of records; by default all records of a real stream and a million of a synthetic one.
        seed: Seed of synthetic records, or of the choice and order of real ones.
    """
    source, rng = SOURCES[name], np.random.default_rng(seed)
    if source.draw is not None:
        return Stream(name, source.domain, source.draw(records or SYNTHETIC_RECORDS, seed=seed))
    everything = source.everything()
    chosen = rng.permutation(len(everything))[:records]
    if source.order == "original":
        chosen.sort()
    elif source.order == "by cell":
        chosen = chosen[np.argsort(source.domain.encode(everything[chosen], level=source.domain.depth), kind="stable")]
    return Stream(name, source.domain, everything[chosen])


def earlier_records(name: str, *, records: int | None = None) -> Records:
    """As many records of the same origin as `load` returns with seed 0, for an earlier release.

    Synthetic ones have another seed. Real ones are the records that `load` leaves
    in the file; if these are too few, records of the file drawn with replacement.
    """
    source = SOURCES[name]
    if source.draw is not None:
        return source.draw(records or SYNTHETIC_RECORDS, seed=1)
    everything = source.everything()
    size, rng = records or len(everything), np.random.default_rng(0)
    left = rng.permutation(len(everything))[size : 2 * size]
    return everything[left if len(left) == size else rng.integers(len(everything), size=size)]

"""Streams of the coverage benchmark: synthetic ones with heaps, lattices, spikes and correlations, and the shared data.

A stream is a table of columns, a line, a plane or a list of addresses. Values
are as people record them: ages and hours heaped at round numbers, prices that
end in .99, cents, points rounded to a lattice.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import privhp as hp
from benchmarks import streams

RECORDS = 200_000

Values = NDArray[Any]


@dataclass(frozen=True)
class Stream:
    """Columns of records, each with its domain; one column without a name is a line, a plane or addresses."""

    domain: hp.Domain
    columns: dict[str, Values]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    @property
    def is_table(self) -> bool:
        """Whether records have named columns."""
        return bool(self.domain.columns)

    @property
    def records(self) -> Any:
        """Records as `fit` reads them."""
        return self.columns if self.is_table else next(iter(self.columns.values()))

    def domain_of(self, column: str) -> hp.Domain:
        """Domain of a column."""
        named = {own.name: own.domain for own in self.domain.columns}
        return named[column] if self.is_table else self.domain


def _heaped(rng: np.random.Generator, values: Values, steps: dict[float, float]) -> Values:
    """Values rounded to each step with a probability."""
    turn, low = rng.random(values.size), 0.0
    heaped = values.copy()
    for step, share in steps.items():
        chosen = (turn >= low) & (turn < low + share)
        heaped[chosen] = np.round(values[chosen] / step) * step
        low += share
    return np.round(heaped, 4)


def _people(rng: np.random.Generator, size: int) -> dict[str, Values]:
    """Ages heaped at multiples of 5, hours of work of which many are 40."""
    ages = np.clip(np.round(rng.gamma(6, 7, size)), 0, 110)
    hours = np.clip(np.round(rng.normal(36, 11, size)), 0, 90)
    hours[rng.random(size) < 0.35] = 40
    return {"age": _heaped(rng, ages, {5: 0.4}), "hours": _heaped(rng, hours, {5: 0.3, 10: 0.2})}


def _sales(rng: np.random.Generator, size: int) -> dict[str, Values]:
    """Prices that end in .99, .50 or .00, numbers of items, and a smooth time of day."""
    base, ending = np.floor(rng.lognormal(2.5, 0.8, size)), rng.random(size)
    cents = np.where(ending < 0.5, 0.99, np.where(ending < 0.7, 0.5, 0.0))
    cents = np.where(ending > 0.9, np.round(rng.random(size), 2), cents)
    return {
        "price": np.round(np.clip(base + cents, 0, 199.99), 2),
        "items": np.clip(rng.geometric(0.4, size), 1, 50).astype(np.int64),
        "hour": np.clip(rng.normal(14, 4, size) % 24, 0, 24),
    }


def _smooth(rng: np.random.Generator, size: int) -> dict[str, Values]:
    one, other = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], size).T
    return {"one": np.clip(one, -5, 5), "other": np.clip(other, -5, 5)}


def _patients(rng: np.random.Generator, size: int) -> dict[str, Values]:
    """A ward, a length of stay that depends on it, and a score that is often missing."""
    wards = rng.choice(8, size, p=np.array([30, 20, 15, 12, 10, 7, 4, 2]) / 100)
    stays = np.clip(rng.gamma(1 + wards / 3, 3, size), 0, 59.9)
    scores = np.clip(np.round(rng.normal(40 + 4 * wards, 15)), 0, 100).astype(np.int64)
    names = np.array(["a", "b", "c", "d", "e", "f", "g", "h"])[wards]
    return {"ward": names, "stay": stays, "score": np.ma.masked_array(scores, mask=rng.random(size) < 0.2)}


def _visits(rng: np.random.Generator, size: int) -> dict[str, Values]:
    """Times with days and seasons, and amounts with a spike at 29.99."""
    days = rng.choice(730, size, p=(w := 2 + np.sin(np.arange(730) / 58) - 0.8 * (np.arange(730) % 7 > 4)) / w.sum())
    seconds = np.clip(rng.normal(50_000, 12_000, size), 0, 86_399)
    times = np.datetime64("2022-01-01T00:00:00") + (days * 86_400 + seconds.astype(np.int64)).astype("m8[s]")
    amounts = np.where(rng.random(size) < 0.3, 29.99, np.round(rng.lognormal(3, 0.7, size), 2))
    return {"time": times, "amount": np.clip(amounts, 0, 499.99)}


def _points(rng: np.random.Generator, size: int, *, step: float) -> Values:
    """Clusters and roads in the plane, rounded to a lattice."""
    centres = rng.random((40, 2)) * 0.8 + 0.1
    points = centres[rng.integers(0, 40, size)] + rng.normal(0, 0.02, (size, 2))
    road, along = rng.random(size) < 0.3, rng.random((size, 1))
    points[road] = (0.1 + 0.8 * np.concatenate([along, along**2], axis=1))[road]
    return np.clip(np.round(points / step) * step, 0, 1)


def _addresses(rng: np.random.Generator, size: int) -> Values:
    """Networks of several sizes, some hosts with many records."""
    networks = rng.integers(0, 2**16, 300) << 16
    weights = rng.pareto(1.0, 300) + 0.1
    chosen = rng.choice(300, size, p=weights / weights.sum())
    hosts = np.minimum(rng.zipf(1.3, size), 2**16 - 1) * 40_503 % 2**16
    addresses: Values = (networks[chosen] + hosts).astype(np.uint32)
    return addresses


Draw = Callable[[np.random.Generator, int], dict[str, Values]]


def _line(draw: Callable[[np.random.Generator, int], Values]) -> Draw:
    return lambda rng, size: {"value": draw(rng, size)}


def _incomes(rng: np.random.Generator, size: int) -> Values:
    incomes = np.round(rng.lognormal(10.2, 0.7, size))
    return np.clip(_heaped(rng, incomes, {100: 0.2, 1000: 0.4, 10_000: 0.2}), 0, 999_999).astype(np.int64)


def _spikes(rng: np.random.Generator, size: int) -> Values:
    """A slope with ten spikes."""
    places = np.sort(np.random.default_rng(5).random(10))
    return np.where(rng.random(size) < 0.2, rng.choice(places, size), 1 - np.sqrt(rng.random(size)))


AGES, HOURS = (0, 120), (0, 100)
SYNTHETIC: dict[str, tuple[hp.Domain, Draw]] = {
    "ages (Interval)": (hp.Interval(*AGES), _line(lambda rng, size: _people(rng, size)["age"])),
    "cents (Interval)": (
        hp.Interval(0, 1000),
        _line(lambda rng, size: np.round(np.clip(rng.lognormal(3, 1, size), 0, 999), 2)),
    ),
    "incomes (Integers)": (hp.Integers(0, 1_000_000), _line(_incomes)),
    "gaussian": (hp.Interval(-6, 6), _line(lambda rng, size: np.clip(rng.normal(0, 1, size), -6, 6))),
    "spikes": (hp.Interval(0, 1), _line(_spikes)),
    "people (Interval)": (hp.Table(age=hp.Interval(*AGES), hours=hp.Interval(*HOURS)), _people),
    "people (Integers)": (hp.Table(age=hp.Integers(*AGES), hours=hp.Integers(*HOURS)), _people),
    "sales": (hp.Table(price=hp.Interval(0, 200), items=hp.Integers(1, 50), hour=hp.Interval(0, 24)), _sales),
    "correlated": (hp.Table(one=hp.Interval(-5, 5), other=hp.Interval(-5, 5)), _smooth),
    "patients": (
        hp.Table(
            ward=hp.Categories(["a", "b", "c", "d", "e", "f", "g", "h"]),
            stay=hp.Interval(0, 60),
            score=hp.Nullable(hp.Integers(0, 100)),
        ),
        _patients,
    ),
    "visits": (
        hp.Table(time=hp.Time("2022-01-01", "2024-01-01T00:00"), amount=hp.Interval(0, 500)),
        _visits,
    ),
    "points": (hp.Box([(0, 1), (0, 1)]), _line(lambda rng, size: _points(rng, size, step=1e-9))),
    "fine lattice": (hp.Box([(0, 1), (0, 1)]), _line(lambda rng, size: _points(rng, size, step=1e-4))),
    "coarse lattice": (hp.Box([(0, 1), (0, 1)]), _line(lambda rng, size: _points(rng, size, step=1e-3))),
    "addresses": (hp.IPv4(), _line(_addresses)),
}


def _taxi(*names: str) -> dict[str, Values]:
    return dict(zip(names, streams._columns(streams.TAXI, *names), strict=True))


def _flights(*names: str) -> dict[str, Values]:
    return dict(zip(names, streams._columns(streams.FLIGHTS, *names), strict=True))


def _everything(name: str) -> dict[str, Values]:
    return {"value": streams.SOURCES[name].everything()}


SHARED: dict[str, tuple[str, hp.Domain, Callable[[], dict[str, Values]]]] = {
    "taxi fares and distances": (
        streams.TAXI,
        hp.Table(fare_amount=hp.Interval(0, 1000), trip_distance=hp.Interval(0, 200)),
        lambda: _taxi("fare_amount", "trip_distance"),
    ),
    "flights": (
        streams.FLIGHTS,
        hp.Table(dep_min=hp.Interval(0, 1439), arr_delay=hp.Integers(-120, 1440), distance=hp.Interval(0, 5000)),
        lambda: _flights("dep_min", "arr_delay", "distance"),
    ),
    **{
        f"{name} (shared)": (
            streams.FILES[name],
            streams.SOURCES[name].domain,
            partial(_everything, name),
        )
        for name in ("taxi fares", "flight delays", "postcodes", "crimes", "blocklist")
    },
}


def names() -> list[str]:
    """Streams that are available: all synthetic ones, and those of the shared files that exist."""
    return [*SYNTHETIC, *(name for name, (file, _, _) in SHARED.items() if (streams.DATA / file).exists())]


@lru_cache(maxsize=1)
def load(name: str, *, seed: int = 0) -> Stream:
    """A stream of at most RECORDS records in random order."""
    rng = np.random.default_rng([seed, names().index(name)])
    if name in SYNTHETIC:
        domain, draw = SYNTHETIC[name]
        return Stream(domain, draw(rng, RECORDS))
    _, domain, read = SHARED[name]
    columns = read()
    order = rng.permutation(len(next(iter(columns.values()))))[:RECORDS]
    return Stream(domain, {column: values[order] for column, values in columns.items()})

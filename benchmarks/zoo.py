"""A zoo of synthetic streams, beyond the streams of `streams`; some rules were compared on them.

    stream = load("cents", records=100_000, seed=3)
    stream.domain, stream.records

Each stream has a declared domain and a function that draws records by number and
seed; what is fixed about a stream, such as the locations of its atoms, is the same
for every seed. Records of a table are a structured array.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import privhp as hp
from benchmarks.streams import UNIT, Records, Source, Stream

SIZES = (10_000, 100_000, 1_000_000)
EPSILONS = (0.1, 1.0, 4.0)

Rng = np.random.Generator
PLANE = hp.Box([(0, 1), (0, 1)])
DAY, YEAR = 86_400, 365 * 86_400


def _drawn(own: Callable[[int, Rng], Records]) -> Callable[..., Records]:
    """A function that draws records by number and seed."""

    def draw(size: int, *, seed: int = 0) -> Records:
        return own(size, np.random.default_rng([seed, 20]))

    return draw


def _weights(number: int, *, tail: float, seed: int) -> NDArray[np.float64]:
    """Fixed weights of atoms; the smaller the tail index, the more uneven."""
    own = np.random.default_rng(seed).pareto(tail, number) + 0.05
    weights: NDArray[np.float64] = own / own.sum()
    return weights


def _atoms(number: int, *, tail: float) -> Callable[[int, Rng], Records]:
    """Atoms at fixed random locations in [0, 1]."""
    locations, weights = np.random.default_rng(number).random(number), _weights(number, tail=tail, seed=number + 1)
    return lambda n, rng: rng.choice(locations, n, p=weights)


def _distances(n: int, rng: Rng) -> Records:
    """A thousand whole numbers below 20,000, very uneven."""
    values = np.random.default_rng(31).choice(20_000, 1_000, replace=False).astype(np.float64)
    return rng.choice(values, n, p=_weights(1_000, tail=0.7, seed=32))


def _minutes(n: int, rng: Rng) -> Records:
    """Durations in whole minutes, heaped at multiples of five and thirty."""
    values = np.arange(760.0)
    weights = np.exp(-values / 250) * (1 + 4 * (values % 5 == 0) + 25 * (values % 30 == 0))
    return rng.choice(values, n, p=weights / weights.sum())


def _ages(n: int, rng: Rng) -> Records:
    """Ages in whole years, a third of them rounded to multiples of five."""
    ages = np.clip(np.floor(rng.gamma(4.5, 9.0, n)), 0, 110)
    rounded: Records = np.where(rng.random(n) < 1 / 3, np.round(ages / 5) * 5, ages)
    return rounded


def _pay(n: int, rng: Rng) -> Records:
    """Salaries, most of them round: to 10, 100, 1,000 or 5,000."""
    pay, unit = rng.lognormal(10.4, 0.6, n), rng.choice([1, 10, 100, 1_000, 5_000], n, p=[0.1, 0.1, 0.25, 0.35, 0.2])
    rounded: Records = np.minimum(np.round(pay / unit) * unit, 1e6)
    return rounded


def _prices(n: int, rng: Rng) -> Records:
    """Prices that end in .99, .95 or .00, and some that do not."""
    whole, ends = np.floor(rng.lognormal(3.0, 1.0, n)), rng.choice([0.99, 0.95, 0.0], n, p=[0.6, 0.2, 0.2])
    cents = np.where(rng.random(n) < 0.1, rng.integers(0, 100, n) / 100, ends)
    prices: Records = np.minimum(whole + cents, 5_000.0)
    return prices


def _spikes(n: int, rng: Rng) -> Records:
    """Twenty atoms with a third of the records, the others on a slope."""
    records, spikes = np.sqrt(rng.random(n)), np.random.default_rng(33).random(20)
    chosen = rng.random(n) < 1 / 3
    records[chosen] = rng.choice(spikes, int(chosen.sum()))
    return records


def _gaps(n: int, rng: Rng) -> Records:
    """Twelve short intervals with nothing between them."""
    fixed = np.random.default_rng(34)
    starts, lengths = fixed.random(12) * 0.95, 10.0 ** -fixed.uniform(1.5, 4.0, 12)
    chosen = rng.integers(12, size=n)
    return starts[chosen] + lengths[chosen] * rng.random(n)


def _beta_mixture(n: int, rng: Rng) -> Records:
    return np.where(rng.random(n) < 0.6, rng.beta(2, 8, n), rng.beta(20, 5, n))


def _nearly_flat(n: int, rng: Rng) -> Records:
    """Uniform, but for a twentieth of the records."""
    records = rng.random(n)
    return np.where(rng.random(n) < 0.05, records**2, records)


def _seconds(n: int, rng: Rng) -> Records:
    """Seconds of a year with seasons, weekends, and hours of the day."""
    days = np.arange(365)
    by_day = (1.0 + 0.5 * np.sin(2 * np.pi * (days - 80) / 365)) * np.where(days % 7 >= 5, 0.4, 1.0)
    hours = np.exp(-((np.arange(24) - 13.5) ** 2) / 20)
    day, hour = rng.choice(365, n, p=by_day / by_day.sum()), rng.choice(24, n, p=hours / hours.sum())
    return day * float(DAY) + hour * 3600.0 + rng.integers(0, 3600, n)


def _times(n: int, rng: Rng) -> Records:
    return np.datetime64("2023-01-01", "s") + _seconds(n, rng).astype("timedelta64[s]")


def _lattice(pitch: float) -> Callable[[int, Rng], Records]:
    """Clusters in the plane, rounded to multiples of a pitch."""
    return lambda n, rng: np.round(_clusters(n, rng) / pitch) * pitch


def _clusters(n: int, rng: Rng) -> Records:
    """Sixty normal clusters of different sizes and widths."""
    fixed = np.random.default_rng(35)
    centres, widths = fixed.random((60, 2)), 10.0 ** -fixed.uniform(1.3, 3.0, 60)
    chosen = rng.choice(60, n, p=_weights(60, tail=1.0, seed=36))
    return np.clip(centres[chosen] + widths[chosen, None] * rng.normal(size=(n, 2)), 0.0, 1.0)


def _places(n: int, rng: Rng) -> Records:
    """Three hundred exact locations in the plane."""
    return np.random.default_rng(37).random((300, 2))[rng.choice(300, n, p=_weights(300, tail=1.0, seed=38))]


def _diagonal(n: int, rng: Rng) -> Records:
    along = rng.random(n)
    return np.clip(np.stack([along, along], axis=1) + rng.normal(0.0, 1e-4, (n, 2)), 0.0, 1.0)


def _streets(n: int, rng: Rng) -> Records:
    """Thirty line segments of random directions, a little blurred."""
    fixed = np.random.default_rng(39)
    ends, weights = fixed.random((30, 2, 2)), _weights(30, tail=1.5, seed=40)
    chosen, along = rng.choice(30, n, p=weights), rng.random(n)[:, None]
    points = ends[chosen, 0] * along + ends[chosen, 1] * (1 - along) + rng.normal(0.0, 5e-4, (n, 2))
    clipped: Records = np.clip(points, 0.0, 1.0)
    return clipped


def _spiral(n: int, rng: Rng) -> Records:
    """A curve of three turns."""
    turn = np.sqrt(rng.random(n))
    angle = turn * 6 * np.pi
    return np.stack([0.5 + 0.45 * turn * np.cos(angle), 0.5 + 0.45 * turn * np.sin(angle)], axis=1)


def _empty_corners(n: int, rng: Rng) -> Records:
    """Uniform in a disc: the corners of the plane are empty."""
    angle, radius = 2 * np.pi * rng.random(n), 0.5 * np.sqrt(rng.random(n))
    return np.stack([0.5 + radius * np.cos(angle), 0.5 + radius * np.sin(angle)], axis=1)


def _columns(**columns: Records) -> Records:
    """Records of a table."""
    size = next(iter(columns.values())).size
    records = np.empty(size, dtype=[(name, own.dtype) for name, own in columns.items()])
    for name, own in columns.items():
        records[name] = own
    return records


def _trips(n: int, rng: Rng) -> Records:
    """A time, and a fare in cents that follows the distance."""
    distance = np.minimum(rng.lognormal(0.8, 0.8, n), 99.0)
    fare = np.round(np.clip(2.5 + 2.2 * distance + rng.normal(0.0, 1.0, n), 0.0, 500.0), 2)
    return _columns(time=_times(n, rng), distance=np.round(distance, 1), fare=fare)


def _people(n: int, rng: Rng) -> Records:
    """Age, pay and years of work, which depend on each other; pay is heaped."""
    age = np.floor(rng.uniform(18, 90, n)).astype(np.int64)
    years = np.minimum(np.floor(np.clip(rng.normal(age - 24, 5), 0, 60)).astype(np.int64), age)
    pay = np.minimum(np.round(rng.lognormal(9.8 + 0.02 * years, 0.4) / 500) * 500, 250_000)
    return _columns(age=age, years=years, pay=pay)


def _flows(n: int, rng: Rng) -> Records:
    """Port and size of a network flow: a few heavy ports, sizes by port."""
    common = np.array([22, 53, 80, 123, 443, 445, 3389, 8080])
    known = rng.choice(common, n, p=[0.05, 0.2, 0.1, 0.05, 0.45, 0.09, 0.03, 0.03])
    port = np.where(rng.random(n) < 0.8, known, rng.integers(1024, 65_536, n))
    size = np.minimum(np.floor(rng.lognormal(4.0 + port % 7, 0.7)).astype(np.int64), 10**6)
    return _columns(port=port, size=size)


LINES: dict[str, tuple[hp.Domain, Callable[[int, Rng], Records]]] = {
    "flat": (UNIT, lambda n, rng: rng.random(n)),
    "nearly flat": (UNIT, _nearly_flat),
    "beta mixture": (UNIT, _beta_mixture),
    "triangle": (UNIT, lambda n, rng: rng.triangular(0.0, 0.2, 1.0, n)),
    "pareto": (UNIT, lambda n, rng: np.minimum(rng.pareto(1.5, n) * 0.01, 1.0)),
    "power law": (UNIT, lambda n, rng: rng.random(n) ** 6),
    "spikes": (UNIT, _spikes),
    "gaps": (UNIT, _gaps),
    "60 atoms": (UNIT, _atoms(60, tail=1.0)),
    "1,000 atoms": (UNIT, _atoms(1_000, tail=0.7)),
    "100,000 atoms": (UNIT, _atoms(100_000, tail=1.2)),
    "distances": (hp.Interval(0, 20_000), _distances),
    "minutes": (hp.Interval(0, 1_440), _minutes),
    "ages": (hp.Interval(0, 120), _ages),
    "pay": (hp.Interval(0, 1_000_000), _pay),
    "cents": (hp.Interval(0, 1_000), lambda n, rng: np.minimum(np.round(rng.lognormal(2.5, 0.8, n), 2), 1_000.0)),
    "prices": (hp.Interval(0, 5_000), _prices),
    "seconds": (hp.Interval(0, YEAR), _seconds),
    "wide bounds 1e6": (hp.Interval(0, 1e6), lambda n, rng: rng.lognormal(2.5, 0.6, n)),
    "wide bounds 1e9": (hp.Interval(0, 1e9), lambda n, rng: rng.lognormal(2.5, 0.6, n)),
}
"""Lines: domain and records of each stream."""

PLANES: dict[str, tuple[hp.Domain, Callable[[int, Rng], Records]]] = {
    "flat plane": (PLANE, lambda n, rng: rng.random((n, 2))),
    "empty corners": (PLANE, _empty_corners),
    "clusters": (PLANE, _clusters),
    "lattice 1e-2": (PLANE, _lattice(1e-2)),
    "lattice 1e-3": (PLANE, _lattice(1e-3)),
    "lattice 1e-4": (PLANE, _lattice(1e-4)),
    "places": (PLANE, _places),
    "diagonal": (PLANE, _diagonal),
    "streets": (PLANE, _streets),
    "spiral": (PLANE, _spiral),
}
"""Planes: domain and records of each stream."""

TABLES: dict[str, tuple[hp.Domain, Callable[[int, Rng], Records]]] = {
    "trips": (
        hp.Table(
            time=hp.Time("2023-01-01", "2024-01-01T00:00"), distance=hp.Interval(0, 100), fare=hp.Interval(0, 500)
        ),
        _trips,
    ),
    "people": (hp.Table(age=hp.Integers(0, 120), years=hp.Integers(0, 100), pay=hp.Interval(0, 250_000)), _people),
    "flows": (hp.Table(port=hp.Integers(0, 65_535), size=hp.Integers(0, 1_000_000)), _flows),
}
"""Tables: domain and records of each stream."""

SOURCES: dict[str, Source] = {
    name: Source(domain, draw=_drawn(own)) for name, (domain, own) in {**LINES, **PLANES, **TABLES}.items()
}


def available() -> list[str]:
    """Names of all streams."""
    return list(SOURCES)


def load(name: str, *, records: int | None = None, seed: int = 0) -> Stream:
    """Load a stream by name.

    Args:
        name: One of `SOURCES`.
        records: Number of records; by default a million.
        seed: Seed of the records.
    """
    draw: Any = SOURCES[name].draw
    return Stream(name, SOURCES[name].domain, draw(records or SIZES[-1], seed=seed))

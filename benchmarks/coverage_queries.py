"""Queries of the coverage benchmark, by family, each with its true answer."""

import ipaddress
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import privhp as hp
from benchmarks.coverage_streams import Stream, Values

BARS = 40


class Query(NamedTuple):
    """A question to a generator, and the true answer."""

    ask: Callable[[hp.Generator], hp.Estimate[Any]]
    truth: Any


class Condition(NamedTuple):
    """A region of a column, and the records in it."""

    column: str
    region: Any
    inside: Values


def _mass(stream: Stream, *conditions: Condition) -> Query:
    inside = np.logical_and.reduce([condition.inside for condition in conditions])
    regions = {condition.column: condition.region for condition in conditions}
    region = regions if stream.is_table else conditions[0].region
    return Query(lambda generator: generator.mass(region), float(inside.mean()))


def _between(stream: Stream, column: str, low: Any, high: Any) -> Condition:
    values = stream.columns[column]
    inside = np.ma.filled((values >= low) & (values <= high), False)
    return Condition(column, (low, high), inside)


def _any_value(stream: Stream, column: str, rng: np.random.Generator) -> Any:
    values = stream.columns[column]
    known = values.compressed() if isinstance(values, np.ma.MaskedArray) else values
    return rng.choice(known)


def _round_step(values: Values, rng: np.random.Generator) -> float:
    """A round number: the spread of the values divided by something between 2 and 50, as 1, 2 or 5 times a power."""
    spread = float(np.subtract(*np.quantile(values, [0.9, 0.1]))) or 1.0
    wanted = spread / math.exp(rng.uniform(math.log(2), math.log(50)))
    power = 10.0 ** math.floor(math.log10(wanted))
    return float(power * max(factor for factor in (1, 2, 5) if factor * power <= wanted * 1.0001))


def _round_range(stream: Stream, column: str, rng: np.random.Generator) -> Condition:
    values, domain = stream.columns[column], stream.domain_of(column).inner
    if domain.kind == "time":
        day = np.timedelta64(1, "D")
        first = _any_value(stream, column, rng).astype("M8[D]").astype("M8[s]")
        return _between(stream, column, first, first + rng.choice([1, 7, 30, 90]) * day)
    known = np.ma.compressed(values) if isinstance(values, np.ma.MaskedArray) else values
    step = _round_step(known, rng)
    if domain.kind == "integers":
        step = max(round(step), 1)
    low = round(math.floor(float(_any_value(stream, column, rng)) / step) * step, 10)
    high = round(low + step * int(rng.integers(1, 5)), 10)
    bounds = domain.low, domain.high  # type: ignore[attr-defined]  # both domains of numbers have bounds
    low, high = max(low, bounds[0]), min(high, bounds[1])
    return _between(stream, column, low, high)


def _record_range(stream: Stream, column: str, rng: np.random.Generator) -> Condition:
    low, high = sorted(_any_value(stream, column, rng) for _ in range(2))
    return _between(stream, column, low, high)


def _numeric(stream: Stream) -> list[str]:
    return [
        column for column in stream.columns if stream.domain_of(column).inner.kind in ("interval", "integers", "time")
    ]


def _quantile(stream: Stream, column: str, rng: np.random.Generator) -> Query:
    share = float(rng.uniform(0.02, 0.98))
    values = stream.columns[column]
    known = values.compressed() if isinstance(values, np.ma.MaskedArray) else values
    truth = np.quantile(known.astype(np.int64) if known.dtype.kind == "M" else known, share, method="inverted_cdf")
    truth = np.datetime64(int(truth), "s") if known.dtype.kind == "M" else truth
    nullable = stream.domain_of(column).nullable

    def ask(generator: hp.Generator) -> hp.Estimate[Any]:
        line = generator.marginal(column, null=not nullable) if stream.is_table else generator
        return line.quantile(share)

    return Query(ask, truth)


def _bar(stream: Stream, column: str, rng: np.random.Generator) -> Query:
    """One of the bars of a picture, which holds its lower end but not its upper end."""
    values, domain = stream.columns[column], stream.domain_of(column).inner
    known = values.compressed() if isinstance(values, np.ma.MaskedArray) else values
    numbers = known.astype(np.int64) if known.dtype.kind == "M" else known
    first, last = np.quantile(numbers, [0.005, 0.995])
    low, high = first + np.array([0, 1]) * (last - first) / BARS + rng.integers(0, BARS) * (last - first) / BARS
    if domain.kind == "interval":
        return _mass(stream, _between(stream, column, float(low), float(np.nextafter(high, low))))
    low, high = math.ceil(low), max(math.ceil(high) - 1, math.ceil(low))
    ends = (np.datetime64(low, "s"), np.datetime64(high, "s")) if domain.kind == "time" else (low, high)
    return _mass(stream, _between(stream, column, *ends))


def _in_box(stream: Stream, sides: list[tuple[float, float] | None]) -> Query:
    points = stream.columns["value"]
    inside = np.ones(len(points), dtype=np.bool_)
    for axis, side in enumerate(sides):
        if side is not None:
            inside &= (points[:, axis] >= side[0]) & (points[:, axis] <= side[1])
    return Query(lambda generator: generator.mass(sides), float(inside.mean()))


def _round_box(stream: Stream, rng: np.random.Generator, *, axes: tuple[int, ...] = (0, 1)) -> Query:
    points = stream.columns["value"]
    sides: list[tuple[float, float] | None] = [None, None]
    point = rng.choice(points)
    for axis in axes:
        step = _round_step(points[:, axis], rng)
        low = round(math.floor(point[axis] / step) * step, 10)
        sides[axis] = (low, round(low + step * int(rng.integers(1, 4)), 10))
    return _in_box(stream, sides)


def _record_box(stream: Stream, rng: np.random.Generator) -> Query:
    ends = np.sort(rng.choice(stream.columns["value"], 2), axis=0)
    return _in_box(stream, [tuple(ends[:, axis].tolist()) for axis in (0, 1)])


def _random_box(stream: Stream, rng: np.random.Generator) -> Query:
    domain = stream.domain
    if not stream.is_table:
        return _in_box(stream, domain.random_regions(1, rng=rng)[0])
    regions = {column: stream.domain_of(column).inner.random_regions(1, rng=rng)[0] for column in _numeric(stream)}
    return _mass(stream, *(_between(stream, column, *region) for column, region in regions.items()))


def _equality(stream: Stream, column: str, rng: np.random.Generator) -> Query:
    value = _any_value(stream, column, rng)
    region = str(value) if stream.domain_of(column).kind == "categories" else (int(value), int(value))
    inside = np.ma.filled(stream.columns[column] == value, False)
    return _mass(stream, Condition(column, region, inside))


def _prefix(stream: Stream, rng: np.random.Generator) -> Query:
    addresses = stream.columns["value"]
    shift = 32 - int(rng.integers(4, 25))
    address = int(rng.choice(addresses)) >> shift << shift
    region = str(ipaddress.ip_network((address, 32 - shift)))
    return Query(lambda generator: generator.mass(region), float((addresses >> shift == address >> shift).mean()))


def _missing(stream: Stream, column: str) -> Query:
    return _mass(stream, Condition(column, None, np.ma.getmaskarray(stream.columns[column])))


def families(stream: Stream) -> dict[str, Callable[[np.random.Generator], Query]]:
    """The families that a stream has, each with a function that draws a query."""
    if stream.domain.kind == "ipv4":
        return {"prefix": lambda rng: _prefix(stream, rng)}
    if stream.domain.kind == "box":
        return {
            "box, round ends": lambda rng: _round_box(stream, rng),
            "box, record ends": lambda rng: _record_box(stream, rng),
            "strip": lambda rng: _round_box(stream, rng, axes=(int(rng.integers(2)),)),
            "random box": lambda rng: _random_box(stream, rng),
        }
    return dict(_column_families(stream))


def _column_families(stream: Stream) -> Iterator[tuple[str, Callable[[np.random.Generator], Query]]]:
    numeric = _numeric(stream)
    whole = [column for column in numeric if stream.domain_of(column).inner.kind == "integers"]
    named = [column for column in stream.columns if stream.domain_of(column).kind == "categories"]
    yield "round ends", lambda rng: _mass(stream, _round_range(stream, rng.choice(numeric), rng))
    yield "record ends", lambda rng: _mass(stream, _record_range(stream, rng.choice(numeric), rng))
    yield "bars", lambda rng: _bar(stream, rng.choice(numeric), rng)
    yield "quantile", lambda rng: _quantile(stream, rng.choice(numeric), rng)
    if whole:
        yield "equality", lambda rng: _equality(stream, rng.choice(whole), rng)
    if named:
        yield "category", lambda rng: _equality(stream, rng.choice(named), rng)
    if len(numeric) > 1:
        yield (
            "conjunction",
            lambda rng: _mass(stream, *(_round_range(stream, own, rng) for own in rng.permutation(numeric)[:2])),
        )
        yield "random box", lambda rng: _random_box(stream, rng)

"""Strategies for records and batches of a domain."""

import datetime as dt
import ipaddress
import math
from functools import cache
from typing import Any

import hypothesis.strategies as st
import numpy as np
from numpy.typing import NDArray

from privhp import (
    Box,
    Categories,
    Domain,
    Geo,
    Integers,
    Interval,
    IPv4,
    IPv6,
    Nullable,
    Pattern,
    Table,
    Taxonomy,
    Time,
)
from privhp.domains.checks import AWKWARD
from strategies.domains import pattern_texts


def _numbers(low: float, high: float) -> st.SearchStrategy[float]:
    edges = [low, high, math.nextafter(high, low), math.nextafter(low, -math.inf), math.nextafter(high, math.inf)]
    return st.one_of(st.floats(low, high), st.sampled_from([*edges, math.nan, math.inf, -math.inf]), st.floats())


def _whole_numbers(low: int, high: int) -> st.SearchStrategy[int]:
    return st.one_of(st.integers(low, high), st.integers(low - 2, high + 2), st.integers(-(2**63), 2**63 - 1))


def records(domain: Domain) -> st.SearchStrategy[Any]:
    """A record of the right type: mostly inside the domain, sometimes on an edge or outside."""
    if isinstance(domain, Interval):
        return _numbers(domain.low, domain.high)
    if isinstance(domain, Integers):
        return _whole_numbers(domain.low, domain.high)
    if isinstance(domain, IPv4):
        return _whole_numbers(int(domain.network.network_address), int(domain.network.broadcast_address))
    if isinstance(domain, IPv6):
        first, last = int(domain.network.network_address), int(domain.network.broadcast_address)
        numbers = st.one_of(st.integers(first, last), st.sampled_from([first, last]), st.integers(0, 2**128 - 1))
        return numbers.map(lambda number: str(ipaddress.IPv6Address(number)))
    if isinstance(domain, Time):
        low, high = (dt.datetime.fromisoformat(domain.spec()[end]).replace(tzinfo=None) for end in ("low", "high"))
        hour = dt.timedelta(hours=2)
        return st.one_of(st.datetimes(low, high), st.datetimes(low - hour, high + hour), st.datetimes())
    if isinstance(domain, Categories):
        unknown: list[Any] = ["x", ""] if isinstance(domain.values[0], str) else [21, -(2**71)]
        return st.sampled_from([*domain.values, *unknown])
    if isinstance(domain, Taxonomy):
        return st.sampled_from(
            [*(path[-1] for path in domain.paths), *("/".join(path) for path in domain.paths), "n0", "x"]
        )
    if isinstance(domain, Pattern):
        inside = pattern_texts(domain)
        return st.one_of(inside, inside.map(str.lower), inside.map(" ".join), st.text("ABC01.- ", max_size=8))
    if isinstance(domain, Nullable):
        return st.one_of(st.none(), records(domain.domain))
    if isinstance(domain, Table):
        return st.tuples(*(_values(column) for column in domain.columns)).map(lambda values: sum(values, ()))
    assert isinstance(domain, Box | Geo)
    return st.tuples(*(_numbers(axis.low, axis.high) for axis in domain.axes))


def _values(column: Any) -> st.SearchStrategy[tuple[Any, ...]]:
    """A value of a column, as one element for each of its names."""
    size = len(column.names)
    return records(column.domain).map(lambda value: value if isinstance(value, tuple) else (value,) * size)


@cache
def junk() -> st.SearchStrategy[Any]:
    """Objects that may occur instead of a record."""
    return st.one_of(st.sampled_from(AWKWARD), st.text(max_size=3), st.binary(max_size=3), st.booleans(), st.none())


def as_batch(domain: Domain, chosen: list[Any]) -> Any:
    """Records of a domain as an array or a dict of columns."""
    if isinstance(domain, Table):
        return {name: [record[index] for record in chosen] for index, name in enumerate(domain.names)}
    if isinstance(domain, Nullable):
        return chosen
    if isinstance(domain, Box | Geo):
        columns = len(domain.axes)
        points = np.array(chosen, dtype=np.float64).reshape(-1, columns)
        return points[:, 0] if columns == 1 else points
    if isinstance(domain, Categories):
        return np.array(chosen, dtype=str if isinstance(domain.values[0], str) else object)
    kinds: dict[type[Domain], Any] = {Interval: np.float64, Time: "M8[us]", IPv6: str, Pattern: str, Taxonomy: str}
    return np.array(chosen, dtype=kinds.get(type(domain), np.int64))


@st.composite
def batches(draw: st.DrawFn, domain: Domain, *, max_size: int = 40) -> NDArray[Any]:
    """An array of records with repetitions, so that some cells are heavy."""
    pool = draw(st.lists(records(domain), min_size=1, max_size=10))
    return as_batch(domain, draw(st.lists(st.sampled_from(pool), max_size=max_size)))


def untidy_batches(domain: Domain, *, max_size: int = 20) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.one_of(records(domain), junk()), max_size=max_size)

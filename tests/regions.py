"""Regions of every domain, and a direct test whether a record is in a region."""

import ipaddress
from typing import Any

import hypothesis.strategies as st
import numpy as np

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
from strategies import pattern_texts

DEGREES = 1e-9
"""Rounding error of a longitude when 360 degrees are subtracted."""


def _pairs(ends: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, Any]]:
    """A pair of ends, of which one may be open."""
    closed = st.lists(ends, min_size=2, max_size=2).map(sorted).map(tuple)
    return st.one_of(closed, closed, ends.map(lambda end: (None, end)), ends.map(lambda end: (end, None)))


@st.composite
def _prefixes(draw: st.DrawFn, domain: IPv4 | IPv6) -> str:
    first, last = int(domain.network.network_address), int(domain.network.broadcast_address)
    inside = st.integers(first, last)
    number = draw(st.one_of(inside, inside, st.integers(0, 2**domain.BITS - 1)))
    length = draw(st.integers(0, domain.BITS))
    kind = ipaddress.IPv4Network if domain.BITS == 32 else ipaddress.IPv6Network
    return str(kind((number >> (domain.BITS - length) << (domain.BITS - length), length)))


@st.composite
def _rectangles(draw: st.DrawFn, domain: Geo) -> tuple[float, float, float, float]:
    west, east = draw(st.floats(-180, 180)), draw(st.floats(-180, 180))
    south, north = sorted([draw(st.floats(domain.south, domain.north)), draw(st.floats(domain.south, domain.north))])
    return west, south, east, north


def nodes(domain: Taxonomy) -> list[str]:
    """Paths of all nodes."""
    return sorted({"/".join(path[:length]) for path in domain.paths for length in range(1, len(path) + 1)})


def regions(domain: Domain) -> st.SearchStrategy[Any]:
    """A region of a domain, which may be partly outside or empty."""
    if isinstance(domain, Interval):
        return _pairs(st.floats(domain.low - 0.1, domain.high + 0.1))
    if isinstance(domain, Integers):
        return _pairs(st.integers(domain.low - 2, domain.high + 2))
    if isinstance(domain, Time):
        root = np.zeros(1, dtype=np.uint64)
        return _pairs(st.floats(0, 1).map(lambda share: domain.cell_quantile(np.array([share]), root, level=0)[0]))
    if isinstance(domain, IPv4 | IPv6):
        return _prefixes(domain)
    if isinstance(domain, Categories):
        return st.one_of(st.sampled_from(domain.values), st.lists(st.sampled_from(domain.values)))
    if isinstance(domain, Taxonomy):
        return st.one_of(st.sampled_from(nodes(domain)), st.lists(st.sampled_from(nodes(domain))))
    if isinstance(domain, Pattern):
        texts = pattern_texts(domain)
        prefixes = st.tuples(texts, st.integers(0, 12)).map(lambda own: f"{own[0][: own[1]]}*")
        return st.one_of(texts, prefixes, st.lists(st.one_of(texts, prefixes)))
    if isinstance(domain, Geo):
        return _rectangles(domain)
    if isinstance(domain, Nullable):
        return st.one_of(st.none(), regions(domain.domain))
    if isinstance(domain, Table):
        optional = {column.name: regions(column.domain) for column in domain.columns}
        return st.fixed_dictionaries({}, optional=optional)
    assert isinstance(domain, Box)
    return st.tuples(*(st.none() | _pairs(st.floats(axis.low - 0.1, axis.high + 0.1)) for axis in domain.axes))


def _between(value: Any, region: Any, slack: float = 0.0) -> bool:
    low, high = (None, None) if region is None else region
    return (low is None or value >= low - slack) and (high is None or value <= high + slack)


def contains(domain: Domain, region: Any, record: Any) -> bool:
    """Whether a record of a sample is in a region."""
    if isinstance(domain, Interval | Integers):
        return _between(record, region)
    if isinstance(domain, Time):
        return all(end is None or (record >= end, record <= end)[side] for side, end in enumerate(region))
    if isinstance(domain, IPv4 | IPv6):
        address = record if isinstance(record, str) else int(record)
        return ipaddress.ip_address(address) in ipaddress.ip_network(region)
    if isinstance(domain, Categories):
        return record in (region if isinstance(region, list) else [region])
    if isinstance(domain, Taxonomy):
        (path,) = ["/".join(path) + "/" for path in domain.paths if path[-1] == record]
        return any(path.startswith(node + "/") for node in (region if isinstance(region, list) else [region]))
    if isinstance(domain, Pattern):
        prefixes = region if isinstance(region, list) else [region]
        return any(record == own or (own.endswith("*") and record.startswith(own[:-1])) for own in prefixes)
    if isinstance(domain, Geo):
        west, south, east, north = region
        around = (east - west) % 360 if east - west != 360 else 360
        turned = (record[0] - west + DEGREES) % 360 <= around + 2 * DEGREES
        return bool(turned and _between(record[1], (south, north)))
    if isinstance(domain, Nullable):
        null = bool(np.all(np.ma.getmaskarray(record)))
        return null if region is None else not null and contains(domain.domain, region, np.ma.getdata(record)[()])
    if isinstance(domain, Box):
        return all(map(_between, np.atleast_1d(record), region))  # a column of a table has no second axis
    assert isinstance(domain, Table)
    elements = iter(record)
    values = {column.name: [next(elements) for _ in column.names] for column in domain.columns}
    return all(
        contains(column.domain, region[column.name], _value(values[column.name]))
        for column in domain.columns
        if column.name in region
    )


def _value(values: list[Any]) -> Any:
    """Value of one column of a record."""
    if len(values) == 1:
        return values[0]
    return np.ma.MaskedArray(
        [np.ma.getdata(value) for value in values], [np.ma.getmaskarray(value) for value in values]
    )


def rows(domain: Domain, sample: Any) -> list[Any]:
    """Records of a sample as a list."""
    return list(zip(*sample.values(), strict=True)) if isinstance(domain, Table) else list(sample)

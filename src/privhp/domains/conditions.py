"""Regions as people write them: conditions on columns, such as fare < 10 and kind = cash.

Takes a text and a domain, gives the region, and back. Regions are closed. So
of whole numbers and times `<` ends at the one before, and on a continuous
scale, where a single number has no share, it is the same as `<=`.
"""

import difflib
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from privhp.domains.box import Box
from privhp.domains.categories import Categories, text_of
from privhp.domains.condition_grammar import SIGNS, Comparison, parse, written
from privhp.domains.domain import Domain, finite_number
from privhp.domains.finite import Finite
from privhp.domains.geo import Geo
from privhp.domains.ip import IPv4, IPv6
from privhp.domains.nullable import Nullable
from privhp.domains.numbers import Integers, Interval
from privhp.domains.table import Table
from privhp.domains.table_column import Name, naming
from privhp.domains.time import Time
from privhp.errors import DomainError

Ends = tuple[Any, Any]
"""First and last value of a range, None for an open end."""


class _Part(NamedTuple):
    """A column: what its values are called, and where they live."""

    name: Name | None
    names: tuple[str, ...]
    domain: Domain

    @property
    def label(self) -> str:
        return ",".join(self.names)


def read_condition(text: str, domain: Domain, *, names: Sequence[str] | None = None) -> Any:
    """The region of all records that meet a condition, as `mass` takes it.

    Args:
        text: Comparisons joined by and; see `privhp query --help`.
        domain: Where records live.
        names: What the values of a record are called, where the domain does not say it.
    """
    parts = _parts(domain, names)
    found: dict[str, list[Comparison]] = {}
    for comparison in parse(text):
        found.setdefault(_meant(comparison, parts).label, []).append(comparison)
    regions = {part.name: _region(part, found[part.label]) for part in parts if part.label in found}
    return regions if isinstance(domain, Table) else regions[None]


def condition_of(region: Any, domain: Domain, *, names: Sequence[str] | None = None) -> str:
    """A region, such as that of a heavy hitter, as a condition that `read_condition` reads back."""
    if isinstance(domain, Table):
        known = {part.name: part for part in _parts(domain, names)}
        return " and ".join(_condition(known[name], own) for name, own in region.items()) or "everything"
    (part,) = _parts(domain, names)
    return _condition(part, region)


def _parts(domain: Domain, names: Sequence[str] | None) -> list[_Part]:
    if isinstance(domain, Table):
        if names is not None:
            raise DomainError(f"expected no other names for a table, which has its own, got {', '.join(names)}")
        return [_Part(column.name, column.names, column.domain) for column in domain.columns]
    own = domain.value_names
    if names is not None and len(names) != len(own):
        raise DomainError(f"expected {len(own)} names for the values of {domain!r}, got {', '.join(names)}")
    return [_Part(None, tuple(names or own), domain)]


def _inner(domain: Domain) -> Domain:
    return domain.domain if isinstance(domain, Nullable) else domain


def _meant(comparison: Comparison, parts: Sequence[_Part]) -> _Part:
    """The part that a comparison is about: by all of its names, or by one of the numbers of a point."""
    for part in parts:
        single = len(comparison.names) == 1 and isinstance(_inner(part.domain), Box)
        if comparison.names == part.names or (single and comparison.names[0] in part.names):
            return part
    asked, known = ",".join(comparison.names), [part.label for part in parts]
    near = "".join(f"; did you mean {name}?" for name in difflib.get_close_matches(asked, known, n=1))
    if not near and parts[0].name is None and len(comparison.names) == len(parts[0].names):
        near = f"; a release of single values knows no names, so give it by --columns {asked}"
    raise DomainError(f"expected a condition on {' or '.join(known)}, got one on {asked!r}{near}")


def _region(part: _Part, comparisons: Sequence[Comparison]) -> Any:
    with naming(part.label):
        inner = _inner(part.domain)
        about_null = [own for own in comparisons if own.sign in ("null", "not null")]
        others = [own for own in comparisons if own not in about_null]
        if about_null and inner is part.domain:
            raise DomainError("expected no question about null, since its values cannot be missing, got one")
        if any(own.sign == "null" for own in about_null):
            if len(comparisons) > 1:
                raise DomainError("expected is null by itself, since null meets no other condition, got more")
            return None
        return _region_of_values(inner, part, others) if others else _everything(inner)


def _region_of_values(domain: Domain, part: _Part, comparisons: Sequence[Comparison]) -> Any:
    if isinstance(domain, Interval | Integers | Time):
        return _range(comparisons, lambda sign, value: _ends(domain, sign, value))
    by_side = all(len(own.names) == 1 and (len(part.names) > 1 or own.sign in SIGNS) for own in comparisons)
    if isinstance(domain, Box) and by_side:
        sides = [[own for own in comparisons if own.names == (name,)] for name in part.names]
        return [_range(own, _number_ends) if own else None for own in sides]
    if len(comparisons) > 1:
        raise DomainError("expected one condition on it, got several; ask for each by itself")
    _, sign, values = comparisons[0]
    if isinstance(domain, Box | Geo):
        return _points(domain, sign, values)
    if isinstance(domain, IPv4 | IPv6) and sign in ("in", "=") and len(values) == 1:
        return values[0]
    if isinstance(domain, IPv4 | IPv6):
        raise DomainError(f"expected a prefix such as in {domain.EXAMPLE}, got {_shown(sign, values)}")
    if isinstance(domain, Finite):
        return _chosen(domain, sign, values)
    raise DomainError(f"expected a domain that has conditions, got one of kind {domain.kind!r}; ask it in Python")


def _shown(sign: str, values: Sequence[str]) -> str:
    return f"in [{', '.join(values)}]" if sign == "among" else f"{sign} {','.join(values)}"


def _range(comparisons: Sequence[Comparison], ends: Callable[[str, str], Ends]) -> Ends:
    """The range that meets all comparisons of one number or time."""
    low = high = None
    for _, sign, values in comparisons:
        if sign not in SIGNS:
            raise DomainError(
                f"expected a range as >= LOW and <= HIGH, each with the name before it, got {_shown(sign, values)}"
            )
        first, last = ends(sign, values[0])
        low = first if low is None or (first is not None and first > low) else low
        high = last if high is None or (last is not None and last < high) else high
    if low is not None and high is not None and low > high:
        raise DomainError("expected conditions that some value meets, got a range that ends before it begins")
    return low, high


def _ends(domain: Interval | Integers | Time, sign: str, value: str) -> Ends:
    if isinstance(domain, Interval):
        return _number_ends(sign, value)
    before, after = domain.ticks_around(value) if isinstance(domain, Time) else _whole_around(value)
    step: Any = np.timedelta64(1, domain.unit) if isinstance(domain, Time) else 1
    if sign == "=" and before != after:
        raise DomainError(f"expected a value that records can have after =, got {value!r}, which lies between two")
    return {
        "<": (None, after - step),
        "<=": (None, before),
        ">": (before + step, None),
        ">=": (after, None),
        "=": (before, after),
    }[sign]


def _whole_around(value: str) -> Ends:
    number = _number(value)
    return math.floor(number), math.ceil(number)


def _number_ends(sign: str, value: str) -> Ends:
    number = _number(value)
    if sign == "=":
        raise DomainError(
            "expected a range, since a single number has no share on a continuous scale, "
            f"got = {value}; ask for >= and <= around it"
        )
    return (None, number) if sign in ("<", "<=") else (number, None)


def _number(text: str) -> int | float:
    for read in (int, float):
        try:
            return finite_number(read(text), "the value")
        except ValueError as error:
            if isinstance(error, DomainError):
                raise
    raise DomainError(f"expected a number, got {text!r}")


def _points(domain: Box | Geo, sign: str, values: Sequence[str]) -> Any:
    ends = [[_number(end) for end in value.split(":")] for value in values] if sign == "in" else []
    if isinstance(domain, Geo):
        if [len(own) for own in ends] != [4]:
            raise DomainError(f"expected in WEST:SOUTH:EAST:NORTH, such as in -9:49.8:2:61, got {_shown(sign, values)}")
        return tuple(ends[0])
    if [len(own) for own in ends] != [2] * len(domain.axes):
        pairs = ",".join(["LOW:HIGH"] * len(domain.axes))
        raise DomainError(f"expected in {pairs}, a pair for each number, got {_shown(sign, values)}")
    return [tuple(own) for own in ends]


def _chosen(domain: Finite, sign: str, values: Sequence[str]) -> Any:
    if sign not in ("=", "among"):
        raise DomainError(f"expected = VALUE or in [VALUE, VALUE], got {_shown(sign, values)}")
    if isinstance(domain, Categories):
        known = {text_of(value): value for value in (*domain.values, *([] if domain.other is None else [domain.other]))}
        for value in values:
            if value not in known:
                near = "".join(f"; did you mean {name}?" for name in difflib.get_close_matches(value, known, n=1))
                raise DomainError(f"expected a value of its list, such as {next(iter(known))}, got {value!r}{near}")
        chosen: list[Any] = [known[value] for value in values]
    else:
        chosen = list(values)
    return chosen[0] if sign == "=" else chosen


def _everything(domain: Domain) -> Any:
    """The region of all values of a domain."""
    if isinstance(domain, Interval | Integers | Time):
        return None, None
    if isinstance(domain, Box):
        return [None] * len(domain.axes)
    if isinstance(domain, Geo):
        return None, None, None, None
    if isinstance(domain, IPv4 | IPv6):
        return str(domain.network)
    if isinstance(domain, Finite):
        return domain.describe(0, level=0)
    raise DomainError(f"expected a domain that has conditions, got one of kind {domain.kind!r}; ask it in Python")


def _condition(part: _Part, region: Any) -> str:
    """A region of one column as a condition."""
    label = ",".join(map(written, part.names))
    if region is None:
        return f"{label} is null"
    domain = _inner(part.domain)
    if isinstance(domain, Interval | Integers | Time):
        low, high = (_end_text(domain, end) for end in region)
        single = low == high and not isinstance(domain, Interval)
        return f"{label} = {low}" if single else f"{label} >= {low} and {label} <= {high}"
    if isinstance(domain, Box):
        return f"{label} in {','.join(f'{low!r}:{high!r}' for low, high in region)}"
    if isinstance(domain, Geo):
        return f"{label} in {':'.join(map(repr, region))}"
    if isinstance(domain, IPv4 | IPv6):
        return f"{label} in {region}"
    if isinstance(region, list):
        return f"{label} in [{', '.join(written(text_of(value)) for value in region)}]"
    return f"{label} = {written(text_of(region))}"


def _end_text(domain: Domain, end: Any) -> str:
    if isinstance(domain, Time):
        return str(np.datetime_as_string(end, timezone="naive" if domain.unit == "D" else "UTC"))
    return repr(end)

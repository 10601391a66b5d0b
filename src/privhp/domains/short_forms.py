"""Short forms of domains for the command line, such as interval:0:1000 or fare=interval:0:1000:log."""

import datetime as dt
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from privhp.domains.comparisons import suggest
from privhp.domains.declared_files import KEY, read_declared
from privhp.domains.domain import Domain
from privhp.domains.table_column import column_errors
from privhp.errors import DomainError

_FLAGS = {
    "log": ("scale", "log"),
    "clamp": ("outside", "clamp"),
    "ignore_case": ("ignore_case", True),
    "nullable": ("nullable", True),
}
_BOOLEANS = {"false": False, "true": True}
_MISTAKEN = dict.fromkeys(("boolean", "bool"), "; write categories:false,true")
_SEPARATOR = re.compile(r"(?<!zone=[+-]\d\d):(?!%)")
"""A colon, except those inside the offset of a time zone and before a directive of a format of times."""


class ShortForm(NamedTuple):
    """Short form of one kind of domain.

    Args:
        parse: Parameters of the domain, from the text between colons; ValueError if it does not fit.
        usage: The form, for messages.
    """

    parse: Callable[[Sequence[str]], dict[str, Any]]
    usage: str


def parse_domain(text: str, *, column: str = "NAME") -> Domain:
    """The domain of a short form.

    Args:
        text: The short form.
        column: Name of the column, for messages.
    """
    spec = _parse_spec(text)
    if "nullable" in spec:
        raise DomainError(f"a domain with nullable needs the name of its column; write domain={column}={text}")
    return Domain.from_spec(spec)


def parse_columns(texts: Sequence[str]) -> Domain:
    """The table of columns in short form, such as fare=interval:0:1000 or lon,lat=box:-9:2,49.8:61."""
    return Domain.from_spec({"kind": "table", "columns": [_parse_column(text) for text in texts]})


def _parse_column(text: str) -> dict[str, Any]:
    name, equals, form = text.partition("=")
    names = [part.strip() for part in name.split(",")]
    if not equals or not all(names):
        raise DomainError(f"expected a column as NAME=DOMAIN, such as fare=interval:0:1000, got {text!r}")
    with column_errors(", ".join(names)):
        return {"name": names[0] if len(names) == 1 else names, **_parse_spec(form)}


def _parse_spec(text: str) -> dict[str, Any]:
    """Spec of a short form: kind, then values, then options."""
    kind, *parts = _SEPARATOR.split(text)
    if kind not in SHORT_FORMS:
        raise DomainError(
            f"expected one of {', '.join(SHORT_FORMS)}, or the name of a .toml file, got {text!r}"
            f"{_MISTAKEN.get(kind) or suggest(kind, SHORT_FORMS)}"
        )
    form, spec = SHORT_FORMS[kind], dict[str, Any](kind=kind)
    while parts and (parts[-1] in _FLAGS or "=" in parts[-1]):
        option = parts.pop()
        key, _, value = option.partition("=")
        spec |= [_FLAGS[option]] if option in _FLAGS else [(key, _number_or_text(value))]
    try:
        values = {} if KEY in spec and not parts else form.parse(parts)
    except ValueError:
        raise DomainError(
            f"expected {form.usage}, got {text!r}; a column, NAME=DOMAIN, may also end in :nullable or :weight=2; "
            "bounds must be public knowledge"
        ) from None
    return read_declared(spec | values)


def _number(text: str) -> float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _number_or_text(text: str) -> Any:
    try:
        return _number(text)
    except ValueError:
        return text


def _number_bounds(parts: Sequence[str]) -> dict[str, Any]:
    low, high = parts
    return {"low": _number(low), "high": _number(high)}


def _sides(parts: Sequence[str]) -> dict[str, Any]:
    return {"sides": [[_number(end) for end in side.split(":")] for side in ":".join(parts).split(",")]}


def _time_bounds(parts: Sequence[str]) -> dict[str, Any]:
    """Two times, which may contain colons; without two that can be read, halves, of which an error names one."""
    splits = [(":".join(parts[:place]), ":".join(parts[place:])) for place in range(1, len(parts))]
    readable = [pair for pair in splits if all(map(_is_time, pair))]
    if not splits or (not readable and len(parts) % 2):
        raise ValueError
    low, high = readable[0] if readable else splits[len(splits) // 2]
    return {"low": low, "high": high}


def _is_time(text: str) -> bool:
    try:
        dt.datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _rectangle(parts: Sequence[str]) -> dict[str, Any]:
    return dict(zip(("west", "south", "east", "north"), map(_number, parts), strict=True)) if parts else {}


def _network(parts: Sequence[str]) -> dict[str, Any]:
    return {"network": ":".join(parts)} if parts else {}


def _values(parts: Sequence[str]) -> dict[str, Any]:
    (text,) = parts
    values = [value.strip() for value in text.split(",")]
    return {"values": [_BOOLEANS[value] for value in values] if _BOOLEANS.keys() >= set(values) else values}


def _nothing(parts: Sequence[str]) -> dict[str, Any]:
    raise ValueError


def _pattern(parts: Sequence[str]) -> dict[str, Any]:
    if not parts:
        raise ValueError
    return {"pattern": ":".join(parts)}


SHORT_FORMS = {
    "interval": ShortForm(
        _number_bounds, "interval:LOW:HIGH, optionally with :log, :step=0.01, :clamp or :dtype=float32"
    ),
    "integers": ShortForm(_number_bounds, "integers:LOW:HIGH, optionally with :clamp or :dtype=int16"),
    "box": ShortForm(
        _sides, "box:LOW:HIGH,LOW:HIGH, one pair for each coordinate, optionally with :step=0.01 or :clamp"
    ),
    "time": ShortForm(
        _time_bounds,
        "time:LOW:HIGH, such as time:2018-01-01:2020-12-31, optionally with :unit=D, :zone=Europe/Berlin, "
        ":format=%d.%m.%Y or :clamp",
    ),
    "geo": ShortForm(_rectangle, "geo:WEST:SOUTH:EAST:NORTH, or geo for the globe, optionally with :step=0.0001"),
    "ipv4": ShortForm(_network, "ipv4, or ipv4:NETWORK such as ipv4:10.0.0.0/8"),
    "ipv6": ShortForm(_network, "ipv6, or ipv6:NETWORK such as ipv6:2001:db8::/32"),
    "categories": ShortForm(
        _values, "categories:VALUE,VALUE,VALUE or categories:file=FILE, optionally with :other=VALUE"
    ),
    "pattern": ShortForm(
        _pattern,
        "pattern:PATTERN such as pattern:[A-Z][0-9]{2}, or pattern:file=FILE, optionally with :ignore_case or "
        ":ignore=CHARACTERS",
    ),
    "taxonomy": ShortForm(_nothing, "taxonomy:file=FILE, a file with one path per line, such as fruit/apple"),
}
"""Short form of each kind."""

"""Domains from text: a TOML file, or a short form for the command line.

Both describe the spec that a release holds in its header.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from privhp.domains.domain import Domain
from privhp.domains.table_column import column_errors
from privhp.domains.validation import quote
from privhp.errors import DomainError, file_errors

FORMS = {
    "interval": "interval:LOW:HIGH, with :log, :clamp or :dtype=float32 after it if you like",
    "integers": "integers:LOW:HIGH, with :clamp or :dtype=int16 after it if you like",
    "box": "box:LOW:HIGH,LOW:HIGH, one pair for each number, with :clamp after it if you like",
    "time": "time:LOW:HIGH, such as time:2018-01-01:2020-12-31, with :unit=D, :zone=Europe/Berlin or :clamp after it "
    "if you like",
    "geo": "geo:WEST:SOUTH:EAST:NORTH, or geo for the globe",
    "ipv4": "ipv4, or ipv4:NETWORK such as ipv4:10.0.0.0/8",
    "ipv6": "ipv6, or ipv6:NETWORK such as ipv6:2001:db8::/32",
    "categories": "categories:VALUE,VALUE,VALUE, with :other=VALUE after it if you like, or categories:false,true",
}
"""Short form of each kind."""

_TRUTH = {"false": False, "true": True}
_WORDS = {"log": ("scale", "log"), "clamp": ("outside", "clamp"), "nullable": ("nullable", True)}

_PARTS = re.compile(r"(?<!zone=[+-]\d\d):")
"""What stands between the parts of a short form: a colon, but for that of an offset."""

_LEFT_BLANK = ("kind", "low", "high", "values")
"""What `privhp init` leaves to be filled in."""


class DomainFile(NamedTuple):
    """A domain and, where a file says so, the columns of the data that make its records."""

    domain: Domain
    columns: list[str] | None


def read_domain(path: str | os.PathLike[str]) -> Domain:
    """The domain that a TOML file describes.

    A file has the keys of a domain's spec: `kind = "interval"`, `low = 0`,
    `high = 1000`. One of a table has a section for each column, `[columns.fare]`
    with such keys and, if you like, `weight` and `nullable`.
    """
    return read_domain_file(path).domain


@file_errors()
def read_domain_file(path: str | os.PathLike[str]) -> DomainFile:
    """The domain of a TOML file, and the columns that it names for a domain that is no table."""
    import tomllib  # takes long to import, and only files need it

    try:
        with open(path, "rb") as file:
            spec = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DomainError(f"expected a TOML file at {path}, got something else: {error}") from None
    columns = None if _is_table(spec) else spec.pop("columns", None)
    if columns is not None and not (isinstance(columns, list) and all(isinstance(name, str) for name in columns)):
        raise DomainError(f'{path}: expected columns = ["a", "b"] or a section [columns.a], got {quote(columns)}')
    try:
        _check_filled(spec)
        return DomainFile(Domain.from_spec({"kind": "table", **spec} if _is_table(spec) else spec), columns)
    except DomainError as error:
        raise DomainError(f"{path}: {error}") from None


def _check_filled(spec: Mapping[str, Any]) -> None:
    """Refuse what was left blank, as `privhp init` leaves it."""
    columns = spec.get("columns")
    for name, own in columns.items() if isinstance(columns, Mapping) else ():
        if isinstance(own, Mapping):
            with column_errors(name):
                _check_filled(own)
    for key, value in spec.items():
        if key in _LEFT_BLANK and value in ("", []):
            raise DomainError(
                f"expected {key} to be filled in, from public knowledge and never from the data, got a blank"
            )


def _is_table(spec: Mapping[str, Any]) -> bool:
    """Whether a file is about a table, which need not be said where its columns are described."""
    columns = spec.get("columns")
    described = isinstance(columns, dict) or (isinstance(columns, list) and any(isinstance(c, dict) for c in columns))
    return spec.get("kind") == "table" or ("kind" not in spec and described)


def parse_domain(text: str) -> Domain:
    """The domain of a short form, such as interval:0:1000."""
    return Domain.from_spec(_short_spec(text))


def parse_columns(texts: Sequence[str]) -> Domain:
    """The table of columns in short form, each such as fare=interval:0:1000 or lon,lat=box:-9:2,49.8:61."""
    return Domain.from_spec({"kind": "table", "columns": [_column_spec(text) for text in texts]})


def _column_spec(text: str) -> dict[str, Any]:
    name, equals, form = text.partition("=")
    names = [part.strip() for part in name.split(",")]
    if not equals or not all(names):
        raise DomainError(f"expected a column as NAME=DOMAIN, such as fare=interval:0:1000, got {text!r}")
    with column_errors(", ".join(names)):
        return {"name": names[0] if len(names) == 1 else names, **_short_spec(form)}


def _short_spec(text: str) -> dict[str, Any]:
    """What a short form says, as the spec of a domain."""
    kind, *parts = _PARTS.split(text)
    if kind not in FORMS:
        raise DomainError(f"expected one of {', '.join(FORMS)}, or the name of a .toml file, got {text!r}")
    spec: dict[str, Any] = {"kind": kind}
    while parts and (parts[-1] in _WORDS or "=" in parts[-1]):
        word = parts.pop()
        key, value = _WORDS[word] if word in _WORDS else (word.partition("=")[0], _value(word.partition("=")[2]))
        spec[key] = value
    try:
        return spec | _READERS[kind](parts)
    except ValueError:
        raise DomainError(f"expected {FORMS[kind]}, got {text!r}; bounds must be public knowledge") from None


def _number(text: str) -> float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _value(text: str) -> Any:
    """A number or, if it is none, a text."""
    try:
        return _number(text)
    except ValueError:
        return text


def _two_numbers(parts: Sequence[str]) -> dict[str, Any]:
    low, high = parts
    return {"low": _number(low), "high": _number(high)}


def _sides(parts: Sequence[str]) -> dict[str, Any]:
    return {"sides": [[_number(end) for end in side.split(":")] for side in ":".join(parts).split(",")]}


def _two_times(parts: Sequence[str]) -> dict[str, Any]:
    """Two times that have as many colons each, as where both are dates."""
    half = len(parts) // 2
    if not parts or half * 2 != len(parts):
        raise ValueError
    return {"low": ":".join(parts[:half]), "high": ":".join(parts[half:])}


def _four_numbers(parts: Sequence[str]) -> dict[str, Any]:
    return dict(zip(("west", "south", "east", "north"), map(_number, parts), strict=True)) if parts else {}


def _network(parts: Sequence[str]) -> dict[str, Any]:
    return {"network": ":".join(parts)} if parts else {}


def _list(parts: Sequence[str]) -> dict[str, Any]:
    (text,) = parts
    values = [value.strip() for value in text.split(",")]
    return {"values": [_TRUTH[value] for value in values] if _TRUTH.keys() >= set(values) else values}


_READERS: dict[str, Callable[[Sequence[str]], dict[str, Any]]] = {
    "interval": _two_numbers,
    "integers": _two_numbers,
    "box": _sides,
    "time": _two_times,
    "geo": _four_numbers,
    "ipv4": _network,
    "ipv6": _network,
    "categories": _list,
}
"""How the values of a short form become keys of a spec; ValueError where they are too many, too few or no numbers."""

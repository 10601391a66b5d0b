"""One line of CSV text to its fields, one field to a value.

Everything here is a pure function of one line or one field. A line or field
that makes no sense raises ValueError; whoever asks loses that record alone.
"""

import csv
import math
from collections.abc import Callable
from typing import Any, TypeAlias

from privhp.domains import Categories, Domain, Integers, IPv4, Nullable, Table
from privhp.domains.grid import GridDomain
from privhp.domains.ip import address
from privhp.sources.columns import dimensions
from privhp.sources.lines import MAX_LINE

LOST = object()
"""What keeps the place of a value that could not be read: no domain has a cell for it, and it is not null."""

Convert: TypeAlias = Callable[[bytes], Any]
"""How a field becomes a value: a float, an int where the domain counts whole numbers, or a text."""


def split(line: bytes) -> list[bytes]:
    """The fields of a line. A quote that is not closed within it makes no sense."""
    if len(line) > MAX_LINE:
        raise ValueError
    if b'"' not in line:
        return line.split(b",")
    try:
        # Latin-1 maps bytes to characters one to one, so nothing is lost and no byte is refused.
        (fields,) = csv.reader([line.decode("latin-1")], strict=True)
    except csv.Error:
        raise ValueError from None
    return [field.encode("latin-1") for field in fields]


def converters(domain: Domain) -> list[Convert]:
    """How each field of a record is read."""
    if isinstance(domain, Table):
        return [convert for column in domain.columns for convert in converters(column.domain)]
    if isinstance(domain, Nullable):
        return [_unless_empty(convert) for convert in converters(domain.domain)]
    if isinstance(domain, GridDomain):
        return [real] * dimensions(domain)
    if isinstance(domain, IPv4):
        return [address]
    whole = isinstance(domain, Integers) or (isinstance(domain, Categories) and isinstance(domain.values[0], int))
    return [_whole if whole else _text]


def lost(convert: Convert) -> Any:
    """What a field is read as in a line that is lost: NaN among numbers, which no domain of them has a cell for."""
    return math.nan if convert in (real, _whole, address) else LOST


def real(field: bytes) -> float:
    """A number. Python would take 1_000 for one; in data it is a name or a slip."""
    if b"_" in field:
        raise ValueError
    return float(field)


def _whole(field: bytes) -> float:
    """A whole number, exact if it is written as one."""
    if b"_" in field:
        raise ValueError
    try:
        return int(field)
    except ValueError:
        return float(field)


def _text(field: bytes) -> str:
    """A text, without the space around it."""
    return field.decode("utf-8").strip()


def _unless_empty(convert: Convert) -> Convert:
    """As a field is read unless it is empty, which is null."""
    return lambda field: convert(field) if field.strip() else None

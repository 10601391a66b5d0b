"""One line of CSV text to its fields, one field to a value.

Everything here is a pure function of one line or one field. A line or field
that makes no sense raises ValueError; whoever asks loses that record alone.
"""

import csv
from collections.abc import Callable
from typing import Any, TypeAlias

from privhp.domains.fields import Field, FieldKind
from privhp.domains.ip import parse_ipv4
from privhp.io.sources.text_lines import MAX_LINE

Convert: TypeAlias = Callable[[bytes], Any]
"""How a field becomes a value: a float, an int where the domain counts whole numbers, a text, or None for null."""


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


def converter(field: Field) -> Convert:
    """How a field is read."""
    convert = _CONVERTERS[field.kind]
    return (lambda text: convert(text) if text.strip() else None) if field.nullable else convert


def as_text(field: bytes) -> str:
    """A text, without the space around it."""
    return field.decode("utf-8").strip()


def _real(field: bytes) -> float:
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


_CONVERTERS: dict[FieldKind, Convert] = {
    FieldKind.REAL: _real,
    FieldKind.INTEGER: _whole,
    FieldKind.ADDRESS: parse_ipv4,
    FieldKind.TIME: as_text,
    FieldKind.TEXT: as_text,
    FieldKind.DICTIONARY: as_text,
}

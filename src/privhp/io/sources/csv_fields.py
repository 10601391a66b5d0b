"""Fields of a record of CSV, and values of a field.

All functions depend on one record or one field alone. They raise ValueError for
an invalid record or field, and the caller skips that record.
"""

import csv
from collections.abc import Callable
from typing import Any, TypeAlias

from privhp.domains.fields import Field, FieldKind
from privhp.domains.ip import parse_ipv4
from privhp.io.sources.text_records import MAX_RECORD

Convert: TypeAlias = Callable[[bytes], Any]
"""Conversion of a field to a value: a float, an int for domains of integers, a text, or None for null."""


def split_record(record: bytes) -> list[bytes]:
    """Fields of a record; raises ValueError if a quote is not closed in the record."""
    if len(record) > MAX_RECORD:
        raise ValueError
    if b'"' not in record:
        return record.split(b",")
    try:
        # Latin-1 maps bytes to characters one to one, so every byte is valid and preserved.
        (fields,) = csv.reader([record.decode("latin-1")], strict=True)
    except csv.Error:
        raise ValueError from None
    return [field.encode("latin-1") for field in fields]


def converter(field: Field) -> Convert:
    """Conversion for a field; an empty nullable field is null."""
    convert = _CONVERTERS[field.kind]
    return (lambda text: convert(text) if text.strip() else None) if field.nullable else convert


def as_text(field: bytes) -> str:
    """Text of a field without surrounding whitespace."""
    return field.decode("utf-8").strip()


def _real(field: bytes) -> float:
    """Number of a field. Python reads 1_000 as a number; in data it is a name or an error."""
    if b"_" in field:
        raise ValueError
    return float(field)


def _integer(field: bytes) -> float:
    """Integer of a field, exact if it is written as an integer; else a float."""
    if b"_" in field:
        raise ValueError
    try:
        return int(field)
    except ValueError:
        return float(field)


_CONVERTERS: dict[FieldKind, Convert] = {
    FieldKind.REAL: _real,
    FieldKind.INTEGER: _integer,
    FieldKind.ADDRESS: parse_ipv4,
    FieldKind.TIME: as_text,
    FieldKind.TEXT: as_text,
    FieldKind.DICTIONARY: as_text,
}

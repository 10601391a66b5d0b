"""Fields of a record of CSV, and values of a field.

All functions depend on one record or one field and on the declared dialect.
They raise ValueError for an invalid record or field, and the caller skips that
record.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from privhp.domains.fields import Field, FieldKind
from privhp.domains.ip import parse_ipv4
from privhp.io.sources.csv_dialect import CsvDialect
from privhp.io.sources.text_records import MAX_RECORD

Convert: TypeAlias = Callable[[bytes], Any]
"""Conversion of a field to a value: a float, an int for domains of integers, a text, or None for null."""

NUMBERS = {FieldKind.REAL, FieldKind.INTEGER}
TIMES = {FieldKind.TIME, FieldKind.DATE}
TEXTS = {FieldKind.TEXT, FieldKind.DICTIONARY}

_QUOTED = re.compile(rb'"((?:[^"]|"")*+)"')


def split_record(record: bytes, separator: bytes = b",", *, quotes: bool = True) -> Iterator[bytes]:
    """Fields of a record, one by one; raises ValueError at a field whose quotes are not balanced.

    A quote opens a field only as its first byte. The next quote that is not doubled closes it, and must end it.

    Args:
        record: The record.
        separator: The delimiter.
        quotes: Whether quotes open fields; otherwise they are characters like others.
    """
    if len(record) > MAX_RECORD:
        raise ValueError
    record, start = record.removesuffix(b"\r"), 0
    if not quotes or b'"' not in record:
        yield from record.split(separator)
        return
    while start <= len(record):
        if record[start : start + 1] == b'"':
            quoted = _QUOTED.match(record, start)
            if quoted is None or record[quoted.end() : quoted.end() + 1] not in (b"", separator):
                raise ValueError
            yield quoted[1].replace(b'""', b'"')
            end = quoted.end()
        else:
            end = record.find(separator, start)
            end = len(record) if end < 0 else end
            yield record[start:end]
        start = end + 1


def converter(field: Field, dialect: CsvDialect) -> Convert:
    """Conversion for a field; an empty field and the texts of null are null in a nullable field."""
    convert = _CONVERTERS[field.kind]
    if field.kind in NUMBERS and not dialect.plain_numbers:
        plain, rewrite = convert, _rewriter(dialect)
        convert = lambda text: plain(rewrite(as_text(text)))  # noqa: E731 - one of several
    if not field.nullable:
        return convert
    nulls = null_texts(field, dialect)
    return lambda text: None if text.strip().lower() in nulls else convert(text)


def null_texts(field: Field, dialect: CsvDialect) -> frozenset[bytes]:
    """Texts that are null in a nullable field, in lower case; values that the domain declares are not among them."""
    declared = {text.encode().lower() for text in field.declared_texts}
    return frozenset({b"", *(text.encode().lower() for text in dialect.nulls)} - declared)


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


def _rewriter(dialect: CsvDialect) -> Callable[[str], bytes]:
    """Function that writes a number of a dialect as Python does.

    Groups of digits are whole: with thousands separators, 1.5 is not read as 15. Amounts, with these separators or a
    currency, are negative in parentheses or before a minus, too: (1,234.50) and 1,234.50-.
    """
    currency = "" if dialect.currency is None else rf"(?:{re.escape(dialect.currency)})?\s*+"
    groups = dialect.thousands or ""
    group = "[ \u00a0\u202f]" if groups == " " else re.escape(groups)
    grouped = rf"[0-9]{{1,3}}(?:{group}[0-9]{{3}})+|" if groups else ""
    number = (
        rf"(?P<whole>{grouped}[0-9]*)(?:{re.escape(dialect.decimal)}(?P<fraction>[0-9]*))?(?P<power>[eE][+-]?[0-9]+)?"
    )
    after = "(?P<after>)" if dialect.has_plain_digits else "(?P<after>-?)"
    pattern = re.compile(rf"(?P<sign>[+-]?){currency}(?P<inner>[+-]?){number}{after}\s*+{currency}")
    accounting = None if dialect.has_plain_digits else re.compile(rf"{currency}\((?P<amount>[^()+-]+)\)\s*+{currency}")

    def rewrite(text: str) -> bytes:
        negative = None if accounting is None else accounting.fullmatch(text)
        found = pattern.fullmatch(text if negative is None else f"-{negative['amount'].strip()}")
        if found is None or bool(found["sign"]) + bool(found["inner"]) + bool(found["after"]) > 1:
            raise ValueError
        whole = re.sub("[^0-9]", "", found["whole"])
        fraction = "" if found["fraction"] is None else f".{found['fraction']}"
        return f"{found['sign']}{found['inner']}{found['after']}{whole}{fraction}{found['power'] or ''}".encode()

    return rewrite


_CONVERTERS: dict[FieldKind, Convert] = {
    FieldKind.REAL: _real,
    FieldKind.INTEGER: _integer,
    FieldKind.ADDRESS: parse_ipv4,
    FieldKind.TIME: as_text,
    FieldKind.DATE: as_text,
    FieldKind.TEXT: as_text,
    FieldKind.DICTIONARY: as_text,
}

"""The dialect of CSV files: everything about their text that the caller declares.

Nothing of a dialect is inferred from a file, so that no record decides how
another one is read.
"""

import dataclasses
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, Literal, get_args

from privhp.domains.fields import NULL_TEXTS
from privhp.errors import RecordsError, describe_value
from privhp.io.sources.byte_streams import COMPRESSION_BY_SUFFIX

CsvReading = Literal["rfc4180", "lines", "unquoted"]
"""What a record of CSV is: with quoted line feeds inside, or a line, with or without quoted fields."""

Encoding = Literal["utf-8", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252"]
"""Encodings in which the bytes of a line have no effect on those of another."""


TAB_SUFFIXES = (".tsv", ".tab")
_DELIMITER = re.compile(r'[\t -~](?<![A-Za-z0-9"])')
_SEPARATOR = re.compile(r"[^\w+\-\"]|_")
_CURRENCY = re.compile(r"[^\d\s.,+\-\"]{1,8}")


@dataclasses.dataclass(frozen=True, kw_only=True)
class CsvDialect:
    """How CSV files are written. A field that contains the delimiter, a quote or a line break stands in quotes (").

    Args:
        records: What a record is. "rfc4180": quoted line breaks belong to the record, as CSV writers write them; the
            quotes of every record must be balanced. "lines": every line is a record, as in logs; what a CSV writer
            wrote with line breaks counts as several records. "unquoted": the same, and quotes are characters like
            others, as in files of tab-separated values.
        delimiter: Character between two fields; by default a tab in files that end in .tsv or .tab, else a comma.
        nulls: Texts that are null in nullable columns, in upper or lower case; an empty field is null too. A declared
            value of a column, such as a category "NA", is never null.
        decimal: Decimal mark of numbers, "." or ",".
        thousands: Separator of groups of three digits, such as "," in 1,234.5; a space is also a no-break space.
        currency: Sign or code that may stand before or behind a number, such as "$", "EUR" or "%".
        encoding: "utf-8", "utf-16" (with a byte order mark before the header), "utf-16-le" or "utf-16-be" (with this
            byte order, with a mark or without), "latin-1" or "cp1252" (Windows).
    """

    records: CsvReading = "rfc4180"
    delimiter: str | None = None
    nulls: Sequence[str] = NULL_TEXTS
    decimal: str = "."
    thousands: str | None = None
    currency: str | None = None
    encoding: Encoding = "utf-8"

    def __post_init__(self) -> None:
        _check(self.records in get_args(CsvReading), "records", "'rfc4180', 'lines' or 'unquoted'", self.records)
        _check(
            self.delimiter is None or _matches(_DELIMITER, self.delimiter),
            "delimiter",
            "one ASCII character that is not a letter, a digit or a quote, such as ';'",
            self.delimiter,
        )
        listed = isinstance(self.nulls, list | tuple) and all(
            isinstance(text, str) and text.isprintable() for text in self.nulls
        )
        _check(listed, "nulls", "a list of texts such as ['NA', '-']", self.nulls)
        object.__setattr__(self, "nulls", tuple(text.strip() for text in self.nulls))
        _check(self.decimal in (".", ","), "decimal", "'.' or ','", self.decimal)
        _check(
            self.thousands is None or (_matches(_SEPARATOR, self.thousands) and self.thousands != self.decimal),
            "thousands",
            "one character other than the decimal mark, such as '.'",
            self.thousands,
        )
        _check(
            self.currency is None or _matches(_CURRENCY, self.currency),
            "currency",
            "a sign or a code such as '$' or 'EUR'",
            self.currency,
        )
        *others, last = map(repr, get_args(Encoding))
        _check(self.encoding in get_args(Encoding), "encoding", f"{', '.join(others)} or {last}", self.encoding)
        if "€" in (self.currency or "") and self.encoding == "latin-1":
            raise RecordsError("the encoding latin-1 has no sign €; files with this sign are in cp1252 or utf-8")

    @property
    def separator(self) -> bytes:
        """The delimiter as a byte."""
        return (self.delimiter or ",").encode()

    @property
    def has_quotes(self) -> bool:
        """Whether a field may stand in quotes."""
        return self.records != "unquoted"

    @property
    def has_plain_digits(self) -> bool:
        """Whether numbers have neither groups of digits nor a currency sign."""
        return self.thousands is None and self.currency is None

    @property
    def plain_numbers(self) -> bool:
        """Whether numbers are written as Python writes them."""
        return self.decimal == "." and self.has_plain_digits

    @property
    def declared(self) -> frozenset[str]:
        """Names of the parameters that are not the default."""
        fields = dataclasses.fields(self)
        return frozenset(field.name for field in fields if getattr(self, field.name) != field.default)

    def for_file(self, name: str) -> "CsvDialect":
        """The dialect of a file: without a declared delimiter, the suffix of its name decides."""
        path = PurePath(name.lower())
        suffix = PurePath(path.stem).suffix if path.suffix in COMPRESSION_BY_SUFFIX else path.suffix
        if self.delimiter is not None or suffix not in TAB_SUFFIXES:
            return self
        return dataclasses.replace(self, delimiter="\t")


def check_dialect(dialect: Any) -> CsvDialect:
    """The dialect, by default that of most CSV writers; refuses anything else."""
    if dialect is None:
        return CsvDialect()
    if not isinstance(dialect, CsvDialect):
        raise RecordsError(
            f'csv= takes a dialect such as privhp.CsvDialect(records="lines"), got {describe_value(dialect)}'
        )
    return dialect


def check_byte_order(dialect: CsvDialect, *, header: bool) -> None:
    """Refuse UTF-16 without a header if no byte order is declared, since the first record would decide it."""
    if dialect.encoding == "utf-16" and not header:
        raise RecordsError(
            "without a header, the first record would decide the byte order of UTF-16; declare "
            'csv=CsvDialect(encoding="utf-16-le"), the order of Windows, or csv=CsvDialect(encoding="utf-16-be")'
        )


def _matches(pattern: re.Pattern[str], text: Any) -> bool:
    return isinstance(text, str) and pattern.fullmatch(text) is not None


def _check(valid: bool, name: str, expected: str, value: Any) -> None:
    if not valid:
        raise RecordsError(f"expected {expected} as {name} of a CSV dialect, got {describe_value(value)}")

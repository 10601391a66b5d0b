"""The header of a CSV file: names of the columns, and whether the file seems to have another dialect.

A header may turn out to be a record, so no message quotes it.
"""

import codecs
import re
from collections.abc import Callable
from dataclasses import replace

from privhp.errors import FileError
from privhp.io.sources.csv_dialect import CsvDialect
from privhp.io.sources.csv_fields import split_record
from privhp.io.sources.csv_records import ends_in_quotes

_DELIMITERS = {b",": "commas", b";": "semicolons", b"\t": "tabs", b"|": "vertical bars", b" ": "spaces"}
"""Delimiters that are looked for in a header."""
_SPACES = 3
"""Fewer spaces are a part of names."""
_UTF8_MARK = codecs.BOM_UTF8.decode("latin-1").encode()
"""The byte order mark of UTF-8 as it is read in latin-1 and cp1252; before a header in UTF-8 it is left out."""
_QUOTED = re.compile(rb'"[^"]*"')
_JSON_OBJECT, _JSON_ARRAY = re.compile(rb'\s*\{\s*["}]'), re.compile(rb"\s*(\[\s*[\[{]|[\[{]\s*$)")
"""Beginnings of a JSON object, and of an array or of an object on several lines."""


def header_names(header: bytes, dialect: CsvDialect) -> list[str]:
    """Names in a header; none if its quotes are not balanced."""
    fields = split_record(header, dialect.separator, quotes=dialect.has_quotes)
    try:
        return [field.decode("utf-8", "replace").strip() for field in fields]
    except ValueError:
        return []


def describe_delimiter(dialect: CsvDialect) -> str:
    """Name of the delimiter."""
    return _DELIMITERS.get(dialect.separator, repr(dialect.separator.decode()))


def first_line(header: bytes) -> bytes:
    """What precedes the first line break, since the lines behind it may be records."""
    return re.split(rb"[\r\n]", header, maxsplit=1)[0]


def check_encoding(header: bytes, dialect: CsvDialect) -> None:
    """Refuse a first line that is not text in the declared encoding, or has the mark of UTF-8 in another encoding."""
    if dialect.encoding != "utf-8":
        if header.startswith(_UTF8_MARK):
            raise FileError(
                'the file begins with the mark of UTF-8; choose csv=CsvDialect(encoding="utf-8"), the default'
            )
        return
    if b"\0" in header:
        raise FileError(
            "the first line has zero bytes, as UTF-16 text and binary files have; for UTF-16 without a byte order mark "
            'choose csv=CsvDialect(encoding="utf-16-le") or csv=CsvDialect(encoding="utf-16-be")'
        )
    try:
        header.decode()
    except UnicodeDecodeError:
        raise FileError(
            "the first line is not UTF-8; for a file of Windows or an old spreadsheet choose "
            'csv=CsvDialect(encoding="cp1252"), for Latin-1 csv=CsvDialect(encoding="latin-1"), or convert it'
        ) from None


def check_line_ends(header: bytes, dialect: CsvDialect) -> None:
    """Refuse a header whose first line ends in a carriage return alone, since those behind it are probably records."""
    line = first_line(header)
    if header[len(line) :].startswith(b"\r") and not ends_in_quotes(line, dialect):
        raise FileError(
            "the first line has carriage returns in it, so lines may end in them alone, as on old Macs; "
            r"convert it: tr '\r' '\n'"
        )


def check_json(header: bytes) -> None:
    """Refuse a header that begins like JSON."""
    if _JSON_OBJECT.match(header):
        raise FileError('the first line looks like a JSON object; for one object per line choose format="ndjson"')
    if _JSON_ARRAY.match(header):
        raise FileError(
            "the text looks like one JSON array or object; write one object per line (NDJSON), such as with "
            'jq -c ".[]", and choose format="ndjson"'
        )


def check_log(header: bytes, dialect: CsvDialect, fits: Callable[[list[str]], bool]) -> None:
    """Refuse a header that looks like a line of a log; see `check_delimiter` for the parameters."""
    if dialect.separator != b" " and not _is_settled(header, dialect, fits) and _is_of_log(header):
        records = "" if "records" in dialect.declared else "records='lines', "
        raise FileError(
            "the first line looks like one of a log, separated by spaces and with quoted fields; choose "
            f"csv=CsvDialect({records}delimiter=' '), header=False, and columns= with column numbers from 1"
        )


def _is_of_log(header: bytes) -> bool:
    """Whether spaces separate fields, one of them in quotes."""
    counts = _count_delimiters(header)
    spaces = counts.pop(b" ")
    return b' "' in header and spaces >= max(_SPACES, 2 * max(counts.values()))


def _count_delimiters(header: bytes) -> dict[bytes, int]:
    """Numbers of the delimiters outside quotes."""
    bare = _QUOTED.sub(b"", header)
    return {delimiter: bare.count(delimiter) for delimiter in _DELIMITERS}


def _is_settled(header: bytes, dialect: CsvDialect, fits: Callable[[list[str]], bool]) -> bool:
    """Whether the delimiter is right: the names fit, and are several or separated as the caller declared."""
    names = header_names(header, dialect)
    return fits(names) and (len(names) > 1 or dialect.delimiter is not None)


def check_delimiter(header: bytes, dialect: CsvDialect, fits: Callable[[list[str]], bool]) -> None:
    """Refuse a header that seems to have another delimiter.

    Args:
        header: The header.
        dialect: The dialect.
        fits: Whether the names are those that are asked for.
    """
    if _is_settled(header, dialect, fits):
        return
    names = header_names(header, dialect)
    others = _count_delimiters(header)
    others.pop(dialect.separator, None)
    spaces = others.pop(b" ", 0)
    if spaces >= max(_SPACES, 2 * max(others.values())) and (not fits(names) or _is_of_log(header)):
        others[b" "] = spaces
    other = max(others, key=lambda one: others[one])
    if others[other] and (len(names) < 2 or fits(header_names(header, replace(dialect, delimiter=other.decode())))):
        otherwise = "" if dialect.delimiter else " or, if it is not, csv=CsvDialect(delimiter=',')"
        raise FileError(
            f"the first line looks separated by {_DELIMITERS[other]}; choose "
            f"csv=CsvDialect(delimiter={other.decode()!r}){otherwise}"
        )

"""Template of a domain file: names and kinds from a schema, bounds left blank."""

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from privhp.cli.kind_suggestions import suggest_kind, suggest_places
from privhp.io.sources.schemas import SchemaColumn

_ORIGIN = {
    None: """\
# Domain of a table and parameters of a plan, for privhp fit DATA FILE.
# privhp init wrote this from the names and types of the columns. No value was read.
""",
    True: """\
# Domain of a table and parameters of a plan, for privhp fit DATA FILE.
# privhp init copied the first line of a CSV file as column names. No other line was read.
# If the names below are a record, delete this file and run privhp init --no-header.
""",
    False: """\
# Domain of a table and parameters of a plan, for privhp fit DATA FILE --no-header --columns NUMBERS.
# privhp init numbered the columns of a CSV file without a header. No value was copied.
# Rename the columns as you like. NUMBERS are those of the columns that you keep: 1,3.
""",
}
"""Origin of the columns, by whether a CSV file has a header; None for other files."""

_TOP = """\
#
# Fill in every "" and []. Bounds and lists must come from public knowledge, available
# without the data. A bound taken from the data reveals records and voids the guarantee.
#
# Remove columns that you do not need: fewer columns give more accurate results.
# Kinds are guesses from names and types; privhp fit --help lists all kinds. Longitude and
# latitude share a section, such as [columns.place] with name = ["lon", "lat"] and kind = "geo".

[plan]
epsilon = ""          # fill in: privacy loss; 1 is usual, less is more private and noisier
expected_records = "" # fill in: a public guess such as 1e6, never a count of the data
# memory = "1 MiB"    # for all counters; by default 256 KiB, or more if that lowers the error
# max_records_per_person = 5 # by default 1; with person = "user_id" it is enforced, in files sorted by that column
"""

_NULLABLE = "# nullable = true     # if values may be missing"
_BOUNDS = ['low = ""              # fill in', 'high = ""             # fill in']
_NUMBER = [*_BOUNDS, '# outside = "clamp"   # move values outside the bounds to the nearest bound; default: skip them']
_STEP = '# step = "0.01"       # if values are decimals, such as amounts in cents'
_TIMES = [
    'low = ""              # fill in, such as "2018-01-01"',
    'high = ""             # fill in; "2020-12-31" is the whole day',
]
_TEXTS = [
    'kind = "categories"',
    "values = []           # fill in all possible values, or choose another kind:",
    '# kind = "ipv4"       # for addresses, without values and dtype',
    '# kind = "pattern"    # for codes, with pattern = "[A-Z][0-9]{2}" in place of values and dtype',
]
_ANY = [
    'kind = ""             # fill in: interval or integers with low and high; time with low, high',
    "                      # and unit; categories with values; ipv4; pattern; others: privhp fit --help",
]


def domain_template(columns: Sequence[SchemaColumn], *, header: bool | None = None) -> str:
    """Commented domain file for a table of these columns. Blank keys are refused until they are filled in.

    Args:
        columns: The columns, from `read_schema`.
        header: Whether the columns are those of CSV with a header; None for other files.
    """
    places = [_place(*pair) for pair in suggest_places(columns)]
    return "\n".join([_ORIGIN[header] + _TOP, *places, *(_section(column) for column in columns)])


def blank_keys(columns: Sequence[SchemaColumn]) -> str:
    """Table of the columns with their types and kinds, and the keys to fill in."""
    rows = [("column", "type", "kind", "fill in")]
    for column in columns:
        lines = _lines(column.type)
        kind, keys = "", "nothing: no domain accepts the type, so the column is left out"
        if lines is not None:
            found = dict(pair for line in lines if (pair := _pair(line)))
            kind = found["kind"].strip('"')
            keys = ", ".join(key for key, value in found.items() if value in ('""', "[]"))
        rows.append((_in_a_line(column.name), _in_a_line(column.type or ""), kind, keys))
    rows.append(("[plan]", "", "", "epsilon, expected_records"))
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _pair(line: str) -> tuple[str, str] | None:
    """Key and value of a line that is no comment."""
    found = re.match(r'(\w+) = ("[^"]*"|\[.*?\])', line)
    return None if found is None else (found[1], found[2])


def _place(longitude: str, latitude: str) -> str:
    """Comment on two columns that may be a place."""
    names = ", ".join(_in_a_line(json.dumps(name, ensure_ascii=False)) for name in (longitude, latitude))
    return (
        f"# {names}: perhaps one place; then replace both sections by\n# [columns.place]\n# name = [{names}]\n"
        '# kind = "geo"\n# west = ""\n# south = ""\n# east = ""\n# north = ""\n'
    )


def _section(column: SchemaColumn) -> str:
    title, lines = f"[columns.{_key(column.name)}]", _lines(column.type)
    if lines is None:
        return f"# {title}  # {_in_a_line(column.type)}: no domain accepts this type; convert the column first\n"
    known = "" if column.type is None else f"  # {_in_a_line(column.type)}"
    guesses = [f"# {guess}" for guess in suggest_kind(column)]
    return "\n".join([title + known, *guesses, *lines, _NULLABLE, ""])


def _in_a_line(kind: Any) -> str:
    """Name of a type on one line: field names inside it may contain any character, and this is a comment."""
    return " ".join("".join(one if one.isprintable() else " " for one in str(kind)).split())


def _lines(kind: Any) -> list[str] | None:
    """Keys for a column of a type, with unknown values blank; None if no domain accepts the type."""
    if kind is None:
        return _ANY
    from pyarrow import types  # the type is one of pyarrow, so it is installed

    if types.is_dictionary(kind):
        lines = _lines(kind.value_type)
        places = "" if types.is_int32(kind.index_type) else f"[{kind.index_type}]"
        named = f"{'ordered ' if kind.ordered else ''}category{places}"
        return [*_TEXTS, *_typed(named)] if lines and lines[: len(_TEXTS)] == _TEXTS else lines
    if types.is_boolean(kind):
        return ['kind = "categories"', "values = [false, true]"]
    if types.is_integer(kind):
        return ['kind = "integers"', *_NUMBER, *_typed(str(kind), usual="int64")]
    if types.is_float32(kind):
        return ['kind = "interval"', *_NUMBER, _STEP, *_typed("float32")]
    if types.is_floating(kind):
        return ['kind = "interval"', *_NUMBER, _STEP]
    if types.is_decimal(kind):
        exact = 0 < kind.scale <= kind.precision <= np.finfo(np.float64).precision
        return ['kind = "interval"', *_NUMBER, f'step = "{10.0**-kind.scale:.{kind.scale}f}"' if exact else _STEP]
    if types.is_date(kind):
        return ['kind = "time"', *_TIMES, 'unit = "D"']
    if types.is_timestamp(kind):
        zone = [] if kind.tz is None else [f"zone = {json.dumps(kind.tz)}"]
        dtype = _typed(f"datetime64[{kind.unit}]", usual="datetime64[s]")
        return ['kind = "time"', *_TIMES, 'unit = "s"            # or "ms", "us", "ns"', *zone, *dtype]
    if types.is_large_string(kind):
        return [*_TEXTS, *_typed("large_string")]
    if types.is_string(kind) or types.is_string_view(kind):
        return _TEXTS
    return None


def _typed(dtype: str, *, usual: str = "") -> list[str]:
    """The `dtype` key of the synthetic column, unless it is the default."""
    return [] if dtype == usual else [f"dtype = {json.dumps(dtype)}"]


def _key(name: str) -> str:
    """A name as a TOML key; TOML strings are JSON strings except for DEL."""
    if re.fullmatch("[A-Za-z0-9_-]+", name):
        return name
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")

"""Domain files to fill in: names and kinds from a schema, bounds left blank."""

import json
import re
from collections.abc import Sequence
from typing import Any

from privhp.io.sources.schemas import Column

_TOP = """\
# Where the records live: for privhp fit --domain with the name of this file.
# privhp init wrote it from the names and types of columns alone. No value was looked at.
#
# Fill in what is "" or []. Bounds and lists must come from public knowledge: what anyone
# could say of such records without seeing them. One that is looked up in the data tells
# about the people in it, and the guarantee is void.
#
# Remove the columns that you do not need: the fewer there are, the more accurate the rest.
# Kinds are guesses from types. privhp fit --help lists them. Two columns that are one place
# share a section, such as [columns.place] with name = ["lon", "lat"] and kind = "geo".
"""

_NULLABLE = "# nullable = true     # where values may be missing"
_BOUNDS = ['low = ""              # fill in', 'high = ""             # fill in']
_NUMBER = [*_BOUNDS, '# outside = "clamp"   # move what is out of bounds to the nearer one; else it is left out']
_TIMES = ['low = ""              # fill in, such as "2018-01-01"', 'high = ""             # fill in']
_TEXTS = [
    'kind = "categories"',
    "values = []           # fill in all that can occur; or take another kind:",
    '# kind = "ipv4"       # for addresses, and no values and no dtype',
]
_ANY = [
    'kind = ""             # fill in: interval or integers with low and high; time with low, high',
    "                      # and unit; categories with values; ipv4; others in privhp fit --help",
]


def draft(columns: Sequence[Column]) -> str:
    """A commented domain file for a table of these columns. Until it is filled in it is refused, by name and key."""
    return "\n".join([_TOP, *(_section(column) for column in columns)])


def _section(column: Column) -> str:
    title, lines = f"[columns.{_key(column.name)}]", _lines(column.type)
    if lines is None:
        return f"# {title}  # {_in_a_line(column.type)}: no domain takes this type; convert it first\n"
    known = "" if column.type is None else f"  # {_in_a_line(column.type)}"
    return "\n".join([title + known, *lines, _NULLABLE, ""])


def _in_a_line(kind: Any) -> str:
    """A type in words, which may hold names of fields, and these anything: in a comment they must not end the line."""
    return " ".join("".join(one if one.isprintable() else " " for one in str(kind)).split())


def _lines(kind: Any) -> list[str] | None:
    """What a type says of a column, with all that it does not say left blank; None where there is no domain for it."""
    if kind is None:
        return _ANY
    from pyarrow import types  # there is a type, so it is installed

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
        return ['kind = "interval"', *_NUMBER, *_typed("float32")]
    if types.is_floating(kind) or types.is_decimal(kind):
        return ['kind = "interval"', *_NUMBER]
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
    """The type that synthetic records are to have, unless they have it anyway."""
    return [] if dtype == usual else [f"dtype = {json.dumps(dtype)}"]


def _key(name: str) -> str:
    """A name as a key of TOML, whose quoted texts are those of JSON but for one character."""
    if re.fullmatch("[A-Za-z0-9_-]+", name):
        return name
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")

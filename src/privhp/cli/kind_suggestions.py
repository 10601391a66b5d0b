"""Kinds of columns, guessed from their names and types alone, as comments of a domain file."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from privhp.io.sources.schemas import SchemaColumn

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
"""Words of a name in snake case, camel case, or with spaces."""


class _Suggestion(NamedTuple):
    """Words of names and the lines that they suggest, for numbers or texts or both."""

    words: frozenset[str]
    lines: tuple[str, ...]
    numbers: bool = True
    texts: bool = True


def _suggest(words: str, *lines: str, numbers: bool = True, texts: bool = True) -> _Suggestion:
    return _Suggestion(frozenset(words.split()), lines, numbers, texts)


_POSTCODES = "zip zipcode postcode postal plz postleitzahl"

_SUGGESTIONS = (
    _suggest(
        "id uuid guid email phone",
        "perhaps remove this column: values that identify one person cannot be kept",
    ),
    _suggest("age", 'perhaps kind = "integers", low = 0, high = 120, outside = "clamp"', texts=False),
    _suggest(
        "price fare amount cost total tip fee tax salary income wage revenue balance payment preis betrag",
        'perhaps kind = "interval" with step = "0.01" for cents; or scale = "log", with low above 0,',
        "for amounts over many magnitudes",
        texts=False,
    ),
    _suggest(
        "icd diagnosis",
        'perhaps kind = "pattern" with pattern = "[A-Z][0-9]{2}([.][0-9A-Z]{1,4})?", as in ICD-10, or another',
        numbers=False,
    ),
    _suggest(
        f"{_POSTCODES} sku ean gtin isbn",
        'perhaps kind = "pattern" with pattern = "[0-9]{5}" or another regular expression of all codes',
        numbers=False,
    ),
    _suggest(_POSTCODES, 'perhaps kind = "integers", low = 0, high = 99999', texts=False),
    _suggest("ip ipv ipaddr", 'perhaps kind = "ipv4" or kind = "ipv6"', numbers=False),
    _suggest(
        "date day time datetime timestamp ts created updated birthday dob datum",
        'perhaps kind = "time" with low = "2018-01-01", high = "2020-12-31" and unit = "D" or "s";',
        'with format = "%d.%m.%Y", "%m/%d/%Y %I:%M %p" or another, if they are not written as 2018-01-31T19:30',
        numbers=False,
    ),
)

_LONGITUDE = frozenset({"lon", "lng", "long", "longitude", "longitud", "laenge"})
_LATITUDE = frozenset({"lat", "latitude", "latitud", "breite"})


def suggest_kind(column: SchemaColumn) -> list[str]:
    """Comments on the kind of a column; none without a guess."""
    words = name_words(column.name)
    numbers, texts = _type_families(column.type)
    for own in _SUGGESTIONS:
        if words & own.words and ((numbers and own.numbers) or (texts and own.texts)):
            return list(own.lines)
    return []


def suggest_places(columns: Sequence[SchemaColumn]) -> list[tuple[str, str]]:
    """Pairs of columns whose names are those of a longitude and a latitude with the same other words."""
    found: dict[frozenset[str], dict[bool, str]] = {}
    for column in columns:
        words = name_words(column.name)
        if bool(words & _LONGITUDE) != bool(words & _LATITUDE):
            found.setdefault(words - _LONGITUDE - _LATITUDE, {}).setdefault(bool(words & _LONGITUDE), column.name)
    return [(pair[True], pair[False]) for pair in found.values() if len(pair) == 2]


def name_words(name: str) -> frozenset[str]:
    """Words of a name in lower case."""
    return frozenset(word.lower() for word in _WORDS.findall(name))


def _type_families(kind: Any) -> tuple[bool, bool]:
    """Whether values of a type may be numbers, and whether they may be texts; both without a type."""
    if kind is None:
        return True, True
    from pyarrow import types  # the type is one of pyarrow, so it is installed

    if types.is_dictionary(kind):
        return _type_families(kind.value_type)
    numbers = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    texts = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    return numbers, texts

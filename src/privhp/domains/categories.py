"""Domain of categories: a declared list of texts, integers or booleans, any two at distance 1."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privhp.core.number_format import format_share
from privhp.domains.comparisons import parse_choice, suggest
from privhp.domains.fields import DictionaryForm, OutputForm
from privhp.domains.finite import Finite, spread_codes
from privhp.domains.lookup import NOT_FOUND, Lookup, parse_bool
from privhp.domains.plot_scale import PlotScale
from privhp.domains.validation import check_integer_dtype, listed_values, null_hint, quote
from privhp.errors import DomainError

_CATEGORY = re.compile(r"(ordered )?category(?:\[(u?int(?:8|16|32|64))\])?")


class Categories(Finite):
    """Values of a declared list of texts, integers or booleans, any two at distance 1.

    Each level splits the list in halves, in the declared order, so similar
    values should be neighbours. Records are NumPy, pandas or Arrow arrays,
    including categorical and dictionary arrays, or sequences. Samples have the
    type of the list. A region is a value or a collection of values. Booleans
    are also read from 0 and 1 and from the texts true and false in any case.

    Args:
        values: All possible values, public knowledge: 2 or more texts, 2 or more integers, or False and True.
        other: Value that replaces texts and numbers outside the list; without it they are dropped. It becomes the last
            value if the list does not hold it. None, NaN and values of other types are always dropped.
        dtype: Type of samples, public knowledge. For integers: "int8" to "uint64". For texts: "category" or
            "ordered category" for categorical columns in data frames and dictionary columns in files;
            "category[int8]" sets the index type in Arrow, int32 by default; "large_string" for Arrow's large strings.
    """

    kind: ClassVar[str] = "categories"

    def __init__(self, values: Iterable[Any], *, other: Any = None, dtype: Any = None) -> None:
        self.values = _declared(values)
        self.other = None if other is None else _plain(other, "the other value")
        known = [*self.values, *([] if other is None or self.other in self.values else [self.other])]
        if len(known) < 2:
            raise DomainError(f"expected a list of 2 or more values, got {quote(known)}")
        if len(set(map(type, known))) > 1:
            raise DomainError(
                "expected values of one type (texts, integers or booleans), got several types; convert all to text"
            )
        only_text = self.other is None and isinstance(known[0], str)
        self.accepts = frozenset({"text"} if only_text else {"integers", "numbers", "decimals", "text"})
        self.dtype = _sample_type(dtype, known)
        self.dictionary = _dictionary_form(self.dtype, known)
        self._boolean = isinstance(known[0], bool)
        self._indices = {value: index for index, value in enumerate(known)}
        other_index = NOT_FOUND if self.other is None else self._indices[self.other]
        codes = spread_codes(len(known))
        super().__init__(
            known,
            codes,
            depth=(len(known) - 1).bit_length(),
            distances=[1.0] * (len(known) - 1),
            lookup=Lookup(self._indices, other=other_index),
        )

    def __repr__(self) -> str:
        other = "" if self.other is None else f", other={self.other!r}"
        dtype = "" if self.dtype is None else f', dtype="{self.dtype}"'
        return f"Categories({list(self.values)!r}{other}{dtype})"

    def output_forms(self) -> tuple[OutputForm, ...]:
        return (OutputForm(dictionary=self.dictionary, large=self.dtype == "large_string"),)

    def to_output(self, records: NDArray[Any]) -> NDArray[Any]:
        """Values as the declared type."""
        textual = records.dtype.kind == "U"
        return records if self.dtype is None or textual else records.astype(self.dtype, copy=False)

    def _within(self, region: Any) -> NDArray[np.bool_]:
        chosen = np.zeros(len(self._indices), dtype=np.bool_)
        for value in listed_values(region):
            chosen[self._index(value)] = True
        return chosen

    def _index(self, value: Any) -> int:
        try:
            return self._indices[parse_bool(value) if self._boolean and isinstance(value, str) else value]
        except (KeyError, TypeError):
            near = suggest(value, map(self.format_value, self._indices)) if isinstance(value, str) else null_hint(value)
            raise DomainError(
                f"expected declared values, such as {quote(self.values[0])}, got {quote(value)}{near}"
            ) from None

    def format_distance(self, distance: float) -> str:
        return format_share(distance)

    @property
    def distance_meaning(self) -> str:
        return "The share of records that need another value to turn the synthetic records into the real ones."

    def parse_value(self, text: str) -> Any:
        """The value of a text; booleans as records may have them, such as TRUE and 1."""
        if self._boolean and (found := parse_bool(text)) in (0, 1):
            return bool(found)
        return parse_choice(text, {self.format_value(value): value for value in self._indices})

    def format_value(self, value: Any) -> str:
        """Text of a value; true and false in lower case."""
        return str(value).lower() if isinstance(value, bool) else str(value)

    def plot_scale(self, coordinate: int = 0) -> PlotScale:
        return PlotScale("categorical", values=tuple(self.describe(0, level=0)))

    def parameters(self) -> dict[str, Any]:
        other = {} if self.other is None else {"other": self.other}
        dtype = {} if self.dtype is None else {"dtype": self.dtype}
        return {"values": list(self.values), **other, **dtype}


def _dictionary_form(dtype: str | None, known: Sequence[Any]) -> DictionaryForm | None:
    """Dictionary type of a dtype such as "category"; None for other types."""
    found = _CATEGORY.fullmatch(dtype or "")
    if found is None:
        return None
    return DictionaryForm(np.array(known), np.dtype(found[2] or "int32"), ordered=bool(found[1]))


def _declared(values: Any) -> tuple[Any, ...]:
    if isinstance(values, str | bytes | dict) or not hasattr(values, "__iter__"):
        raise DomainError(f"expected a list of 2 or more values, got {quote(values)}")
    known = tuple(_plain(value, "a value") for value in values)
    for value, times in Counter(known).most_common(1):
        if times > 1:
            raise DomainError(f"the value {quote(value)} is declared twice; declare each value once")
    return known


def _sample_type(dtype: Any, known: list[Any]) -> str | None:
    """Name of the declared type of samples, checked against the values."""
    if dtype is None:
        return None
    if not isinstance(known[0], str):
        if isinstance(known[0], bool):
            raise DomainError(f"expected no dtype for booleans, got {quote(dtype)}")
        return check_integer_dtype(dtype, min(known), max(known)).name
    if dtype == "large_string":
        return "large_string"
    dictionary = _dictionary_form(dtype, known) if isinstance(dtype, str) else None
    if dictionary is None:
        raise DomainError(
            'expected for texts dtype="category", "ordered category", one with an index type such as "category[int8]", '
            f'"large_string" or None, got {quote(dtype)}'
        )
    if len(known) - 1 > np.iinfo(dictionary.index_dtype).max:
        raise DomainError(f"the index type of {dtype} is too small for {len(known)} values; choose a larger one")
    return str(dtype).removesuffix("[int32]")


def _plain(value: Any, name: str) -> str | int:
    """A declared value as a Python str, bool or int."""
    if isinstance(value, str) and not value.endswith("\0"):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    raise DomainError(
        f"expected {name} as a text that does not end in a zero byte, an integer or a boolean, got {quote(value)}"
    )

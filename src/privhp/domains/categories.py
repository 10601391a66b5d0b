"""Categories as a domain: a declared list of texts, integers or truth values, any two at distance 1."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privhp.core.number_format import format_share
from privhp.domains.comparisons import parse_choice
from privhp.domains.fields import DictionaryForm, OutputForm
from privhp.domains.finite import Finite, spread_codes
from privhp.domains.lookup import NOWHERE, Lookup
from privhp.domains.plot_scale import PlotScale
from privhp.domains.validation import check_integer_dtype, quote
from privhp.errors import DomainError

_CATEGORY = re.compile(r"(ordered )?category(?:\[(u?int(?:8|16|32|64))\])?")


class Categories(Finite):
    """Values of a declared list, texts, whole numbers or truth values, any two of them at distance 1.

    The list is halved again and again in its own order, so put first what
    belongs together. Records are NumPy, pandas or Arrow arrays, categoricals
    and dictionaries included, or sequences; samples have the type of the list.
    Regions are a value or a collection of values. Truth values are also read
    from 0 and 1, and from true and false as text in any case.

    Args:
        values: All values that can occur, public knowledge: 2 or more, all texts or all whole numbers, or False and
            True.
        other: Value that stands for texts and numbers that are not in the list, which are dropped otherwise. It is put
            last if it is not in the list. None, NaN and what else is neither are always dropped.
        dtype: Type of samples, public knowledge: for whole numbers one from "int8" to "uint64" that holds them, for
            texts "category" or "ordered category", which makes them categoricals or dictionaries in data frames and
            columnar files, "category[int8]" those with places of that type in Arrow, which is int32 otherwise, and
            "large_string" for Arrow's other type of texts.
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
                "expected values that are all texts, all whole numbers or all truth values, got several of these; "
                "make texts of all"
            )
        only_text = self.other is None and isinstance(known[0], str)
        self.accepts = frozenset({"text"} if only_text else {"integers", "numbers", "text"})
        self.dtype = _sample_type(dtype, known)
        self.dictionary = _dictionary_form(self.dtype, known)
        self._places = {value: place for place, value in enumerate(known)}
        last = NOWHERE if self.other is None else self._places[self.other]
        codes = spread_codes(len(known))
        super().__init__(
            known,
            codes,
            depth=(len(known) - 1).bit_length(),
            distances=[1.0] * (len(known) - 1),
            lookup=Lookup(self._places, other=last),
        )

    def __repr__(self) -> str:
        other = "" if self.other is None else f", other={self.other!r}"
        dtype = "" if self.dtype is None else f', dtype="{self.dtype}"'
        return f"Categories({list(self.values)!r}{other}{dtype})"

    def output_forms(self) -> tuple[OutputForm, ...]:
        return (OutputForm(dictionary=self.dictionary, large=self.dtype == "large_string"),)

    def to_output(self, records: NDArray[Any]) -> NDArray[Any]:
        """Values of the declared type."""
        textual = records.dtype.kind == "U"
        return records if self.dtype is None or textual else records.astype(self.dtype, copy=False)

    def _within(self, region: Any) -> NDArray[np.bool_]:
        asked = list(region) if isinstance(region, list | tuple | set | frozenset | np.ndarray) else [region]
        chosen = np.zeros(len(self._places), dtype=np.bool_)
        for value in asked:
            chosen[self._place(value)] = True
        return chosen

    def _place(self, value: Any) -> int:
        try:
            return self._places[value]
        except (KeyError, TypeError):
            raise DomainError(
                f"expected values of the list, such as {quote(self.values[0])}, got {quote(value)}"
            ) from None

    def format_distance(self, distance: float) -> str:
        return format_share(distance)

    @property
    def distance_meaning(self) -> str:
        return "The share of records that need another value to turn the synthetic records into the real ones."

    def parse_value(self, text: str) -> Any:
        return parse_choice(text, {self.format_value(value): value for value in self._places})

    def format_value(self, value: Any) -> str:
        """The value as text; true and false in lower case."""
        return str(value).lower() if isinstance(value, bool) else str(value)

    def plot_scale(self, coordinate: int = 0) -> PlotScale:
        return PlotScale("categorical", values=tuple(self.describe(0, level=0)))

    def parameters(self) -> dict[str, Any]:
        other = {} if self.other is None else {"other": self.other}
        dtype = {} if self.dtype is None else {"dtype": self.dtype}
        return {"values": list(self.values), **other, **dtype}


def _dictionary_form(dtype: str | None, known: Sequence[Any]) -> DictionaryForm | None:
    """The dictionary type that a dtype declares; None if it declares another type."""
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
            raise DomainError(f"expected every value once, got {quote(value)} twice or more")
    return known


def _sample_type(dtype: Any, known: list[Any]) -> str | None:
    """The name of a declared type, or an error if it is none that the values have."""
    if dtype is None:
        return None
    if not isinstance(known[0], str):
        if isinstance(known[0], bool):
            raise DomainError(f"expected no dtype for truth values, which have their own, got {quote(dtype)}")
        return check_integer_dtype(dtype, min(known), max(known)).name
    if dtype == "large_string":
        return "large_string"
    dictionary = _dictionary_form(dtype, known) if isinstance(dtype, str) else None
    if dictionary is None:
        raise DomainError(
            'expected dtype="category", "ordered category", one with a type of places such as "category[int8]", '
            f'"large_string", or none for texts, got {quote(dtype)}'
        )
    if len(known) - 1 > np.iinfo(dictionary.index_dtype).max:
        raise DomainError(f"expected a dtype whose places are enough for {len(known)} values, got {dtype}")
    return str(dtype).removesuffix("[int32]")


def _plain(value: Any, name: str) -> str | int:
    """A declared value as Python's own, or an error that names it."""
    if isinstance(value, str) and not value.endswith("\0"):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    raise DomainError(
        f"expected {name} as a text that does not end in a zero byte, a whole number, or True or False, "
        f"got {quote(value)}"
    )

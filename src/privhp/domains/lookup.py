"""Declared values found again in batches of records.

Takes a list of texts, of whole numbers or of truth values, and gives for each record what belongs
to its value. It knows nothing of cells. Every record is looked up by itself, so
no other can change what it is taken for.
"""

from collections.abc import Callable, Mapping
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp import kernels
from privhp.core.cells import Codes, Counts
from privhp.domains.column import Column, attempt, take
from privhp.domains.conversion import INT64_MAX, as_integers, single_value, values_of_kind
from privhp.domains.to_column import to_column
from privhp.kernels import TextTable
from privhp.kernels.text_lookup import WORD_SIZE, hash_texts

NOWHERE = -1
"""Place of what has none."""


class Lookup:
    """Places of declared values, which are all texts, all whole numbers or all truth values.

    Bytes are read as UTF-8; where numbers are declared, a text is read as one,
    and where truth values are, as one of them or as 0 or 1, like numbers.

    Args:
        places: Place of each value, from 0.
        other: Place of texts and numbers that are not declared. What is neither, such as None or NaN, has no place.
        joint: What stands between the parts of a text that comes as a sequence of several.
    """

    def __init__(self, places: Mapping[Any, int], *, other: int = NOWHERE, joint: str | None = None) -> None:
        self._places, self._other, self._joint = dict(places), other, joint
        self._type = type(next(iter(places)))
        self._textual = self._type is str
        self._read: Callable[[str], Any] = str if self._textual else _truth_text if self._type is bool else _whole_text
        self._numbers: _Numbers | None = None
        self._texts = _Texts(self._places, other) if self._textual else None
        if not self._textual and all(abs(value) < INT64_MAX - 1 for value in places):
            self._numbers = _Numbers(self._places, other)

    def __call__(self, records: Any, among: Codes) -> Codes:
        """For each record what is at its place among some numbers, of which the last is for records without a place."""
        column = to_column(records)
        if column.dictionary is not None:
            return take(among[np.append(self._each(column.dictionary), NOWHERE)], column)
        found = self._of_values(column, among)
        return found if column.missing is None else np.where(column.missing, among[NOWHERE], found)

    def _of_values(self, column: Column, among: Codes) -> Codes:
        if self._texts is not None and isinstance(column.values, np.ndarray) and _is_plain_text(column.values):
            return self._texts(column.values, among)
        values = values_of_kind(column, what="texts or numbers")
        if isinstance(values, np.ndarray):
            return among[self._each(values.tolist()) if self._numbers is None else self._numbers(values)]
        return among[self._each(values)]

    def _each(self, values: list[Any]) -> Counts:
        known, other, usual = self._places, self._other, self._type
        places = (
            known.get(value, other) if type(value) is usual else attempt(value, self._place, NOWHERE)
            for value in values
        )
        return np.fromiter(places, dtype=np.int64)

    def _place(self, value: Any) -> Any:
        """The place of one value by itself; may raise if it has none."""
        if self._joint is not None and isinstance(value, list | tuple | np.ndarray):
            value = self._joint.join(value)
        value = single_value(value)
        if isinstance(value, bytes):
            value = value.decode("utf-8")
        if isinstance(value, str):
            return self._places.get(self._read(value), self._other)
        if isinstance(value, float | np.floating) and value != value:
            return NOWHERE
        if isinstance(value, int | float | np.number | np.bool_):
            return self._other if self._textual else self._places.get(_whole(value), self._other)
        return NOWHERE


class _Numbers:
    """Places of whole numbers within int64, for whole arrays: in a table of all from the least to the largest."""

    LARGEST_TABLE = 2**20  # beyond it, declared numbers are searched for

    def __init__(self, places: Mapping[int, int], other: int) -> None:
        self._other = other
        self._declared = np.array(sorted(places), dtype=np.int64)
        self._places = np.array([places[value] for value in self._declared.tolist()], dtype=np.int64)
        self._low, self._high = min(places) - 1, max(places) + 1
        self._table: Counts | None = None
        if self._high - self._low < self.LARGEST_TABLE:
            self._table = np.full(self._high - self._low + 1, other, dtype=np.int64)
            self._table[self._declared - self._low] = self._places

    def __call__(self, batch: NDArray[Any]) -> Counts:
        """The place of each number of an array."""
        numbers, whole = as_integers(batch)
        if self._table is not None:
            places = self._table[np.clip(numbers, self._low, self._high) - self._low]
        else:
            nearest = np.minimum(np.searchsorted(self._declared, numbers), self._declared.size - 1)
            places = np.where(self._declared[nearest] == numbers, self._places[nearest], self._other)
        if batch.dtype.kind != "f":
            return places
        return np.where(whole, places, np.where(np.isnan(batch), NOWHERE, self._other))


class _Texts:
    """Places of texts, for whole arrays: a few characters tell which declared text it may be, then all are compared.

    No two declared texts agree in all of these characters. They are mixed into
    a number whose first bits are a place in a table, enough of them that
    declared texts do not meet there; if they are too many, each is looked up.
    """

    FACTOR = 0x9E3779B97F4A7C15  # odd and with many bits, like its powers, which the characters are multiplied by
    MOST_BITS = 20

    def __init__(self, places: Mapping[str, int], other: int) -> None:
        self._known, self._other = places, other
        self._declared = np.array(list(places))
        self._lengths = np.strings.str_len(self._declared)
        self._longest = self._declared.itemsize // 4
        self._places = np.array(list(places.values()), dtype=np.int64)
        characters = _characters(self._declared)
        columns = np.array(_telling_columns(characters), dtype=np.int64)
        factors = np.array([pow(self.FACTOR, power, 2**64) for power in range(1, columns.size + 1)], dtype=np.uint64)
        self._table: TextTable | None = None
        for bits in range((len(places) - 1).bit_length(), self.MOST_BITS + 1):
            slots = hash_texts(characters, columns, factors, bits)
            if np.unique(slots).size == slots.size:
                table = np.zeros(2**bits, dtype=np.int64)
                table[slots] = np.arange(slots.size)
                self._table = TextTable(characters, columns, factors, bits, table)
                break

    def __call__(self, texts: NDArray[np.str_], among: Codes) -> Codes:
        """For each text of an array what is at its place among some numbers."""
        if self._table is None:
            return among[np.fromiter(map(self._known.get, Column(texts), repeat(self._other)), dtype=np.int64)]
        characters, (_, columns, factors, bits, table) = _characters(texts), self._table
        width = characters.shape[1]
        short, near = self._lengths <= width, columns < width  # what is longer is in no text of the batch
        # As wide, but made longer only a little: one long text in a batch would make all declared ones as long.
        own = width if width < self._longest + 2 * WORD_SIZE else self._longest + WORD_SIZE
        declared = _characters(self._declared.astype(f"U{own}", copy=False))
        known = TextTable(declared, columns[near], factors[near], bits, table)
        values = among[np.where(short, self._places, self._other)]
        return kernels.look_up_texts(characters, known, values, default=int(among[self._other]))


def _is_plain_text(values: NDArray[Any]) -> bool:
    """Whether an array holds texts whose characters can be read from its memory."""
    return values.dtype.kind == "U" and values.dtype.isnative and values.ndim == 1 and values.itemsize > 0


def _characters(texts: NDArray[np.str_]) -> NDArray[np.uint32]:
    """The characters of each text in a row."""
    return np.ascontiguousarray(texts).view(np.uint32).reshape(texts.size, texts.itemsize // 4)


def _telling_columns(characters: NDArray[np.uint32]) -> list[int]:
    """Columns in which any two rows differ somewhere; each tells apart the most beside those before it."""
    chosen: list[int] = []
    groups, count = np.zeros(len(characters), dtype=np.int64), 1
    while count < len(characters):
        joint = [groups << 32 | column for column in characters.T]
        chosen.append(int(np.argmax([np.unique(pairs).size for pairs in joint])))
        groups = np.unique(joint[chosen[-1]], return_inverse=True)[1]
        count = int(groups.max()) + 1
    return chosen


def _whole(value: Any) -> int | None:
    """A number as an int, None if it is no whole one."""
    try:
        return int(value) if value == int(value) else None
    except OverflowError:
        return None


def _whole_text(text: str) -> int | None:
    """A text as an int, None if it is not written as one."""
    try:
        return None if "_" in text else int(text)
    except ValueError:
        return None


def _truth_text(text: str) -> int | None:
    """A text as a truth value or as an int, None if it is not written as either."""
    return {"true": True, "false": False}.get(text.lower(), _whole_text(text))

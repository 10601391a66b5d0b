"""Lookup of the records of a batch among declared texts, integers or booleans.

Each record is looked up independently of the others.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp import kernels
from privhp.core.cells import Codes, Counts
from privhp.domains.column import Column, attempt, take
from privhp.domains.conversion import INT64_MAX, as_integers, is_uuid, single_value, values_of_kind
from privhp.domains.to_column import to_column
from privhp.kernels import TextTable
from privhp.kernels.text_lookup import WORD_SIZE, hash_texts

NOT_FOUND = -1
"""Index of records that are not found."""


class Lookup:
    """Table from declared values of one type (text, integer or boolean) to indices.

    Bytes are read as UTF-8. If integers are declared, text is read as an
    integer; if booleans are declared, text and numbers are read as booleans.

    Args:
        indices: Index of each value, from 0.
        other: Index of texts and numbers that are not declared. Other records, such as None and NaN, are not found.
        separator: Separator between the elements of a text that is given as a sequence.
    """

    def __init__(self, indices: Mapping[Any, int], *, other: int = NOT_FOUND, separator: str | None = None) -> None:
        self._indices, self._other, self._separator = dict(indices), other, separator
        self._type = type(next(iter(indices)))
        self._textual = self._type is str
        self._parse: Callable[[str], Any] = str if self._textual else parse_bool if self._type is bool else _parse_int
        self._numbers: _IntegerLookup | None = None
        self._texts = TextLookup(self._indices, other) if self._textual else None
        if not self._textual and all(abs(value) < INT64_MAX - 1 for value in indices):
            self._numbers = _IntegerLookup(self._indices, other)

    def __call__(self, records: Any, codes: Codes) -> Codes:
        """The code at the index of each record; the last code for records that are not found."""
        column = to_column(records)
        if column.dictionary is not None:
            return take(codes[np.append(self._look_up_each(column.dictionary), NOT_FOUND)], column)
        found = self._look_up_values(column, codes)
        return found if column.missing is None else np.where(column.missing, codes[NOT_FOUND], found)

    def _look_up_values(self, column: Column, codes: Codes) -> Codes:
        if self._texts is not None and isinstance(column.values, np.ndarray) and is_plain_text(column.values):
            return self._texts(column.values, codes)
        values = values_of_kind(column, what="texts or numbers")
        if isinstance(values, np.ndarray):
            return codes[self._look_up_each(values.tolist()) if self._numbers is None else self._numbers(values)]
        return codes[self._look_up_each(values)]

    def _look_up_each(self, values: list[Any]) -> Counts:
        known, other, declared_type = self._indices, self._other, self._type
        indices = (
            known.get(value, other) if type(value) is declared_type else attempt(value, self._look_up, NOT_FOUND)
            for value in values
        )
        return np.fromiter(indices, dtype=np.int64)

    def _look_up(self, value: Any) -> Any:
        """Index of one value; may raise if the value cannot be read."""
        if self._separator is not None and isinstance(value, list | tuple | np.ndarray):
            value = self._separator.join(value)
        value = single_value(value)
        if isinstance(value, bytes):
            value = value.decode("utf-8")
        if is_uuid(value):
            value = str(value)
        if isinstance(value, str):
            return self._indices.get(self._parse(value), self._other)
        if isinstance(value, float | np.floating | Decimal) and value != value:
            return NOT_FOUND
        if isinstance(value, Decimal):  # equal to an integer as a key; as an int it might take a billion digits
            return self._other if self._textual else self._indices.get(value, self._other)
        if isinstance(value, int | float | np.integer | np.floating | np.bool_):  # complex numbers would warn
            return self._other if self._textual else self._indices.get(_as_int(value), self._other)
        return NOT_FOUND


class _IntegerLookup:
    """Indices of declared integers within int64, for arrays: a table over their range, or binary search."""

    MAX_TABLE = 2**20

    def __init__(self, indices: Mapping[int, int], other: int) -> None:
        self._other = other
        self._declared = np.array(sorted(indices), dtype=np.int64)
        self._indices = np.array([indices[value] for value in self._declared.tolist()], dtype=np.int64)
        self._low, self._high = min(indices) - 1, max(indices) + 1
        self._table: Counts | None = None
        if self._high - self._low < self.MAX_TABLE:
            self._table = np.full(self._high - self._low + 1, other, dtype=np.int64)
            self._table[self._declared - self._low] = self._indices

    def __call__(self, batch: NDArray[Any]) -> Counts:
        """Index of each number of an array."""
        numbers, integer = as_integers(batch)
        if self._table is not None:
            indices = self._table[np.clip(numbers, self._low, self._high) - self._low]
        else:
            nearest = np.minimum(np.searchsorted(self._declared, numbers), self._declared.size - 1)
            indices = np.where(self._declared[nearest] == numbers, self._indices[nearest], self._other)
        if batch.dtype.kind != "f":
            return indices
        return np.where(integer, indices, np.where(np.isnan(batch), NOT_FOUND, self._other))


class TextLookup:
    """Indices of declared texts, for arrays: a perfect hash of a few characters, then a comparison of all.

    No two declared texts agree in all hashed characters. The table has enough
    bits that the hashes of declared texts differ. If that takes too many bits,
    as it does for thousands of texts, each text is looked up in a dict.
    """

    FACTOR = 0x9E3779B97F4A7C15  # odd and with many bits, like its powers, the multipliers of the characters
    MAX_BITS = 20
    MAX_HASHED = 2**12

    def __init__(self, indices: Mapping[str, int], other: int) -> None:
        self._known, self._other = indices, other
        self._table: TextTable | None = None
        if len(indices) > self.MAX_HASHED:
            return
        self._declared = np.array(list(indices))
        self._lengths = np.strings.str_len(self._declared)
        self._longest = self._declared.itemsize // 4
        self._indices = np.array(list(indices.values()), dtype=np.int64)
        characters = text_characters(self._declared)
        columns = np.array(_distinguishing_columns(characters), dtype=np.int64)
        factors = np.array([pow(self.FACTOR, power, 2**64) for power in range(1, columns.size + 1)], dtype=np.uint64)
        for bits in range((len(indices) - 1).bit_length(), self.MAX_BITS + 1):
            slots = hash_texts(characters, columns, factors, bits)
            if np.unique(slots).size == slots.size:
                table = np.zeros(2**bits, dtype=np.int64)
                table[slots] = np.arange(slots.size)
                self._table = TextTable(characters, columns, factors, bits, table)
                break

    def __call__(self, texts: NDArray[np.str_], codes: Codes) -> Codes:
        """The code at the index of each text of an array."""
        if self._table is None:
            return codes[np.fromiter(map(self._known.get, Column(texts), repeat(self._other)), dtype=np.int64)]
        characters, (_, columns, factors, bits, table) = text_characters(texts), self._table
        width = characters.shape[1]
        fits, inside = self._lengths <= width, columns < width  # longer texts do not occur in the batch
        # Declared texts get the width of the batch up to a limit, so that a long text in a batch does not widen them.
        declared_width = width if width < self._longest + 2 * WORD_SIZE else self._longest + WORD_SIZE
        declared = text_characters(self._declared.astype(f"U{declared_width}", copy=False))
        known = TextTable(declared, columns[inside], factors[inside], bits, table)
        values = codes[np.where(fits, self._indices, self._other)]
        return kernels.look_up_texts(characters, known, values, default=int(codes[self._other]))


def is_plain_text(values: NDArray[Any]) -> bool:
    """Whether an array holds text whose characters can be read from its memory."""
    return values.dtype.kind == "U" and values.dtype.isnative and values.ndim == 1 and values.itemsize > 0


def text_characters(texts: NDArray[np.str_]) -> NDArray[np.uint32]:
    """Characters of each text as a row."""
    return np.ascontiguousarray(texts).view(np.uint32).reshape(texts.size, texts.itemsize // 4)


def _distinguishing_columns(characters: NDArray[np.uint32]) -> list[int]:
    """Columns that distinguish all rows, chosen greedily by the number of rows they distinguish."""
    chosen: list[int] = []
    groups, count = np.zeros(len(characters), dtype=np.int64), 1
    while count < len(characters):
        joint = [groups << 32 | column for column in characters.T]
        chosen.append(int(np.argmax([np.unique(pairs).size for pairs in joint])))
        groups = np.unique(joint[chosen[-1]], return_inverse=True)[1]
        count = int(groups.max()) + 1
    return chosen


def _as_int(value: Any) -> int | None:
    """A number as an int; None if it is not an integer."""
    try:
        return int(value) if value == int(value) else None
    except OverflowError:
        return None


def _parse_int(text: str) -> int | None:
    """Integer of a text; None if it is not one."""
    try:
        return None if "_" in text else int(text)
    except ValueError:
        return None


def parse_bool(text: str) -> int | None:
    """Boolean or integer of a text; None if it is neither."""
    return {"true": True, "false": False}.get(text.lower(), _parse_int(text))

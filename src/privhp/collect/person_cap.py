"""At most c records of each person, whichever batches hold them.

The rows that are kept of a person are the first c of that person in the order
of the data. So which of them are kept depends on the rows of that person alone,
never on another person's. A cap by hashed ids would not: by a collision one
person pushes out the rows of another.

`PersonCap` takes rows in any order and remembers every person. `SortedPersonCap`
takes rows sorted by person in constant memory: it remembers the last person and
refuses rows whose persons are not in order.

An id is an integer or a text; the integer 7 and the text "7" are one person.
Null and the empty text are null. A row with any other id, or one beyond
MAX_ID bytes, cannot be read and is not kept.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.domains.column import Column, Indices, attempt, is_null_value, take
from privhp.domains.conversion import type_name
from privhp.domains.to_column import to_column
from privhp.errors import RecordsError
from privhp.io.sources.protocol import NullPerson

MAX_ID = 1024
"""Bytes of the longest id."""

_NULL, _INVALID = -1, -2
_EXACT = 2.0**53  # integers beyond may have been rounded to another person's id
_NUMBER = re.compile(rb"-?[0-9]{1,40}")

_Labels = NDArray[np.int64]


class PersonCap:
    """The first c rows of each person, in the order of the data. Confidential.

    Memory grows with the number of persons.

    Args:
        most: Largest number of rows of a person.
        null_person: What a null id means: "refuse" raises, "one" counts all rows without an id as one person's.
    """

    def __init__(self, most: int, *, null_person: NullPerson = "refuse") -> None:
        self._most, self._null_person = most, null_person
        self._kept: dict[bytes | None, int] = {}
        """Rows kept of each person so far; None for rows without an id."""

    def keep(self, ids: Any) -> Indices:
        """Indices of the rows to keep of the next batch, in order. A batch that is refused changes nothing.

        Args:
            ids: Id of the person of each row: an array, a list, or a column of a data frame.
        """
        labels, persons = _label(to_column(ids))
        if (labels == _NULL).any():
            if self._null_person == "refuse":
                raise RecordsError(
                    "a row has no person; fill the column of persons, leave such rows out, or count them all as one "
                    'person\'s with null_person="one"'
                )
            labels = np.where(labels == _NULL, len(persons), labels)
            persons = [*persons, None]
        rows = np.flatnonzero(labels >= 0)
        labels = labels[rows]
        before = np.array([self._kept.get(person, 0) for person in persons], dtype=np.int64)
        chosen = before[labels] + _ranks(labels) < self._most
        kept = before + np.bincount(labels[chosen], minlength=len(persons))
        self._advance(labels, dict(zip(persons, kept.tolist(), strict=True)))
        return rows[chosen]

    def _advance(self, labels: _Labels, kept: dict[bytes | None, int]) -> None:
        """Remember the rows kept of the persons of a batch; a label is the index of a person among them."""
        self._kept |= kept


class SortedPersonCap(PersonCap):
    """The first c rows of each person, for rows sorted by person, in constant memory. Confidential.

    Rows are sorted if their ids do not decrease, either as numbers or as bytes of
    UTF-8. Rows without an id may be anywhere. Other rows are refused: a person who
    comes again could not be recognised.

    Args:
        most: Largest number of rows of a person.
        null_person: What a null id means; see `PersonCap`.
        state: State of an earlier cap after the rows before.
    """

    def __init__(
        self, most: int, *, null_person: NullPerson = "refuse", state: Mapping[str, int | str] | None = None
    ) -> None:
        super().__init__(most, null_person=null_person)
        self._last: bytes | None = None
        self._orders = ["number", "text"]
        if state is not None:
            self._last = bytes.fromhex(str(state["person"])) or None
            self._orders = str(state["person_order"]).split()
            self._kept = {self._last: int(state["person_rows"])} if self._last else {}
            self._kept[None] = int(state["null_rows"])

    @property
    def state(self) -> dict[str, int | str]:
        """The last person, in hexadecimal digits, with the rows kept of that person and of rows without an id."""
        return {
            "person": (self._last or b"").hex(),
            "person_order": " ".join(self._orders),
            "person_rows": self._kept.get(self._last, 0) if self._last else 0,
            "null_rows": self._kept.get(None, 0),
        }

    def _advance(self, labels: _Labels, kept: dict[bytes | None, int]) -> None:
        """Remember the last person of a batch, after a check of the order."""
        persons, starts = list(kept), np.flatnonzero(np.diff(labels, prepend=-1))
        batch = [person for label in labels[starts].tolist() if (person := persons[label]) is not None]
        ids = batch if self._last is None else [self._last, *batch]
        orders = [order for order in self._orders if _is_sorted(ids, order)]
        if not orders:
            raise RecordsError(
                "the rows are not sorted by person, so a person who comes again could not be recognised; sort all of "
                "them together by the column of persons, as numbers or as text in byte order (LC_ALL=C sort)"
            )
        rows, last = self._kept | kept, ids[-1] if ids else None
        self._orders, self._last = orders, last
        self._kept = {person: rows[person] for person in (last, None) if person in rows}


def _is_sorted(ids: Sequence[bytes], order: str) -> bool:
    """Whether ids do not decrease. The order is total: ids that are equal as numbers are ordered as text."""
    if order == "text":
        return all(one <= following for one, following in pairwise(ids))
    if not all(map(_NUMBER.fullmatch, ids)):
        return False
    return all(one <= following for one, following in pairwise([(int(person), person) for person in ids]))


def _label(column: Column) -> tuple[_Labels, Sequence[bytes | None]]:
    """Index of the person of each row in a list of distinct ids; negative for rows without a readable id."""
    if getattr(column.dtype, "kind", "O") not in "iufOSTU":
        raise RecordsError(f"expected integers or text as ids of persons, got {type_name(column.dtype)}; convert them")
    null, values = column.is_null(), column.values
    if column.dictionary is None and isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iuf":
        return _label_numbers(values, null, column.invalid)
    known: dict[bytes | None, int] = {}
    if column.dictionary is None:
        labels = np.fromiter((_number(value, known) for value in column.to_list()), dtype=np.int64, count=len(column))
    else:
        entries = [_number(value, known) for value in column.dictionary]
        labels = take(np.array([*entries, _INVALID]), column)
    labels[null] = _NULL
    if column.invalid is not None:
        labels[column.invalid] = _INVALID
    return labels, list(known)


def _label_numbers(
    values: NDArray[Any], null: NDArray[np.bool_], invalid: NDArray[np.bool_] | None
) -> tuple[_Labels, list[bytes | None]]:
    valid = ~null if invalid is None else ~(null | invalid)
    if values.dtype.kind == "f":
        valid &= (np.floor(values) == values) & (np.abs(values) <= _EXACT)
    numbers = values[valid].astype(np.int64) if values.dtype.kind == "f" else values[valid]
    distinct, inverse = np.unique(numbers, return_inverse=True)
    labels = np.where(null, _NULL, _INVALID)
    labels[valid] = inverse
    return labels, [b"%d" % number for number in distinct.tolist()]


def _number(value: Any, known: dict[bytes | None, int]) -> int:
    """Index of an id among the known ones, to which it is added."""
    if is_null_value(value):
        return _NULL
    found: bytes | None = attempt(value, _as_bytes, None)
    if not found:
        return _INVALID if found is None else _NULL
    if len(found) > MAX_ID:
        return _INVALID
    return known.setdefault(found, len(known))


def _as_bytes(value: Any) -> bytes | None:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, bytes):
        return value
    if isinstance(value, Number) and not isinstance(value, bool | np.bool_):
        number: Any = value
        rounded = isinstance(value, float | np.floating) and abs(number) > _EXACT
        return b"%d" % int(number) if number == int(number) and not rounded else None
    return None


def _ranks(labels: _Labels) -> _Labels:
    """Number of earlier rows with the same label."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    lengths = np.diff(starts, append=labels.size)
    ranks = np.empty(labels.size, dtype=np.int64)
    ranks[order] = np.arange(labels.size) - np.repeat(starts, lengths)
    return ranks

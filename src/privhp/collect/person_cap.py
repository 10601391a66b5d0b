"""At most c records of each person.

The rows that are kept of a person are the first c of that person in the order
of the data. So which of them are kept depends on the rows of that person alone,
never on another person's. A cap by hashed ids would not: by a collision one
person pushes out the rows of another.

`keep_first` takes all rows at once, in any order. `SortedPersonCap` takes rows
sorted by person, batch by batch in constant memory: it remembers the last person
and refuses rows whose persons are not in order.

An id is an integer, a text or a UUID; the integer 7 and the text "7" are one person, as a UUID and its text are.
Null and the empty text are null. A row with any other id, or one beyond
MAX_ID bytes, cannot be read and is not kept.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.domains.column import Column, Indices, attempt, is_null_value, take
from privhp.domains.conversion import is_uuid, type_name
from privhp.domains.to_column import to_column
from privhp.errors import RecordsError
from privhp.io.sources.protocol import NullPerson

MAX_ID = 1024
"""Bytes of the longest id."""

_NULL, _INVALID = -1, -2
_EXACT = 2.0**53  # integers beyond may have been rounded to another person's id
_NUMBER = re.compile(rb"-?[0-9]{1,40}")


def keep_first(ids: Any, most: int, *, null_person: NullPerson = "refuse") -> Indices:
    """Indices of the first rows of each person, in order. Confidential.

    Args:
        ids: Id of the person of each row: an array, a list, or a column of a data frame.
        most: Largest number of rows of a person.
        null_person: What a null id means: "refuse" raises, "one" counts all rows without an id as one person's.
    """
    persons = _read_persons(ids, null_person)
    order = np.argsort(persons.codes, kind="stable")
    ranks = np.empty(order.size, dtype=np.int64)
    ranks[order] = _ranks_in_runs(persons.codes[order])
    return np.sort(np.concatenate([persons.rows[ranks < most], persons.null[:most]]))


class SortedPersonCap:
    """The first c rows of each person, for rows sorted by person, in constant memory. Confidential.

    Rows are sorted if their ids do not decrease, either as numbers or as bytes of
    UTF-8. Rows without an id may be anywhere. Other rows are refused: a person who
    comes again could not be recognised.

    Args:
        most: Largest number of rows of a person.
        null_person: What a null id means; see `keep_first`.
        state: State of an earlier cap after the rows before.
        frames_by: Column of persons, if the rows are batches in memory, for the advice to sort them.
    """

    def __init__(
        self,
        most: int,
        *,
        null_person: NullPerson = "refuse",
        state: Mapping[str, int | str] | None = None,
        frames_by: str | None = None,
    ) -> None:
        self._most, self._null_person = most, null_person
        self._advice = "(LC_ALL=C sort -s)"
        if frames_by is not None:
            self._advice = f"(in polars: .sort({frames_by!r}, maintain_order=True)), or collect them into one frame"
        begin: Mapping[str, int | str] = {"person": "", "person_order": "number text", "person_rows": 0, "null_rows": 0}
        given = begin if state is None else state
        self._last = bytes.fromhex(str(given["person"]))
        self._orders = str(given["person_order"]).split()
        self._rows, self._null_rows = int(given["person_rows"]), int(given["null_rows"])

    @property
    def state(self) -> dict[str, int | str]:
        """The last person, in hexadecimal digits, with the rows kept of that person and of rows without an id."""
        return {
            "person": self._last.hex(),
            "person_order": " ".join(self._orders),
            "person_rows": self._rows,
            "null_rows": self._null_rows,
        }

    def keep(self, ids: Any) -> Indices:
        """Indices of the rows to keep of the next batch, in order. A batch that is refused changes nothing.

        Args:
            ids: Id of the person of each row: an array, a list, or a column of a data frame.
        """
        persons = _read_persons(ids, self._null_person)
        null = persons.null[: self._most - self._null_rows]
        codes, rows = persons.codes, persons.rows
        if rows.size:
            runs = codes[np.append(True, codes[1:] != codes[:-1])]
            orders = [order for order in self._orders if _is_sorted(self._last, runs, persons.ids, order)]
            if not orders:
                raise RecordsError(
                    "the rows are not sorted by person, so a person who comes again could not be recognised; sort all "
                    f"of them together by the column of persons, as numbers or as text in byte order {self._advice}"
                )
            ranks = _ranks_in_runs(codes)
            if _id(runs[0], persons.ids) == self._last:
                ranks[codes == runs[0]] += self._rows  # sorted, so these are the rows of the first run
            chosen = ranks < self._most
            self._orders, self._last = orders, _id(runs[-1], persons.ids)
            self._rows = min(int(ranks[-1]) + 1, self._most)
            rows = rows[chosen]
        self._null_rows += null.size
        return np.sort(np.concatenate([rows, null]))


class _Persons(NamedTuple):
    """The persons of the rows of a batch.

    Args:
        rows: Rows with a readable id.
        null: Rows without an id.
        codes: Code of the person of each of `rows`: an index in `ids`, or the id itself.
        ids: Distinct ids; None if the codes are the ids.
    """

    rows: Indices
    null: Indices
    codes: NDArray[Any]
    ids: Sequence[bytes] | None


def _read_persons(ids: Any, null_person: NullPerson) -> _Persons:
    column = to_column(ids)
    if getattr(column.dtype, "kind", "O") not in "iufOSTU":
        raise RecordsError(f"expected integers or text as ids of persons, got {type_name(column.dtype)}; convert them")
    values = column.values
    if column.dictionary is None and isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iuf":
        persons = _read_numbers(values, column)
    else:
        persons = _read_texts(column)
    if persons.null.size and null_person == "refuse":
        raise RecordsError(
            "a row has no person; fill the column of persons, leave such rows out, or count them all as one person's "
            'with null_person="one"'
        )
    return persons


def _read_numbers(values: NDArray[Any], column: Column) -> _Persons:
    null = column.is_null()
    valid = ~null if column.invalid is None else ~(null | column.invalid)
    if values.dtype.kind == "f":
        valid &= (np.floor(values) == values) & (np.abs(values) <= _EXACT)
    codes = values[valid]
    return _Persons(
        np.flatnonzero(valid), np.flatnonzero(null), codes.astype(np.int64) if codes.dtype.kind == "f" else codes, None
    )


def _read_texts(column: Column) -> _Persons:
    known: dict[bytes, int] = {}
    if column.dictionary is None:
        codes = np.fromiter((_code(value, known) for value in column.to_list()), dtype=np.int64, count=len(column))
    else:
        entries = [_code(value, known) for value in column.dictionary]
        codes = take(np.array([*entries, _INVALID]), column)
    if column.null is not None:
        codes[column.null] = _NULL
    if column.invalid is not None:
        codes[column.invalid] = _INVALID
    rows = np.flatnonzero(codes >= 0)
    return _Persons(rows, np.flatnonzero(codes == _NULL), codes[rows], list(known))


def _code(value: Any, known: dict[bytes, int]) -> int:
    """Index of an id among the known ones, to which it is added."""
    if type(value) is str:  # three times as fast as by the rule for all values
        value = value.encode("utf-8", "surrogatepass")
    elif type(value) is not bytes:
        if is_null_value(value):
            return _NULL
        value = attempt(value, _as_bytes, None)
    if not value:
        return _INVALID if value is None else _NULL
    if len(value) > MAX_ID:
        return _INVALID
    return known.setdefault(value, len(known))


def _as_bytes(value: Any) -> bytes | None:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, Number) and not isinstance(value, bool | np.bool_):
        number: Any = value
        if isinstance(value, Decimal) and value.adjusted() >= MAX_ID:  # as an int it would take all its digits
            return None
        rounded = isinstance(value, float | np.floating) and abs(number) > _EXACT
        return b"%d" % int(number) if number == int(number) and not rounded else None
    return str(value).encode() if is_uuid(value) else None


def _id(code: Any, ids: Sequence[bytes] | None) -> bytes:
    """The id of a code."""
    return b"%d" % int(code) if ids is None else ids[int(code)]


def _is_sorted(last: bytes, codes: NDArray[Any], ids: Sequence[bytes] | None, order: str) -> bool:
    """Whether the last id before a batch and those of its codes do not decrease.

    The order is total: ids that are equal as numbers are ordered as text.
    """
    if ids is None and (order == "number" or _have_equal_width(codes)):
        found, ends = bool(np.all(codes[1:] >= codes[:-1])), [codes[0]]
    else:
        found, ends = True, codes.tolist()
    listed = ([last] if last else []) + [_id(code, ids) for code in ends]
    if order == "text":
        return found and all(one <= following for one, following in pairwise(listed))
    if not found or not all(map(_NUMBER.fullmatch, listed)):
        return False
    return all(one <= following for one, following in pairwise([(int(own), own) for own in listed]))


def _have_equal_width(codes: NDArray[Any]) -> bool:
    """Whether numbers have the same order as numbers and as text, because all have as many digits and no sign."""
    return codes.min() >= 0 and len(str(codes.min())) == len(str(codes.max()))


def _ranks_in_runs(codes: NDArray[Any]) -> NDArray[np.int64]:
    """Number of rows before each row in its run of equal codes."""
    starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))[: codes.size]
    return np.arange(codes.size) - np.repeat(starts, np.diff(starts, append=codes.size))

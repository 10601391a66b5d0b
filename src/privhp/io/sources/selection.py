"""Selection of the columns that make a record, checks of their types, and batches for the domain."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from privhp.domains import Domain
from privhp.domains.column_batch import ColumnBatch, describe_columns, describe_width
from privhp.domains.domain import ValueKind
from privhp.domains.fields import Field, FieldKind, check_crossed_names, check_longitude_first
from privhp.domains.time_zones import zone_of_type
from privhp.errors import FileError, RecordsError
from privhp.io.sources.csv_dialect import CsvDialect, check_byte_order, check_dialect
from privhp.io.sources.protocol import Persons

MAX_ROWS, MIN_ROWS, MAX_VALUES = 2**16 - 1, 2**12, 2**18
"""Limits of rows and values in a batch."""

_ADVICE: dict[ValueKind | None, str] = {
    "integers": "declare it as integers, ",
    "numbers": "declare it as interval, ",
    "decimals": "declare it as interval, ",
    "times": "declare it as time, ",
}


def _enumerate_kinds(kinds: frozenset[str]) -> str:
    """Kinds as text, such as "numbers, times or text"; "numbers" includes integers."""
    distinct = kinds - {"integers"} if "numbers" in kinds else kinds
    *others, last = [kind for kind in get_args(ValueKind) if kind in distinct]
    return f"{', '.join(others)} or {last}" if others else last


def _unread_numbers(field: Field) -> set[str]:
    """Kinds of numbers that a field does not read; without floats if it may be null, since pandas has them for null.

    A field of declared texts reads no number as one of them. If it accepts numbers, they stand for its other value.
    """
    kinds = {"integers", "decimals", *(() if field.nullable else ("numbers",))}
    return kinds if field.textual else kinds - (field.accepts or kinds)


def _declare_integers(field: Field) -> str:
    """Advice to declare integers in place of texts, with one of them; empty if no declared text is one."""
    integers = [int(text) for text in field.declared_texts if re.fullmatch("-?(0|[1-9][0-9]{0,17})", text)]
    if field.declared_as != "categories" or not integers:
        return ""
    shown = f"[{min(integers)}, ...]"
    return f"declare numbers, such as Categories({shown}) (values = {shown} in a domain file)"


def _column_text(column: Any) -> str:
    """Name of a column, or its number as text."""
    if isinstance(column, bool) or not isinstance(column, str | int | np.integer):
        raise RecordsError(f"columns= takes column names, or numbers from 1, got a {type(column).__name__}")
    return str(column)


def _index(column: str) -> int:
    """Index of a column that is given as a number from 1."""
    if not re.fullmatch("[1-9][0-9]{0,6}", column):
        raise RecordsError(f"without a header, expected column numbers from 1, got {column!r}")
    return int(column) - 1


class Selection:
    """The columns that make a record of a domain.

    Args:
        domain: Domain of the records.
        columns: Names of columns or, in data without names, their numbers from 1; by default
            the names of a table, or all columns, or the first ones.
        header: Whether the first record of CSV holds the column names.
        csv: Dialect of CSV files.
        persons: The column of persons, by name or number, if there is one.
        warn: Called once with each message on a column that has a readable but suspicious type.
    """

    def __init__(
        self,
        domain: Domain,
        columns: Sequence[str | int] | None = None,
        *,
        header: bool = True,
        csv: CsvDialect | None = None,
        persons: Persons | None = None,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.domain, self.header, self.csv, self.persons = domain, header, check_dialect(csv), persons
        check_byte_order(self.csv, header=header)
        self.fields = domain.fields()
        self.columns = None if columns is None else [_column_text(column) for column in columns]
        if self.columns is not None and len(self.columns) != len(self.fields):
            raise RecordsError(
                f"expected as many columns as {domain!r} has values per record, {len(self.fields)}, "
                f"got {len(self.columns)}: {', '.join(self.columns)}"
            )
        if self.columns is not None and domain.reads_by_name:
            check_crossed_names(self.columns, domain.value_names)
        self._warn = cache(warn)
        self._own_names = domain.value_names if domain.reads_by_name else domain.declared_names
        self.names = self.columns or (None if self._own_names is None else list(self._own_names))
        """Names of the columns; None if they are not known before the file is opened."""
        if self.names is not None:
            check_longitude_first(self.names, self.fields)

    @property
    def declared(self) -> frozenset[str]:
        """What the caller gave: columns, header=False, unquoted for records="unquoted", and the dialect's."""
        given = {"columns": bool(self.columns), "header": not self.header, "unquoted": not self.csv.has_quotes}
        return self.csv.declared | {name for name, own in given.items() if own}

    @property
    def rows(self) -> int:
        """Maximum number of rows in a batch, smaller for many columns."""
        return min(max(MAX_VALUES // len(self.fields), MIN_ROWS), MAX_ROWS)

    def finds(self, known: Sequence[str]) -> bool:
        """Whether the names of a file have the columns, and that of persons if there is one."""
        if self.names is None:
            return len(known) == len(self.fields) + len(self._person)
        return all(known.count(column) == 1 for column in self.names + self._person)

    @property
    def all_names(self) -> list[str] | None:
        """Names of the columns, and of that of persons if there is one; None if they are not known before."""
        return None if self.names is None else self.names + self._person

    @property
    def _person(self) -> list[str]:
        """The column of persons, if there is one."""
        return [] if self.persons is None else [self.persons.column]

    def indices_by_name(
        self,
        known: Sequence[Any],
        *,
        where: str,
        hint: str = "names are matched by case",
        in_memory: bool = False,
        hidden: bool = False,
        levels: Sequence[Any] = (),
    ) -> list[int]:
        """Indices of the columns in the names of a file or a data frame; that of persons last, if there is one.

        Messages quote the names of a data frame only: the header of a file may be a record.

        Args:
            known: The names.
            where: What has the names, for messages.
            hint: End of a message on a name that a file lacks.
            in_memory: Whether the names are those of data in memory.
            hidden: Whether these may be parts of a record, and are not quoted either.
            levels: Names of the levels of the index of a pandas frame.
        """
        if not in_memory:
            return self._find(known, where=where, hint=hint)
        names = list(map(str, known))
        lacking = [column for column in (self.names or []) + self._person if column not in names]
        if not hidden:
            hint = describe_columns(known, "".join(lacking[:1]), levels=levels)
        try:
            return self._find(names, where=where, hint=hint)
        except FileError as error:
            raise RecordsError(str(error)) from None

    def _find(self, known: Sequence[str], *, where: str, hint: str) -> list[int]:
        for column in (self.names or []) + self._person:
            if list(known).count(column) != 1:
                found = "it twice" if column in known else "no such name"
                raise FileError(f"expected {where} to name a column {column!r}, got {found}; {hint}")
        person = [list(known).index(column) for column in self._person]
        self._note_renamed(known)
        if self.names is not None:
            return [list(known).index(column) for column in self.names] + person
        size, own = len(self.fields), [index for index in range(len(known)) if index not in person]
        if len(own) != size:
            raise FileError(f"{describe_width(where, size)}columns={['NAME'] * size}; {hint}")
        check_longitude_first([known[index] for index in own], self.fields)
        return own + person

    def _note_renamed(self, known: Sequence[str]) -> None:
        """Warn of a column that is read in place of another one that is there."""
        for column, own in zip(self.columns or (), self._own_names or (), strict=False):
            if column != own and own in known:
                self._warn(
                    f"column {column!r} is read as {own!r}, although there is a column {own!r}: columns= names what is "
                    "read for each column of the domain, in its order; leave it out to read columns by their own names"
                )

    def indices_by_number(self) -> list[int]:
        """Indices of columns given as numbers from 1, by default the first ones; that of persons last, if any."""
        person = list(map(_index, self._person))
        if self.columns is None and self.names and all(name.isdecimal() for name in self.names):
            raise FileError(
                "names of columns are no numbers of columns: without them, the first columns are read; give "
                f"columns={list(map(int, self.names))}"
            )
        if self.columns is not None:
            return list(map(_index, self.columns)) + person
        return [index for index in range(len(self.fields) + len(person)) if index not in person][
            : len(self.fields)
        ] + person

    def check_type(
        self, field: Field, column: str, kind: ValueKind | None, type_name: str, *, in_memory: bool = False
    ) -> None:
        """Refuse a column whose type cannot hold values of a field. Names and types are public.

        Args:
            field: The field to be read.
            column: Name of the column.
            kind: Kind of the values, if the type determines it.
            type_name: Type of the column, for messages.
            in_memory: Whether the column is in memory, where numbers declared as text have a warning in all libraries.
        """
        accepted, declared = field.accepts, field.declared_as
        unread = field.kind is FieldKind.DICTIONARY and kind in _unread_numbers(field)
        if accepted is not None and kind not in accepted and not (unread and in_memory):
            integers = _declare_integers(field) if unread else ""
            advice = f"{integers}, " if integers else _ADVICE.get(kind, "")
            if declared == "time" and kind == "integers":
                advice = 'declare its format, such as "%Y%m%d" or "epoch", '
            if "duration" in type_name.lower():
                advice = "take its seconds, such as with .dt.total_seconds(), or "
            if type_name == "bool":
                advice = "declare it as categories of true and false, as in categories:true,false, "
            raise (RecordsError if in_memory else FileError)(
                f"column {column!r}: expected {_enumerate_kinds(accepted)}, since it is declared as {declared}, got "
                f"{type_name}; {advice}convert the column first, or choose another"
            )
        self.note_type(field, f"column {column!r}", kind, type_name)

    def check_person(self, column: str, kind: ValueKind | None, type_name: str, *, in_memory: bool = False) -> None:
        """Refuse a column of persons whose type holds no ids."""
        if kind not in ("integers", "numbers", "decimals", "text"):
            raise (RecordsError if in_memory else FileError)(
                f"column {column!r}: expected integers or text as ids of persons, got {type_name}; convert the column "
                "first, or choose another"
            )

    def note_type(self, field: Field, column: str, kind: ValueKind | Literal["objects"] | None, type_name: str) -> None:
        """Warn of a column whose type can hold values of a field, and probably holds others, too.

        Args:
            field: The field to be read.
            column: The column, for messages: its name, or "the data".
            kind: Kind of the values, if the type determines it; "objects" for a type of any values.
            type_name: Type of the column, for messages.
        """
        declared = f"declared as {field.declared_as}: "
        numbers = field.kind in (FieldKind.REAL, FieldKind.INTEGER) and not field.repeats
        if kind == "text" and numbers:
            self._warn(
                f"{column} is text ({type_name}) and {declared}records with text that is not a number are skipped; "
                "declare it as categories if it holds words, or convert it to numbers first, such as with "
                "pandas.to_numeric"
            )
        elif kind == "objects" and (numbers or field.declared_as == "time"):
            what, convert, read = ("number", "to_numeric", "numbers or Decimal objects")
            if field.declared_as == "time":
                what, convert, read = ("time", "to_datetime", "date or datetime objects")
            self._warn(
                f"{column} may hold values of any type ({type_name}) and is {declared}records with a value that is not "
                f"a {what} are skipped; convert it first, such as with pandas.{convert}, unless all are {read}"
            )
        elif field.kind is FieldKind.DICTIONARY and kind in _unread_numbers(field):
            effect = "numbers count as the other value"
            if field.accepts is not None and kind not in field.accepts:
                effect = "records with numbers are skipped"
            self._warn(
                f"{column} holds numbers ({type_name}) and is {declared}its values are declared as text, so {effect}; "
                f"{_declare_integers(field) or 'declare numbers'}, or convert the column, such as with .astype(str)"
            )
        elif kind == "integers" and field.fractional:
            advice = "it as integers" if field.declared_as == "interval" else "a step"
            self._warn(
                f"{column} holds whole numbers ({type_name}) and is {declared}samples will have fractions, and "
                f"frequent values will be spread; declare {advice}"
            )
        elif kind == "times" and field.declared_as == "time":
            self._note_zone(field, column, type_name)

    def _note_zone(self, field: Field, column: str, type_name: str) -> None:
        """Warn of times whose zone is not that of the domain, so that hours may be other than a user takes them for.

        Dates are those of the zone of the column.
        """
        zone = zone_of_type(type_name)
        if zone is None and field.zone not in (None, "UTC"):
            self._warn(
                f"{column} has times without a zone ({type_name}), which are read as UTC, not in the zone of the "
                f"domain, {field.zone}; localise the column if its times are local"
            )
        elif zone not in (None, "UTC") and field.zone is None and field.kind is not FieldKind.DATE:
            self._warn(
                f"{column} has times in a zone ({ascii(type_name)[1:-1]}), and the domain declares none: bounds, "
                f"regions and samples are in UTC; declare {f'zone={zone!r}' if zone else 'its zone'} if they are local"
            )

    def to_batch(self, columns: Sequence[Any], length: int, invalid: NDArray[np.bool_] | None = None) -> Any:
        """Columns as a batch of the domain. Invalid rows keep their row number and have no cell."""
        if invalid is not None and not invalid.any():
            invalid = None
        return self.domain.as_batch(ColumnBatch(columns, length=length, invalid=invalid))

"""Which columns of a file make a record, how each is read, and how they are put together for a domain."""

import re
from collections.abc import Callable, Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from privhp.domains import Domain
from privhp.domains.column_batch import ColumnBatch
from privhp.domains.domain import ValueKind
from privhp.domains.fields import Field, FieldKind
from privhp.errors import FileError, RecordsError

MOST_ROWS, LEAST_ROWS, MOST_VALUES = 2**16, 2**12, 2**18


_ADVICE: dict[ValueKind | None, str] = {
    "integers": "declare it as integers, ",
    "numbers": "declare it as interval, ",
    "decimals": "declare it as interval, ",
    "times": "declare it as time, ",
}


def _either(words: frozenset[str]) -> str:
    """Words in the order in which they are declared; whole numbers are numbers."""
    said = words - {"integers"} if "numbers" in words else words
    *others, last = [word for word in get_args(ValueKind) if word in said]
    return f"{', '.join(others)} or {last}" if others else last


class Selection:
    """The columns that a caller asks for, and the records that they make.

    Args:
        domain: Where the records live.
        columns: Names of columns or, where there are none, their numbers from 1; by default
            a table's own names, or all columns, or the first ones.
        header: Whether the first line of a text names its columns.
        warn: Called with a message when a column has a readable but suspicious type.
    """

    def __init__(
        self,
        domain: Domain,
        columns: Sequence[str] | None = None,
        *,
        header: bool = True,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.domain, self.header = domain, header
        self.fields = domain.fields()
        self.columns = None if columns is None else list(columns)
        if self.columns is not None and len(self.columns) != len(self.fields):
            raise RecordsError(
                f"expected {domain!r} to get columns for {len(self.fields)} values a record, "
                f"got {', '.join(self.columns)}"
            )
        self._warn = warn
        self.asked = self.columns or (list(domain.value_names) if domain.reads_by_name else None)
        """Names of the columns, where they are known before the file is opened."""

    @property
    def rows(self) -> int:
        """Rows of a batch, fewer where they have many columns."""
        return min(max(MOST_VALUES // len(self.fields), LEAST_ROWS), MOST_ROWS)

    def named(self, known: Sequence[str], *, where: str, hint: str = "names are matched by case") -> list[int]:
        """Places of the columns among those that a file has. No message quotes these: a header may be a record."""
        size = len(self.fields)
        if self.asked is None and len(known) == size:
            return list(range(size))
        if self.asked is None:
            raise FileError(
                f"expected {where} of {size} column{'s' * (size > 1)}, as many as the domain takes, "
                f"got more or fewer; choose with columns={['NAME'] * size}"
            )
        for column in self.asked:
            if list(known).count(column) != 1:
                found = "it twice" if column in known else "no such name"
                raise FileError(f"expected {where} to name a column {column!r}, got {found}; {hint}")
        return [list(known).index(column) for column in self.asked]

    def numbered(self) -> list[int]:
        """Places, from 0, of columns given as numbers from 1; by default the first ones."""
        if self.columns is None:
            return list(range(len(self.fields)))
        for column in self.columns:
            if not re.fullmatch("[1-9][0-9]{0,6}", column):
                raise RecordsError(f"expected column numbers from 1 where there is no header, got {column!r}")
        return [int(column) - 1 for column in self.columns]

    def check(self, field: Field, column: str, holds: ValueKind | None, kind: str) -> None:
        """Refuse a column of which no value could be a field. Its type is public, like its name.

        Args:
            field: What is read.
            column: Name of the column.
            holds: What it holds by its type, if that is known.
            kind: Its type.
        """
        accepted, declared = field.accepts, field.declared_as
        if accepted is not None and holds not in accepted:
            raise FileError(
                f"column {column!r}: expected {_either(accepted)}, since it is declared as {declared}, got "
                f"{kind}; {_ADVICE.get(holds, '')}convert the column first, or choose another"
            )
        if holds == "text" and field.kind in (FieldKind.REAL, FieldKind.INTEGER) and not field.repeats:
            self._warn(
                f"column {column!r} is text ({kind}) and declared as {declared}: values that are written as numbers "
                "are read, and all others left out in silence; declare it as categories if it holds words"
            )

    def pack(self, columns: Sequence[Any], length: int, invalid: NDArray[np.bool_] | None = None) -> Any:
        """Columns as a batch of the domain. Invalid rows keep their position and have no cell."""
        if invalid is not None and not invalid.any():
            invalid = None
        return self.domain.as_batch(ColumnBatch(columns, length=length, invalid=invalid))

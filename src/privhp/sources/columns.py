"""Which columns of a file make a record."""

import re
from collections.abc import Sequence

from privhp.domains import Box, Domain, Geo, Nullable, Table
from privhp.errors import RecordsError

BATCH = 2**16
"""About how many records a batch has."""


def dimensions(domain: Domain) -> int:
    """How many columns make a record of a domain."""
    if isinstance(domain, Table):
        return len(domain.names)
    if isinstance(domain, Nullable):
        return dimensions(domain.domain)
    return len(domain.axes) if isinstance(domain, Box | Geo) else 1


def check_columns(columns: Sequence[str] | None, domain: Domain) -> None:
    """Refuse a choice of columns that cannot make a record."""
    size = dimensions(domain)
    if columns is not None and len(columns) != size:
        raise RecordsError(f"expected {domain!r} to get columns for {size} values a record, got {', '.join(columns)}")


def column_numbers(columns: Sequence[str] | None, size: int) -> list[int]:
    """Places, from 0, of columns given as numbers from 1; by default the first ones."""
    if columns is None:
        return list(range(size))
    for column in columns:
        if not re.fullmatch("[1-9][0-9]{0,6}", column):
            raise RecordsError(f"expected column numbers from 1 where there is no header, got {column!r}")
    return [int(column) - 1 for column in columns]

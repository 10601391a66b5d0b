"""Checks of regions of a table, with the way to write what is probably meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privhp.domains.domain import Domain
from privhp.domains.table_column import coordinate_owner, similar_column
from privhp.domains.unions import AnyOf
from privhp.domains.validation import quote
from privhp.errors import DomainError


def check_table_region(region: Any, table: Domain) -> None:
    """Refuse a region of a table that is no mapping from its columns."""
    if isinstance(region, str):
        raise DomainError(_describe_text(region, table))
    if not isinstance(region, Mapping):
        raise DomainError(f"{_expected(table)}, got {quote(region)}")
    known = [column.name for column in table.columns]
    for name in region:
        if name not in known:
            owner = coordinate_owner(name, table.columns)
            form = "" if owner is None else owner.domain.inner.region_form
            near = similar_column(name, table.columns) + (
                f", which takes a region {form}, None for an open side" if form else ""
            )
            raise DomainError(f"expected a region of {', '.join(map(repr, known))}, got one of {quote(name)}{near}")


def _expected(table: Domain) -> str:
    return f"expected a region as a mapping from columns to regions, such as {{{table.columns[0].name!r}: ...}}"


def _describe_text(text: str, table: Domain) -> str:
    """Message on a condition as text: the region that it denotes, if it can be read."""
    from privhp.domains.conditions import read_condition  # slow to import, and needed for this message only

    message = f"{_expected(table)}, got text; conditions as text are for the command line"
    try:
        region = read_condition(text, table)
    except DomainError:
        return message
    return message if isinstance(region, AnyOf) else f"{message}, and in Python this one is {quote(region)}"

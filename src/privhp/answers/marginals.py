"""Marginals of a distribution over a table, and the values of a nullable column.

The leaves of a table project to cells of the chosen columns, some of which lie
inside others. The count of a larger cell is divided among its descendants by
the base measure, which gives a partition again without changing the distribution.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from privhp.answers.histogram import sum_by_index
from privhp.answers.leaves import CountedCells, Leaves
from privhp.answers.regions import cell_shares
from privhp.answers.standard_errors import StandardErrors
from privhp.core.cells import Codes, Floats, ancestors, by_level, descendants
from privhp.domains.domain import Domain
from privhp.domains.table import Table
from privhp.domains.table_column import TableColumn, similar_column
from privhp.domains.validation import listed_values, quote
from privhp.errors import QueryError

Cells = dict[int, tuple[Codes, Floats]]
"""Distinct cells of each level, in order, with the count of each."""


def marginalize(
    domain: Domain,
    leaves: CountedCells,
    cells: CountedCells,
    errors: StandardErrors,
    columns: Any,
    *,
    null: bool,
    where: Any = None,
) -> tuple[Domain, Leaves, StandardErrors, CountedCells]:
    """Marginal of a distribution: its domain, its leaves, its standard errors, and its counted cells.

    Args:
        domain: The table, or the domain of a single column.
        leaves: Partition of the joint distribution.
        cells: Cells of the joint distribution that the release counts.
        errors: Standard errors of the joint distribution.
        columns: Name of a column, or a list of names; None for the only column.
        null: Whether null counts; if not, the values of a nullable column are conditioned on being there.
        where: Region of other columns whose records alone count; None for all records.
    """
    if domain.columns:
        chosen, single = _choose_columns(domain, columns)
        part = _marginal_domain(chosen, single)
        if where is not None:
            leaves, cells = (_condition(domain, each, where, chosen) for each in (leaves, cells))
            errors = errors.given(where)
        leaves, cells = (
            CountedCells(*domain.project(each.codes, each.levels, columns=chosen), each.counts)
            for each in (leaves, cells)
        )
        errors = errors.marginal(part, chosen)
        leaves = errors.cells_of_group or leaves
    else:
        part = domain
        _check_only_column(domain, columns, where)
    if not null and any(column.domain.nullable for column in part.columns):
        raise QueryError(f"null=False needs a single column; the marginal is over {part!r}")
    if not null and part.nullable:
        leaves, cells, errors = _without_null(part, leaves), _without_null(part, cells), errors.given_value()
        part = part.inner.named(*part.value_names)
    return part, _partition(part, _merge_cells(leaves)), errors, cells


def _condition(domain: Domain, cells: CountedCells, where: Any, chosen: list[TableColumn]) -> CountedCells:
    """The cells with the counts of the records in a region of columns that are not chosen."""
    names = [column.name for column in chosen]
    if isinstance(where, Mapping) and not where.keys().isdisjoint(names):
        raise QueryError(
            f"where= takes regions of other columns than those of the marginal, {', '.join(map(str, names))}; for part "
            "of their values divide two masses, or use sample(where=...)"
        )
    counts = cells.counts * cell_shares(domain, cells, where)
    if not counts.sum() > 0:
        raise QueryError("the region of where= has mass 0, so its records have no distribution; check it with mass()")
    return CountedCells(cells.codes, cells.levels, counts)


def _check_only_column(domain: Domain, columns: Any, where: Any) -> None:
    """Refuse other columns than the only one, and conditions on them."""
    names = domain.value_names
    if columns is not None and columns not in (*names, names, list(names)):
        advice = "; its values that are not null are marginal(null=False)" if domain.nullable else ""
        raise QueryError(f"only a Table has columns to choose from; the domain is {domain!r}{advice}")
    if where is not None:
        raise QueryError(
            "where= takes regions of other columns, and there are none; use mass(...) or sample(where=...)"
        )


def _choose_columns(table: Domain, columns: Any) -> tuple[list[TableColumn], bool]:
    """The named columns, in the order of the table; and whether a single name was given, not a list."""
    known = {column.name: column for column in table.columns}
    if columns is None and len(known) == 1:
        return list(table.columns), True
    if isinstance(columns, str | tuple) and columns in known:
        return [known[columns]], True
    names = listed_values(columns)
    unknown = [name for name in names if not isinstance(name, str | tuple) or name not in known]
    if unknown or not names:
        asked, listed = (unknown or [names])[0], ", ".join(map(repr, known))
        near = similar_column(asked, table.columns)
        raise QueryError(f"expected a column or a list of columns among {listed}, got {quote(asked)}{near}")
    return [column for column in table.columns if column.name in names], False


def _marginal_domain(columns: list[TableColumn], single: bool) -> Domain:
    if single:
        return columns[0].domain.named(*columns[0].names)
    return Table(
        {column.name: column.domain for column in columns}, weights={column.name: column.weight for column in columns}
    )


def _merge_cells(cells: CountedCells) -> Cells:
    """Distinct cells of each level, with the sums of their counts."""
    merged: Cells = {}
    for level, chosen in by_level(cells.levels):
        distinct, indices = np.unique(cells.codes[chosen], return_inverse=True)
        merged[level] = distinct, sum_by_index(indices, cells.counts[chosen], distinct.size)
    return merged


def _partition(domain: Domain, cells: Cells) -> Leaves:
    """Partition with these cells: from the root down, a cell with given cells inside it is split with its count."""
    inner_cells = _inner_cells(cells)
    depth = max(cells)
    leaves: list[tuple[Codes, int, Floats]] = []
    codes, counts = np.zeros(1, dtype=np.uint64), np.zeros(1)
    for level in range(depth + 1):
        given, amounts = cells.get(level, (codes[:0], counts[:0]))
        counts[np.searchsorted(codes, given)] += amounts
        inner = np.isin(codes, inner_cells[level], assume_unique=True)
        leaves.append((codes[~inner], level, counts[~inner]))
        if level < depth:
            codes, counts = _split(domain, codes[inner], counts[inner], level)
    starts = np.concatenate([codes << np.uint64(depth - level) for codes, level, _ in leaves])
    order = np.argsort(starts, kind="stable")
    return Leaves(
        np.concatenate([codes for codes, _, _ in leaves])[order],
        np.concatenate([np.full(codes.shape, level) for codes, level, _ in leaves])[order],
        np.concatenate([counts for _, _, counts in leaves])[order],
    )


def _inner_cells(cells: Cells) -> list[Codes]:
    """Cells of each level that have given cells inside them."""
    depth = max(cells)
    nothing = np.zeros(0, dtype=np.uint64)
    inner_cells = [nothing] * (depth + 1)
    for level in range(depth, 0, -1):
        inside = np.concatenate([inner_cells[level], cells.get(level, (nothing, None))[0]])
        inner_cells[level - 1] = np.unique(ancestors(inside, levels=1))
    return inner_cells


def _split(domain: Domain, codes: Codes, counts: Floats, level: int) -> tuple[Codes, Floats]:
    """Both children of each cell, with the count of the cell divided by the base measure."""
    children = descendants(codes, levels=1)
    measures = domain.measure(children.ravel(), level=level + 1).reshape(children.shape)
    whole = measures.sum(axis=1, keepdims=True)
    parts = counts[:, None] * (measures / np.where(whole > 0, whole, 1.0))
    return children.ravel(), parts.ravel()


def _without_null(domain: Domain, cells: CountedCells) -> CountedCells:
    """The cells of the values: those beyond the first split that are not null, and the values of the whole domain."""
    whole, levels = cells.levels == 0, np.maximum(cells.levels - 1, 0)
    first_code = np.uint64(1) << levels.astype(np.uint64)
    kept = whole | (cells.codes >= first_code)
    counts = np.where(whole, cells.counts * (1.0 - domain.null_share), cells.counts)
    return CountedCells((cells.codes & (first_code - np.uint64(1)))[kept], levels[kept], counts[kept])

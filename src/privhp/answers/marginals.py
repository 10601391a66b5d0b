"""What counts of a table's cells say of some of its columns.

Cells of a table, seen along some of its columns, lie inside each other. They
are made a partition again by sharing out what lies in the larger ones, by the
base measure: so the distribution stays what it is.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.answers.histogram import summed
from privhp.answers.leaves import Leaves
from privhp.answers.marginal_errors import ConditionalErrors, MarginalErrors, value_shares
from privhp.answers.standard_errors import StandardErrors
from privhp.core.cells import Codes, Floats, ancestors, descendants
from privhp.domains.domain import Domain
from privhp.domains.table import Table
from privhp.domains.table_column import TableColumn
from privhp.domains.validation import quote
from privhp.errors import QueryError

Cells = dict[int, tuple[Codes, Floats]]
"""Of each level, some cells in order, each once, and the count of each."""


def marginalize(
    domain: Domain, leaves: Leaves, errors: StandardErrors, columns: Any, *, null: bool
) -> tuple[Domain, Leaves, StandardErrors]:
    """Marginal of a distribution over a table: its domain, its leaves, and the standard errors of its answers.

    Args:
        domain: The table.
        leaves: Leaves of the joint distribution.
        errors: Standard errors of the joint distribution.
        columns: Name of a column, or a list of names.
        null: Whether null counts; if not, the values of one nullable column are conditioned on being there.
    """
    if not domain.columns:
        raise QueryError(f"expected a marginal of a Table, got one of {domain!r}")
    chosen, single = _chosen(domain, columns)
    part = _part(chosen, single)
    codes, levels = domain.project(leaves.codes, leaves.levels, columns=chosen)
    projected = _partition(part, _merged(codes, levels, leaves.counts))
    marginal_errors = MarginalErrors(errors, codes, levels, domain=part, leaves=projected)
    if null:
        return part, projected, marginal_errors
    if not part.nullable:
        raise QueryError(f"expected null=False for one column that may be null, got it for {part!r}")
    conditional_errors = ConditionalErrors(marginal_errors, domain=part, leaves=projected)
    return part.inner, _without_null(part, projected), conditional_errors


def _chosen(table: Domain, columns: Any) -> tuple[list[TableColumn], bool]:
    """The columns of these names, in the order of the table, and whether one was asked for by itself."""
    known = {column.name: column for column in table.columns}
    if isinstance(columns, str | tuple) and columns in known:
        return [known[columns]], True
    names = list(columns) if isinstance(columns, list | tuple | set | frozenset) else [columns]
    unknown = [name for name in names if not isinstance(name, str | tuple) or name not in known]
    if unknown or not names:
        listed = ", ".join(map(repr, known))
        raise QueryError(f"expected a column or a list of columns among {listed}, got {quote((unknown or [names])[0])}")
    return [column for column in table.columns if column.name in names], False


def _part(columns: list[TableColumn], single: bool) -> Domain:
    if single:
        return columns[0].domain
    return Table(
        {column.name: column.domain for column in columns}, weights={column.name: column.weight for column in columns}
    )


def _merged(codes: Codes, levels: NDArray[np.int64], counts: Floats) -> Cells:
    """Each cell once."""
    cells: Cells = {}
    for level in np.unique(levels).tolist():
        own = levels == level
        once, places = np.unique(codes[own], return_inverse=True)
        cells[level] = once, summed(places, counts[own], once.size)
    return cells


def _partition(domain: Domain, cells: Cells) -> Leaves:
    """From the root down: what lies in a cell goes to its halves where any of the given cells is inside it."""
    divided = _divided(cells)
    depth = max(cells)
    found: list[tuple[Codes, int, Floats]] = []
    codes, counts = np.zeros(1, dtype=np.uint64), np.zeros(1)
    for level in range(depth + 1):
        own, amounts = cells.get(level, (codes[:0], counts[:0]))
        counts[np.searchsorted(codes, own)] += amounts
        inner = np.isin(codes, divided[level], assume_unique=True)
        found.append((codes[~inner], level, counts[~inner]))
        if level < depth:
            codes, counts = _halved(domain, codes[inner], counts[inner], level)
    starts = np.concatenate([codes << np.uint64(depth - level) for codes, level, _ in found])
    order = np.argsort(starts, kind="stable")
    return Leaves(
        np.concatenate([codes for codes, _, _ in found])[order],
        np.concatenate([np.full(codes.shape, level) for codes, level, _ in found])[order],
        np.concatenate([counts for _, _, counts in found])[order],
    )


def _divided(cells: Cells) -> list[Codes]:
    """Of each level, the cells that have any of the given ones inside them."""
    depth = max(cells)
    nothing = np.zeros(0, dtype=np.uint64)
    divided = [nothing] * (depth + 1)
    for level in range(depth, 0, -1):
        inside = np.concatenate([divided[level], cells.get(level, (nothing, None))[0]])
        divided[level - 1] = np.unique(ancestors(inside, levels=1))
    return divided


def _halved(domain: Domain, codes: Codes, counts: Floats, level: int) -> tuple[Codes, Floats]:
    """Both halves of each cell, with their parts of its count by the base measure."""
    halves = descendants(codes, levels=1)
    measures = domain.measure(halves.ravel(), level=level + 1).reshape(halves.shape)
    whole = measures.sum(axis=1, keepdims=True)
    parts = counts[:, None] * (measures / np.where(whole > 0, whole, 1.0))
    return halves.ravel(), parts.ravel()


def _without_null(domain: Domain, leaves: Leaves) -> Leaves:
    """The leaves of the values alone."""
    if leaves.levels[0] == 0:
        return Leaves(leaves.codes, leaves.levels, leaves.counts * (1.0 - domain.null_share))
    inner, there = (leaves.levels - 1).astype(np.uint64), value_shares(domain, leaves) > 0
    codes = leaves.codes[there] & ((np.uint64(1) << inner[there]) - np.uint64(1))
    return Leaves(codes, leaves.levels[there] - 1, leaves.counts[there])

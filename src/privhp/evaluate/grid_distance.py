"""Exact 1-Wasserstein distance in the plane, between masses on a grid."""

import numpy as np
from numpy.typing import NDArray

from privhp.answers.distribution import Distribution
from privhp.core.cells import Floats
from privhp.domains.conversion import as_points
from privhp.domains.domain import Domain
from privhp.errors import DomainError, QueryError
from privhp.evaluate.inputs import Side, cells_of, common_domain

CELLS = 97
"""Cells along a side of the grid: a prime, so that grid lines do not coincide with the edges of cells."""

_SUPPLY = 1e4  # total mass in the solver, whose tolerance is absolute


def grid_wasserstein(one: Side, other: Side, *, domain: Domain | None = None, cells: int = CELLS) -> float:
    """Exact 1-Wasserstein distance of the masses on a square grid over a `Box` of two sides. NOT private.

    Both sides of the box are scaled to 1. The distance of two cells is the
    larger of their distances along the axes, so the result is exact to within
    the side of a cell, 1/97 by default. SciPy's HiGHS solves the minimum-cost
    flow problem in seconds.

    Args:
        one: A generator or points.
        other: A generator or points.
        domain: Domain of the points, if neither side is a generator.
        cells: Cells along each side of the grid.
    """
    space = common_domain(one, other, domain)
    surplus = grid_masses(one, domain=space, cells=cells) - grid_masses(other, domain=space, cells=cells)
    return _minimum_cost(surplus) / cells


def grid_masses(side: Side, *, domain: Domain | None = None, cells: int = CELLS) -> Floats:
    """Mass in each cell of a square grid over a `Box` of two sides. NOT private for records.

    Args:
        side: A generator or points.
        domain: Domain of the points.
        cells: Cells along each side of the grid.
    """
    space = common_domain(side, side, domain)
    if space.rectangle is None or len(space.rectangle) != 2:
        raise DomainError(f"expected a Box of two sides, got {space!r}; tree_wasserstein takes any domain")
    if isinstance(cells, bool) or not isinstance(cells, int) or not 2 <= cells <= 1024:
        raise QueryError(f"expected 2 to 1024 cells along a side, got {cells!r}")
    if isinstance(side, Distribution):
        return _leaf_masses(side, space, cells)
    cells_of(side, space, level=0)
    points = as_points(side, width=2)
    low, width = np.array([(low, high - low) for low, high in space.rectangle]).T
    column, row = np.clip((points - low) / width * cells, 0, cells - 1).astype(np.int64).T
    return _sum_by_cell(column * cells + row, np.full(len(points), 1.0 / len(points)), cells)


def _leaf_masses(generator: Distribution, domain: Domain, cells: int) -> Floats:
    """Mass of the grid's cells: each leaf's mass in proportion to its overlap with each cell."""
    leaves = generator.leaves()
    low, high = np.empty((2, leaves.codes.size)), np.empty((2, leaves.codes.size))
    for level in np.unique(leaves.levels).tolist():
        chosen = leaves.levels == level
        ends = domain.cell_rectangles(leaves.codes[chosen], level=level)
        low[:, chosen], high[:, chosen] = (cells * end.T for end in ends)
    first, last = np.floor(low).astype(np.int64), np.ceil(high).astype(np.int64)
    columns, rows = last - first
    leaf = np.repeat(np.arange(leaves.codes.size), columns * rows)
    offset = np.arange(leaf.size) - np.repeat(np.cumsum(columns * rows) - columns * rows, columns * rows)
    mass, cell = generator.probabilities[leaf], np.zeros(leaf.shape, dtype=np.int64)
    for axis, steps in enumerate((offset // rows[leaf], offset % rows[leaf])):
        at = first[axis, leaf] + steps
        met = np.minimum(high[axis, leaf], at + 1) - np.maximum(low[axis, leaf], at)
        mass = mass * met / (high - low)[axis, leaf]
        cell = cell * cells + at
    return _sum_by_cell(cell, mass, cells)


def _sum_by_cell(indices: NDArray[np.int64], masses: Floats, cells: int) -> Floats:
    return np.bincount(indices, masses, minlength=cells**2).astype(np.float64).reshape(cells, cells)


def _minimum_cost(surplus: Floats) -> float:
    """Minimum cost of a flow between neighbouring cells that balances a surplus of sum 0."""
    try:
        from scipy import optimize, sparse
    except ImportError as error:
        raise QueryError("grid_wasserstein needs SciPy; pip install 'privhp[metrics]'") from error
    moved = float(np.abs(surplus).sum())
    if moved == 0:
        return 0.0
    nodes = np.arange(surplus.size).reshape(surplus.shape)
    pairs = [
        (nodes[1:], nodes[:-1]),
        (nodes[:, 1:], nodes[:, :-1]),
        (nodes[1:, 1:], nodes[:-1, :-1]),
        (nodes[1:, :-1], nodes[:-1, 1:]),
    ]
    one = np.concatenate([start.ravel() for start, _ in pairs])
    other = np.concatenate([end.ravel() for _, end in pairs])
    starts, ends = np.concatenate([one, other]), np.concatenate([other, one])
    edges, ones = np.arange(starts.size), np.ones(starts.size)
    leaving = sparse.csr_array((np.concatenate([ones, -ones]), (np.concatenate([starts, ends]), np.tile(edges, 2))))
    supply = (surplus - surplus.mean()).ravel() * (_SUPPLY / moved)
    found = optimize.linprog(ones, A_eq=leaving, b_eq=supply, method="highs-ds", options={"presolve": False})
    if found.status != 0:
        raise QueryError(f"the solver found no minimum-cost flow: {found.message}")
    return float(found.fun) * moved / _SUPPLY

"""Checks of the laws that every domain obeys, custom ones included.

`check_domain` takes a domain and examples of awkward records, and raises an
AssertionError that names the broken law. It needs no test framework.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import datetime as dt
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.allocation import Allocation, CellDraws
from privhp.core.cells import MAX_DEPTH, OUTSIDE, Codes, ancestors
from privhp.domains.domain import Domain

AWKWARD: list[Any] = [
    float("nan"),
    float("inf"),
    -float("inf"),
    1e308,
    -1e308,
    0,
    -1,
    2**70,
    None,
    "",
    "text",
    "2020-02-30",
    b"\xff",
    dt.datetime(2020, 2, 29),
    np.datetime64("NaT", "s"),
    [],
    {},
]
"""Awkward objects that may occur in place of a record."""


def check_domain(domain: Domain, *, awkward: list[Any] | None = None, cells: int = 200, seed: int = 0) -> None:
    """Check that a domain keeps the laws that summaries and generators rely on.

    Spec: the domain is rebuilt from its JSON spec. Home: a record drawn from a
    cell, alone or with others, in an array or a list, encodes to that cell, at
    every level. Nesting: a cell's code at a coarser level is a right shift, and
    what has no cell has none at any level.
    Measure: the root has measure 1, children share their parent's. Shrinking:
    diameters do not grow. Order, where there is one: what lies in an earlier
    cell is below, what lies in a later one is not. Total: any bytes get one
    cell or none, without an error or a warning, the same alone as in company.

    Args:
        domain: The domain to check.
        awkward: Further records to encode, valid or not.
        cells: How many random cells to try at each level.
        seed: Seed of that choice.
    """
    _require(1 <= domain.depth <= MAX_DEPTH, "depth", f"expected 1 to {MAX_DEPTH}, got {domain.depth}")
    rng = np.random.default_rng(seed)
    twin = _rebuilt(domain)
    company: list[Any] = [*AWKWARD, *(awkward or [])]
    for level in range(domain.depth + 1):
        codes = _some_cells(level, cells, rng)
        _check_measure(domain, codes, level)
        codes = codes[domain.measure(codes, level=level) > 0]
        records = domain.decode(codes, level=level, rng=rng)
        _check_home(domain, codes, records, level)
        if domain.ordered:
            _check_order(domain, codes, records, level)
        company += list(records[:2])
    _check_total(domain, company)
    for level in range(domain.depth + 1):
        _check_sampling(domain, _some_cells(level, cells, rng), level, rng)
    same = np.array_equal(twin.encode(company, level=domain.depth), domain.encode(company, level=domain.depth))
    _require(same, "spec", "the domain built from the spec encodes some record otherwise")


def _require(holds: bool | np.bool_, law: str, breach: str) -> None:
    if not holds:
        raise AssertionError(f"{law}: {breach}")


def _some_cells(level: int, cells: int, rng: np.random.Generator) -> Codes:
    """Random cells of a level with its first and last, in order."""
    drawn = rng.integers(0, 2**level, size=cells, dtype=np.uint64)
    return np.unique(np.concatenate([drawn, np.array([0, 2**level - 1], dtype=np.uint64)]))


def _rebuilt(domain: Domain) -> Domain:
    import json  # takes long to import, and few check a domain

    try:
        twin = Domain.from_spec(json.loads(json.dumps(domain.spec())))
    except Exception as error:
        raise AssertionError(f"spec: the domain cannot be built from its spec as JSON: {error}") from error
    _require(twin == domain, "spec", "the domain is not equal to the one its spec describes")
    _require(hash(twin) == hash(domain), "spec", "equal domains have different hashes")
    return twin


def _check_measure(domain: Domain, codes: Codes, level: int) -> None:
    whole = domain.measure(codes, level=level)
    if level == 0:
        _require(np.allclose(whole, 1.0, rtol=1e-12), "measure", "that of the root is not 1")
    if level == domain.depth:
        return
    left = domain.measure(codes * np.uint64(2), level=level + 1)
    right = domain.measure(codes * np.uint64(2) + np.uint64(1), level=level + 1)
    additive = np.allclose(left + right, whole, rtol=1e-12, atol=0)
    _require(additive, "measure", f"children do not share that of their parent at level {level}")
    _require((np.minimum(left, right) >= 0).all(), "measure", f"one is negative at level {level + 1}")
    shrinks = 0 <= domain.diameter(level + 1) <= domain.diameter(level)
    _require(shrinks, "shrinking", f"the diameter grows at level {level + 1}")


def _check_home(domain: Domain, codes: Codes, records: NDArray[Any], level: int) -> None:
    _require(len(records) == len(codes), "home", f"decode gave another number of records at level {level}")
    home = domain.encode(records, level=level)
    _require(home.dtype == np.uint64, "home", f"expected codes of uint64, got {home.dtype}")
    _require(np.array_equal(home, codes), "home", f"a record drawn from a cell of level {level} is not in it")
    listed = np.array_equal(domain.encode(list(records), level=level), codes)
    _require(listed, "home", f"records of level {level} are read otherwise in a list than in an array")


def _check_sampling(domain: Domain, codes: Codes, level: int, rng: np.random.Generator) -> None:
    codes = codes[domain.measure(codes, level=level) > 0]
    levels, counts = np.full(codes.shape, level), rng.integers(0, 4, size=codes.shape)
    for balanced in (False, True):
        records = domain.sample_allocation(Allocation(codes, levels, counts), balanced=balanced, rng=rng)
        in_cells = np.array_equal(domain.encode(records, level=level), np.repeat(codes, counts))
        _require(in_cells, "home", f"sample_allocation does not give each cell of level {level} its records, in order")
    indices = rng.integers(0, codes.size, size=2 * codes.size)
    home = domain.encode(domain.sample_cells(CellDraws(codes, levels, indices), rng=rng), level=level)
    in_cells = np.array_equal(home, codes[indices])
    _require(in_cells, "home", f"sample_cells puts a record of level {level} in another cell")


def _check_order(domain: Domain, codes: Codes, records: NDArray[Any], level: int) -> None:
    """Each record against the next cell that was tried, and the other way round."""
    later = domain.cell_cdf(records[1:], codes[:-1], level=level)
    earlier = domain.cell_cdf(records[:-1], codes[1:], level=level)
    _require((later == 1).all(), "order", f"a cell of level {level} is not wholly below a record of a later one")
    _require((earlier == 0).all(), "order", f"a cell of level {level} is partly below a record of an earlier one")
    middle = domain.cell_quantile(np.full(codes.shape, 0.5), codes, level=level)
    _require(
        np.array_equal(domain.encode(middle, level=level), codes), "order", f"a cell of level {level} lacks its median"
    )


def _check_total(domain: Domain, records: list[Any]) -> None:
    deep = _encode_quietly(domain, records, domain.depth)
    for level in range(domain.depth + 1):
        codes = _encode_quietly(domain, records, level)
        inside = codes != OUTSIDE
        _require((codes[inside] < 2**level).all(), "total", f"a code leaves the grid of level {level}")
        above = np.where(deep == OUTSIDE, OUTSIDE, ancestors(deep, levels=domain.depth - level))
        _require(np.array_equal(codes, above), "nesting", f"a record's cells of levels {level} and {domain.depth}")
    for record, code in zip(records, deep.tolist(), strict=True):
        alone = _encode_quietly(domain, [record], domain.depth).tolist()
        _require(alone == [code], "total", "a record's cell depends on the others in its batch")


def _encode_quietly(domain: Domain, records: list[Any], level: int) -> Codes:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            codes = domain.encode(records, level=level)
    except Exception as error:
        raise AssertionError(f"total: encode raised {error!r} for the value of a record") from error
    _require(codes.shape == (len(records),), "total", "encode did not give one code per record")
    return codes

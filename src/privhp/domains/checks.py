"""The one suite of checks that every domain passes, a user's own included.

Takes a domain and, if its records are not plain numbers, examples of awkward
records; raises AssertionError with the law that is broken. It needs no test
framework.
"""

import json
from typing import Any

import numpy as np

from privhp.cells import MAX_DEPTH, OUTSIDE, Codes, ancestors
from privhp.domains.base import Domain

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
    b"\xff",
    [],
    {},
]
"""Things that turn up where a record was expected."""


def check_domain(domain: Domain, *, awkward: list[Any] | None = None, cells: int = 200, seed: int = 0) -> None:
    """Check that a domain keeps the laws that summaries and generators rely on.

    Spec: the domain is rebuilt from its JSON spec. Home: a record drawn from a
    cell encodes to that cell, at every level. Nesting: a cell's code at a
    coarser level is a right shift. Measure: children share their parent's
    measure. Shrinking: diameters do not grow. Total: any bytes get one cell or
    none, the same alone as in company.

    Args:
        domain: The domain to check.
        awkward: Further records to encode, valid or not.
        cells: How many random cells to try at each level.
        seed: Seed of that choice.
    """
    assert 1 <= domain.depth <= MAX_DEPTH, f"depth {domain.depth} is not between 1 and {MAX_DEPTH}"
    rng = np.random.default_rng(seed)
    _check_spec(domain)
    for level in range(domain.depth + 1):
        codes = _some_cells(domain, level, cells, rng)
        _check_home(domain, codes, level, rng)
        if level < domain.depth:
            _check_children(domain, codes, level)
    _check_total(domain, AWKWARD + (awkward or []))


def _some_cells(domain: Domain, level: int, cells: int, rng: np.random.Generator) -> Codes:
    """Random cells of a level with its first and last, those that can hold a record."""
    drawn = rng.integers(0, 2**level, size=cells, dtype=np.uint64)
    codes = np.unique(np.concatenate([drawn, np.array([0, 2**level - 1], dtype=np.uint64)]))
    return codes[domain.measure(codes, level=level) > 0]


def _check_spec(domain: Domain) -> None:
    twin = Domain.from_spec(json.loads(json.dumps(domain.spec())))
    assert twin == domain, "the domain is not equal to the one its spec describes"
    assert hash(twin) == hash(domain), "equal domains have different hashes"


def _check_home(domain: Domain, codes: Codes, level: int, rng: np.random.Generator) -> None:
    records = domain.decode(codes, level=level, rng=rng)
    assert len(records) == len(codes), f"decode gave another number of records at level {level}"
    home = domain.encode(records, level=level)
    assert home.dtype == np.uint64, "codes are not uint64"
    assert np.array_equal(home, codes), f"a record drawn from a cell of level {level} is not in it"
    deep = domain.encode(records, level=domain.depth)
    for coarser in range(level + 1):
        above = ancestors(deep, levels=domain.depth - coarser)
        assert np.array_equal(domain.encode(records, level=coarser), above), f"levels {coarser} and {level} do not nest"


def _check_children(domain: Domain, codes: Codes, level: int) -> None:
    whole = domain.measure(codes, level=level)
    left = domain.measure(codes * np.uint64(2), level=level + 1)
    right = domain.measure(codes * np.uint64(2) + np.uint64(1), level=level + 1)
    assert np.allclose(left + right, whole, rtol=1e-12, atol=0), f"measure is not additive at level {level}"
    assert (np.minimum(left, right) >= 0).all(), f"a measure is negative at level {level + 1}"
    assert 0 <= domain.diameter(level + 1) <= domain.diameter(level), f"the diameter grows at level {level + 1}"


def _check_total(domain: Domain, awkward: list[Any]) -> None:
    together = domain.encode(awkward, level=domain.depth)
    assert together.shape == (len(awkward),), "encode did not give one code per record"
    assert (together[together != OUTSIDE] < 2**domain.depth).all(), "a code leaves the grid"
    for record, code in zip(awkward, together.tolist(), strict=True):
        alone = domain.encode([record], level=domain.depth).tolist()
        assert alone == [code], "a record's cell depends on the others in its batch"

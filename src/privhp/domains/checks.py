"""Checks of the laws of the domain protocol, for custom domains and for tests."""

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
"""Objects that may occur instead of a record."""


def check_domain(domain: Domain, *, awkward: list[Any] | None = None, cells: int = 200, seed: int = 0) -> None:
    """Check the laws that summaries and generators rely on.

    * Spec: the domain can be rebuilt from its JSON spec, and the two are equal.
    * Round trip: a record drawn from a cell encodes to that cell at every level,
      in an array and in a list.
    * Nesting: the code of a record at a coarser level is a right shift, and a
      record without a cell has none at any level.
    * Measure: the root has measure 1, and a cell the sum of its children.
    * Diameter: it does not increase with the level.
    * Order, for ordered domains: records of an earlier cell precede those of a
      later one.
    * Total: every object gets one cell or none, without an error or a warning,
      independently of the other records of its batch.

    Args:
        domain: The domain to check.
        awkward: Further records to encode, valid or not.
        cells: Number of random cells to try at each level.
        seed: Seed of the random cells.

    Raises:
        AssertionError: If a law is broken; the message begins with its name.
    """
    _require(1 <= domain.depth <= MAX_DEPTH, "depth", f"expected 1 to {MAX_DEPTH}, got {domain.depth}")
    rng = np.random.default_rng(seed)
    twin = _rebuild(domain)
    examples: list[Any] = [*AWKWARD, *(awkward or [])]
    for level in range(domain.depth + 1):
        codes = _random_cells(level, cells, rng)
        _check_measure(domain, codes, level)
        codes = codes[domain.measure(codes, level=level) > 0]
        records = domain.decode(codes, level=level, rng=rng)
        _check_round_trip(domain, codes, records, level)
        if domain.ordered:
            _check_order(domain, codes, records, level)
        examples += list(records[:2])
    _check_total(domain, examples)
    for level in range(domain.depth + 1):
        _check_sampling(domain, _random_cells(level, cells, rng), level, rng)
    same = np.array_equal(twin.encode(examples, level=domain.depth), domain.encode(examples, level=domain.depth))
    _require(same, "spec", "the domain built from the spec encodes a record differently")


def _require(holds: bool | np.bool_, law: str, breach: str) -> None:
    if not holds:
        raise AssertionError(f"{law}: {breach}")


def _random_cells(level: int, cells: int, rng: np.random.Generator) -> Codes:
    """Random cells of a level with the first and the last, in increasing order."""
    drawn = rng.integers(0, 2**level, size=cells, dtype=np.uint64)
    return np.unique(np.concatenate([drawn, np.array([0, 2**level - 1], dtype=np.uint64)]))


def _rebuild(domain: Domain) -> Domain:
    import json  # slow to import, and rarely needed

    try:
        twin = Domain.from_spec(json.loads(json.dumps(domain.spec())))
    except Exception as error:
        raise AssertionError(f"spec: the domain cannot be built from its spec as JSON: {error}") from error
    _require(twin == domain, "spec", "the domain differs from the one built from its spec")
    _require(hash(twin) == hash(domain), "spec", "equal domains have different hashes")
    return twin


def _check_measure(domain: Domain, codes: Codes, level: int) -> None:
    parent = domain.measure(codes, level=level)
    if level == 0:
        _require(np.allclose(parent, 1.0, rtol=1e-12), "measure", "the root does not have measure 1")
    if level == domain.depth:
        return
    left = domain.measure(codes * np.uint64(2), level=level + 1)
    right = domain.measure(codes * np.uint64(2) + np.uint64(1), level=level + 1)
    additive = np.allclose(left + right, parent, rtol=1e-12, atol=0)
    _require(additive, "measure", f"the children of a cell of level {level} do not have its measure in total")
    _require((np.minimum(left, right) >= 0).all(), "measure", f"a cell of level {level + 1} has a negative measure")
    shrinks = 0 <= domain.diameter(level + 1) <= domain.diameter(level)
    _require(shrinks, "diameter", f"it is larger at level {level + 1} than at level {level}")


def _check_round_trip(domain: Domain, codes: Codes, records: NDArray[Any], level: int) -> None:
    _require(len(records) == len(codes), "round trip", f"decode returned a wrong number of records at level {level}")
    encoded = domain.encode(records, level=level)
    _require(encoded.dtype == np.uint64, "round trip", f"expected codes of uint64, got {encoded.dtype}")
    same = np.array_equal(encoded, codes)
    _require(same, "round trip", f"a record drawn from a cell of level {level} is encoded as another cell")
    same_in_list = np.array_equal(domain.encode(list(records), level=level), codes)
    _require(same_in_list, "round trip", f"a list of records of level {level} is encoded differently from an array")


def _check_sampling(domain: Domain, codes: Codes, level: int, rng: np.random.Generator) -> None:
    codes = codes[domain.measure(codes, level=level) > 0]
    levels, counts = np.full(codes.shape, level), rng.integers(0, 4, size=codes.shape)
    for balanced in (False, True):
        records = domain.sample_allocation(Allocation(codes, levels, counts), balanced=balanced, rng=rng)
        in_cells = np.array_equal(domain.encode(records, level=level), np.repeat(codes, counts))
        _require(in_cells, "round trip", f"sample_allocation returns records of level {level} in other cells or order")
    indices = rng.integers(0, codes.size, size=2 * codes.size)
    encoded = domain.encode(domain.sample_cells(CellDraws(codes, levels, indices), rng=rng), level=level)
    in_cells = np.array_equal(encoded, codes[indices])
    _require(in_cells, "round trip", f"sample_cells returns a record of level {level} in another cell")


def _check_order(domain: Domain, codes: Codes, records: NDArray[Any], level: int) -> None:
    """Compare each record with the next cell, and each cell with the next record."""
    later = domain.cell_cdf(records[1:], codes[:-1], level=level)
    earlier = domain.cell_cdf(records[:-1], codes[1:], level=level)
    _require((later == 1).all(), "order", f"cell_cdf is below 1 at level {level} for a record of a later cell")
    _require((earlier == 0).all(), "order", f"cell_cdf is above 0 at level {level} for a record of an earlier cell")
    middle = domain.cell_quantile(np.full(codes.shape, 0.5), codes, level=level)
    _require(
        np.array_equal(domain.encode(middle, level=level), codes),
        "order",
        f"the median of a cell of level {level} is in another cell",
    )


def _check_total(domain: Domain, records: list[Any]) -> None:
    deep = _encode_quietly(domain, records, domain.depth)
    for level in range(domain.depth + 1):
        codes = _encode_quietly(domain, records, level)
        inside = codes != OUTSIDE
        _require((codes[inside] < 2**level).all(), "total", f"a code exceeds {level} bits at level {level}")
        above = np.where(deep == OUTSIDE, OUTSIDE, ancestors(deep, levels=domain.depth - level))
        nested = np.array_equal(codes, above)
        _require(nested, "nesting", f"the cell of a record at level {level} does not hold its deepest cell")
    for record, code in zip(records, deep.tolist(), strict=True):
        alone = _encode_quietly(domain, [record], domain.depth).tolist()
        _require(alone == [code], "total", "the cell of a record depends on the other records of its batch")


def _encode_quietly(domain: Domain, records: list[Any], level: int) -> Codes:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            codes = domain.encode(records, level=level)
    except Exception as error:
        raise AssertionError(f"total: encode raised {error!r} for the value of a record") from error
    _require(codes.shape == (len(records),), "total", "encode does not return one code per record")
    return codes

"""The two sides of a comparison: a generator, or real records."""

from collections.abc import Mapping
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privhp.answers.distribution import Distribution
from privhp.core.cells import OUTSIDE, Codes, Floats
from privhp.domains.conversion import as_floats
from privhp.domains.domain import Domain
from privhp.errors import DomainError, QueryError, RecordsError, describe_value

Side: TypeAlias = Distribution | ArrayLike | Mapping[str, ArrayLike]
"""A distribution: a generator, or records of equal weight; those of a table by their columns."""

Number = TypeVar("Number", np.uint64, np.float64)


def common_domain(one: Side, other: Side, domain: Domain | None) -> Domain:
    """The domain of two sides: that of the generators, or the one given for records."""
    domains = [side.domain for side in (one, other) if isinstance(side, Distribution)]
    if domain is not None:
        domains.append(domain)
    if not domains:
        raise QueryError(
            f"expected a generator, or domain= for two sets of records, got {describe_value(one)} and no domain"
        )
    if not all(isinstance(known, Domain) and known == domains[0] for known in domains):
        raise DomainError("expected one domain on both sides, got several")
    return domains[0]


def cells_of(records: Any, domain: Domain, *, level: int) -> Codes:
    """The cell of each record; records without a cell are refused."""
    codes = domain.encode(records, level=level)
    if not codes.size or (codes == OUTSIDE).any():
        raise RecordsError("expected at least one record, and every record inside the domain; leave out the others")
    return np.asarray(codes)


def read_numbers(records: Any) -> Floats:
    """Finite numbers of records, at least one."""
    numbers = as_floats(records)
    if not numbers.size or not np.isfinite(numbers).all():
        raise RecordsError("expected at least one number, and finite numbers only")
    return numbers


def sorted_once(*parts: NDArray[Number]) -> NDArray[Number]:
    """Sorted distinct values; faster than NumPy's `unique`, which hashes them first."""
    values = np.sort(np.concatenate(parts), kind="stable")  # fast if the parts are sorted
    return np.extract(np.concatenate([[True], values[1:] != values[:-1]]), values)

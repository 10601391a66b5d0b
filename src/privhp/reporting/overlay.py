"""Real records counted in the bins of pictures, for comparison with a release. NOT PRIVATE."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import OUTSIDE, Codes, Floats
from privhp.core.record_counts import RecordCounts
from privhp.domains import Domain
from privhp.domains.table_column import Name
from privhp.errors import RecordsError
from privhp.reporting.variables import Variable

if TYPE_CHECKING:
    from privhp.reporting.pictures import Picture


class RealBatch:
    """A batch of real records, read as a summary reads them: records without a cell are skipped.

    Args:
        domain: Domain of the records.
        records: Records as `Summary.update` takes them.
    """

    def __init__(self, domain: Domain, records: Any) -> None:
        self._domains: dict[Name | None, Domain] = {None: domain}
        codes: dict[Name | None, Codes] = {}
        batch = domain.as_batch(records)
        valid: NDArray[np.bool_] | None = None
        if domain.columns:
            self._domains = {column.name: column.domain for column in domain.columns}
            values = iter(batch.columns)
            for column in domain.columns:
                codes[column.name] = column.encode([next(values) for _ in column.names], level=column.domain.depth)
            valid = None if batch.invalid is None else ~batch.invalid
        else:
            codes[None] = domain.encode(batch, level=domain.depth)
        inside = np.logical_and.reduce([cells != OUTSIDE for cells in codes.values()])
        if valid is not None:
            inside &= valid
        self._codes = {column: cells[inside] for column, cells in codes.items()}
        self.read, self.size = inside.size, int(np.count_nonzero(inside))

    def codes(self, column: Name | None) -> tuple[Codes, int]:
        """Cells of a column at its deepest level, and that level."""
        return self._codes[column], self._domains[column].depth

    def is_null(self, variable: Variable) -> NDArray[np.bool_]:
        """Mask of the records with null."""
        codes, depth = self.codes(variable.column)
        return variable.domain.split_null(codes, level=depth)[0]

    def values(self, variable: Variable) -> NDArray[Any]:
        """The values that are not null, to within a deepest cell."""
        codes, depth = self.codes(variable.column)
        _, inner, level = variable.domain.split_null(codes, level=depth)
        return variable.domain.inner.decode(inner, level=level, rng=np.random.default_rng(0))


class RealRecords:
    """Batches of real records, which are counted while they are read.

    Args:
        domain: Domain of the records.
        batches: Batches as `Summary.update` takes them, read once.
    """

    def __init__(self, domain: Domain, batches: Iterable[Any]) -> None:
        self._domain, self._batches = domain, batches
        self.counts = RecordCounts(0, 0)
        """Numbers of records up to now."""

    def __iter__(self) -> Iterator[RealBatch]:
        for records in self._batches:
            batch = RealBatch(self._domain, records)
            self.counts = RecordCounts(self.counts.read + batch.read, self.counts.inside + batch.size)
            yield batch


def real_shares(pictures: Sequence[Picture], real: RealRecords) -> list[Floats]:
    """Shares of real records in the bins of each picture. NOT PRIVATE."""
    counts: list[Floats] = [np.zeros(picture.shares.shape) for picture in pictures]
    for batch in real:
        for picture, total in zip(pictures, counts, strict=True):
            total += picture.count(batch)
    if not real.counts.inside:
        raise RecordsError(
            "report needs at least one real record inside the domain; check columns=, how CSV files are written, "
            "and the bounds"
        )
    return [total / real.counts.inside for total in counts]

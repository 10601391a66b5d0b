"""Real records beside a distribution, in the bins of its pictures. NOT PRIVATE."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import OUTSIDE, Codes, Floats
from privhp.domains import Domain, Table
from privhp.domains.table_column import Name
from privhp.report.parts import Part

if TYPE_CHECKING:
    from privhp.report.pictures import Picture


class Batch:
    """Some real records, read as a summary would read them: those without a cell are left out.

    Args:
        domain: Where records live.
        records: What `Summary.update` takes.
    """

    def __init__(self, domain: Domain, records: Any) -> None:
        self._domains: dict[Name | None, Domain] = {None: domain}
        codes: dict[Name | None, Codes] = {}
        batch = domain.as_batch(records)
        if isinstance(domain, Table):
            self._domains = {column.name: column.domain for column in domain.columns}
            parts = iter(batch.columns)
            for column in domain.columns:
                codes[column.name] = column.encode([next(parts) for _ in column.names], level=column.domain.depth)
            readable = batch.readable
        else:
            codes[None], readable = domain.encode(batch, level=domain.depth), None
        inside = np.logical_and.reduce([own != OUTSIDE for own in codes.values()])
        if readable is not None:
            inside &= readable
        self._codes = {column: own[inside] for column, own in codes.items()}
        self.size = int(np.count_nonzero(inside))

    def codes(self, column: Name | None) -> tuple[Codes, int]:
        """Cells of a column at its deepest level, and that level."""
        return self._codes[column], self._domains[column].depth

    def there(self, part: Part) -> NDArray[np.bool_]:
        """Which records have a value that is not null."""
        codes, depth = self.codes(part.column)
        return codes >= np.uint64(2 ** (depth - 1)) if part.nullable else np.ones(codes.shape, dtype=np.bool_)

    def values(self, part: Part) -> NDArray[Any]:
        """The values that are not null, to within a deepest cell."""
        codes, depth = self.codes(part.column)
        if part.nullable:
            codes, depth = codes[self.there(part)] & np.uint64(2 ** (depth - 1) - 1), depth - 1
        return part.domain.decode(codes, level=depth, rng=np.random.default_rng(0))


class Beside:
    """Real records counted in the bins of some pictures, as shares of all of them. NOT PRIVATE.

    Args:
        domain: Where records live.
        pictures: The pictures.
        batches: The records, read once.
    """

    def __init__(self, domain: Domain, pictures: Sequence[Picture], batches: Iterable[Any]) -> None:
        self.size = 0
        counts: list[Floats] = [np.zeros(picture.shares.shape) for picture in pictures]
        for records in batches:
            batch = Batch(domain, records)
            self.size += batch.size
            for picture, own in zip(pictures, counts, strict=True):
                own += picture.count(batch)
        self.shares = [own / max(self.size, 1) for own in counts]

"""Synthetic records in chunks, so that the memory does not depend on their number."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Iterator, Sequence
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privhp.domains import Domain
from privhp.domains.fields import OutputForm

CHUNK = 10**6
"""Rows sampled and balanced together; fixed, so that a seed determines the rows."""

Columns: TypeAlias = Sequence[tuple[OutputForm, NDArray[Any]]]
"""Columns of a chunk of rows, each with its output form."""


class Samplable(Protocol):
    """A distribution that synthetic records are sampled from, such as a generator."""

    domain: Domain

    def sample(
        self,
        n: int | None = None,
        *,
        where: Any = None,
        method: Literal["balanced", "independent"] = "balanced",
        rng: np.random.Generator | int | None = None,
        frame: Literal["numpy"] | None = None,
    ) -> Any:
        """Draw n records."""


def sample_chunks(
    distribution: Samplable,
    rows: int,
    *,
    where: Any = None,
    method: Literal["balanced", "independent"] = "balanced",
    seed: int | None = None,
) -> Iterator[Columns]:
    """Columns of at most `CHUNK` rows at a time; the same seed gives the same rows.

    Args:
        distribution: Distribution of the records.
        rows: Number of records.
        where: Region to sample in; by default everywhere.
        method: "balanced" or "independent", as for `Generator.sample`; balanced within each chunk.
        seed: Seed of the sampling.
    """
    rng = np.random.default_rng(seed)
    for start in range(0, rows, CHUNK):
        size = min(CHUNK, rows - start)
        records = distribution.sample(size, where=where, method=method, rng=rng, frame="numpy")
        yield as_columns(distribution.domain, records)


def as_columns(domain: Domain, sample: Any) -> Columns:
    """Columns of a sample, each with its output form."""
    if isinstance(sample, dict):
        columns = [sample[name] for name in domain.value_names]
    else:
        columns = list((sample[:, None] if sample.ndim == 1 else sample).T)
    return list(zip(domain.output_forms(), columns, strict=True))

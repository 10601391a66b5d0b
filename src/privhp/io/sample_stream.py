"""Synthetic records as an Arrow stream, which data frame libraries and databases read without a file."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Iterator
from typing import Any, Literal

from privhp.io.frames import arrow_batch
from privhp.io.optional import import_pyarrow
from privhp.io.sample_chunks import Columns, Samplable, as_columns, sample_chunks


class SampleStream:
    """Synthetic records that DuckDB, polars, pandas and pyarrow read directly.

    It has Arrow's PyCapsule interface. Records are sampled while they are read, a
    million at a time, so the memory does not depend on their number. Each reading
    yields the same records. Requires pyarrow.
    """

    def __init__(
        self,
        distribution: Samplable,
        rows: int,
        *,
        where: Any,
        method: Literal["balanced", "independent"],
        seed: int,
    ) -> None:
        """Check the region and the method; nothing is sampled yet.

        Args:
            distribution: Distribution of the records.
            rows: Number of records.
            where: Region to sample in; None for everywhere.
            method: "balanced" or "independent", as for `Generator.sample`; balanced within each million rows.
            seed: Seed of the sampling.
        """
        self._distribution, self._rows, self._where, self._method, self._seed = distribution, rows, where, method, seed
        self._pa = import_pyarrow("an Arrow stream")
        example = distribution.sample(0, where=where, method=method, frame="numpy")
        self._schema = self._batch(as_columns(distribution.domain, example)).schema

    def __len__(self) -> int:
        return self._rows

    def __arrow_c_schema__(self) -> object:
        """Arrow schema of the records, as a PyCapsule."""
        return self._schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Arrow stream of the records, as a PyCapsule."""
        reader = self._pa.RecordBatchReader.from_batches(self._schema, self._batches())
        return reader.__arrow_c_stream__(requested_schema)

    def _batches(self) -> Iterator[Any]:
        chunks = sample_chunks(self._distribution, self._rows, where=self._where, method=self._method, seed=self._seed)
        return map(self._batch, chunks)

    def _batch(self, columns: Columns) -> Any:
        return arrow_batch(self._pa, self._distribution.domain.value_names, columns)

"""Synthetic records of a partition of a domain with estimated counts.

Samples are post-processing of a release: they incur no further privacy loss.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from privhp.answers.histogram import Histogram
from privhp.answers.leaves import Leaves
from privhp.answers.regions import mass
from privhp.answers.sampling import RegionSampler, Sampler
from privhp.core.cells import Floats
from privhp.domains.domain import Domain
from privhp.errors import QueryError

if TYPE_CHECKING:  # imported when they are asked for
    from privhp.io.frames import Frame
    from privhp.io.sample_stream import SampleStream

Method = Literal["balanced", "independent"]


class SyntheticRecords:
    """Records sampled from a partition of a domain with a probability for each leaf, and the base measure inside it.

    Attributes:
        domain: Domain of the records.
        frame: Library of the data frames that `sample` returns for a `Table` by default: that of the fitted data
            frame; None for a dict of arrays.
    """

    frame: Frame | None

    def __init__(self, domain: Domain, leaves: Leaves) -> None:
        """Take the leaves of a partition with their counts.

        Args:
            domain: Domain of the records.
            leaves: Partition of the domain, with the count of each leaf.
        """
        self.domain, self._leaves = domain, leaves
        self.frame = None

    @property
    def total(self) -> float:
        """Estimated number of records, non-negative."""
        return float(self._leaves.counts.sum())

    def leaves(self) -> Leaves:
        """The partition: code, level and count of each leaf, or of its parts, in the order of the domain."""
        return self._leaves

    @cached_property
    def probabilities(self) -> Floats:
        """Probability of each leaf; its base measure if the estimated total is 0."""
        shares = self._leaves.counts / self.total if self.total > 0 else self._leaves.measure(self.domain)
        shares.flags.writeable = False
        return shares

    @cached_property
    def _histogram(self) -> Histogram:
        return Histogram(self.domain, self._leaves.codes, self._leaves.levels, self.probabilities)

    @cached_property
    def _sampler(self) -> Sampler:
        return Sampler(self._histogram)

    def sample(
        self,
        n: float | None = None,
        *,
        where: Any = None,
        method: Method = "balanced",
        shuffle: bool = True,
        rng: np.random.Generator | int | None = None,
        out: NDArray[Any] | None = None,
        frame: Frame | Literal["numpy"] | None = None,
    ) -> Any:
        """Sample synthetic records.

        Records of a `Table` come as the kind of data frame that was fitted, and
        as a dict of arrays after `load` or a fit of anything else; nullable
        columns of the dict are masked arrays. Other records come as an array.
        `sample(1000, frame="pandas")` is always a data frame.

        Args:
            n: Number of records, such as 1000 or 1e6; by default the estimated number of records, in the region if
                there is one.
            where: Region to sample in, as for `mass`; the records follow the conditional distribution given the
                region.
            method: "balanced" is systematic sampling: each cell gets its expected number of records to within
                one, so the sample is as close to the generator as n records can be. "independent" draws
                independent records.
            shuffle: Whether the records are in random order; leaf by leaf is faster.
            rng: NumPy generator or seed of the sampling, unrelated to the privacy noise; by default a fresh one.
                The same seed gives the same records with the same kernels.
            out: Array of length n to fill and return, of the type of the domain's `decode`; n is then optional.
            frame: "pandas", "polars" or "pyarrow" for a data frame of that library, "numpy" for arrays.
        """
        if method not in get_args(Method):
            raise QueryError(f'expected method="balanced" or method="independent", got {method!r}')
        if frame not in (None, "numpy") and out is not None:
            raise QueryError("frame= makes a new data frame and out= fills an array; leave out one of them")
        frame = self.frame if frame is None and self.domain.columns else frame
        sampler, expected = self._sampler, self.total
        if where is not None:
            sampler = conditioned = RegionSampler(self._histogram, where)
            expected *= conditioned.mass
        size = _as_rows((round(expected) if out is None else len(out)) if n is None else n)
        if out is not None:
            self._check_out(out, size)
        rng = np.random.default_rng(rng)
        records = sampler.sample(size, balanced=method == "balanced", shuffle=shuffle, rng=rng, out=out)
        if out is not None:
            return records
        output = self.domain.to_output(records)
        if frame is None or frame == "numpy":
            return output
        from privhp.io.frames import as_frame
        from privhp.io.sample_chunks import as_columns

        names, (forms, columns) = self.domain.value_names, zip(*as_columns(self.domain, output), strict=True)
        return as_frame(dict(zip(names, columns, strict=True)), frame, forms=dict(zip(names, forms, strict=True)))

    def stream(
        self,
        n: float | None = None,
        *,
        where: Any = None,
        method: Method = "balanced",
        rng: np.random.Generator | int | None = None,
    ) -> SampleStream:
        """Synthetic records as an Arrow stream, which DuckDB, polars, pandas and pyarrow read directly.

        Records are sampled while they are read, a million at a time, so that n may
        exceed the memory. Each reading of the stream yields the same records, those
        of `privhp sample --seed` if `rng` is that seed. The generator itself can be
        read in the same way; it is the stream of its estimated number of records
        with the seed 0. Requires pyarrow.

        Args:
            n: Number of records, such as 1000 or 1e6; by default the estimated number of records, in the region if
                there is one.
            where: Region to sample in, as for `sample`.
            method: "balanced" or "independent", as for `sample`; balanced within each million records.
            rng: NumPy generator or seed of the sampling; by default a fresh one.
        """
        from privhp.io.sample_stream import SampleStream

        share = 1.0 if where is None or n is not None else mass(self._histogram, where)
        size = _as_rows(round(self.total * share) if n is None else n)
        seed = rng if isinstance(rng, int) else int(np.random.default_rng(rng).integers(2**63))
        return SampleStream(self, int(size), where=where, method=method, seed=seed)

    def __arrow_c_schema__(self) -> object:
        """Arrow schema of the synthetic records, as a PyCapsule."""
        return self.stream(0, rng=0).__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Arrow stream of as many synthetic records as the estimated number of records, as a PyCapsule."""
        return self.stream(rng=0).__arrow_c_stream__(requested_schema)

    def _check_out(self, out: NDArray[Any], size: int) -> None:
        """Raise a QueryError for an array that cannot hold the records."""
        shape, dtype = (size, *self._example.shape[1:]), self._example.dtype
        if (out.shape, out.dtype) != (shape, dtype) or not out.flags.c_contiguous or not out.flags.writeable:
            raise QueryError(f"expected out as a writeable, contiguous array of {dtype} of shape {shape}")

    @cached_property
    def _example(self) -> NDArray[Any]:
        """A record, for its shape and type."""
        return self.domain.decode(np.zeros(1, dtype=np.uint64), level=0, rng=np.random.default_rng(0))


def _as_rows(size: Any) -> int:
    """A number of records as an `int`; a whole float is one."""
    whole = isinstance(size, int | np.integer) or (isinstance(size, float | np.floating) and size.is_integer())
    if isinstance(size, bool) or not whole or size < 0:
        raise QueryError(f"expected a whole, non-negative number of records to sample, got {size!r}")
    return int(size)

"""Poisson samples: each row is taken by its own coin.

A sample makes learning cheap in epsilon only if the coins are secret and
independent of each other and of the records. So every row of every pass has a
fresh byte of its own, which nothing stores; there is no seed.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.collect.entropy import random_bytes
from privhp.domains import Domain
from privhp.domains.column import Column
from privhp.domains.column_batch import ColumnBatch
from privhp.errors import PlanError

_BLOCK = 1 << 16  # coins per block: bounds memory, and small arrays stay in the cache


def poisson_sample(rows: int, rate: Fraction) -> NDArray[np.intp]:
    """Indices of the rows taken, in order, each independently with probability `rate`. Confidential.

    Args:
        rows: Number of rows, skipped ones included.
        rate: Sampling rate, a multiple of 1/256 above 0 and at most 1.
    """
    if not (isinstance(rate, Fraction | int) and 0 < rate <= 1 and 256 % Fraction(rate).denominator == 0):
        raise PlanError(f"expected a sampling rate above 0 and at most 1, a Fraction k/256, got {rate!r}")
    last = np.uint8(256 * rate - 1)
    taken = [
        np.flatnonzero(random_bytes(min(rows - start, _BLOCK)) <= last) + start for start in range(0, rows, _BLOCK)
    ]
    return np.concatenate(taken) if taken else np.zeros(0, dtype=np.intp)


def sample_batch(domain: Domain, records: Any, rate: Fraction) -> Any:
    """The rows of a batch that their coins take, as a batch; the others are never encoded.

    Args:
        domain: Domain of the records.
        records: A batch, as a summary takes it.
        rate: Sampling rate; see `poisson_sample`.
    """
    batch = domain.as_batch(records)
    if not isinstance(batch, Column | ColumnBatch | np.ndarray):
        batch = Column(list(batch))
    return batch[poisson_sample(len(batch), rate)]

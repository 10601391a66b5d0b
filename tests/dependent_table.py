"""A table with many columns, one of which decides another, and a release of it."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import privhp as hp

KINDS = ["free", "paid", "team"]
TABLE = hp.Table(
    kind=hp.Categories(KINDS),
    visits=hp.Integers(0, 63),
    other=hp.Interval(0, 1),
    **{f"more{number}": hp.Interval(0, 1) for number in range(5)},
)


def records(seed: int = 0, size: int = 40_000) -> dict[str, NDArray[Any]]:
    """Visits that the kind decides, and six columns that nothing depends on."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(3, size, p=[0.5, 0.3, 0.2])
    visits = rng.integers(0, 21, size) + 21 * kind
    return {"kind": np.array(KINDS)[kind], "visits": visits} | {
        column.label: rng.random(size) for column in TABLE.columns[2:]
    }


@cache
def fitted() -> hp.Generator:
    with pytest.warns(hp.PrivhpWarning, match="told apart"):
        return hp.fit(records(), TABLE, epsilon=1, expected_records=40_000, memory="256 KiB")

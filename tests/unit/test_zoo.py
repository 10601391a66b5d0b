"""The zoo of the accuracy benchmark: enough streams, each reproducible and inside its domain."""

import numpy as np
import pytest
from benchmarks import zoo

from privhp.core.cells import OUTSIDE


def test_zoo_has_streams_of_every_kind() -> None:
    assert len(zoo.available()) >= 24
    assert min(len(zoo.LINES), len(zoo.PLANES), len(zoo.TABLES)) >= 3


@pytest.mark.parametrize("name", zoo.available())
def test_stream_is_reproducible_and_inside_its_domain(name: str) -> None:
    stream, same, other = (zoo.load(name, records=500, seed=seed) for seed in (1, 1, 2))
    assert len(stream) == 500
    assert np.array_equal(stream.records, same.records)
    assert not np.array_equal(stream.records, other.records)
    codes = stream.domain.encode(stream.records, level=stream.domain.depth)
    assert not np.any(codes == OUTSIDE)

"""Files of records of a custom domain."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import privhp as hp
from privhp.io.sources import open_source

NAMES = ("Basel", "Bern", "Chur", "Zürich")


class Stations(hp.Domain):
    """Four stations, the two halves of the alphabet split first."""

    kind, depth = "test-stations", 2

    def encode(self, records: Any, *, level: int) -> Any:
        codes = [NAMES.index(name) >> (self.depth - level) if name in NAMES else hp.OUTSIDE for name in records]
        return np.array(codes, dtype=np.uint64)

    def decode(self, codes: Any, *, level: int, rng: Any) -> Any:
        width = 1 << (self.depth - level)
        return np.array(NAMES)[codes.astype(np.int64) * width + rng.integers(0, width, codes.size)]

    def diameter(self, level: int) -> float:
        return float(self.depth - level)

    def parameters(self) -> dict[str, Any]:
        return {}


def write_ndjson(table: pa.Table, path: Path) -> None:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in table.to_pylist()))


WRITERS: dict[str, Callable[[pa.Table, Path], object]] = {
    "csv": csv.write_csv,
    "parquet": parquet.write_table,
    "ndjson": write_ndjson,
}


@pytest.fixture(params=WRITERS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file of 400 journeys, one in five from an unknown station."""
    stations = ["Bern", "Chur", "Zürich", "Zürich", "nowhere"] * 80
    table = pa.table({"from": stations, "price": np.arange(400) % 10})
    path = tmp_path / f"journeys.{request.param}"
    WRITERS[request.param](table, path)
    return path


def counts(data: Path, domain: hp.Domain, columns: Sequence[str] | None = None) -> np.ndarray:
    """Number of records in each cell of the deepest level."""
    source = open_source(data, domain=domain, columns=columns)
    codes = np.concatenate([domain.encode(batch.records, level=domain.depth) for batch in source.batches()])
    return np.bincount(codes[codes != hp.OUTSIDE].astype(np.int64), minlength=2**domain.depth)


def test_custom_domain(path: Path) -> None:
    assert counts(path, Stations(), ["from"]).tolist() == [0, 80, 80, 160]


def test_custom_domain_in_table(path: Path) -> None:
    table = hp.Table({"from": Stations(), "price": hp.Integers(0, 9)})
    assert counts(path, table).sum() == 320


def test_fit_of_custom_domain(path: Path) -> None:
    generator = hp.fit(path, Stations(), epsilon=50, expected_records=400, columns=["from"])
    stations, found = np.unique(generator.sample(1000, rng=1), return_counts=True)
    assert dict(zip(stations.tolist(), found, strict=True))["Zürich"] == pytest.approx(500, abs=30)

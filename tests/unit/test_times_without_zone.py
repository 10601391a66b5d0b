"""Columns of times without a zone where the domain declares one, or with one where it declares none."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import privhp as hp
from privhp.domains.time_zones import zone_of_type

TIMES = (np.datetime64("2023-02-01") + np.arange(50).astype("m8[h]")).astype("M8[us]")
ZONED = hp.Time("2023-02-01", "2023-02-10T23:59:59", zone="America/Sao_Paulo")
IN_UTC = hp.Time("2023-02-01", "2023-02-10T23:59:59")


def frame_of(kind: str, *, folder: Path, aware: bool = True, zone: str = "UTC") -> Any:
    table = pa.table({"seen": pa.array(TIMES, pa.timestamp("us", tz=zone if aware else None))})
    if kind == "parquet":
        parquet.write_table(table, folder / "a.parquet")
        return folder / "a.parquet"
    if kind == "pandas":
        return table.to_pandas()
    return pl.from_arrow(table) if kind == "polars" else table


def notes(data: Any, domain: hp.Domain) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        hp.fit(data, hp.Table(seen=domain), epsilon=1, expected_records=50)
    return [str(one.message) for one in caught if " a zone" in str(one.message)]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "parquet"])
def test_warning_of_times_without_a_zone(kind: str, tmp_path: Path) -> None:
    (note,) = notes(frame_of(kind, aware=False, folder=tmp_path), ZONED)
    assert note.startswith("column 'seen' has times without a zone")
    assert "read as UTC, not in the zone of the domain, America/Sao_Paulo" in note
    assert not notes(frame_of(kind, aware=True, folder=tmp_path), ZONED)
    assert not notes(frame_of(kind, aware=False, folder=tmp_path), IN_UTC)


def test_arrays_are_utc() -> None:
    assert not notes({"seen": TIMES}, ZONED)


ZONES = [(kind, "America/New_York") for kind in ("pandas", "polars", "arrow", "parquet")]
OFFSETS = [(kind, "+02:00") for kind in ("pandas", "arrow", "parquet")]


@pytest.mark.parametrize(("kind", "zone"), ZONES + OFFSETS)
def test_warning_of_times_in_a_zone_that_the_domain_does_not_declare(kind: str, zone: str, tmp_path: Path) -> None:
    (note,) = notes(frame_of(kind, zone=zone, folder=tmp_path), IN_UTC)
    assert note.startswith("column 'seen' has times in a zone")
    assert f"bounds, regions and samples are in UTC; declare zone={zone!r}" in note
    for declared in (
        hp.Time("2023-02-01", "2023-02-10T23:59:59", zone=zone),
        hp.Time("2023-02-01", "2023-02-10", unit="D"),
    ):
        assert not notes(frame_of(kind, zone=zone, folder=tmp_path), declared)
    assert not notes(frame_of(kind, folder=tmp_path), IN_UTC)


@pytest.mark.parametrize(
    ("type_name", "zone"),
    [
        ("datetime64[us]", None),
        ("timestamp[us]", None),
        ("Sparse[datetime64[us]]", None),
        ("datetime64[us, UTC]", "UTC"),
        ("datetime64[us, Etc/UTC]", "UTC"),
        ("timestamp[ns, tz=+00:00]", "UTC"),
        ("datetime64[us, UTC+02:00]", "+02:00"),
        ("datetime64[ns, pytz.FixedOffset(-90)]", "-01:30"),
        ("timestamp[us, tz=Europe/Berlin][pyarrow]", "Europe/Berlin"),
        ("datetime64[us, tzfile('/usr/share/zoneinfo/Europe/Berlin')]", ""),
        ("timestamp[us, tz=UTC+2]", ""),
    ],
)
def test_zones_of_types(type_name: str, zone: str | None) -> None:
    assert zone_of_type(type_name) == zone


def test_zones_that_cannot_be_declared_or_printed(tmp_path: Path) -> None:
    (note,) = notes(frame_of("parquet", zone="x\n\x1b[31m", folder=tmp_path), IN_UTC)
    assert note.isprintable()
    assert "declare its zone if they are local" in note


def test_fill_values_are_not_quoted() -> None:
    """A fill value may be the most frequent record."""
    sparse = pd.arrays.SparseArray(TIMES, fill_value=TIMES[7])
    (note,) = notes(pd.DataFrame({"seen": sparse}), ZONED)
    assert "(Sparse[datetime64[us]])" in note

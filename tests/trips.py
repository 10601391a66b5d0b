"""A table of trips with columns of many kinds, as a file of any format."""

import gzip
import io
import json
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import feather, ipc, parquet

import privhp as hp

ROWS = 5000
DOMAIN = hp.Table(
    {
        "pickup": hp.Time("2018-01-01", "2020-12-31"),
        "day": hp.Nullable(hp.Time("2018-01-01", "2020-12-31", unit="D")),
        "fare": hp.Interval(0, 100),
        "delay": hp.Nullable(hp.Integers(-120, 1440)),
        ("lon", "lat"): hp.Box([(-9, 2), (49, 61)]),
        "kind": hp.Categories(["bus", "tram", "taxi"]),
        "source": hp.IPv4(),
    }
)


def table(rows: int = ROWS) -> pa.Table:
    """A table with an unselected column, nulls, and values out of bounds."""
    rng = np.random.default_rng(0)
    pickup = np.datetime64("2018-01-01") + rng.integers(0, 10**8, rows).astype("m8[s]")
    delay = rng.integers(-200, 1500, rows)
    return pa.table(
        {
            "unused": pa.array(["x" * 50] * rows),
            "pickup": pickup.astype("M8[us]"),
            "day": pa.array(pickup.astype("M8[D]"), mask=rng.random(rows) < 0.2),
            "fare": pa.array(rng.normal(50, 30, rows), mask=rng.random(rows) < 0.1),
            "delay": pa.array(delay, mask=rng.random(rows) < 0.3),
            "lon": rng.uniform(-10, 3, rows),
            "lat": rng.uniform(48, 62, rows),
            "kind": rng.choice(["bus", "tram", "taxi", "horse"], rows),
            "source": [f"10.{place % 256}.0.1" for place in range(rows)],
        }
    )


def write_table_to(folder: Path, name: str, rows: int = ROWS) -> Path:
    """Write the table to a file in the format of its suffix."""
    path = folder / name
    path.write_bytes(content_of(name.partition(".")[2], rows))
    return path


@cache
def content_of(suffix: str, rows: int) -> bytes:
    """Content of a file of the table, made once for each suffix."""
    data, file = table(rows), io.BytesIO()
    match suffix.split("."):
        case ["csv", *compression]:
            text = data.to_pandas().astype({"delay": "Int64"}).to_csv(index=False)
            return compressed(text.encode(), compression)
        case ["ndjson" | "jsonl", *compression]:
            lines = [json.dumps(row, default=str) + "\n" for row in data.to_pylist()]
            return compressed("".join(lines).encode(), compression)
        case ["parquet"]:
            parquet.write_table(data, file, row_group_size=3000)
        case ["feather"]:
            feather.write_feather(data, file, chunksize=3000)
        case ["arrow"]:
            with ipc.new_file(file, data.schema) as writer:
                writer.write_table(data)
        case _:
            with ipc.new_stream(file, data.schema) as writer:
                writer.write_table(data, max_chunksize=3000)
    return file.getvalue()


def compressed(content: bytes, compression: list[str]) -> bytes:
    match compression:
        case ["gz"]:
            return gzip.compress(content)
        case ["zst"]:
            return bytes(pa.Codec("zstd").compress(content, asbytes=True))
    return content


NAMES = ["a.csv", "a.csv.gz", "a.csv.zst", "a.ndjson", "a.jsonl.gz", "a.parquet", "a.feather", "a.arrow", "a.arrows"]

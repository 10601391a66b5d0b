"""Decimals with a step on the command line: from CSV to CSV."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

PLAN = ("--epsilon", "1", "--expected-records", "2e4")


@pytest.fixture
def fares(run, tmp_path):
    """A release of fares in cents of which 40% are 19.99."""
    rng = np.random.default_rng(8)
    cents = rng.integers(0, 5000, 20_000)
    cents[:8000] = 1999
    (tmp_path / "fares.csv").write_text("fare\n" + "".join(f"{own // 100}.{own % 100:02}\n" for own in cents))
    assert run("fit", "fares.csv", "--domain", "fare=interval:0:1000:step=0.01", *PLAN, "-o", "fares.privhp").code == 0
    return "fares.privhp"


def test_samples_are_written_as_decimals(run, fares):
    assert run("sample", fares, "-n", "5000", "-o", "out.csv").code == 0
    texts = Path("out.csv").read_text().splitlines()[1:]
    assert all(re.fullmatch(r"\d+\.\d{1,2}", text) for text in texts)
    assert texts.count("19.99") / len(texts) == pytest.approx(0.4, abs=0.03)
    assert run("sample", fares, "-n", "100", "-o", "out.ndjson").code == 0
    lines = Path("out.ndjson").read_text().splitlines()
    assert all(json.loads(line)["fare"] == round(json.loads(line)["fare"], 2) for line in lines)
    assert run("sample", fares, "-n", "100", "-o", "out.parquet").code == 0
    values = parquet.read_table("out.parquet")["fare"]
    assert values.type == pa.float64()
    assert all(value == round(value, 2) for value in values.to_pylist())


def test_queries(run, refused, fares):
    answer = run("query", fares, "--where", "fare = 19.99", "--json")
    assert answer.code == 0
    assert "fare = 19.99" in run("query", fares, "--heavy-hitters", "0.3").out
    assert "not a possible value" in refused("query", fares, "--where", "fare = 19.995")
    assert run("report", fares, "-o", "fares.html").code == 0


def test_messages(refused):
    plan = ("--domain", "fare=interval:0:1000:step=0.3", *PLAN)
    assert "column 'fare': expected bounds of the interval that are a whole number of steps apart" in refused(
        "plan", *plan
    )


def test_init_proposes_the_step_of_decimals(run, tmp_path):
    table = pa.table({"fare": pa.array([], pa.decimal128(9, 2)), "x": pa.array([], pa.float64())})
    parquet.write_table(table, tmp_path / "fares.parquet")
    assert run("init", "fares.parquet", "-o", "fares.toml").code == 0
    text = Path("fares.toml").read_text()
    assert '\nstep = "0.01"\n' in text.partition("[columns.x]")[0]
    assert '\n# step = "0.01"' in text.partition("[columns.x]")[2]

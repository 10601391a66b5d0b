"""A geo domain without column names: longitude and latitude from fit to report."""

import contextlib
import csv
import json

import numpy as np
import pytest

from pages import Reader, coarse_pictures
from privhp.cli import main

GEO = ["--domain", "geo:-9:49.8:2:61"]
PLAN = ["--epsilon", "1", "--expected-records", "5e3"]


RNG = np.random.default_rng(0)
PLACES = np.column_stack([RNG.normal(-0.1, 0.3, 5000), RNG.normal(51.5, 0.2, 5000)])
"""Places around London."""


@pytest.fixture(scope="module", params=["header", "no header", "npy"])
def fitted(request, tmp_path_factory):
    """A release of the places, from data with and without column names."""
    folder = tmp_path_factory.mktemp("places")
    if request.param == "npy":
        np.save(folder / "places.npy", PLACES)
        options = ["places.npy"]
    else:
        header = "longitude,latitude\n" * (request.param == "header")
        (folder / "places.csv").write_text(header + "".join(f"{lon},{lat}\n" for lon, lat in PLACES))
        options = ["places.csv", *["--no-header"] * (not header)]
    with contextlib.chdir(folder):
        assert main(["fit", *options, *GEO, *PLAN, "-o", "places.privhp", "--quiet"]) == 0
    return folder / "places.privhp"


@pytest.fixture
def places(run, fitted, tmp_path):
    """The places; their release is in the folder."""
    (tmp_path / "places.privhp").symlink_to(fitted)
    return PLACES


@pytest.mark.parametrize(
    ("header", "options", "read"),
    [
        ("", ["--no-header"], "the first column as longitude and the second as latitude"),
        ("Rechts,Hoch\n", [], "the first column as longitude and the second as latitude"),
        ("a,b\n", ["--columns", "b,a"], "column 'b' as longitude and column 'a' as latitude"),
        (
            "id,a,b\n",
            ["--person", "id"],
            "the first column as longitude and the second as latitude, of those without 'id'",
        ),
    ],
)
def test_columns_that_are_read(run, tmp_path, header, options, read):
    """A header may be a record, so it is not quoted."""
    prefix = "1," * header.startswith("id")
    (tmp_path / "places.csv").write_text(header + f"{prefix}-0.1,51.5\n" * 100)
    fit = ["fit", "places.csv", *options, *GEO, "--epsilon", "100", "--expected-records", "100"]
    assert f"note: reads {read}\n" in run(*fit, "-o", "a.privhp").out
    assert run(*fit, "-o", "b.privhp", "--quiet").out == ""
    assert f"note: reads {read}\n" in run("learn", *fit[1:], "-o", "c.json").out


@pytest.mark.parametrize(
    "header", ["y,x", "Breite,Länge", "geo_breite,geo_laenge", "latitud,longitud", "pickupLat,pickupLon"]
)
def test_latitude_first(refused, tmp_path, header):
    (tmp_path / "places.csv").write_text(f"{header}\n51.5,-0.1\n")
    says = "a point of geo is a longitude and a latitude, and its columns are named the other way round"
    assert says in refused("fit", "places.csv", *GEO, *PLAN, "-o", "a.privhp")
    assert says in refused("fit", "places.csv", "--columns", header, *GEO, *PLAN, "-o", "a.privhp")


@pytest.mark.parametrize("header", ["x,y", "Länge,Breite", "lon_y,lat_x", "lon,lat", "long_x,lat_x"])
def test_longitude_first(run, tmp_path, header):
    (tmp_path / "places.csv").write_text(f"{header}\n" + "-0.1,51.5\n" * 100)
    assert run("fit", "places.csv", *GEO, *PLAN, "-o", "a.privhp").code == 0


def test_sample(run, places, tmp_path):
    assert run("sample", "places.privhp", "-n", "1000", "--seed", "1", "-o", "synthetic.csv").code == 0
    with open(tmp_path / "synthetic.csv") as file:
        header, *rows = csv.reader(file)
    assert header == ["longitude", "latitude"]
    assert np.abs(np.array(rows, dtype=float).mean(axis=0) - places.mean(axis=0)).max() < 0.2


def test_sample_ndjson(run, places):
    assert run("sample", "places.privhp", "-n", "5", "-o", "rows.ndjson").code == 0
    with open("rows.ndjson") as file:
        assert {tuple(json.loads(line)) for line in file} == {("longitude", "latitude")}


def test_query(run, places):
    where = "longitude,latitude in -1:51:1:52"
    code, out, err = run("query", "places.privhp", "--where", where, "--json")
    assert (code, err) == (0, "")
    truth = np.mean((np.abs(places) <= [1, 52]).all(axis=1) & (places[:, 1] >= 51))
    assert json.loads(out)["share"] == pytest.approx(truth, abs=0.05)


def test_heavy_hitters(run, places):
    """Printed conditions name longitude and latitude, and --where reads them back."""
    code, out, _ = run("query", "places.privhp", "--heavy-hitters", "0.2", "--json")
    assert code == 0
    hitters = [json.loads(line) for line in out.splitlines()]
    named = [one for one in hitters if one["heavy_hitter"] != "everything"]
    assert named
    assert all(one["heavy_hitter"].startswith("longitude,latitude in ") for one in named)
    code, out, _ = run("query", "places.privhp", "--where", named[-1]["heavy_hitter"], "--json")
    assert code == 0
    assert json.loads(out)["share"] == pytest.approx(named[-1]["share"], abs=1e-3)


def test_unknown_name(refused, places):
    line = refused("query", "places.privhp", "--where", "lon,lat in -1:51:1:52")
    assert "longitude,latitude" in line
    assert "--columns lon,lat" in line


@pytest.mark.parametrize(
    "fitted", ["npy", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("header", "no header"))], indirect=True
)
def test_report(run, places, tmp_path):
    with coarse_pictures():
        assert run("report", "places.privhp", "-o", "places.html").code == 0
    text = Reader((tmp_path / "places.html").read_text()).text
    assert "longitude" in text
    assert "latitude" in text
    assert "x1" not in text

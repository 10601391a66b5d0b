"""`privhp compare`: distances of the library, with a label that they are not private."""

import json
import re
from functools import partial

import numpy as np
import pytest

import privhp as hp
from cli.running import PLAN
from privhp.evaluate import comparison

DOMAIN = ["--columns", "fare", "--domain", "interval:0:1000"]


@pytest.fixture
def files(run, tmp_path):
    """Real records with two invalid ones, the same records shifted by 7, and a release."""
    rng = np.random.default_rng(0)
    real = rng.uniform(0, 500, 4000)
    (tmp_path / "real.csv").write_text("fare\nnone\n-5\n" + "\n".join(map(str, real)))
    (tmp_path / "other.csv").write_text("fare\n" + "\n".join(map(str, real + 7)))
    assert run("fit", "real.csv", "--columns", "fare", *PLAN, "-o", "real.privhp").code == 0
    return real


def distances(run, *arguments):
    code, out, err = run("compare", *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_two_files_of_records(run, files):
    found = distances(run, "real.csv", "other.csv", *DOMAIN)
    assert found["private"] is False
    assert found["real"] == {"read": 4002, "inside": 4000}
    assert found["distances"]["wasserstein"] == pytest.approx(7, abs=1e-6)
    assert found["distances"]["tree_wasserstein"] == pytest.approx(
        hp.tree_wasserstein(files, files + 7, domain=hp.Interval(0, 1000)), rel=1e-6
    )
    assert 0 < found["baseline"]["wasserstein"] < 30
    assert found["distances"]["range_error_mean"] <= found["distances"]["range_error_worst"]


def test_baseline_of_ordered_records(run, tmp_path):
    rng = np.random.default_rng(0)
    real = rng.uniform(0, 1000, 4000)
    chance = [
        hp.wasserstein(mixed[::2], mixed[1::2], domain=hp.Interval(0, 1000))
        for mixed in (rng.permutation(real) for _ in range(50))
    ]
    for name, ordered in (("sorted", np.sort(real)), ("in turns", np.sort(real).reshape(2, -1).T.reshape(-1))):
        (tmp_path / "real.csv").write_text("fare\n" + "\n".join(map(str, ordered)))
        found = distances(run, "real.csv", "real.csv", *DOMAIN)["baseline"]["wasserstein"]
        assert min(chance) / 2 < found < 2 * max(chance), name


def test_records_and_release(run, files):
    found = distances(run, "real.csv", "real.privhp", "--columns", "fare")
    expected = hp.wasserstein(hp.load("real.privhp"), files)
    assert found["distances"]["wasserstein"] == pytest.approx(expected, rel=1e-6)
    assert distances(run, "real.csv", "real.privhp", *DOMAIN) == found
    assert distances(run, "real.privhp", "real.csv", "--columns", "fare") == found


def test_not_private_label(run, files):
    out = run("compare", "real.csv", "real.privhp", "--columns", "fare").out
    assert out.startswith("NOT PRIVATE: ")
    assert re.search(r"^ *distance   baseline \(real vs real\)   metric$", out, flags=re.MULTILINE)
    assert out.splitlines()[1] == "real: 4,002 records read, 4,000 inside the domain"
    assert out.count("\n") == 8


def test_few_real_records(run, files, tmp_path):
    """Advice, if most records of a file are outside the domain, as with other options than those of the fit."""
    advice = ": fewer than half, so check that the columns and the options of CSV files are those of the fit"
    for count, end in ((4, ""), (5, advice)):
        (tmp_path / "few.csv").write_text("fare\n" + "5\n" * 4 + "5,5\n" * count)
        out = run("compare", "few.csv", "real.privhp", "--columns", "fare").out
        assert out.splitlines()[1] == f"real: {4 + count} records read, 4 inside the domain{end}"
    assert run("report", "real.privhp", "--against", "few.csv", "-o", "few.html").out.endswith(f"{advice}\n")


def test_two_releases(run, files):
    code, out, err = run("compare", "real.privhp", "real.privhp")
    assert (code, err) == (0, "")
    assert out.startswith("Both sides are releases, so the comparison is as private as they are.")
    assert "NOT PRIVATE" not in out
    assert distances(run, "real.privhp", "real.privhp")["private"] is True


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (
            ["--domain", "box:0:1,0:1", "--columns", "a,b"],
            {"grid_wasserstein", "range_error_mean", "range_error_worst"},
        ),
        (["--domain", "ipv4", "--columns", "c"], {"range_error_mean", "range_error_worst"}),
        (["--domain", "a=interval:0:1", "--domain", "d=categories:x,y:nullable"], set()),
        (["--domain", "time:2024-01-01:2024-12-31", "--columns", "e"], {"range_error_mean", "range_error_worst"}),
        (["--domain", "geo", "--columns", "a,b"], set()),
    ],
)
def test_metrics_of_domains(run, tmp_path, monkeypatch, columns, names):
    monkeypatch.setattr(comparison, "grid_wasserstein", partial(hp.grid_wasserstein, cells=9))  # for speed
    rng = np.random.default_rng(0)
    for name in ("one.csv", "other.csv"):
        rows = [
            f"{a},{b},10.0.0.{place % 8},{'x' if place % 3 else ''},2024-0{1 + place % 9}-01"
            for place, (a, b) in enumerate(rng.random((300, 2)))
        ]
        (tmp_path / name).write_text("a,b,c,d,e\n" + "\n".join(rows))
    found = distances(run, "one.csv", "other.csv", *columns)["distances"]
    assert set(found) == names | {"tree_wasserstein"}
    assert all(value >= 0 for value in found.values())
    same = distances(run, "one.csv", "one.csv", *columns)["distances"]
    assert all(value < 1e-6 for value in same.values())


def test_errors(refused, files, tmp_path):
    (tmp_path / "empty.csv").write_text("fare\n")
    assert "give --domain" in refused("compare", "real.csv", "other.csv")
    assert "different domains" in refused("compare", "real.csv", "real.privhp", "--domain", "ipv4")
    assert "cannot use nope.privhp: No such file" in refused("compare", "real.csv", "nope.privhp")
    assert "cannot use no.csv" in refused("compare", "real.csv", "no.csv", *DOMAIN)
    assert "at least two records inside the domain; check --columns" in refused(
        "compare", "real.csv", "empty.csv", *DOMAIN
    )
    assert "to name a column 'toll'" in refused("compare", "real.csv", "real.privhp", "--columns", "toll")


def test_dialect_is_that_of_real_records(run, files, tmp_path):
    """A sample of privhp is plain CSV, whatever the real records are written in."""
    (tmp_path / "german.csv").write_text("a;fare\n" + "".join(f"x;{fare}\n".replace(".", ",") for fare in files))
    dialect = ["--columns", "fare", "--delimiter", ";", "--decimal", ","]
    assert run("sample", "real.privhp", "-n", "4000", "-o", "sample.csv").code == 0
    found = distances(run, "german.csv", "sample.csv", *dialect, "--domain", "interval:0:1000")
    assert found["real"] == {"read": 4000, "inside": 4000}
    assert found["distances"]["wasserstein"] < 10
    for sides in (["german.csv", "real.privhp"], ["real.privhp", "german.csv"]):
        assert distances(run, *sides, *dialect)["real"] == found["real"]
    numbered = [*dialect[2:], "--no-header", "--columns", "2", "--domain", "interval:0:1000"]
    (tmp_path / "bare.csv").write_text("".join(f"x;{fare}\n".replace(".", ",") for fare in files))
    assert distances(run, "bare.csv", "sample.csv", *numbered) == found


def test_file_without_header(run, files, tmp_path):
    (tmp_path / "bare.csv").write_text("\n".join(map(str, files)))
    found = distances(run, "bare.csv", "real.privhp", "--no-header", "--columns", "1")
    assert found.pop("real") == {"read": 4000, "inside": 4000}
    assert found.items() < distances(run, "real.csv", "real.privhp", "--columns", "fare").items()

"""`hp.report` and `hp.compare`: kinds of data, labels, permissions."""

import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import privhp as hp
from pages import Reader, coarse_pictures
from privhp.core.number_format import format_share

DOMAIN = hp.Interval(0, 1000)
TABLE = hp.Table(fare=DOMAIN, kind=hp.Categories(["bus", "tram"]))
FARES = np.random.default_rng(1).uniform(0, 500, 2000)
KINDS = np.random.default_rng(2).choice(["bus", "tram"], 2000)


@pytest.fixture(scope="module")
def fares():
    """Generator of single values."""
    return hp.fit(FARES, DOMAIN, epsilon=1, expected_records=2000)


@pytest.fixture(scope="module")
def trips():
    """Generator of a table."""
    return hp.fit({"fare": FARES, "kind": KINDS}, TABLE, epsilon=1, expected_records=2000)


@pytest.fixture(autouse=True)
def fast_pictures():
    with coarse_pictures():
        yield


@pytest.fixture
def csv(tmp_path):
    """CSV file of the table."""
    path = tmp_path / "trips.csv"
    pd.DataFrame({"fare": FARES, "kind": KINDS}).to_csv(path, index=False)
    return path


def frame(kind):
    return {"pandas": pd.DataFrame, "arrow": pa.table, "dict": dict}[kind]({"fare": FARES, "kind": KINDS})


def permissions(path):
    return stat.S_IMODE(path.stat().st_mode)


def read(path):
    return Reader(path.read_text()).text


# Reports


def test_report(fares, tmp_path):
    path = tmp_path / "fares.html"
    assert hp.report(fares, path) is None
    assert read(path).startswith("fares A differentially private release fares ")
    assert "NOT PRIVATE" not in read(path)
    assert permissions(path) == 0o644


def test_report_title_and_columns(fares, tmp_path):
    hp.report(fares, str(tmp_path / "page.html"), title="Trips of a year", columns=["fare"])
    text = read(tmp_path / "page.html")
    assert text.startswith("Trips of a year A differentially private release")
    assert "fare" in text


def test_report_against_array(fares, tmp_path):
    path = tmp_path / "NOT-PRIVATE.html"
    hp.report(fares, path, against=FARES)
    assert "NOT PRIVATE" in read(path)
    assert "covers this page" not in read(path)
    assert permissions(path) == 0o600


@pytest.mark.parametrize("kind", ["pandas", "arrow", "dict"])
def test_report_against_frame(trips, tmp_path, kind):
    hp.report(trips, tmp_path / "page.html", against=frame(kind))
    assert "NOT PRIVATE" in read(tmp_path / "page.html")
    assert permissions(tmp_path / "page.html") == 0o600


@pytest.mark.parametrize("as_path", [str, Path, lambda path: [path]], ids=["text", "path", "list"])
def test_report_against_file(trips, csv, tmp_path, as_path):
    """The page is the same for a file, its path as text, and a list of files."""
    hp.report(trips, tmp_path / "page.html", against=as_path(csv))
    hp.report(trips, tmp_path / "other.html", against=frame("dict"), title="page")
    assert (tmp_path / "page.html").read_text() == (tmp_path / "other.html").read_text()


def test_report_against_file_without_header(fares, tmp_path):
    path = tmp_path / "bare.txt"
    path.write_text("\n".join(map(str, FARES)))
    hp.report(fares, tmp_path / "page.html", against=path, header=False, format="csv")
    hp.report(fares, tmp_path / "other.html", against=FARES, title="page")
    assert (tmp_path / "page.html").read_text() == (tmp_path / "other.html").read_text()


def test_report_permissions_of_replaced_page(fares, tmp_path):
    path = tmp_path / "fares.html"
    hp.report(fares, path)
    with pytest.raises(FileExistsError, match="give replace=True"):
        hp.report(fares, path, against=tmp_path / "not opened.csv")
    hp.report(fares, path, against=FARES, replace=True)
    assert permissions(path) == 0o600


def test_report_names_must_fit(fares, tmp_path):
    with pytest.raises(hp.RecordsError, match=r"columns= needs 1 name for this release, got 2: a, b"):
        hp.report(fares, tmp_path / "page.html", columns=["a", "b"])
    assert not (tmp_path / "page.html").exists()


def test_report_against_missing_file(fares, tmp_path):
    with pytest.raises(FileNotFoundError):
        hp.report(fares, tmp_path / "page.html", against=tmp_path / "nowhere.csv")
    assert not (tmp_path / "page.html").exists()


def test_report_of_another_object(tmp_path):
    with pytest.raises(hp.QueryError, match=r"report needs a generator, got str; load\(path\) reads one"):
        hp.report("trips.privhp", tmp_path / "page.html")


def test_report_is_html(fares, tmp_path):
    with pytest.raises(hp.FileError, match=r"a report is an HTML page; choose a name such as fares\.html in place of"):
        hp.report(fares, tmp_path / "page.pdf")
    assert not (tmp_path / "page.pdf").exists()


# Comparisons


def test_compare_with_array(fares):
    comparison = hp.compare(fares, FARES)
    assert not comparison.private
    own = comparison["wasserstein"]
    assert own.distance == pytest.approx(hp.wasserstein(fares, FARES), rel=1e-6)
    assert 0 < own.baseline < 50


def test_compare_in_either_order(fares, tmp_path):
    expected = hp.compare(fares, FARES).to_dict()
    assert expected["baseline"] is not None
    assert hp.compare(FARES, fares).to_dict() == expected
    hp.save(fares, tmp_path / "fares.privhp")
    for release in (tmp_path / "fares.privhp", str(tmp_path / "fares.privhp")):
        assert hp.compare(release, FARES).to_dict() == expected
        assert hp.compare(FARES, release).to_dict() == expected


def test_compare_synthetic_records():
    shifted = hp.compare(FARES + 7, FARES, domain=DOMAIN)
    assert shifted["wasserstein"].distance == pytest.approx(7, abs=1e-6)
    assert hp.compare(FARES, FARES, domain=DOMAIN)["wasserstein"].distance == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("kind", ["pandas", "arrow", "dict"])
def test_compare_with_frame(trips, kind):
    assert hp.compare(trips, frame(kind)).to_dict() == hp.compare(trips, frame("dict")).to_dict()


@pytest.mark.parametrize("as_path", [str, Path], ids=["text", "path"])
def test_compare_with_file(trips, csv, as_path):
    assert hp.compare(trips, as_path(csv)).to_dict() == hp.compare(trips, frame("dict")).to_dict()


def test_compare_one_column_of_file(fares, csv):
    assert hp.compare(fares, csv, columns=["fare"]).to_dict() == hp.compare(fares, FARES).to_dict()


def test_compare_two_releases(fares):
    """Two releases have no baseline and no real record, so the result is private."""
    comparison = hp.compare(fares, fares)
    assert comparison.private
    assert {one.baseline for one in comparison.distances} == {None}
    assert "as private as they are" in repr(comparison)
    assert "NOT PRIVATE" not in repr(comparison)


def test_comparison_repr(fares):
    notice, real, blank, header, *lines = repr(hp.compare(fares, FARES)).splitlines()
    assert notice == (
        "NOT PRIVATE: computed from records as they are. Do not publish it, unless all of them are synthetic."
    )
    inside = np.count_nonzero((FARES >= 0) & (FARES <= 1000))
    assert real == f"real: {len(FARES):,} records read, {inside:,} inside the domain"
    assert blank == ""
    assert header.split("   ")[-1] == "metric"
    assert len(lines) == 4
    assert {line.index(text) for line, text in zip(lines, ("W1", "W1", "mean", "largest"), strict=True)} == {
        header.index("metric")
    }
    comparison = hp.compare(fares, FARES)
    texts = [DOMAIN.format_distance(comparison[name].distance) for name in ("wasserstein", "tree_wasserstein")]
    texts += [format_share(comparison[f"range_error_{kind}"].distance) for kind in ("mean", "worst")]
    assert [line.split()[0] for line in lines] == texts


def test_comparison_dict(fares):
    content = hp.compare(fares, FARES).to_dict()
    assert content["private"] is False
    assert content["real"]["read"] == len(FARES)
    assert hp.compare(fares, fares).to_dict()["real"] is None
    assert content["distances"].keys() == content["baseline"].keys()
    assert {"wasserstein", "tree_wasserstein", "range_error_mean"} <= content["distances"].keys()


def test_dialect_is_that_of_real_records(fares, tmp_path):
    """A sample is plain CSV with a header, whatever the real records are written in."""
    real, sample = tmp_path / "real.csv", tmp_path / "sample.csv"
    real.write_text("".join(f"{fare:.6f};x\n".replace(".", ",") for fare in FARES))
    sample.write_text("fare\n" + "".join(f"{fare:.6f}\n" for fare in FARES))
    dialect = hp.CsvDialect(delimiter=";", decimal=",")
    found = hp.compare(sample, real, domain=DOMAIN, header=False, columns=[1], csv=dialect)
    assert found["wasserstein"].distance == pytest.approx(0, abs=1e-6)
    assert found.real == (len(FARES), len(FARES))
    assert hp.compare(fares, real, header=False, columns=[1], csv=dialect).real == found.real


def test_compare_needs_domain():
    with pytest.raises(hp.DomainError, match="give domain="):
        hp.compare(FARES, FARES)


def test_compare_different_domains(fares):
    with pytest.raises(hp.DomainError, match="different domains"):
        hp.compare(fares, FARES, domain=hp.Interval(0, 2000))


@pytest.mark.parametrize("size", [0, 1])
def test_compare_needs_two_records(fares, size):
    with pytest.raises(hp.RecordsError, match="at least two records inside the domain") as refusal:
        hp.compare(fares, np.append(FARES[:size], [5000.0]))
    assert "5000" not in str(refusal.value)

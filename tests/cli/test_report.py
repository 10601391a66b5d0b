"""`privhp report`: pages with and without real records."""

import stat
from pathlib import Path

import pytest

import privhp
from pages import Reader
from privhp.planning.guarantee import state_guarantee


def test_page(run, release, tmp_path: Path):
    code, out, err = run("report", release, "--columns", "fare", "-o", "fares.html")
    assert (code, err) == (0, "")
    guarantee = state_guarantee(privhp.load(release).plan)
    assert out == f"wrote fares.html, as private as the release; open it in a browser\n{guarantee}\n"
    text = Reader((tmp_path / "fares.html").read_text()).text
    assert text.startswith("fares A differentially private release fares ")
    assert "fare Top: " not in text
    assert guarantee in text
    assert "NOT PRIVATE" not in text


def test_page_with_real_records(run, release, tmp_path: Path):
    code, out, _ = run("report", release, "--columns", "fare", "--against", "data.csv", "-o", "fares.html")
    assert code == 0
    size = len((tmp_path / "data.csv").read_text().splitlines()) - 1
    real = f"real: {size:,} records read, {size:,} inside the domain"
    assert out == f"wrote fares.html, NOT PRIVATE: it shows real records; open it in a browser\n{real}\n"
    text = Reader((tmp_path / "fares.html").read_text()).text
    assert "NOT PRIVATE" in text
    assert real in text
    assert "made from it, but not this page." in text
    assert not any(claim in text for claim in ("covers this page", "as private as the release", "are noisy"))
    assert stat.S_IMODE((tmp_path / "fares.html").stat().st_mode) == 0o600


def test_quiet(run, release):
    assert run("report", release, "-o", "fares.html", "--quiet", "--title", "Fares").out == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "fares.csv"], "a name such as fares.html"),
        (["-o", "there.html"], "replace it with --force"),
        (["-o", "out.html", "--columns", "a,b"], "--columns needs 1 name for this release, got 2"),
        (["-o", "out.html", "--against", "nowhere.csv"], "cannot use nowhere.csv"),
        (["-o", "out.html", "--columns", "fee", "--against", "data.csv"], "'fee'"),
        (["-o", "out.html", "--against", "outside.csv"], "at least one real record inside the domain; check --columns"),
    ],
)
def test_errors(refused, release, tmp_path: Path, arguments: list[str], message: str):
    (tmp_path / "there.html").write_text("mine")
    (tmp_path / "outside.csv").write_text("fare\n-5\nfew\n")
    assert message in refused("report", release, *arguments)
    assert not (tmp_path / "out.html").exists()
    assert (tmp_path / "there.html").read_text() == "mine"

"""`privhp report`: a page of a release, and of a release beside its data."""

import stat
from pathlib import Path

import pytest

from pages import Reader


def test_a_page_is_written(run, release, tmp_path: Path):
    code, out, err = run("report", release, "--columns", "fare", "-o", "fares.html")
    assert (code, err) == (0, "")
    assert out == "wrote fares.html, as private as the release; open it in a browser\n"
    text = Reader((tmp_path / "fares.html").read_text()).text
    assert text.startswith("fares A differentially private release fares ")
    assert "fare Top: " not in text
    assert "NOT PRIVATE" not in text


def test_a_page_with_real_records_says_that_it_is_not_private_and_is_for_the_owner_alone(run, release, tmp_path: Path):
    code, out, _ = run("report", release, "--columns", "fare", "--against", "data.csv", "-o", "fares.html")
    assert code == 0
    assert "NOT PRIVATE" in out
    text = Reader((tmp_path / "fares.html").read_text()).text
    assert "NOT PRIVATE" in text
    assert "made from it, but not this page." in text
    assert not any(claim in text for claim in ("covers this page", "as private as the release", "are noisy"))
    assert stat.S_IMODE((tmp_path / "fares.html").stat().st_mode) == 0o600


def test_quiet_says_nothing(run, release):
    assert run("report", release, "-o", "fares.html", "--quiet", "--title", "Fares").out == ""


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["-o", "fares.csv"], "a name such as fares.html"),
        (["-o", "there.html"], "replace it with --force"),
        (["-o", "out.html", "--columns", "a,b"], "--columns needs 1 name for this release, got 2"),
        (["-o", "out.html", "--against", "nowhere.csv"], "cannot use nowhere.csv"),
        (["-o", "out.html", "--columns", "fee", "--against", "data.csv"], "'fee'"),
    ],
)
def test_wrong_turns_are_answered(refused, release, tmp_path: Path, arguments: list[str], complaint: str):
    (tmp_path / "there.html").write_text("mine")
    assert complaint in refused("report", release, *arguments)
    assert not (tmp_path / "out.html").exists()
    assert (tmp_path / "there.html").read_text() == "mine"

"""What the documentation shows runs, page by page, from top to bottom."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import privhp as hp

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r'^```(\w*)(?: title="([\w.-]+)")?\n(.*?)^```$', flags=re.DOTALL | re.MULTILINE)
ELSEWHERE = {"docs/format.md"}  # tests/golden runs it, and reads its example
PAGES = sorted(
    str(page.relative_to(ROOT))
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
)
SHOWING = [page for page in PAGES if page not in ELSEWHERE and FENCE.search((ROOT / page).read_text())]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with the bundled examples and the command on the path."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "privhp"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m privhp "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    return tmp_path


@pytest.mark.skipif(shutil.which("zcat") is None, reason="some pages need zcat")
@pytest.mark.parametrize("page", SHOWING)
def test_what_a_page_shows_runs(page: str, folder: Path) -> None:
    names = {"__name__": "page"}
    for kind, title, block in FENCE.findall((ROOT / page).read_text()):
        if kind == "python":
            exec(compile(block, page, "exec"), names)
        elif kind == "sh":
            done = subprocess.run(["sh", "-e"], input=block, capture_output=True, text=True, check=False)
            assert (done.returncode, done.stderr) == (0, ""), block
        else:
            assert title, f"{page} has a block that nothing runs or reads:\n{block}"
            (folder / title).write_text(block)
    assert all(isinstance(hp.load(path), hp.Generator) for path in folder.glob("*.privhp"))
    assert not list(folder.glob("*.state"))  # a checkpoint is removed when the release is there


@pytest.mark.parametrize("page", PAGES)
def test_commands_of_privhp_stand_in_blocks_that_are_run(page: str) -> None:
    assert (
        re.findall(r"^    +(?:.* \| )?privhp .*$", FENCE.sub("", (ROOT / page).read_text()), flags=re.MULTILINE) == []
    )


@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_left_to_be_filled_in(page: str) -> None:
    assert re.findall(r"@[A-Z]+@|TODO|FIXME|TBD", (ROOT / page).read_text()) == []


def test_custom_domain_takes_fewer_than_30_lines() -> None:
    page = (ROOT / "docs" / "custom-domains.md").read_text()
    (space,) = re.findall(r"^class .*?(?=^```)", page, flags=re.DOTALL | re.MULTILINE)
    assert len([line for line in space.splitlines() if line.strip()]) < 30

"""The how-to pages are true: what they show runs, in the order in which it stands."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import privhp as hp

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.skipif(shutil.which("zcat") is None, reason="the pages need zcat")
@pytest.mark.parametrize("page", [DOCS / "howto-parquet.md", DOCS / "howto-pipe.md"], ids=lambda page: page.stem)
def test_what_a_page_shows_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "privhp"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m privhp "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    names = {"__name__": "page"}
    for kind, block in re.findall(r"```(python|console|toml)\n(.*?)```", page.read_text(), flags=re.DOTALL):
        if kind == "python":
            exec(compile(block, page.name, "exec"), names)
        elif kind == "toml":
            (tmp_path / "trips.toml").write_text(block)
        for line in re.findall(r"^\$ (.*)$", block, flags=re.MULTILINE) if kind == "console" else []:
            done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
            assert (done.returncode, done.stderr) == (0, ""), line
    written = sorted(tmp_path.glob("*.privhp"))
    assert len(written) >= 2
    assert all(isinstance(hp.load(path), hp.Generator) for path in written)
    assert [path for path in tmp_path.iterdir() if "synthetic" in path.name]
    assert not [path for path in tmp_path.iterdir() if "state" in path.name]

"""Every code block of the documentation runs, page by page, from top to bottom."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import privhp as hp
from commands import install_commands, run_command
from pages import coarse_pictures

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r'^```(\w*)(?: title="([\w.-]+)")?\n(.*?)^```$', flags=re.DOTALL | re.MULTILINE)
RUN_ELSEWHERE = {"docs/format.md", "docs/engines.md"}  # by tests/golden and tests/engines
PAGES = sorted(str(page.relative_to(ROOT)) for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
PROSE = [page for page in PAGES if page.startswith("docs/") or page in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
MAX_LINE = 120
WITH_BLOCKS = [page for page in PAGES if page not in RUN_ELSEWHERE and FENCE.search((ROOT / page).read_text())]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Working folder with the bundled examples, and the commands on the search path."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    install_commands(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    with coarse_pictures():
        yield tmp_path


@pytest.mark.parametrize("page", WITH_BLOCKS)
def test_code_blocks_run(page: str, folder: Path) -> None:
    names = {"__name__": "page"}
    for kind, title, block in FENCE.findall((ROOT / page).read_text()):
        if kind == "python":
            exec(compile(block, page, "exec"), names)
        elif kind == "sh":
            for command in block.replace("\\\n", "").splitlines():
                run_command(command)
        else:
            assert title, f"{page}: a block is neither code nor a file with a title:\n{block}"
            (folder / title).write_text(block)
    assert all(isinstance(hp.load(path), hp.Generator) for path in folder.glob("*.privhp"))
    assert not list(folder.glob("*.state"))  # a finished fit removes its checkpoint


@pytest.mark.parametrize("page", [page for page in PAGES if page != "RELEASING.md"])
def test_privhp_commands_are_in_executed_blocks(page: str) -> None:
    text = FENCE.sub("", (ROOT / page).read_text())
    assert re.findall(r"^    +(?:.* \| )?privhp .*$", text, flags=re.MULTILINE) == []


@pytest.mark.parametrize("page", PAGES)
def test_no_placeholders(page: str) -> None:
    assert re.findall(r"@[A-Z]+@|TODO|FIXME|TBD", (ROOT / page).read_text()) == []


def long_lines(text: str) -> list[str]:
    """Lines of prose that are too long; tables, code, headings and lines of one unbreakable word may be longer."""
    lines = FENCE.sub("", text).splitlines()
    long = [line for line in lines if len(line) > MAX_LINE and not line.startswith(("    ", "#"))]
    return [line for line in long if not re.match(r"\s*(\||([-*]|\d+[.])?\s*\S+$)", line)]


@pytest.mark.parametrize("page", PROSE)
def test_lines_of_prose_are_short(page: str) -> None:
    assert long_lines((ROOT / page).read_text()) == []


def test_tables_code_and_links_may_be_longer() -> None:
    word = "x" * MAX_LINE
    exempt = [
        f"| {word} |",
        f"    code {word}",
        f"```sh\nmake {word}\n```",
        f"# A {word}",
        f"- [{word}](https://{word})",
    ]
    assert long_lines("\n".join(exempt)) == []
    assert long_lines(f"a {word}\n\n- a {word}\n  {word} b") == [f"a {word}", f"- a {word}", f"  {word} b"]


def test_custom_domain_takes_fewer_than_30_lines() -> None:
    page = (ROOT / "docs" / "custom-domains.md").read_text()
    (domain,) = re.findall(r"^class .*?(?=^```)", page, flags=re.DOTALL | re.MULTILINE)
    assert len([line for line in domain.splitlines() if line.strip()]) < 30

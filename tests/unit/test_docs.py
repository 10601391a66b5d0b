"""The documentation is true: its Python runs, and its links lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/accuracy.md",
        "docs/domains.md",
        "docs/howto-report.md",
        "docs/own-domain.md",
        "docs/queries.md",
        "docs/tables.md",
        "docs/tour.md",
    ],
)
def test_the_python_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)
    assert blocks
    exec(compile("\n".join(blocks), page, "exec"), {"__name__": "page"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_nothing_is_left_to_be_filled_in(page: Path) -> None:
    assert re.findall(r"@[A-Z]+@|TODO|FIXME|TBD", page.read_text()) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_a_space_of_ones_own_takes_less_than_30_lines() -> None:
    page = (ROOT / "docs" / "own-domain.md").read_text()
    (space,) = re.findall(r"^class .*?(?=^```)", page, flags=re.DOTALL | re.MULTILINE)
    assert len([line for line in space.splitlines() if line.strip()]) < 30

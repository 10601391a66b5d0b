"""The site is complete: navigation, links, reference and pictures.

`make docs` builds the site and is stricter; these tests need no further package.
"""

import re
from pathlib import Path

import pytest

import privhp as hp

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    str(page.relative_to(ROOT))
    for page in [
        *ROOT.glob("*.md"),
        ROOT / "examples" / "README.md",
        *(ROOT / "benchmarks").glob("*.md"),
        *DOCS.rglob("*.md"),
    ]
)


def test_navigation_lists_every_page_once() -> None:
    _, navigation = (ROOT / "mkdocs.yml").read_text().split("\nnav:\n")
    named = re.findall(r"[\w/-]+\.md$", navigation, flags=re.MULTILINE)
    assert len(set(named)) == len(named)
    renamed = {"README.md": "index.md"}
    assert sorted(named) == sorted(renamed.get(page, page.removeprefix("docs/")) for page in PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_links_resolve(page: str) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", (ROOT / page).read_text())
    assert [link for link in links if not ((ROOT / page).parent / link).exists()] == []


def test_reference_lists_every_public_name_once() -> None:
    pages = [page.read_text() for page in (DOCS / "reference").glob("*.md")]
    named = [name for page in pages for name in re.findall(r"^::: privhp\.(\w+)$", page, flags=re.MULTILINE)]
    modules = {"errors"}
    assert sorted(set(named) - modules) == sorted(hp.__all__)
    assert len(set(named)) == len(named)


def test_public_names_have_docstrings() -> None:
    assert [name for name in hp.__all__ if not getattr(hp, name).__doc__] == []


def test_every_picture_is_shown() -> None:
    shown = {Path(link).name for page in PAGES for link in re.findall(r"!\[.*?\]\((.*?)\)", (ROOT / page).read_text())}
    assert {picture.name for picture in (DOCS / "pictures").iterdir()} <= shown

"""The site is whole: every page is in its navigation, links lead somewhere, and the reference has every public name.

`make docs` builds it and is stricter; this takes no time and needs nothing installed.
"""

import re
from pathlib import Path

import pytest

import privhp as hp

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
ELSEWHERE = ["CHANGELOG.md", "CONTRIBUTING.md", "README.md", "examples/README.md"]
PAGES = sorted(
    str(page.relative_to(ROOT))
    for page in [*(ROOT / name for name in ELSEWHERE), *(ROOT / "benchmarks").glob("*.md"), *DOCS.rglob("*.md")]
)


def test_every_page_is_in_the_navigation_and_the_other_way_round() -> None:
    _, navigation = (ROOT / "mkdocs.yml").read_text().split("\nnav:\n")
    named = re.findall(r"[\w/-]+\.md$", navigation, flags=re.MULTILINE)
    assert len(set(named)) == len(named)
    places = {"README.md": "index.md"}
    assert sorted(named) == sorted(places.get(page, page.removeprefix("docs/")) for page in PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", (ROOT / page).read_text())
    assert [link for link in links if not ((ROOT / page).parent / link).exists()] == []


def test_every_public_name_is_in_the_reference_once() -> None:
    pages = [page.read_text() for page in (DOCS / "reference").glob("*.md")]
    named = [name for page in pages for name in re.findall(r"^::: privhp\.(\w+)$", page, flags=re.MULTILINE)]
    rooms = {"errors"}
    assert sorted(set(named) - rooms) == sorted(hp.__all__)
    assert len(set(named)) == len(named)


def test_every_public_name_says_what_it_is() -> None:
    assert [name for name in hp.__all__ if not getattr(hp, name).__doc__] == []


def test_every_picture_is_shown() -> None:
    shown = {Path(link).name for page in PAGES for link in re.findall(r"!\[.*?\]\((.*?)\)", (ROOT / page).read_text())}
    assert {picture.name for picture in (DOCS / "pictures").iterdir()} <= shown

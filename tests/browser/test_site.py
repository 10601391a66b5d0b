"""The documentation site in Chromium, opened from its folder: layout, network access, search.

`make docs` builds the site and `make browser` runs these tests; they are skipped otherwise.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser.chromium import Page, browser, find_chromium

SITE = Path(__file__).parents[2] / "build" / "site"
PAGES = [
    "index.html",
    "choosing.html",
    "gallery.html",
    "howto-map.html",
    "reference/plans.html",
    "benchmarks/ACCURACY.html",
]

pytestmark = pytest.mark.skipif(
    "PRIVHP_BROWSER" not in os.environ or not SITE.exists(), reason="run make docs, then make browser"
)


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with browser(find_chromium()) as opened:
        yield opened


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", PAGES)
def test_layout_and_requests(page: Page, name: str, width: int) -> None:
    page.open(SITE / name, width=width)
    assert page.console_messages() == []
    assert [address for address in page.requests() if not address.startswith(SITE.as_uri())] == []
    assert page.run("document.documentElement.scrollWidth") <= width
    assert page.run("[...document.images].every(image => image.naturalWidth > 0)")


def test_search_without_a_server(page: Page) -> None:
    page.open(SITE / "index.html", width=1280)
    page.run("""
        const field = document.querySelector("[data-md-component=search-query]");
        field.focus();
        field.value = "heavy_hitters";
        field.dispatchEvent(new Event("keyup", { bubbles: true }));
    """)
    deadline = time.monotonic() + 30
    while not (found := page.run("[...document.querySelectorAll('.md-search-result__link')].map(link => link.href)")):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert any("reference/generators.html" in link for link in found)

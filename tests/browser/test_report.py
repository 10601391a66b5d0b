"""Layout, contrast and network access of reports in Chromium, on narrow and wide screens, light and dark.

The tests are skipped without Chromium, and fail if PRIVHP_BROWSER is set; `make browser` installs it and runs them.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from browser.chromium import Page, browser, find_chromium
from browser.layout import check_layout
from privhp import Categories, Generator, Geo, Interval, IPv4, Nullable, Plan, Table, Time
from privhp.reporting import RealRecords, report_page
from releases import release_of

PHONE, DESK = 390, 1280


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """A page of one browser for all tests."""
    program = find_chromium()
    if program is None:
        if os.environ.get("PRIVHP_BROWSER"):
            pytest.fail("Chromium is not installed, and PRIVHP_BROWSER is set")
        pytest.skip("Chromium is not installed; run make browser")
    with browser(program) as page:
        yield page


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reports of a table, with and without real records, of a map, of addresses, and of times beside a map."""
    rng = np.random.default_rng(3)
    size = 20_000
    table = Table(
        {
            "time": Time("2018-01-01", "2021-01-01"),
            "fare in dollars": Nullable(Interval(0, 1000)),
            "kind": Categories(["by card", "in cash", "a kind with a name that is much too long to be written here"]),
        }
    )
    trips = {
        "time": np.datetime64("2018-01-01", "s") + rng.integers(0, 94_000_000, size),
        "fare in dollars": np.ma.MaskedArray(rng.lognormal(2.5, 0.6, size), mask=rng.random(size) < 0.05),
        "kind": np.array(table.columns[2].domain.values)[rng.integers(0, 3, size)],
    }
    places = rng.normal((-1.5, 53), (1, 1.2), (size, 2))
    addresses = (rng.lognormal(20, 1, size) % 2**32).astype(np.uint32)
    written = {
        "table": report_page(_fitted(table, trips), title="Trips"),
        "beside": report_page(_fitted(table, trips), title="Trips", against=RealRecords(table, [trips])),
        "places": report_page(_fitted(Geo(-9, 49.8, 2, 61), places), title="Places", names=["lon", "lat"]),
        "addresses": report_page(_fitted(IPv4(), addresses), title="Addresses"),
    }
    delays = {"delay": rng.normal(5, 2, size), "when": trips["time"]}
    zoned = Table(delay=Interval(0, 10), when=Time("2018-01-01", "2021-01-01", zone="Europe/Berlin"))
    written["times"] = report_page(_fitted(zoned, delays), title="Delays")
    folder = tmp_path_factory.mktemp("reports")
    for name, text in written.items():
        (folder / f"{name}.html").write_text(text)
    return {name: folder / f"{name}.html" for name in written}


def _fitted(domain, records) -> Generator:
    return Generator(release_of(Plan.paper(domain, epsilon=1, expected_records=20_000, hash_seed=1), records))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("name", ["table", "beside", "places", "addresses", "times"])
def test_layout_and_contrast(page: Page, pages: dict[str, Path], name: str, width: int, dark: bool) -> None:
    page.open(pages[name], width=width, dark=dark)
    assert page.console_messages() == []
    assert page.requests() == [pages[name].as_uri()]
    check_layout(page, width=width, dark=dark)


HOLES = """
[...document.querySelectorAll(".figures")].flatMap(figures => {
  const columns = {};
  for (const figure of figures.children) {
    const box = figure.getBoundingClientRect();
    (columns[Math.round(box.left)] ??= []).push(box);
  }
  return Object.values(columns).flatMap(boxes =>
    boxes.slice(1).map((box, place) => box.top - boxes[place].bottom));
})
"""


@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("name", ["table", "places"])
def test_no_holes_between_pictures(page: Page, pages: dict[str, Path], name: str, width: int) -> None:
    page.open(pages[name], width=width)
    gaps = page.run(HOLES)
    assert gaps
    assert all(-1 <= gap <= 1 for gap in gaps)  # the space between pictures belongs to them


@pytest.mark.parametrize(("name", "up", "across"), [("places", "↑ lat", "lon →"), ("table", "kind", "time →")])
def test_maps_name_both_axes(page: Page, pages: dict[str, Path], name: str, up: str, across: str) -> None:
    page.open(pages[name], width=PHONE)
    texts = page.run("[...document.querySelectorAll('.panel')].map(panel => panel.innerText)")
    assert texts
    assert any(up in text and across in text for text in texts)
    assert page.run("[...document.querySelectorAll('.panel')].every(one => one.querySelector('.up').innerText)")


@pytest.mark.parametrize("name", ["table", "places", "addresses"])
def test_tables_fit_a_phone(page: Page, pages: dict[str, Path], name: str) -> None:
    """No table scrolls, and each error of the accuracy table stands beside its name."""
    page.open(pages[name], width=PHONE)
    over = "[...document.querySelectorAll('.wide:has(table)')].map(one => one.scrollWidth - one.clientWidth)"
    assert page.run(over)
    assert max(page.run(over)) <= 0
    label = "getComputedStyle(document.querySelector('.stacked td'), '::before').content"
    assert page.run(label) == '"expected error"'
    page.open(pages[name], width=DESK)
    assert page.run(label) == "none"


def test_warning_comes_first(page: Page, pages: dict[str, Path]) -> None:
    page.open(pages["beside"], width=PHONE)
    assert page.run("document.title").startswith("NOT PRIVATE")
    top = page.run("document.querySelector('.warning').getBoundingClientRect().bottom")
    assert top < page.run("document.querySelector('.facts').getBoundingClientRect().top")
    assert top < page.run("innerHeight")


def test_requests_are_blocked_and_detected(page: Page, pages: dict[str, Path], tmp_path: Path) -> None:
    """The content security policy blocks requests and scripts, and the events show them."""
    spoilt = tmp_path / "spoilt.html"
    spoilt.write_text(
        pages["places"].read_text().replace("</body>", '<img src="http://127.0.0.1:9/x"><script>boom()</script></body>')
    )
    page.open(spoilt, width=DESK)
    assert len(page.console_messages()) >= 2

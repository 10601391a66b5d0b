"""The pictures of the documentation, cut from reports in a browser. Run it with `make pictures`.

The flights are bundled. The map of street crime needs a file that is not, see
CRIME; without it the picture that is there stays.
"""

import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any

import privhp as hp
from privhp.report import report_page
from privhp.sources import open_source

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
FLIGHTS = ROOT / "examples" / "flights13.csv.gz"
CRIME = ROOT.parent / "shared" / "data" / "geo_uk_street_crime_2018_10_to_2019_02.parquet"
"""Street-level crime of data.police.uk, October 2018 to February 2019: longitude and latitude. OGL v3."""

sys.path.insert(0, str(ROOT / "tests"))
chromium = importlib.import_module("browser.chromium")


def main() -> None:
    """Make all pictures that there is data for."""
    PICTURES.mkdir(exist_ok=True)
    program = chromium.find_chromium()
    if program is None:
        sys.exit("expected Chromium to be installed, got none; make browser installs it")
    with chromium.browser(program) as page, tempfile.TemporaryDirectory() as folder:
        picture = Picture(page, Path(folder))
        draw_flights(picture)
        if CRIME.exists():
            draw_crime(picture)


class Picture:
    """Parts of a page as PNG files."""

    def __init__(self, page: Any, folder: Path) -> None:
        self._page, self._file = page, folder / "page.html"

    def show(self, text: str, *, width: int) -> None:
        """Open a page."""
        self._file.write_text(text)
        self._page.open(self._file, width=width)

    def cut(self, name: str, first: str, last: str, *, scale: float = 1) -> None:
        """Save what lies between two elements, both included, with a margin around it."""
        ends = [self._page.run(f"(b => [b.x, b.y, b.right, b.bottom])({find(css)})") for css in (first, last)]
        left, top = (max(min(end[side] for end in ends) - 24, 0) for side in (0, 1))
        right, bottom = (max(end[side] for end in ends) + 24 for side in (2, 3))
        clip = {"x": left, "y": top, "width": right - left, "height": bottom - top}
        self._page.screenshot(PICTURES / name, clip=clip, scale=scale)


def find(css: str) -> str:
    """A script that gives the box of an element."""
    return f"document.querySelector({css!r}).getBoundingClientRect()"


def draw_flights(picture: Picture) -> None:
    """The whole of a report, and one column with the real flights beside, which are public."""
    table = hp.Table(sched_dep_min=hp.Integers(0, 1439), arr_delay=hp.Integers(-120, 1440))
    generator = hp.fit(FLIGHTS, table, epsilon=1, records=300_000)
    picture.show(report_page(generator, title="Flights from New York City"), width=1080)
    picture.cut("report.png", "header", "section:nth-of-type(2)")
    source = open_source(FLIGHTS, domain=table)
    against = (batch.records for batch in source.batches())
    picture.show(report_page(generator, title="Flights from New York City", against=against), width=1080)
    picture.cut("beside.png", "figure:nth-of-type(1)", "figure:nth-of-type(2)")


def draw_crime(picture: Picture) -> None:
    """A map of places."""
    generator = hp.fit(
        CRIME, hp.Geo(-8.7, 49.8, 2, 55.9), columns=["lon", "lat"], epsilon=1, records=2e6, memory="1 MiB"
    )
    page = report_page(generator, title="Street crime", names=["longitude", "latitude"])
    picture.show(page.replace("max-width: 36rem", "max-width: 34rem"), width=680)
    picture.cut("map.png", "figure", "figure", scale=1.5)


if __name__ == "__main__":
    main()

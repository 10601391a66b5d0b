"""The pictures of the documentation, cut from reports in a browser. Run it with `make pictures`.

The flights are bundled. Street crime and the blocklist need files that are not,
see CRIME and BLOCKLIST; without them the pictures that are there stay.
"""

import csv
import gzip
import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import privhp as hp
from privhp.io.sources import open_source
from privhp.reporting import RealRecords, report_page

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
FLIGHTS = ROOT / "examples" / "flights13.csv.gz"
DATA = ROOT.parent / "shared" / "data"
CRIME = DATA / "geo_uk_street_crime_2018_10_to_2019_02.parquet"
"""Street-level crime of data.police.uk, October 2018 to February 2019: longitude, latitude and kind. OGL v3."""
BLOCKLIST = DATA / "ipv4_ipsum_blocklist_2026.parquet"
"""Addresses of the IPsum blocklist, each with the number of lists that it is on. Unlicense."""
KINDS = [
    "Anti-social behaviour",
    "Bicycle theft",
    "Burglary",
    "Criminal damage and arson",
    "Drugs",
    "Other crime",
    "Other theft",
    "Possession of weapons",
    "Public order",
    "Robbery",
    "Shoplifting",
    "Theft from the person",
    "Vehicle crime",
    "Violence and sexual offences",
]
"""Kinds of crime, as data.police.uk publishes the list."""

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
        draw_departures(picture)
        draw_few(picture)
        draw_notebook(picture)
        if CRIME.exists():
            draw_crime(picture)
            draw_kinds(picture)
        if BLOCKLIST.exists():
            draw_prefixes(picture)


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
    generator = hp.fit(FLIGHTS, table, epsilon=1, expected_records=300_000)
    picture.show(report_page(generator, title="Flights from New York City"), width=1080)
    picture.cut("report.png", "header", "section:nth-of-type(2)")
    source = open_source(FLIGHTS, domain=table)
    against = RealRecords(table, (batch.records for batch in source.batches()))
    picture.show(report_page(generator, title="Flights from New York City", against=against), width=1080)
    picture.cut("beside.png", "figure h3", "figure:nth-of-type(2) figcaption")


def draw_departures(picture: Picture) -> None:
    """A column of times: the departures of a year on one clock."""
    times = np.datetime64("2013-01-01") + flights("sched_dep_min").astype("timedelta64[m]")
    day = hp.Time("2013-01-01T00:00", "2013-01-01T23:59")
    generator = hp.fit(times.astype("datetime64[s]"), day, epsilon=1, expected_records=300_000)
    picture.show(report_page(generator, title="Departures", names=["scheduled departure"]), width=760)
    picture.cut("times.png", "figure h3", "figure figcaption")


def draw_few(picture: Picture) -> None:
    """Bands that are wide, because records are few."""
    delays = flights("arr_delay")[:2000]
    generator = hp.fit(delays, hp.Integers(-120, 1440), epsilon=0.5, expected_records=2000)
    picture.show(report_page(generator, title="Delays", names=["delay in minutes"]), width=760)
    picture.cut("few.png", "figure h3", "figure figcaption")


def flights(column: str) -> NDArray[np.int64]:
    """One column of the bundled flights."""
    with gzip.open(FLIGHTS, "rt") as lines:
        return np.array([row[column] for row in csv.DictReader(lines)], dtype=np.int64)


def draw_notebook(picture: Picture) -> None:
    """A plan as a notebook shows it, and figures of matplotlib."""
    rng = np.random.default_rng(0)
    kinds = ["bus", "tram", "taxi"]
    trips = {"fare": rng.lognormal(2.5, 0.7, 50_000), "kind": rng.choice(kinds, 50_000, p=[0.5, 0.3, 0.2])}
    table = hp.Table(fare=hp.Interval(0, 200), kind=hp.Categories(kinds))
    generator = hp.fit(trips, table, epsilon=1, expected_records=50_000)
    picture.show(f"<!doctype html><meta charset=utf-8>{generator.plan._repr_html_()}", width=860)
    picture.cut("plan.png", ".card", ".card")
    generator.plot().savefig(PICTURES / "plot.png", dpi=90)
    few = hp.fit(trips["fare"][:1000], hp.Interval(0, 200), epsilon=0.5, expected_records=1000)
    draw_share(few, np.linspace(0, 60, 241))


def draw_share(generator: hp.Generator, at: NDArray[np.float64]) -> None:
    """The share up to each value with its band, as the page about notebooks does it."""
    share = generator.cdf(at)
    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.subplots()
    axes.fill_between(at, *share.interval(0.9), alpha=0.3)
    axes.plot(at, share.value)
    axes.set_xlabel("fare")
    axes.set_ylabel("share of trips")
    figure.savefig(PICTURES / "share.png", dpi=110)


def draw_kinds(picture: Picture) -> None:
    """A column of categories."""
    generator = hp.fit(CRIME, hp.Categories(KINDS), columns=["crime_type"], epsilon=1, expected_records=2e6)
    picture.show(report_page(generator, title="Street crime", names=["kind of crime"]), width=760)
    picture.cut("categories.png", "figure h3", "figure figcaption")


def draw_prefixes(picture: Picture) -> None:
    """Heavy prefixes of addresses."""
    table = importlib.import_module("pyarrow.parquet").read_table(BLOCKLIST)
    addresses = np.repeat(table["ip"].to_numpy(), table["n_lists"].to_numpy())
    generator = hp.fit(addresses, hp.IPv4(), epsilon=1, expected_records=2e5)
    picture.show(report_page(generator, title="Blocked addresses", names=["address"]), width=760)
    picture.cut("prefixes.png", "figure h3", "figure figcaption")


def draw_crime(picture: Picture) -> None:
    """A map of places."""
    generator = hp.fit(
        CRIME, hp.Geo(-8.7, 49.8, 2, 55.9), columns=["lon", "lat"], epsilon=1, expected_records=2e6, memory="1 MiB"
    )
    page = report_page(generator, title="Street crime", names=["longitude", "latitude"])
    picture.show(page.replace("max-width: 36rem", "max-width: 34rem"), width=680)
    picture.cut("map.png", "figure h3", "figure figcaption", scale=1.5)


if __name__ == "__main__":
    main()

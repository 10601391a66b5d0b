"""Reports: contents and numbers."""

import struct
import zlib
from base64 import b64decode

import numpy as np
import pytest

from pages import Reader, coarse_pictures
from privhp import (
    Box,
    Categories,
    Domain,
    Generator,
    Geo,
    Integers,
    Interval,
    IPv4,
    IPv6,
    Nullable,
    Plan,
    Table,
    Taxonomy,
    Time,
)
from privhp.core.number_format import (
    format_bytes,
    format_count,
    format_duration,
    format_interval,
    format_number,
    format_ratio,
    format_share,
)
from privhp.planning.guarantee import state_conditions, state_definition, state_guarantee, state_odds
from privhp.reporting import report_page
from privhp.reporting.axes import TAIL
from privhp.reporting.overlay import RealRecords, real_shares
from privhp.reporting.pictures import HistogramPicture, Map, Names, pictures_of
from privhp.reporting.png import shaded
from privhp.reporting.prose import guarantee_sentences
from privhp.reporting.ticks import decade_ticks, number_ticks, time_ticks
from privhp.reporting.variables import variables_of
from releases import histogram, release_of

RNG = np.random.default_rng(5)
SIZE = 4000
TIMES = np.datetime64("2020-01-01", "s") + RNG.integers(0, 366 * 86_400, SIZE)
KINDS = np.array(["bus", "tram", "<b>taxi</b>"])[RNG.choice(3, SIZE, p=[0.6, 0.3, 0.1])]
FARES = np.ma.MaskedArray(RNG.lognormal(2.5, 0.6, SIZE), mask=RNG.random(SIZE) < 0.1)

AROUND = np.stack([RNG.normal(0, 3, SIZE) % 360 - 180, RNG.normal(0, 3, SIZE)], axis=1)

RECORDS = {
    "interval": (Interval(0, 1000), RNG.lognormal(2.5, 0.6, SIZE)),
    "cuts": (Interval(0, 1000, cuts=[12.0]), RNG.lognormal(2.5, 0.6, SIZE)),
    "log": (Interval(0.01, 1e6, scale="log"), RNG.lognormal(2.5, 3, SIZE)),
    "integers": (Integers(-120, 1440), RNG.normal(5, 30, SIZE).astype(int)),
    "two integers": (Integers(0, 1), RNG.integers(0, 2, SIZE)),
    "line": (Box([(0, 1)]), RNG.random((SIZE, 1))),
    "plane": (Box([(0, 1), (-5, 5)]), RNG.normal((0.5, 0), (0.1, 1), (SIZE, 2))),
    "space": (Box([(0, 1)] * 3), RNG.random((SIZE, 3)) ** 2),
    "points": (Geo(-9, 49.8, 2, 61), RNG.normal((-2, 53), 1, (SIZE, 2))),
    "antimeridian": (Geo(170, -20, -170, 20), AROUND),
    "globe": (Geo(), RNG.normal(0, 20, (SIZE, 2))),
    "times": (Time("2020-01-01", "2021-01-01"), TIMES),
    "dates": (Time("2020-01-01", "2021-01-01", unit="D"), TIMES.astype("M8[D]")),
    "nanoseconds": (Time("2020-01-01", "2021-01-01", unit="ns"), TIMES.astype("M8[ns]")),
    "ipv4": (IPv4(), RNG.integers(2**24, 2**28, SIZE)),
    "ipv6": (IPv6("2001:db8::/32"), ["2001:db8::1", "2001:db8:1::1"] * (SIZE // 2)),
    "categories": (Categories(["bus", "tram", "<b>taxi</b>"]), KINDS),
    "many categories": (Categories(range(500)), RNG.integers(0, 30, SIZE)),
    "taxonomy": (Taxonomy({"fruit": ["apple", "pear"], "root": ["beet"]}), np.array(["apple", "beet"] * (SIZE // 2))),
    "nullable": (Nullable(Interval(0, 1000)), FARES),
    "table": (
        Table(
            time=Time("2020-01-01", "2021-01-01"),
            fare=Nullable(Interval(0, 64)),
            kind=Nullable(Categories(["bus", "tram", "<b>taxi</b>"])),
        ),
        {"time": TIMES, "fare": FARES, "kind": KINDS},
    ),
    "table of points": (
        Table({("lon", "lat"): Geo(-9, 49.8, 2, 61), "ip": IPv4()}),
        {"lon": RNG.normal(-2, 1, SIZE), "lat": RNG.normal(53, 1, SIZE), "ip": RNG.integers(0, 2**32, SIZE)},
    ),
}


def fitted(name: str) -> tuple[Generator, object]:
    """A generator without noise and its records."""
    domain, records = RECORDS[name]
    level = min(domain.depth, 11)
    plan = Plan(domain, epsilon=1, budgets={level: 1}, exact_depth=level, expected_records=SIZE)
    return Generator(release_of(plan, records)), records


@pytest.fixture(params=RECORDS)
def name(request: pytest.FixtureRequest) -> str:
    """Name of a case."""
    return request.param


def test_page_of_every_domain(name: str) -> None:
    generator, records = fitted(name)
    with coarse_pictures():
        private = Reader(report_page(generator, title=name))
        against = Reader(report_page(generator, title=name, against=RealRecords(generator.domain, [records])))
    assert "NOT PRIVATE" not in private.text
    assert against.text.count("NOT PRIVATE") == 2  # in the title, and on top of the page
    for reader in (private, against):
        assert all(address.startswith("data:") for address in reader.addresses)
        assert not {"script", "iframe", "object", "b>taxi<"} & set(reader.tags)
        assert f"{generator.leaves().codes.size:,} cells" in reader.text


def test_page_without_noise(name: str) -> None:
    """Agreement up to the position of records inside a leaf."""
    generator, records = fitted(name)
    pictures = pictures_of(generator)
    against = RealRecords(generator.domain, [records])
    shares = real_shares(pictures, against)
    assert against.counts.inside <= against.counts.read == SIZE
    for picture, real in zip(pictures, shares, strict=True):
        if isinstance(picture, HistogramPicture):
            below = np.abs(np.cumsum(picture.shares) - np.cumsum(real))
            assert below.max() < 0.12
        elif isinstance(picture, Names):
            assert np.abs(picture.shares - real).max() < 0.05
            assert picture.names


@pytest.mark.parametrize("name", ["interval", "log", "integers", "times", "plane", "points"])
def test_axis_range(name: str) -> None:
    generator, _ = fitted(name)
    for picture in pictures_of(generator):
        if isinstance(picture, HistogramPicture):
            assert picture.shares[0] <= TAIL + 1e-12
            assert picture.shares[-1] <= TAIL + 1e-12
            assert 2 <= picture.shares.size - 2 <= 80
            assert (np.diff(picture.axis.edges) > 0).all()


def test_axis_zoom() -> None:
    generator, _ = fitted("interval")
    (picture,) = pictures_of(generator)
    assert isinstance(picture, HistogramPicture)
    assert picture.axis.edges[-1] < 200


def test_histogram() -> None:
    generator = histogram(Integers(0, 7), 3, [4, 0, 0, 2, 0, 0, 0, 2])
    (picture,) = pictures_of(generator)
    assert isinstance(picture, HistogramPicture)
    assert picture.axis.words == [str(value) for value in range(8)]
    np.testing.assert_allclose(picture.shares, [0, 0.5, 0, 0, 0.25, 0, 0, 0, 0.25, 0])


def test_map() -> None:
    """Cells of level 2 are quadrants: the first split is of x, the second of y."""
    generator = histogram(Box([(0, 1), (0, 1)]), 2, [1, 2, 3, 4])
    picture = pictures_of(generator)[0]
    assert isinstance(picture, Map)
    half = picture.shares.shape[0] // 2
    left, right = picture.shares[:, :half], picture.shares[:, half:]
    quadrants = [left[:half].sum(), left[half:].sum(), right[:half].sum(), right[half:].sum()]
    np.testing.assert_allclose(quadrants, [0.1, 0.2, 0.3, 0.4])


def test_map_of_real_records() -> None:
    generator = histogram(Box([(0, 1), (0, 1)]), 2, [1, 2, 3, 4])
    picture = pictures_of(generator)[0]
    real = RealRecords(generator.domain, [np.array([[0.1, 0.9], [0.1, 0.9], [2.0, 0.5]])])
    (counts,) = real_shares([picture], real)
    assert real.counts == (3, 2)
    row, column = np.argwhere(counts == 1.0)[0].tolist()
    height, width = counts.shape
    assert (row, column) == (int(0.9 * height), int(0.1 * width))


def test_bin_of_upper_bound() -> None:
    generator = histogram(Interval(0, 1), 1, [1, 1])
    (picture,) = pictures_of(generator)
    (real,) = real_shares([picture], RealRecords(generator.domain, [np.array([0.0, 1.0])]))
    assert (real[1], real[-2], real.sum()) == (0.5, 0.5, 1.0)


def test_longitudes_beyond_antimeridian() -> None:
    generator, records = fitted("antimeridian")
    longitude = pictures_of(generator)[1]
    assert isinstance(longitude, HistogramPicture)
    (real,) = real_shares([longitude], RealRecords(generator.domain, [records]))
    assert real[[0, -1]].sum() < 0.01
    assert longitude.axis.edges[-1] > 180
    assert all(
        -180 <= float(tick.text.replace("\N{MINUS SIGN}", "-").rstrip("°")) <= 180 for tick in longitude.axis.ticks
    )


def test_share_of_null() -> None:
    generator, records = fitted("nullable")
    page = Reader(report_page(generator, title="fares")).text
    assert f"The value is null in {format_share(float(np.mean(records.mask)))} of the records." in page


def test_escaped_names() -> None:
    page = report_page(fitted("table")[0], title="<script>alert(1)</script>")
    assert "<script" not in page
    assert "<b>taxi" not in page
    assert "<b>taxi</b>" in Reader(page).text


@pytest.mark.parametrize("covers_page", [True, False])
def test_guarantee_on_page(covers_page: bool) -> None:
    plan = Plan.paper(Interval(0, 1), epsilon=1, expected_records=1000)
    sentences = guarantee_sentences(plan, covers_page=covers_page)
    assert sentences[:4] == [state(plan) for state in (state_guarantee, state_odds, state_definition, state_conditions)]
    assert ("covers this page" in sentences[4]) == covers_page
    assert ("but not this page" in sentences[4]) == (not covers_page)


def test_predicted_error() -> None:
    generator, _ = fitted("times")
    page = Reader(report_page(generator, title="times")).text
    for prediction in generator.plan.predictions(round(generator.total)).values():
        assert format_duration(prediction.total) in page


def test_page_of_empty_release() -> None:
    page = Reader(report_page(histogram(Interval(0, 1), 2, [0, 0, 0, 0]), title="nothing")).text
    assert "too few records" in page


def test_page_of_custom_domain_without_regions() -> None:
    class Switch(Domain):
        kind = "switch of a report"
        depth = 1

        def encode(self, records, *, level):
            return np.asarray(records, dtype=np.uint64) >> np.uint64(1 - level)

        def decode(self, codes, *, level, rng):
            return codes

        def diameter(self, level):
            return 1.0 - level

        def parameters(self):
            return {}

    real = RealRecords(Switch(), [np.array([0, 1, 1, 1])])
    page = Reader(report_page(histogram(Switch(), 1, [3, 1]), title="switches", against=real)).text
    assert "cell 0 75.0%" in page
    assert "25.0% cell 1" in page


def test_column_names() -> None:
    generator, _ = fitted("plane")
    assert [variable.label for variable in variables_of(generator.domain)] == ["x1", "x2"]
    assert "speed and height" in report_page(generator, title="plane", names=["speed", "height"])


@pytest.mark.parametrize("low", [0, 1e-7, -3.5, 1e8])
@pytest.mark.parametrize("width", [1e-6, 0.3, 7, 1e5])
def test_ticks(low: float, width: float) -> None:
    ticks = number_ticks(low, low + width)
    assert 2 <= len(ticks) <= 7
    assert all(low - 1e-9 * width <= value <= low + width * (1 + 1e-9) for value, _ in ticks)


@pytest.mark.parametrize("high", [2.0, 30.0, 1e5, 1e30])
def test_ticks_of_log_scale(high: float) -> None:
    ticks = decade_ticks(1.0, high)
    assert 2 <= len(ticks) <= 12
    assert all(1 <= value <= high for value, _ in ticks)


@pytest.mark.parametrize("seconds", [5, 100, 7000, 90_000, 10**6, 10**7, 10**9, 10**11])
def test_ticks_of_times(seconds: int) -> None:
    low = np.datetime64("2019-12-31T22:13:07", "s")
    ticks = time_ticks(low, low + np.timedelta64(seconds, "s"))
    assert 1 <= len(ticks) <= 7
    assert all(0 <= value - low.astype(np.int64) <= seconds for value, _ in ticks)
    assert len({text for _, text in ticks}) == len(ticks)


def test_short_numbers() -> None:
    assert [format_number(value) for value in (0, 1, -2.5, 1234.5, 0.01234, 3e-9, 2.5e6, 2e18, 1e22)] == [
        "0",
        "1",
        "\N{MINUS SIGN}2.5",
        "1,234",
        "0.01234",
        "3e-09",
        "2.5 million",
        "2 quintillion",
        "1e+22",
    ]
    assert [format_share(value) for value in (0, 1e-6, 0.001, 0.5)] == ["0%", "under 0.01%", "0.10%", "50.0%"]
    assert [format_interval(*ends) for ends in ((0.01, 0.25), (0.0709, 0.0714), (0.10001, 0.10002), (0.1, 0.1))] == [
        " (1.0% to 25.0%)",
        " (7.09% to 7.14%)",
        " (10.001% to 10.002%)",
        "",
    ]
    assert [format_bytes(value) for value in (12, 2048, 3 * 2**20)] == ["12 bytes", "2 KiB", "3 MiB"]
    assert [format_duration(value) for value in (0, 2e-10, 0.5, 1, 90, 7200, 86_400, 1e9)] == [
        "0 seconds",
        "0.2 nanoseconds",
        "500 milliseconds",
        "1 second",
        "1.5 minutes",
        "2 hours",
        "1 day",
        "31.7 years",
    ]
    assert [format_ratio(octaves) for octaves in (0, 0.1, 1, 2.5, 40, 2000)] == [
        "0%",
        "7.2%",
        "a factor of 2",
        "a factor of 5.7",
        "a factor of 1.1 trillion",
        "a factor of 9e+307",
    ]
    assert [format_count(count, "cut") for count in (0, 1, 2, 1000)] == ["0 cuts", "1 cut", "2 cuts", "1,000 cuts"]


def test_png() -> None:
    stops = [(0, 0, 0), (250, 100, 50)]
    address = shaded(np.array([[0.0, 1.0, np.nan], [1.0, 1.0, 0.0]]), stops)
    data = b64decode(address.removeprefix("data:image/png;base64,"))
    chunks, start = {}, 8
    while start < len(data):
        (length,), name = struct.unpack(">I", data[start : start + 4]), data[start + 4 : start + 8]
        chunks[name] = data[start + 8 : start + 8 + length]
        assert struct.unpack(">I", data[start + 8 + length : start + 12 + length]) == (zlib.crc32(name + chunks[name]),)
        start += 12 + length
    width, height, depth, kind = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (width, height, depth, kind) == (3, 2, 8, 3)
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), dtype=np.uint8).reshape(height, width + 1)[:, 1:]
    palette = np.frombuffer(chunks[b"PLTE"], dtype=np.uint8).reshape(-1, 3)
    assert rows[0, 2] == 0
    assert chunks[b"tRNS"] == b"\0"
    assert palette[rows[0, 0]].tolist() == [0, 0, 0]
    assert palette[rows[0, 1]].tolist() == [250, 100, 50]

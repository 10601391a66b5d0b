"""Declared formats of times: every form of the records of one day is read to the same cells."""

import datetime as dt
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privhp as hp
from privhp.core.cells import OUTSIDE
from privhp.domains.short_forms import parse_domain

LOW, HIGH = "2000-01-01", "2030-12-31"
TIMES = [dt.datetime(2024, 12, 31), dt.datetime(2024, 2, 29, 23, 59), dt.datetime(2001, 3, 4, 5, 6)]
EPOCHS = {"epoch": 1, "epoch_ms": 10**3, "epoch_us": 10**6, "epoch_ns": 10**9}


def seconds(time: dt.datetime) -> int:
    return int(time.replace(tzinfo=dt.UTC).timestamp())


def codes(domain: hp.Time, records: Any) -> list[int]:
    return domain.encode(records, level=domain.depth).tolist()


EXPECTED = codes(hp.Time(LOW, HIGH), TIMES)


@pytest.mark.parametrize(
    "text", ["%d.%m.%Y %H:%M", "%m/%d/%Y %I:%M %p", "%Y%m%d%H%M", "%d %B %Y, %H:%M", "%y-%j %H:%M", "%d.%m.%Y %H:%M%z"]
)
def test_directives(text: str) -> None:
    domain = hp.Time(LOW, HIGH, format=text)
    written = [time.replace(tzinfo=dt.UTC).strftime(text) for time in TIMES]
    for records in (written, np.array(written), pd.Series(written), pl.Series(written), pa.array(written)):
        assert codes(domain, records) == EXPECTED
    assert codes(domain, [f" {written[0]} ".encode(), "31.12", "", None, 5]) == [EXPECTED[0], *[int(OUTSIDE)] * 4]


@pytest.mark.parametrize("text", EPOCHS)
def test_epochs(text: str) -> None:
    domain = hp.Time(LOW, HIGH, format=text)
    numbers = [seconds(time) * EPOCHS[text] for time in TIMES]
    for records in (
        numbers,
        np.array(numbers),
        np.array(numbers, dtype=float),
        list(map(str, numbers)),
        pa.array(numbers),
    ):
        assert codes(domain, records) == EXPECTED
    outside = [True, "1_735_603_200", "inf", float("nan"), float("inf"), "1" * 5000, 10**40, None, "1e999"]
    assert set(codes(domain, outside)) == {int(OUTSIDE)}


def test_fractions_of_an_epoch_are_rounded_down() -> None:
    domain = hp.Time("1969-12-31", "1970-01-02", unit="ms", format="epoch")
    deepest = [domain.describe(code, level=domain.depth) for code in codes(domain, [0.0019, -0.0001, "1.5", 2.25])]
    assert [first.astype(np.int64) for first, _ in deepest] == [1, -1, 1500, 2250]


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5),
    st.sampled_from([*EPOCHS]),
    st.sampled_from(["D", "s", "ns"]),
)
def test_arrays_of_numbers_are_read_as_single_numbers(numbers: list[int], text: str, unit: Any) -> None:
    domain = hp.Time("1970-01-01", "2030-12-31", unit=unit, format=text)
    assert codes(domain, np.array(numbers, dtype=np.int64)) == codes(domain, numbers)


def test_dates_as_integers() -> None:
    """Readers of CSV make integers of 20241231, and floats if one is missing."""
    domain = hp.Nullable(hp.Time(LOW, HIGH, unit="D", format="%Y%m%d"))
    expected = domain.encode(["2024-12-31", "2024-02-29"], level=domain.depth).tolist()
    for dtype in (np.int64, np.int32, np.float64):
        assert domain.encode(np.array([20241231, 20240229], dtype=dtype), level=domain.depth).tolist() == expected
    frame = pd.Series([20241231, None])
    assert domain.encode(frame, level=domain.depth).tolist() == [expected[0], 0]


def test_iso_text_and_times_are_read_too() -> None:
    """Samples are written in ISO 8601, and are records of the same domain."""
    domain = hp.Time(LOW, HIGH, format="%d.%m.%Y %H:%M")
    for records in ([time.isoformat() for time in TIMES], np.array(TIMES, dtype="M8[s]"), TIMES):
        assert codes(domain, records) == EXPECTED
    assert codes(hp.Time(LOW, HIGH, format="epoch"), ["2024-12-31"]) == EXPECTED[:1]


def test_the_format_decides_first() -> None:
    early = codes(hp.Time(LOW, HIGH, unit="D"), ["2024-02-01"])
    assert codes(hp.Time(LOW, HIGH, unit="D", format="%Y-%d-%m"), ["2024-01-02"]) == early


def test_queries_have_no_format() -> None:
    domain = hp.Time(LOW, HIGH, unit="D", format="%d.%m.%Y")
    generator = hp.fit(["31.12.2024"] * 500, domain, epsilon=10, expected_records=500)
    assert float(generator.mass(("2024-12-01", "2024-12-31"))) > 0.9
    assert float(generator.cdf("2025-01-15")) > 0.9
    assert hp.Domain.from_spec(domain.spec()) == domain
    assert repr(domain).endswith("format='%d.%m.%Y')")


@pytest.mark.parametrize("text", ["%d.%m", "%Y-%m", "%H:%M", "DD.MM.YYYY", "", "%Q", "%-d.%m.%Y", "%", "\0", 5, b"%Y"])
def test_incomplete_formats_are_refused(text: Any) -> None:
    with pytest.raises(
        hp.DomainError,
        match=r"expected a format with year, month and day.* for times of day without a date declare integers",
    ):
        hp.Time(LOW, HIGH, format=text)


def test_files(tmp_path: Path) -> None:
    """CSV, NDJSON and Parquet have the counts of ISO text, with a null and with values that cannot be read."""
    written = [f"{day:02}.12.2024" for day in range(1, 32)] * 3 + ["", "32.12.2024", "12/31/2024", "\xff"]
    iso = [f"2024-12-{day:02}" for day in range(1, 32)] * 3 + [""]
    domain = hp.Table(day=hp.Nullable(hp.Time(LOW, HIGH, unit="D", format="%d.%m.%Y")), kind=hp.Categories(["a", "b"]))
    plain = hp.Table(day=hp.Nullable(hp.Time(LOW, HIGH, unit="D")), kind=hp.Categories(["a", "b"]))
    for name, days in (("a", written), ("b", iso)):
        (tmp_path / f"{name}.csv").write_text("day,kind\n" + "".join(f"{day},a\n" for day in days), encoding="utf-8")
    columns = {"day": [day or None for day in written], "kind": ["a"] * len(written)}
    pd.DataFrame(columns).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame(columns).to_json(tmp_path / "a.ndjson", orient="records", lines=True)
    counts = [
        count(path, own)
        for path, own in [
            *((tmp_path / f"a.{kind}", domain) for kind in ("csv", "parquet", "ndjson")),
            (tmp_path / "b.csv", plain),
        ]
    ]
    assert all(np.array_equal(own, counts[-1]) for own in counts)
    assert counts[-1].sum() == 94


def test_numbers_without_a_format_name_it(tmp_path: Path) -> None:
    frame, domain = pd.DataFrame({"day": [20241231]}), hp.Table(day=hp.Time(LOW, HIGH, unit="D"))
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(hp.FileError, match='got int64; declare its format, such as "%Y%m%d" or "epoch", convert'):
        hp.fit(tmp_path / "a.parquet", domain, epsilon=1, expected_records=100)
    with pytest.raises(hp.RecordsError, match='or numbers in a declared format such as "epoch", got an array of int64'):
        hp.fit(frame, domain, epsilon=1, expected_records=100)


def count(path: Path, domain: hp.Domain) -> np.ndarray:
    from privhp.io.sources import open_source

    tally = hp.Tally(hp.Plan(domain, epsilon=1, budgets={14: 1}, exact_depth=14))
    for batch in open_source(path, domain=domain).batches():
        tally.add(batch.records)
    return tally.counters


def test_short_form() -> None:
    assert parse_domain("time:2000-01-01:2030-12-31:unit=D:format=%d.%m.%Y") == hp.Time(
        LOW, HIGH, unit="D", format="%d.%m.%Y"
    )
    clock = parse_domain("time:2000-01-01T00:00:2030-12-31T00:00:zone=+02:00:format=%m/%d/%Y %H:%M:%S:clamp")
    assert clock.spec()["format"] == "%m/%d/%Y %H:%M:%S"
    assert clock.spec()["zone"] == "+02:00"


@pytest.mark.parametrize("text", ["%Y-%m-%d %H:%M %p", "%Y-%m-%d %I:%M", "%p%Y%m%d", "%d/%m/%Y %I"])
def test_half_of_a_12_hour_clock_is_refused(text: str) -> None:
    """strptime reads 7 PM by %H and %p as 7 in the morning."""
    with pytest.raises(
        hp.DomainError, match="expected %I and %p together, for hours such as 07 PM, or %H for 24 hours"
    ):
        hp.Time(LOW, HIGH, format=text)
    hp.Time(LOW, HIGH, format="%Y-%m-%d %%p")  # a percent sign and a letter


def test_evenings_on_a_12_hour_clock() -> None:
    domain = hp.Time(LOW, HIGH, format="%Y-%m-%d %I:%M %p")
    assert codes(domain, ["2024-03-05 7:05 PM", "2024-03-05 07:05 pm"]) == codes(
        hp.Time(LOW, HIGH), ["2024-03-05T19:05"] * 2
    )


PIECES = ["%Y", "%m", "%d", "%H", "%M", "%S", "%I", "%p", "/", " ", ":", "T", "é", ".", "%%", "%y", "%b", "%z", "+"]
PIECES += ["%j", "a"]
ZONES = st.integers(-1439, 1439).map(lambda minutes: dt.timezone(dt.timedelta(minutes=minutes)))


@given(st.lists(st.sampled_from(PIECES), max_size=6), st.data())
def test_fixed_width_reads_what_strptime_reads(pieces: list[str], data: st.DataObject) -> None:
    """strptime, one text after the other, is the reference: for texts in the format, and for damaged ones."""
    day = [data.draw(st.sampled_from(own)) for own in (["%Y", "%y"], ["%m", "%b", "%B"], ["%d"])]
    text = "".join(data.draw(st.permutations([*day, *pieces])))
    zone, unit = data.draw(st.sampled_from([(None, "s"), ("Europe/Berlin", "s"), (None, "D")]))
    try:
        domain, slow = (hp.Time("1900-01-01", "2100-12-31", format=text, zone=zone, unit=unit) for _ in range(2))
    except hp.DomainError:
        return
    assert slow.format is not None
    slow.format.fixed = None
    dates = st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30), timezones=st.just(dt.UTC) | ZONES)
    texts = [time.strftime(text) for time in data.draw(st.lists(dates, max_size=5))]
    texts += [data.draw(st.sampled_from([own.lower(), own.upper()])) for own in texts]
    texts += [re.sub(r"([+-]\d\d)(\d\d)(?!\d)", r"\1:\2", own) for own in texts]
    texts += [own.replace("+0000", "Z") for own in texts]
    damaged = data.draw(st.lists(st.text("0123456789/ :AaPpMm+-\u0663", max_size=20), max_size=3))
    for own in texts:
        place = data.draw(st.integers(0, len(own)))
        damaged.append(own[:place] + data.draw(st.sampled_from("09:+-x \u0663")) + own[place + 1 :])
    records = [*texts, *damaged, None, 5, "2024-02-30", "x" * 10_000]
    assert codes(domain, records) == codes(slow, records)


def test_texts_of_fixed_width_are_read_at_once() -> None:
    domain = hp.Time(LOW, HIGH, format="%d/%m/%Y %I:%M %p")
    assert domain.format is not None
    assert domain.format.fixed is not None
    written = ["31/12/2024 07:05 PM", "29/02/2023 07:05 PM", "1/12/2024 07:05 PM", "31/12/2024 12:00 am"]
    places, seconds = domain.format.fixed.read(written)
    assert places.tolist() == [0, 3]
    assert seconds.astype("M8[s]").astype(str).tolist() == ["2024-12-31T19:05:00", "2024-12-31T00:00:00"]
    logs = hp.Time(LOW, HIGH, format="[%d/%b/%y:%H:%M:%S %z]", zone="Europe/Berlin")
    assert logs.format is not None
    assert logs.format.fixed is not None
    written = ["[29/Feb/24:23:30:00 -0100]", "[29/FEB/68:00:00:00 +0030]", "[01/Mai/24:00:00:00 +0000]"]
    written += ["[01/May/24:00:00:00 +2400]", "[01/May/24:00:00:00 +0060]", "[01/May/24:00:00:00 00000]"]
    written += ["[29/Feb/24:23:30:00 -01:00]", "[29/Feb/24:23:30:00 Z]", "[29/Feb/24:23:30:00 -01.00]"]
    places, seconds = logs.format.fixed.read(written)
    assert places.tolist() == [0, 1, 6, 7]
    assert seconds.astype("M8[s]").astype(str).tolist() == [
        "2024-03-01T00:30:00",
        "2068-02-28T23:30:00",
        "2024-03-01T00:30:00",
        "2024-02-29T23:30:00",
    ]


def test_names_of_months_are_read_at_once() -> None:
    domain = hp.Time(LOW, HIGH, format="%d %B %Y", unit="D")
    assert domain.format is not None
    assert domain.format.fixed is not None
    days = [dt.date(2024, month, 5) for month in range(1, 13)]
    places, seconds = domain.format.fixed.read([*(f"{day:%d %B %Y}" for day in days), "05 Mai 2024", "05 Sept 2024"])
    assert places.tolist() == list(range(12))
    assert seconds.astype("M8[s]").astype("M8[D]").tolist() == days
    assert hp.Time(LOW, HIGH, format="%d %B %Y %f").format.fixed is None  # type: ignore[union-attr]  # it has a format

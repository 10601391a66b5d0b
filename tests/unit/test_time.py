"""Times and dates: reading, regions and samples."""

import datetime as dt
import warnings
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from privhp import Domain, DomainError, Plan, PrivhpWarning, RecordsError, Summary, Table, Time, check_domain, fit
from privhp.core.cells import OUTSIDE
from silent import assert_silent

BERLIN = ZoneInfo("Europe/Berlin")
UNITS: list[Any] = ["D", "s", "ms", "us", "ns"]
NANOSECONDS = {
    "W": 604_800 * 10**9,
    "D": 86_400 * 10**9,
    "h": 3_600 * 10**9,
    "m": 60 * 10**9,
    "s": 10**9,
    "ms": 10**6,
    "us": 1000,
    "ns": 1,
}
FROM_2000: dict[str, Time] = {unit: Time("2000-01-01", "2030-01-01", unit=unit) for unit in UNITS}
DOMAINS = [
    *FROM_2000.values(),
    Time("2020-02-28", "2020-03-01", unit="D"),
    Time("1969-12-31T23:59:59", "1970-01-01T00:00:01"),
    Time("0001-01-01", "9999-12-31T23:59:59.999999", unit="us", outside="clamp"),
    Time("0001-01-01", "9999-12-31", unit="D", outside="clamp"),
    Time("1680-01-01", "1800-01-01", unit="ns"),
    Time("2140-01-01", "2260-01-01", unit="ns", outside="clamp"),
    Time("2020-03-28", "2020-10-26", zone="Europe/Berlin"),
    Time("2020-03-28", "2020-10-26", zone="Europe/Berlin", format="%d.%m.%Y %H:%M"),
    Time("2020-02-28", "2020-03-01", unit="D", outside="clamp", format="epoch"),
]
AWKWARD: list[Any] = [
    dt.datetime(2020, 2, 29),
    dt.datetime.min,
    dt.datetime.max,
    dt.datetime.max.replace(tzinfo=dt.timezone(dt.timedelta(hours=-23))),
    dt.datetime.min.replace(tzinfo=BERLIN),
    dt.date(2020, 2, 29),
    dt.time(1, 2),
    dt.timedelta(1),
    "2020-02-29",
    "2019-02-29",
    "2020-02-29T23:59:60",
    b"2020-02-29T12:00:00+02:00",
    "now",
    "today",
    "NaT",
    np.datetime64("NaT", "s"),
    np.datetime64("NaT", "ns"),
    np.datetime64(2**62, "Y"),
    np.datetime64(-(2**62), "M"),
    np.datetime64(2**62, "W"),
    np.datetime64(5, "as"),
    np.datetime64(5, "7s"),
    np.timedelta64(5, "s"),
    pd.NaT,
    pd.NA,
    pd.Timestamp("2020-02-29T00:00:00.123456789"),
    np.ma.masked,
    [dt.date(2020, 2, 29)],
]


def ticks_of(domain: Time, records: Any) -> list[str | None]:
    """The tick in the deepest cell of each record, as text."""
    return [None if tick is None else str(tick) for tick in deepest(domain, records)]


def deepest(domain: Time, records: Any) -> list[np.datetime64 | None]:
    """The only tick in the deepest cell of each record."""
    codes = domain.encode(records, level=domain.depth)
    ends = [None if code == OUTSIDE else domain.describe(int(code), level=domain.depth) for code in codes]
    assert all(own is None or own[0] == own[1] for own in ends)
    return [None if own is None else own[0] for own in ends]


def numbers_of(domain: Time, records: Any) -> list[int | None]:
    """Number of ticks from the lower bound to each record."""
    low = domain.describe(0, level=0)[0]
    return [None if tick is None else int((tick - low).astype(np.int64)) for tick in deepest(domain, records)]


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_laws(domain: Time) -> None:
    check_domain(domain, awkward=AWKWARD)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_repr(domain: Time) -> None:
    assert eval(repr(domain), {"Time": Time}) == domain


def instant(value: Any, unit: str) -> dt.datetime:
    """Instant of a record, computed with the standard library; for days, that of the clock beside it."""
    value = dt.datetime.fromisoformat(value) if isinstance(value, str) else value
    value = value if isinstance(value, dt.datetime) else dt.datetime.combine(value, dt.time())
    return (value if value.tzinfo and unit != "D" else value.replace(tzinfo=dt.UTC)).astimezone(dt.UTC)


WRITTEN: list[Any] = [
    "2020-02-29",
    "2020-02-29T12:30",
    "2020-02-29 12:30:05.123456",
    "2020-02-29T12:30:05Z",
    "2020-02-29T23:30:00-05:30",
    "20200229T123005",
    dt.date(2000, 2, 29),
    dt.datetime(2020, 2, 29, 23, 59, 59, 999_999),
    dt.datetime(2020, 2, 29, 12, 30, tzinfo=dt.timezone(dt.timedelta(hours=9))),
    dt.datetime(2020, 7, 1, 12, 30, tzinfo=BERLIN),
    pd.Timestamp("2020-02-29T12:30:05.123456", tz="America/New_York"),
]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("record", WRITTEN, ids=str)
def test_tick_of_record(record: Any, unit: Any) -> None:
    since = instant(record, unit) - dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
    expected = since // dt.timedelta(microseconds=1) * 1000 // NANOSECONDS[unit]
    domain = FROM_2000[unit]
    assert numbers_of(domain, [record]) == [expected]


def test_nanoseconds() -> None:
    expected = ["2020-02-29T12:30:05.123456789"] * 4
    stamp = "2020-02-29T12:30:05.123456789"
    records = [stamp, f"{stamp}Z", pd.Timestamp(stamp), np.datetime64(stamp)]
    assert ticks_of(FROM_2000["ns"], records) == expected
    assert ticks_of(FROM_2000["ns"], ["2020-02-29T12:30:05.1234567"]) == ["2020-02-29T12:30:05.123456700"]
    assert ticks_of(FROM_2000["us"], records) == ["2020-02-29T12:30:05.123456"] * 4


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("step", [*NANOSECONDS, "Y", "M"])
def test_numpy_units(step: str, unit: Any) -> None:
    rng = np.random.default_rng(1)
    seconds = rng.integers(-(10**9), 4 * 10**9, 300).astype("M8[s]")
    times = np.append(seconds.astype(f"M8[{step}]"), np.array(["NaT", "1999-12-31", "2030-01-01"], dtype=f"M8[{step}]"))
    domain = Time("1999-06-01", "2030-01-01", unit=unit)
    codes = domain.encode(times, level=domain.depth)
    assert np.array_equal(codes, domain.encode(list(times), level=domain.depth))
    assert np.array_equal(codes, domain.encode(times.astype(times.dtype.newbyteorder()), level=domain.depth))
    assert np.array_equal(codes, domain.encode(np.ma.MaskedArray(times, mask=np.isnat(times)), level=domain.depth))
    exact = times.astype("M8[us]").astype(object)
    if step != "ns":
        assert np.array_equal(codes, domain.encode(exact, level=domain.depth))
    inside = (times >= np.datetime64("1999-06-01")) & (times < np.datetime64("2030-01-02"))
    assert inside[codes != OUTSIDE].all()


@pytest.mark.parametrize("step", [*NANOSECONDS, "Y", "M"])
@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_extreme_times(domain: Time, step: str) -> None:
    ends = [-(2**63) + 1, 2**63 - 1]
    length = NANOSECONDS.get(step, 28 * NANOSECONDS["D"])
    low, high = domain.cell_quantile(np.array([0.0, 1.0]), np.zeros(2, np.uint64), level=0).view(np.int64).tolist()
    expected = []
    for end in ends:
        tick = end * length // NANOSECONDS[domain.unit]
        inside = low <= tick <= high
        tick = min(max(tick, low), high)
        expected.append(tick - low if inside or domain.outside == "clamp" else None)
    with assert_silent():
        assert numbers_of(domain, np.array(ends).view(f"M8[{step}]")) == expected


def test_masked_time() -> None:
    times = np.ma.MaskedArray(np.array(["2020-01-01", "2020-01-02"], dtype="M8[ns]"), mask=[True, False])
    assert ticks_of(FROM_2000["D"], times) == [None, "2020-01-02"]


STAMPS = [dt.datetime(2020, 2, 29, 12, 30), None, dt.datetime(1999, 12, 31, 23, 59, 59), dt.datetime(2020, 3, 1)]
SECONDS = ["2020-02-29T12:30:00", None, None, "2020-03-01T00:00:00"]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(STAMPS),
        pd.Series(STAMPS).dt.tz_localize("UTC"),
        pd.Series(STAMPS).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
        pd.Series(STAMPS).astype("datetime64[ns]").dt.tz_localize("UTC"),
        pd.DatetimeIndex(STAMPS),
        pd.DatetimeIndex(STAMPS, tz="UTC").tz_convert("America/New_York"),
        pd.Series(STAMPS, dtype=object),
        pd.Series([None if stamp is None else stamp.isoformat() for stamp in STAMPS], dtype="str"),
        pa.array(STAMPS),
        pa.array(STAMPS, type=pa.timestamp("ns", tz="Europe/Berlin")),
        pa.array(STAMPS, type=pa.timestamp("s")),
        pa.chunked_array([STAMPS[:2], STAMPS[2:]]),
        pa.chunked_array([pa.array(STAMPS[:2]).dictionary_encode(), pa.array(STAMPS[2:]).dictionary_encode()]),
        pa.array([None if stamp is None else stamp.isoformat() for stamp in STAMPS]),
        pl.Series(STAMPS),
        pl.Series(STAMPS).dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo"),
    ],
    ids=lambda column: f"{type(column).__name__}-{getattr(column, 'dtype', getattr(column, 'type', ''))}",
)
def test_columns_of_times(column: Any) -> None:
    assert ticks_of(FROM_2000["s"], column) == SECONDS


@pytest.mark.parametrize(
    "column",
    [
        pa.array([dt.date(2020, 2, 29), None]),
        pa.array([dt.date(2020, 2, 29), None], type=pa.date64()),
        pd.Series([dt.date(2020, 2, 29), None]),
        pl.Series([dt.date(2020, 2, 29), None]),
    ],
    ids=lambda column: type(column).__name__,
)
def test_columns_of_dates(column: Any) -> None:
    assert ticks_of(FROM_2000["D"], column) == ["2020-02-29", None]


def test_days_of_leap_year() -> None:
    domain = Time("2020-01-01", "2020-12-31", unit="D")
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=day) for day in range(366)]
    assert domain.encode(days, level=9).tolist() == list(range(366))
    assert domain.encode(np.array(days, dtype="M8[D]"), level=9).tolist() == list(range(366))
    assert (domain.measure(np.arange(512, dtype=np.uint64), level=9) > 0).tolist() == [True] * 366 + [False] * 146
    centuries = Time("1900-02-28", "2000-03-01", unit="D")
    assert ticks_of(centuries, ["1900-02-29", "2000-02-29"]) == [None, "2000-02-29"]


def test_rounding_before_1970() -> None:
    domain = Time("1969-12-31T23:59:58", "1970-01-01T00:00:01")
    times = np.array([-1001, -1000, -999, -1, 0, 999, 1000, 1999, 2000], dtype="M8[ms]")
    assert numbers_of(domain, times) == [0, 1, 1, 1, 2, 2, 3, 3, None]
    assert numbers_of(domain, [time.astype(object) for time in times]) == [0, 1, 1, 1, 2, 2, 3, 3, None]


# Zones


def test_fold() -> None:
    """On 25 October 2020 clocks in Berlin were set from 03:00 back to 02:00, at 01:00 UTC."""
    domain = Time("2020-10-01", "2020-11-01", zone="Europe/Berlin")
    wall = dt.datetime(2020, 10, 25, 2, 30)
    records = [wall, wall.replace(fold=1), "2020-10-25T02:30", "2020-10-25T02:30+01:00", wall.replace(tzinfo=BERLIN)]
    at_utc = ["2020-10-25T00:30:00", "2020-10-25T01:30:00"]
    assert ticks_of(domain, records) == [at_utc[0], at_utc[1], at_utc[0], at_utc[1], at_utc[0]]


def test_skipped_hour() -> None:
    """On 29 March 2020 clocks in Berlin were set from 02:00 to 03:00."""
    domain = Time("2020-03-28", "2020-03-31", zone="Europe/Berlin")
    before, after = numbers_of(domain, ["2020-03-29T01:59:59", "2020-03-29T03:00:00"])
    assert before is not None
    assert after == before + 1
    assert ticks_of(domain, ["2020-03-29T02:30"]) == ["2020-03-29T01:30:00"]


def test_zone_of_records_without_one() -> None:
    domain = Time("2020-01-01", "2021-01-01", zone="Asia/Tokyo")
    assert domain.spec()["low"] == "2019-12-31T15:00:00Z"
    noon = dt.datetime(2020, 6, 1, 12)
    local, utc = "2020-06-01T03:00:00", "2020-06-01T12:00:00"
    assert ticks_of(domain, [noon, "2020-06-01T12:00", noon.replace(tzinfo=dt.UTC), "2020-06-01T12:00Z"]) == [
        local,
        local,
        utc,
        utc,
    ]
    assert ticks_of(domain, [np.datetime64(noon)]) == ticks_of(domain, np.array([noon], dtype="M8[us]")) == [utc]
    assert ticks_of(domain, [pd.Timestamp(noon)]) == ticks_of(domain, pd.Series([noon])) == [utc]
    assert ticks_of(domain, [pd.Timestamp(noon, tz="Asia/Tokyo")]) == [local]
    assert ticks_of(domain, [dt.date(2020, 6, 1)]) == ["2020-05-31T15:00:00"]


def test_a_timestamp_of_pandas_is_noted_once_at_the_call() -> None:
    """Its region is read at each level, and again when the standard error is asked for."""
    tokyo = Time("2020-05-01", "2020-07-01", zone="Asia/Tokyo")
    generator = fit({"t": ["2020-06-01T12:00"] * 400}, Table(t=tokyo), epsilon=9, expected_records=400)
    region = {"t": (pd.Timestamp("2020-06-01"), pd.Timestamp("2020-06-02"))}
    with pytest.warns(PrivhpWarning, match="a pandas timestamp without a zone") as caught:
        repr(generator.mass(region))
    assert [one.filename for one in caught] == [__file__]


def test_timestamps_of_pandas_are_utc_as_times_of_numpy_are() -> None:
    noted = "a pandas timestamp without a zone is read as UTC.* not in the zone of the domain, Asia/Tokyo; write a text"
    cells, ends = np.arange(2**9, dtype=np.uint64), ("2020-06-01T12:00", "2020-06-02T12:00")
    tokyo, utc = Time("2020-05-01", "2020-07-01", zone="Asia/Tokyo"), Time("2020-05-01", "2020-07-01")
    naive, aware = [pd.Timestamp(end) for end in ends], [pd.Timestamp(end, tz="UTC") for end in ends]
    expected = tokyo.overlap(tuple(map(np.datetime64, ends)), cells, level=9)
    with pytest.warns(PrivhpWarning, match=noted):
        assert np.array_equal(tokyo.overlap(tuple(naive), cells, level=9), expected)
    with pytest.warns(PrivhpWarning, match=noted):
        assert Time(*naive, zone="Asia/Tokyo") == Time(*aware, zone="Asia/Tokyo")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(tokyo.overlap(tuple(aware), cells, level=9), expected)
        assert Time(*naive) == Time(*aware)
        utc.overlap(tuple(naive), cells, level=9)


# Regions and batches


BAD_REGIONS = ["2020-01-01", None, ("2020-01-01",), ("2020-02-01", "2020-01-01"), ("x", None), (None, 5), (0, 1)]


@pytest.mark.parametrize("region", BAD_REGIONS, ids=repr)
def test_wrong_region(region: Any) -> None:
    with pytest.raises(DomainError, match="expected") as refusal:
        FROM_2000["s"].overlap(region, np.zeros(1, dtype=np.uint64), level=0)
    assert len(str(refusal.value).splitlines()) == 1
    if not isinstance(region, tuple):
        assert 'such as ("2020-02-29", "2020-03-31"), also for one value' in str(refusal.value)


@pytest.mark.parametrize("records", [["soon"], np.array(["NaT"], dtype="M8[s]"), [3]])
def test_cdf_of_wrong_value(records: Any) -> None:
    with pytest.raises(DomainError, match="expected times"):
        FROM_2000["s"].cell_cdf(records, np.zeros(1, dtype=np.uint64), level=0)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(4321),
        np.zeros(4321, int),
        np.zeros(4321, "m8[s]"),
        np.zeros(4321, "M8[7s]"),
        np.zeros((2, 4321), "M8[s]"),
    ],
)
def test_array_of_wrong_type(array: Any) -> None:
    with pytest.raises(RecordsError, match="expected") as refusal:
        FROM_2000["s"].encode(array, level=1)
    assert "4321" not in str(refusal.value)


def test_forms_of_records() -> None:
    plan = Plan.paper(FROM_2000["s"], epsilon=1000, expected_records=1000, hot_cells=4)
    summary = Summary(plan)
    with assert_silent():
        summary.update(np.full(400, "2020-02-29T12:00", dtype="M8[m]"), threads=2)
        summary.update(["2020-02-29T12:00"] * 100 + AWKWARD)
        summary.update([dt.datetime(2020, 2, 29, 12, tzinfo=dt.UTC)] * 500)
    generator = summary.release()
    assert generator.mass(("2020-02-01", "2020-03-31")).value > 0.95
    assert generator.sample(10).dtype == np.dtype("M8[s]")


@pytest.mark.parametrize(
    ("low", "high", "zone"), [("0001-01-01", "2000-01-01", "Europe/Berlin"), ("2000-01-01", "9999-12-31", "-05:00")]
)
def test_bounds_that_a_file_could_not_hold_are_refused(low: str, high: str, zone: str) -> None:
    """In UTC they are in the years 0 and 10,000, which no text of a plan can write: the release would be lost."""
    with pytest.raises(DomainError, match="years 1 to 9999 of UTC"):
        Time(low, high, zone=zone)
    domain = Time("0001-01-02", "9999-12-30", zone=zone)
    assert Domain.from_spec(domain.spec()) == domain

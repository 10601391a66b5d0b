"""Dates without a time of day, as bounds of times and as ends of regions: whole days."""

import datetime as dt
import operator
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

import privhp as hp
from privhp.domains.conditions import read_condition
from privhp.domains.short_forms import parse_domain
from privhp.domains.unions import share_inside
from releases import release_of

CHANGES = {
    None: "2024-02-28",
    "Europe/Berlin": "2024-03-30",
    "America/Sao_Paulo": "2018-11-03",  # the next day begins at 01:00
    "America/Havana": "2024-11-02",  # the next day has two hours from 00:00 on
    "America/Asuncion": "2018-03-24",  # its hour from 23:00 on occurs twice
}
SIGNS = {"<": operator.lt, "<=": operator.le, "=": operator.eq, "!=": operator.ne, ">=": operator.ge, ">": operator.gt}


def local_days(zone: str | None, middle: str) -> tuple[hp.Time, list[dt.datetime], list[dt.date]]:
    """A domain of some days, times in it at quarters of an hour and a second before, and their local dates."""
    day = dt.date.fromisoformat(middle)
    domain = hp.Time(day - dt.timedelta(2), day + dt.timedelta(3), zone=zone)
    start = dt.datetime.combine(day - dt.timedelta(2), dt.time(0), dt.UTC)
    minutes = [start + dt.timedelta(minutes=15 * step) for step in range(6 * 96)]
    times = sorted([*minutes, *(time - dt.timedelta(seconds=1) for time in minutes)])
    inside = [time for time in times if domain.encode([time], level=0)[0] == 0]
    return domain, inside, [time.astimezone(ZoneInfo(zone or "UTC")).date() for time in inside]


@pytest.mark.parametrize(("zone", "middle"), CHANGES.items())
def test_signs_compare_local_dates(zone: str | None, middle: str) -> None:
    domain, times, dates = local_days(zone, middle)
    cells = domain.encode(times, level=domain.depth)
    day = dt.date.fromisoformat(middle)
    for asked in (day, day + dt.timedelta(1)):
        for sign, compare in SIGNS.items():
            region = read_condition(f"value {sign} {asked}", domain)
            expected = [float(compare(date, asked)) for date in dates]
            assert share_inside(domain, region, cells, level=domain.depth).tolist() == expected, (sign, asked)
        for ends in ((str(asked), str(asked)), (asked, asked), (f" {asked} ".encode(), f"{asked:%Y%m%d}")):
            inside = domain.overlap(ends, cells, level=domain.depth)
            assert inside.tolist() == [float(date == asked) for date in dates]


def test_cdf_and_mass_have_the_same_ends() -> None:
    domain = hp.Time("2024-04-01", "2024-04-08", zone="Europe/Berlin")
    times = np.datetime64("2024-04-01", "s") + np.arange(0, 7 * 86_400, 3600)
    plan = hp.Plan(domain, epsilon=1, budgets={12: 1}, exact_depth=12, inference="least-squares")
    generator = hp.Generator(release_of(plan, times))
    for end in ("2024-04-03", dt.date(2024, 4, 3), "2024-04-03T12:00", np.datetime64("2024-04-03")):
        assert generator.cdf(end).value == pytest.approx(generator.mass((None, end)).value, abs=1e-12)
    by_day = generator.cdf([["2024-04-02"], ["2024-04-03"]])
    assert np.diff(by_day.value, axis=0) == pytest.approx(generator.mass(("2024-04-03", "2024-04-03")).value)
    assert generator.cdf("2024-04-03T23:59:59").value == generator.cdf("2024-04-03").value
    assert generator.cdf("2024-04-03T23:59:59").stderr == generator.cdf("2024-04-03").stderr


@pytest.mark.parametrize(("unit", "last"), [("s", ""), ("ms", ".999"), ("us", ".999999"), ("ns", ".999999999")])
def test_bounds_are_whole_days(unit: Any, last: str, tmp_path: Path) -> None:
    domain = hp.Time("2024-03-01", "2024-04-30", unit=unit)
    assert domain.parameters()["high"] == f"2024-04-30T23:59:59{last}Z"
    assert domain == hp.Time(dt.date(2024, 3, 1), dt.date(2024, 4, 30), unit=unit)
    assert domain == hp.Domain.from_spec(domain.cell_spec())
    assert domain == parse_domain(f"time:2024-03-01:2024-04-30:unit={unit}")
    for bounds in ('low = "2024-03-01"\nhigh = "2024-04-30"', "low = 2024-03-01\nhigh = 2024-04-30"):
        (tmp_path / "when.toml").write_text(f'kind = "time"\n{bounds}\nunit = "{unit}"\n')
        assert domain == hp.read_domain(tmp_path / "when.toml")


@pytest.mark.parametrize(
    "high",
    [
        "2024-04-30T00:00",
        "2024-04-30T00:00:00Z",  # as a release file has it
        dt.datetime(2024, 4, 30),
        pd.Timestamp("2024-04-30"),
        np.datetime64("2024-04-30"),
    ],
    ids=repr,
)
def test_midnights_are_times(high: Any) -> None:
    assert hp.Time("2024-03-01", high).parameters()["high"] == "2024-04-30T00:00:00Z"


def test_one_day_and_the_last_day_of_the_calendar() -> None:
    assert hp.Time("2024-04-30", "2024-04-30").parameters()["low"] == "2024-04-30T00:00:00Z"
    assert hp.Time("0001-01-01", "9999-12-31").parameters()["high"] == "9999-12-31T23:59:59Z"
    with pytest.raises(hp.DomainError, match="a lower bound before the upper"):
        hp.Time("2024-04-30", "2024-04-29")


def test_printed_times_are_local_and_values_are_utc() -> None:
    domain = hp.Time("2024-03-30", "2024-04-01", zone="Europe/Berlin")
    assert repr(domain) == (
        'Time("2024-03-30T00:00:00+01:00", "2024-04-01T23:59:59+02:00", unit="s", zone=\'Europe/Berlin\')'
    )
    assert domain.parameters()["low"] == "2024-03-29T23:00:00Z"
    region = np.datetime64("2024-03-31T00:30:00"), np.datetime64("2024-03-31T01:30:00")
    condition = domain.format_region(region, "value")
    assert condition == "value >= 2024-03-31T01:30:00+01:00 and value <= 2024-03-31T03:30:00+02:00"
    assert read_condition(condition, domain) == region
    plan = hp.Plan(domain, epsilon=1, budgets={9: 1}, exact_depth=9, inference="least-squares")
    generator = hp.Generator(release_of(plan, np.datetime64("2024-03-31T12:00:00") + np.arange(1000)))
    for estimate in (generator.quantile(0.5), generator.mean(), generator.quantile([0.5, 0.6])):
        assert np.asarray(estimate.value).astype("M8[D]").reshape(-1)[0] == np.datetime64("2024-03-31")
        assert "2024-03-31T14:" in repr(estimate)
        assert "+02:00" in repr(estimate)
        assert "+02:00" in estimate._repr_html_()
        assert "Z" not in repr(estimate)

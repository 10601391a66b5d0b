"""Times: bounds, specs, shares of regions and samples."""

import datetime as dt
import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest

from privhp import Domain, DomainError, Plan, Time
from privhp.answers.generator import Generator
from privhp.release import Release


@pytest.mark.parametrize(
    "bound",
    [
        "2020-02-29",
        dt.date(2020, 2, 29),
        dt.datetime(2020, 2, 29),
        dt.datetime(2020, 2, 29, 1, tzinfo=dt.timezone(dt.timedelta(hours=1))),
        np.datetime64("2020-02-29"),
        np.datetime64("2020-02-29T00:00", "ns"),
        pd.Timestamp("2020-02-29"),
    ],
    ids=repr,
)
def test_forms_of_bounds(bound: Any) -> None:
    assert Time(bound, "2021-01-01") == Time("2020-02-29", dt.date(2021, 1, 1))


BAD_SPECS: list[tuple[dict[str, Any], str]] = [
    ({"low": "2020-01-01"}, "high missing"),
    (
        {"low": "2020", "high": "2021-01-01"},
        'a time such as "2020-02-29" or "2020-02-29T19:30" for the lower bound, year first',
    ),
    ({"low": "2020-01-01", "high": "2021-02-29"}, "for the upper bound, year first, got '2021-02-29'"),
    ({"low": 0, "high": "2021-01-01"}, "for the lower bound, year first, got 0"),
    ({"low": "2020-01-01", "high": None}, "for the upper bound, year first, got None"),
    ({"low": "NaT", "high": "2021-01-01"}, "for the lower bound, year first, got 'NaT'"),
    ({"low": np.datetime64("NaT", "s"), "high": "2021-01-01"}, "for the lower bound"),
    ({"low": "2020-01-01", "high": "2020-01-01", "unit": "D"}, "a lower bound before the upper"),
    ({"low": "2020-01-02", "high": "2020-01-01"}, "a lower bound before the upper"),
    ({"low": "2020-01-01T00:00", "high": "2020-01-01T12:00", "unit": "D"}, "a lower bound before the upper"),
    ({"low": "1600-01-01", "high": "2020-01-01", "unit": "ns"}, "choose a coarser unit"),
    ({"low": "1800-01-01", "high": "2020-01-01", "unit": "ns"}, "choose a coarser unit"),
    ({"low": "2020-01-01", "high": "2021-01-01", "unit": "h"}, 'unit="s", "ms", "us", "ns" or "D"'),
    ({"low": "2020-01-01", "high": "2021-01-01", "unit": None}, 'unit="s", "ms", "us", "ns" or "D"'),
    ({"low": "2020-01-01", "high": "2021-01-01", "zone": "Berlin"}, "expected a time zone such as"),
    ({"low": "2020-01-01", "high": "2021-01-01", "zone": 3}, "expected a time zone such as"),
    ({"low": "2020-01-01", "high": "2021-01-01", "zone": "../etc/passwd"}, "expected a time zone such as"),
    ({"low": "2020-01-01", "high": "2021-01-01", "zone": "UTC", "unit": "D"}, "dates have no time zone"),
    ({"low": "2020-01-01", "high": "2021-01-01", "outside": "keep"}, "outside="),
]


@pytest.mark.parametrize(("spec", "hint"), BAD_SPECS, ids=[hint for _, hint in BAD_SPECS])
def test_wrong_spec(spec: dict[str, Any], hint: str) -> None:
    with pytest.raises(DomainError) as refusal:
        Domain.from_spec({"kind": "time", **spec})
    assert hint in str(refusal.value)
    assert len(str(refusal.value).splitlines()) == 1


def test_overlap_of_dates() -> None:
    days = [dt.date(2020, 2, 27) + dt.timedelta(days=day) for day in range(5)]
    domain = Time(days[0], days[-1], unit="D")
    for level in range(domain.depth + 1):
        cells = domain.encode(days, level=level)
        for cell in np.unique(cells):
            run = [day for day, own in zip(days, cells, strict=True) if own == cell]
            here = np.array([cell])
            assert domain.diameter(level) >= (run[-1] - run[0]).days
            for day in [dt.date(2020, 2, 1), *days, dt.date(2020, 4, 1)]:
                share = domain.cell_cdf(np.array([day], dtype=object), here, level=level)
                assert share == sum(own <= day for own in run) / len(run)
            for first, last in itertools.combinations_with_replacement([days[0], days[2], days[4]], 2):
                share = domain.overlap((first, last.isoformat()), here, level=level)
                assert share == pytest.approx(sum(first <= own <= last for own in run) / len(run))
            for index, day in enumerate(run):
                share = np.array([(index + 1) / len(run)])
                assert domain.cell_quantile(share, here, level=level) == np.datetime64(day)
        largest = max(
            (b - a).days
            for (a, one), (b, other) in itertools.combinations_with_replacement(zip(days, cells, strict=True), 2)
            if one == other
        )
        assert domain.diameter(level) == largest


def test_unit_of_distance() -> None:
    for unit, length in {"D": 1.0, "s": 86_400, "ms": 86_400, "us": 86_400, "ns": 86_400}.items():
        domain: Any = Time("2020-02-28T00:00", "2020-02-29T00:00", unit=unit)  # type: ignore[arg-type]  # a wrong type is the test
        assert domain.diameter(0) == pytest.approx(length)
        assert domain.diameter(domain.depth) == 0


def test_generator() -> None:
    domain = Time("2020-01-01", "2020-12-31", unit="D")
    plan = Plan(domain, epsilon=1, budgets={9: 1}, exact_depth=9)
    counts = np.zeros(512, dtype=np.int64)
    counts[[0, 59, 365]] = [1, 2, 1]
    generator = Generator(Release(plan, {9: counts}))
    assert generator.mass(("2020-02-01", dt.date(2020, 2, 29))).value == 0.5
    assert generator.mass((None, "2020-02-28")).value == 0.25
    assert generator.cdf("2020-02-28").value == 0.25
    assert generator.cdf(["2020-02-29", "2020-12-30"]).value.tolist() == [0.75, 0.75]
    assert generator.cdf([dt.date(2020, 2, 29)]).value.tolist() == [0.75]
    assert generator.cdf(np.array(["2021-01-01"], dtype="M8[s]")).value.tolist() == [1]
    assert generator.quantile(0.5).value == np.datetime64("2020-02-29")
    assert generator.quantile([0, 1]).value.astype(str).tolist() == ["2020-01-01", "2020-12-31"]
    sample = generator.sample(8, rng=1)
    assert sample.dtype == np.dtype("M8[D]")
    assert sorted(sample.astype(str)) == ["2020-01-01"] * 2 + ["2020-02-29"] * 4 + ["2020-12-31"] * 2

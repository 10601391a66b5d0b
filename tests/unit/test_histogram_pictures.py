"""Pictures of numbers and times: height of wide bands, labels of times."""

from dataclasses import replace

import numpy as np
import pytest

from privhp import Generator, Integers, Interval, Nullable, Plan, Table, Time
from privhp.release import Release
from privhp.reporting.figures.histograms import histogram_figure
from privhp.reporting.page import picture_figure
from privhp.reporting.pictures import MAX_BAND, HistogramPicture, Map, pictures_of


def histogram_of(domain: Integers | Time, epsilon: str, counts: list[int]) -> HistogramPicture:
    level = len(counts).bit_length() - 1
    plan = Plan(domain, epsilon=epsilon, budgets={level: epsilon}, exact_depth=level, inference="least-squares")
    (picture,) = pictures_of(Generator(Release(plan, {level: np.array(counts)})))
    assert isinstance(picture, HistogramPicture)
    return picture


def test_wide_bands_leave_bars_readable() -> None:
    picture = histogram_of(Integers(0, 7), "1/100", [120, 60, 300, 80, 90, 70, 110, 60])
    tallest = float(picture.shares.max())
    assert picture.intervals[1].max() > MAX_BAND * tallest
    assert picture.top() == pytest.approx(MAX_BAND * tallest)
    text = histogram_figure(picture)
    assert "it is cut off at the top and reaches" in text
    heights = [float(point.split(",")[1]) for point in text.split('class="margin" d="M')[1].split(" L")[0].split()]
    assert min(heights) == 0  # the upper edge of the picture


def test_narrow_bands_are_shown_in_full() -> None:
    picture = histogram_of(Integers(0, 7), "1", [1200, 600, 3000, 800, 900, 700, 1100, 600])
    assert picture.top() == pytest.approx(float(picture.intervals[1].max()))
    assert "cut off" not in histogram_figure(picture)


def test_last_tick_does_not_set_the_height() -> None:
    """The upper bound of times is a bin of one second."""
    day = Time("2020-05-01T00:00", "2020-05-02T00:00")
    picture = histogram_of(day, "1", [500] * 16)
    ends = np.stack([0.9 * picture.shares[1:-1], 1.1 * picture.shares[1:-1]])
    ends[1, -1] = 0.2
    picture = replace(picture, intervals=ends)
    assert picture.axis.edges[-1] - picture.axis.edges[-2] == 1
    assert picture.band_top == pytest.approx(ends[1, :-1].max())
    assert "cut off" not in histogram_figure(picture)


def test_real_records_fit_in() -> None:
    picture = histogram_of(Integers(0, 7), "1", [100] * 8)
    real = np.zeros(picture.shares.shape)
    real[3] = 1.0
    assert picture.top(real) == 1.0


def test_zoned_times_are_marked_as_utc() -> None:
    """Bins and ticks are round numbers in UTC; without a zone, times are shown as they are given."""
    year = ("2020-01-01", "2021-01-01")
    table = Table(a=Nullable(Time(*year, zone="Europe/Berlin")), b=Time(*year), c=Interval(0, 1))
    plan = Plan(table, epsilon=1, budgets={6: 1}, exact_depth=6)
    found = pictures_of(Generator(Release(plan, {6: np.arange(64)})))
    assert [own.label for own in found[:3]] == ["a (UTC)", "b", "c"]
    assert {own.label for own in found if isinstance(own, Map)} == {"a (UTC) and b", "a (UTC) and c", "b and c"}
    (figure,) = (picture_figure(own) for own in found if own.label == "a (UTC) and c")
    assert "a (UTC) \N{RIGHTWARDS ARROW}" in figure


def test_labels_of_times_have_their_room() -> None:
    table = Table(x=Interval(0, 1), when=Time("2020-01-01", "2021-01-01"))
    plan = Plan(table, epsilon=1, budgets={6: 1}, exact_depth=6)
    *_, picture = pictures_of(Generator(Release(plan, {6: np.arange(64)})))
    assert isinstance(picture, Map)
    longest = max(len(tick.text) for tick in picture.up.ticks)
    assert longest == len("Jan 2020")
    assert f'style="--longest:{longest}"' in picture_figure(picture)

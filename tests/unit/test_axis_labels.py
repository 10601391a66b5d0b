"""Labels of the axes of pictures."""

from itertools import pairwise

import numpy as np

import privhp as hp
from privhp import Geo
from privhp.reporting.figures.markup import axis_labels
from privhp.reporting.ticks import Tick, number_ticks
from privhp.reporting.value_scales import scale_of


def test_labels_do_not_touch() -> None:
    """Of eight characters at every sixth of an axis, the second would touch the first, which starts at the left.

    So every second one is left out.
    """
    labels = axis_labels([Tick(place / 6, f"Jan 201{place}") for place in range(7)])
    assert [place for place in range(7) if f"Jan 201{place}" in labels] == [0, 2, 4, 6]
    years = axis_labels([Tick(place / 6, f"201{place}") for place in range(7)])
    assert all(f"201{place}" in years for place in range(7))


def test_labels_of_plots_do_not_touch() -> None:
    """Of a table with a time column, months were nine pixels on top of each other."""
    times = np.datetime64("2023-01-01") + np.arange(2000) * np.timedelta64(4, "h")
    table = hp.Table(seen=hp.Time("2023-01-01", "2023-12-31"), b=hp.Integers(0, 9), c=hp.Integers(0, 9))
    plan = hp.Plan(table, epsilon=1, budgets={3: 1}, exact_depth=3)
    summary = hp.Summary(plan)
    summary.update({"seen": times, "b": times.astype(int) % 10, "c": times.astype(int) % 7})
    figure = summary.release().plot()
    figure.canvas.draw()
    for panel in figure.axes:
        boxes = [label.get_window_extent() for label in panel.get_xticklabels()]
        assert all(one.x1 + 3 < two.x0 for one, two in pairwise(boxes))


def test_labels_of_a_narrow_range_differ() -> None:
    assert [tick.text for tick in number_ticks(21.4998, 21.5002)] == [
        "21.4998",
        "21.4999",
        "21.5000",
        "21.5001",
        "21.5002",
    ]
    texts = [tick.text for tick in number_ticks(1e8, 1e8 + 7)]
    assert len(set(texts)) == len(texts)


def test_degrees() -> None:
    (longitude, latitude) = (scale_of(Geo(170, -10, -170, 10).plot_scale(axis)) for axis in (0, 1))
    assert longitude is not None
    assert latitude is not None
    assert [tick.text for tick in longitude.ticks(176, 184)] == [
        "176°",
        "178°",
        "180°",
        "\N{MINUS SIGN}178°",
        "\N{MINUS SIGN}176°",
    ]
    assert latitude.text(-7.5) == "\N{MINUS SIGN}7.5°"
    assert latitude.width(np.array([0, 0.5])) == "0.5°"

"""Labels of the axes of pictures."""

import numpy as np

from privhp import Geo
from privhp.reporting.figures.markup import axis_labels
from privhp.reporting.ticks import Tick
from privhp.reporting.value_scales import scale_of


def test_labels_do_not_touch() -> None:
    """Of eight characters at every sixth of an axis, the second would touch the first, which starts at the left.

    So every second one is left out.
    """
    labels = axis_labels([Tick(place / 6, f"Jan 201{place}") for place in range(7)])
    assert [place for place in range(7) if f"Jan 201{place}" in labels] == [0, 2, 4, 6]
    years = axis_labels([Tick(place / 6, f"201{place}") for place in range(7)])
    assert all(f"201{place}" in years for place in range(7))


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

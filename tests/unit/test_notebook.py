"""HTML and plots of generators and plans in a notebook."""

import sys

import numpy as np
import pytest

from pages import Reader
from privhp import Box, Categories, Integers, Interval, Nullable, Plan, QueryError, Table
from releases import histogram


def test_html_of_generator() -> None:
    card = Reader(histogram(Integers(0, 7), 3, [4, 0, 0, 2, 0, 0, 0, 2])._repr_html_())
    assert "about 10 records" not in card.text
    assert "Integers(0, 7)" in card.text
    assert "8 cells" in card.text
    assert card.tags.count("svg") == 2  # a histogram and a distribution function


def test_html_of_plan() -> None:
    plan = Plan.auto(Interval(0, 1000), epsilon=1, expected_records=1e6)
    card = Reader(plan._repr_html_())
    assert "Interval(0, 1000)" in card.text
    assert "expected error" in card.text
    assert " ".join(str(plan).split()) in card.text


def test_panels_of_plot() -> None:
    table = Table(a=Interval(0, 1), b=Nullable(Integers(0, 9)), c=Categories(["x", "y"]))
    figure = histogram(table, 4, list(range(16))).plot()
    assert [panel.get_title(loc="left") for panel in figure.axes] == ["a", "b", "c", "a and b", "a and c", "b and c"]
    figure.draw_without_rendering()


def test_map_in_plot() -> None:
    figure = histogram(Box([(0, 1), (0, 1)]), 2, [1, 2, 3, 4]).plot()
    (image,) = figure.axes[0].images
    shares = np.asarray(image.get_array()) ** 2
    assert image.origin == "lower"
    half = shares.shape[0] // 2
    np.testing.assert_allclose(shares[half:, half:].sum(), 0.4)


def test_plot_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(QueryError, match=r"pip install 'privhp\[report\]'"):
        histogram(Interval(0, 1), 1, [1, 1]).plot()

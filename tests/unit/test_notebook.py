"""HTML and plots of distributions, plans, domains and estimates in a notebook."""

import re
import struct
import sys

import numpy as np
import pytest

from pages import Reader
from privhp import Box, Categories, Generator, Geo, Integers, Interval, Nullable, Plan, QueryError, Table, Time
from privhp.release import Release
from privhp.reporting import pictures, report_page
from releases import histogram, release_of


def measured(domain, level: int, counts: list[int]) -> Generator:
    """A generator with standard errors, with these counts in the cells of one level."""
    plan = Plan(domain, epsilon=1, budgets={level: 1}, exact_depth=level, inference="least-squares")
    return Generator(Release(plan, {level: np.array(counts)}))


def test_html_of_generator() -> None:
    card = Reader(histogram(Integers(0, 7), 3, [4, 0, 0, 2, 0, 0, 0, 2])._repr_html_())
    assert "about 10 records" not in card.text
    assert "Integers(0, 7)" in card.text
    assert "8 cells" in card.text
    assert card.tags.count("svg") == 2  # a histogram and a distribution function


def test_only_the_pictures_shown_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table({name: Integers(0, 7) for name in "abcdef"})
    generator, computed = histogram(table, 6, list(range(64))), []
    histogram_picture = pictures._histogram
    monkeypatch.setattr(pictures, "_histogram", lambda *given: computed.append(given) or histogram_picture(*given))
    assert Reader(generator._repr_html_()).tags.count("figure") == len(computed) == 4


def test_columns_that_are_not_shown() -> None:
    table = Table({f"c{number}": Integers(0, 3) for number in range(20)})
    card = Reader(histogram(table, 5, list(range(32)))._repr_html_()).text
    listed = ", ".join(f"c{number}" for number in range(4, 16))
    assert f"16 of 20 columns are not shown: {listed} and 4 more. privhp.report writes a page with all of them." in card
    assert "not shown" not in Reader(histogram(Box([(0, 1), (0, 1)]), 2, [1, 2, 3, 4])._repr_html_()).text


def test_warning_of_wide_table() -> None:
    table = Table({f"c{number}": Interval(0, 1) for number in range(12)})
    plan = Plan.auto(table, epsilon=1, expected_records=1000)
    generator = Generator(release_of(plan, {f"c{number}": np.zeros(1000) for number in range(12)}))
    for page in (generator._repr_html_(), report_page(generator, title="wide")):
        assert "Coarse columns: too many columns: 12 of 12 are split at most 2 times" in Reader(page).text


def test_html_of_plan() -> None:
    plan = Plan.auto(Interval(0, 1000), epsilon=1, expected_records=1e6)
    card = Reader(plan._repr_html_())
    assert "Interval(0, 1000)" in card.text
    assert "expected error" in card.text
    assert " ".join(str(plan).split()) in card.text


def test_html_of_marginal() -> None:
    table = Table(a=Integers(0, 7), b=Categories(["x", "y"]))
    marginal = measured(table, 4, list(range(16))).marginal("b")
    card = Reader(marginal._repr_html_())
    assert "Categories(['x', 'y'])" in card.text
    assert "2 cells" in card.text
    assert "120" in card.text
    assert f"y {marginal.mass('y').value:.1%} (" in card.text  # with its interval


@pytest.mark.parametrize(
    ("domain", "rows"),
    [
        (Table({"fare": Interval(0, 9), ("lon", "lat"): Geo()}), ["fare", "Interval(0, 9)", "lon, lat", "Geo()"]),
        (Interval(0, 9).named("fare"), ["fare", "Interval(0, 9)"]),
        (Geo(), ["longitude, latitude", "Geo()"]),
    ],
)
def test_html_of_domain(domain, rows) -> None:
    assert Reader(domain._repr_html_()).text == " ".join(["column domain", *rows])


def test_html_of_estimates() -> None:
    generator = measured(Integers(0, 7), 3, [400, 0, 0, 200, 0, 0, 0, 200])
    mass = generator.mass((0, 1))
    card = Reader(mass._repr_html_())
    low, high = mass.interval()
    value, stderr = repr(mass).split(" +- ")
    decimals = len(value.split(".")[1])
    interval = f"{low:.{decimals}f} to {high:.{decimals}f}"
    assert card.text == f"Estimate {value} Standard error {stderr} 90% interval {interval}"
    table = Reader(generator.cdf([0, 3, 7])._repr_html_())
    assert table.tags.count("tr") == 4
    assert table.text.startswith("value estimate standard error 90% interval 0 0.5")
    assert re.findall(r"<th scope=\"row\"[^>]*>(.*?)</th>", generator.cdf([0, 3, 7])._repr_html_()) == ["0", "3", "7"]
    quantiles = generator.quantile([[0.5], [0.9]])._repr_html_()
    assert Reader(quantiles).text.startswith("share estimate")
    assert re.findall(r"<th scope=\"row\"[^>]*>(.*?)</th>", quantiles) == ["0.5", "0.9"]
    assert Reader(generator.masses([(0, 1), (2, 3)])._repr_html_()).text.startswith("index estimate")
    assert repr(mass) not in table.text


def test_html_of_many_estimates_and_of_bounds() -> None:
    """A long array is text; a region inside a cell has bounds alone; a plan of the paper has no standard error."""
    generator = measured(Interval(0, 8), 3, [400, 0, 0, 200, 0, 0, 0, 200])
    many = generator.cdf(np.linspace(0, 8, 60))
    assert Reader(many._repr_html_()).tags.count("tr") == 0
    assert " ".join(repr(many).split()) in Reader(many._repr_html_()).text
    small = measured(Interval(0, 8), 1, [5, 3]).mass((1.0, 1.1))
    assert not small.resolved
    assert repr(small) in Reader(small._repr_html_()).text
    unknown = histogram(Interval(0, 8), 1, [5, 3]).mass((0, 4))
    assert "Estimate 0.625 this plan uses the paper's top-down inference" in Reader(unknown._repr_html_()).text


def test_html_of_bounds_of_cells() -> None:
    budgets = {3: "1/2", 5: "1/2"}
    plan = Plan(Integers(0, 1023), epsilon=1, budgets=budgets, exact_depth=5, inference="least-squares")
    generator = Generator(Release(plan, {3: np.full(8, 6400), 5: np.full(32, 1600)}))
    mass = generator.mass((0, 599))
    assert mass.cell_bounds is not None
    low, high = repr(mass).split("cells allow ")[1].split(" to ")
    assert f"Cells allow {low} to {high} if values are heaped" in Reader(mass._repr_html_()).text
    assert "Cells allow" not in generator.mass((0, 511))._repr_html_()


def test_html_of_times() -> None:
    generator = measured(Time("2018-01-01", "2018-01-09"), 3, [400, 0, 0, 200, 0, 0, 0, 200])
    assert "2018-01-0" in Reader(generator.quantile(0.5)._repr_html_()).text
    table = Reader(generator.quantile([0.25, 0.5])._repr_html_()).text
    assert len(re.findall(r"2018-01-0\dT\d\d:\d\d:\d\dZ", table)) == 6


def test_names_are_escaped() -> None:
    name = "<b onclick=x>&"
    table = Table({name: Categories([name, "y"])})
    generator = measured(table, 1, [3, 5])
    plan = Plan.auto(table, epsilon=1, expected_records=100)
    for shown in (table, plan, generator, generator.marginal(name)):
        html = shown._repr_html_()
        assert "<b " not in html
        assert name in Reader(html).text


def test_style_of_cards_stays_inside() -> None:
    """Each selector names the class of a card, thrice, and the rule that resets elements comes first."""
    html = Plan.auto(Interval(0, 1), epsilon=1, expected_records=100)._repr_html_()
    style = html[html.index("<style>") + 7 : html.index("</style>")]
    assert style.startswith(".privhp.privhp.privhp :where(:not(svg, svg *)) { all: revert; }")
    assert style.count(".privhp") == 3 * style.count(".privhp.privhp.privhp")
    assert "</" not in style


def test_picture_of_plot() -> None:
    """IPython asks for the picture, and for its width on the screen."""
    figure = measured(Interval(0, 1), 1, [1, 3]).plot()
    picture, size = figure._repr_png_()
    assert picture.startswith(b"\x89PNG")
    (pixels,) = struct.unpack(">I", picture[16:20])
    assert size == {"width": round(5.5 * figure.dpi)}
    assert pixels > size["width"]


def test_panels_of_plot() -> None:
    table = Table(a=Interval(0, 1), b=Nullable(Integers(0, 9)), c=Categories(["x", "y"]))
    figure = histogram(table, 4, list(range(16))).plot()
    assert [panel.get_title(loc="left") for panel in figure.axes] == ["a", "b", "c", "a and b", "a and c", "b and c"]
    figure.draw_without_rendering()


def test_legend_of_plot() -> None:
    """Once for all histograms; without a band that a plan without standard errors lacks."""
    table = Table(a=Interval(0, 1), b=Interval(0, 1), c=Categories(["x", "y"]))
    with_errors, without = measured(table, 4, list(range(16))), histogram(table, 4, list(range(16)))
    legends = [
        [[text.get_text() for text in legend.get_texts()] for legend in generator.plot().legends]
        for generator in (with_errors, without, with_errors.marginal("c"))
    ]
    assert legends == [[["estimate", "90% interval, darker on the estimate"]], [["estimate"]], []]


def test_map_in_plot() -> None:
    figure = histogram(Box([(0, 1), (0, 1)]), 2, [1, 2, 3, 4]).plot()
    (image,) = figure.axes[0].images
    shares = np.asarray(image.get_array()) ** 2
    assert image.origin == "lower"
    half = shares.shape[0] // 2
    np.testing.assert_allclose(shares[half:, half:].sum(), 0.4)


def test_plot_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.delitem(sys.modules, "privhp.reporting.shown_figure", raising=False)
    with pytest.raises(QueryError, match=r"pip install 'privhp\[report\]'"):
        histogram(Interval(0, 1), 1, [1, 1]).plot()

"""Cards, plots and progress in a real notebook page: a Jupyter server, a kernel and Chromium (`make browser`)."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from browser.chromium import Page, browser, find_chromium
from browser.jupyter import Server, open_cells, run_cells, serve, use_theme, wait_for
from browser.layout import check_layout

PHONE, DESK, HEIGHT = 390, 1280, 6000
FIT = """
import numpy as np
import privhp as hp

rng = np.random.default_rng(0)
trips = {"fare": rng.lognormal(2.5, 0.7, 5000), "kind": rng.choice(["bus", "tram"], 5000)}
table = hp.Table({"fare": hp.Interval(0, 200), "kind": hp.Nullable(hp.Categories(["bus", "tram"]))})
plan = hp.Plan.auto(table, epsilon=1, expected_records=5000)
generator = hp.fit(trips, plan=plan)
generator
"""
CARDS = ["plan", "table", "generator.marginal('fare')", "generator.mass({'fare': (0, 10)})"]
SEVERAL = "generator.marginal('fare').quantile([0.1, 0.5, 0.9])"
CELLS = [FIT, *CARDS, SEVERAL, "generator.plot()"]

SLOW_FIT = """
import time
import numpy as np
import privhp as hp

update = hp.Summary.update
hp.Summary.update = lambda summary, records: (time.sleep(0.1), update(summary, records))
generator = hp.fit(np.linspace(0, 1, 1_000_000), hp.Interval(0, 1), epsilon=1, expected_records=1e6)
"""

COLLISIONS = """
[...document.querySelectorAll(".jp-OutputArea-output")].filter(output =>
  output.scrollWidth > output.clientWidth + 1).map(output => output.textContent.slice(0, 80))
"""

pytestmark = pytest.mark.skipif("PRIVHP_BROWSER" not in os.environ, reason="run make browser")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(tmp_path_factory.mktemp("notebooks")) as server:
        yield server


@pytest.fixture(scope="module")
def page(server: Server) -> Iterator[Page]:
    """The page of a notebook whose cells were executed."""
    with browser(find_chromium()) as page:
        run_cells(page, server, CELLS, width=DESK, height=HEIGHT)
        yield page


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, DESK])
def test_cards_in_the_style_of_the_notebook(page: Page, tmp_path: Path, width: int, dark: bool) -> None:
    """Nothing overlaps, all text is readable, and cards follow the theme of the notebook, not that of the system."""
    use_theme(page, dark=dark)
    page.resize(width, HEIGHT, dark=not dark)
    assert page.run("document.querySelectorAll('.privhp.card').length") == len(CELLS) - 1
    check_layout(page, width=width, dark=dark)
    assert page.run(COLLISIONS) == []
    page.screenshot(tmp_path / "notebook.png")


def test_cards_look_as_outside(page: Page, tmp_path: Path) -> None:
    """The notebook's own rules change neither size nor position of any element of a card by more than two pixels."""
    use_theme(page, dark=False)
    page.resize(DESK, HEIGHT)
    boxes = """
    [...document.querySelectorAll(".privhp.card *:not(style)")].filter(element => element.getClientRects().length)
      .map(element => {
        const [box, card] = [element, element.closest(".card")].map(one => one.getBoundingClientRect());
        return [box.left - card.left, box.top - card.top, box.width, box.height];
      })
    """
    inside = page.run(boxes)
    cards = page.run("[...document.querySelectorAll('.privhp.card')].map(card => card.outerHTML).join('')")
    width = page.run("document.querySelector('.privhp.card').getBoundingClientRect().width")
    alone = tmp_path / "alone.html"
    alone.write_text(f"<!doctype html><meta charset=utf-8><body><div style='width:{width}px'>{cards}</div></body>")
    with browser(find_chromium()) as other:
        other.open(alone, width=DESK)
        np.testing.assert_allclose(other.run(boxes), inside, atol=2)


def test_cards_of_somebody_else(page: Page, server: Server) -> None:
    """A notebook page removes the style of a card that it does not trust; what is left can be read."""
    page.run("jupyterapp.commands.execute('docmanager:save').then(() => 0)")
    (file,) = server.folder.glob("0.ipynb")
    notebook = json.loads(file.read_text())
    notebook["metadata"]["changed"] = True  # its signature is that of another content
    (server.folder / "untrusted.ipynb").write_text(json.dumps(notebook))
    with browser(find_chromium()) as other:
        other.open(f"{server.url}notebooks/untrusted.ipynb", width=DESK, height=HEIGHT)
        wait_for(other, "document.querySelectorAll('.privhp.card .unstyled').length > 0")
        assert other.run("document.querySelectorAll('.privhp.card style').length") == 0
        assert other.run("document.querySelector('.privhp.card .unstyled').getClientRects().length") == 1
        assert other.run("document.querySelector('.privhp.card .figures').getClientRects().length") == 0


def test_picture_without_magic(page: Page) -> None:
    """The last line of a cell shows a figure, though pyplot was never imported."""
    picture = "document.querySelector('.jp-RenderedImage img')"
    assert page.run(f"{picture}.naturalWidth") > page.run(f"{picture}.width") > 300


def test_bar_of_a_fit(server: Server) -> None:
    """A long fit shows a bar, which moves; at the end nothing is left of it, neither on the page nor in the file."""
    bar = "document.querySelector('.jp-OutputArea progress')"
    with browser(find_chromium()) as page:
        open_cells(page, server, [SLOW_FIT], width=DESK, height=900)
        wait_for(page, f"{bar}?.value > 0.1")
        assert " left" in page.run(f"{bar}.parentElement.textContent")
        wait_for(page, f"{bar} === null")
        page.run("jupyterapp.commands.execute('docmanager:save').then(() => 0)")
    file = max(server.folder.glob("*.ipynb"), key=lambda path: path.stat().st_mtime).read_text()
    assert "elapsed" not in file
    assert "progress" not in file.replace("progress=", "")

"""The section on accuracy in README.md, from the figures of the accuracy benchmark."""

import math
from pathlib import Path

from benchmarks.accuracy_figures import Figures
from benchmarks.methods import COMPLETE, DEFAULT, PAPER

README = Path(__file__).resolve().parents[1] / "README.md"
BEGIN, END = "**Accuracy.** ", "\n[benchmarks/ACCURACY.md]"
TEXT = """The table shows W1 x n at epsilon = 1 with the domain scaled to 1: the W1 (1-Wasserstein) distance to the
records times their number. A value of 10 means "as if ten records had moved across the whole domain". The figures of
privhp are means of five fits with `hp.fit`, or of forty on a line; the others are means of three to ten fits. "Best
other" is the least error of nine [baselines](docs/baselines.md) in the same memory, with level and post-processing
chosen in hindsight. In the plane and in tables the best other is PrivTree. It reads the records once per level of its
tree, and only its leaves count as memory; the memory of privhp includes the partition and its scratch space. The
complete tree (PMM) may use 64 MiB. Bold marks the least error of the three columns for 64 KiB, and of the last two.

| records | privhp, 64 KiB | paper, 64 KiB | best other, 64 KiB | privhp, 1 MiB | complete tree, up to 64 MiB |
|---|---|---|---|---|---|
"""
STREAMS = {
    "taxi fares": "taxi fares",
    "flight delays": "flight delays",
    "taxi timestamps": "taxi pick-up times, in order",
    "uniform": "uniform on [0, 1]",
    "zipf": "Zipf",
    "40 atoms": "40 atoms",
    "blocklist": "addresses on block lists",
    "postcodes": "British postcodes",
    "postcodes, sorted": "the same, sorted by location",
    "crimes": "crimes in the plane",
    "flights 3-D": "flights in three columns",
}


def errors(figures: Figures, name: str) -> list[list[float]]:
    """Errors of the methods that are compared with each other: in 64 KiB, and of the default with the complete tree."""
    small = [figures.error(name, DEFAULT, "64 KiB"), figures.error(name, PAPER, "64 KiB")]
    small.append(figures.best_baseline(name, "64 KiB")[0])
    return [small, [figures.error(name, DEFAULT, "1 MiB"), figures.error(name, COMPLETE)]]


def number(value: float) -> str:
    """Error with one digit after the point, or from 100 with none."""
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.1f}"


def row(figures: Figures, name: str, label: str) -> str:
    """Line of the table; the least error of each comparison in bold."""
    records = figures.fits(name, DEFAULT, "64 KiB")[0]["records"]
    cells = [
        f"**{number(value)}**" if value == min(group) else number(value)
        for group in errors(figures, name)
        for value in group
    ]
    return f"| {label}, {records:,} | {' | '.join(cells)} |"


def write_headline(figures: Figures) -> None:
    """Replace the text and the table, if all streams are measured."""
    values = (value for name in STREAMS for group in errors(figures, name) for value in group)
    if any(map(math.isnan, values)):
        return
    before, _, rest = README.read_text().partition(BEGIN)
    after = rest[rest.index(END) :]
    table = "".join(row(figures, name, label) + "\n" for name, label in STREAMS.items())
    README.write_text(before + BEGIN + TEXT + table + after)

"""The pictures of docs/how-it-works.md, from the bundled flights. Run it with `make pictures`.

The bars of records are shown beside the release because these flights are public.
"""

import csv
import gzip
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

import privhp as hp
from privhp.answers.hierarchy import Hierarchy

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
FLIGHTS = ROOT / "examples" / "flights13.csv.gz"
LOW, HIGH = -64.0, 192.0
"""Delays that are shown, in minutes, and the domain of the small plan."""
WIDE = 2048.0
"""Bound of the delays of the large plan, in minutes."""
COARSE, FINE = 2, 5
"""Levels that the small plan measures: 4 and 32 cells."""
FEW = 2_000
"""Records of the small plan, so few that its noise can be seen."""
RECORDS, RELEASE, SAMPLE = "#b8bfcc", "#3f51b5", "#e07b39"


def main() -> None:
    """Make the four pictures."""
    with gzip.open(FLIGHTS, "rt") as file:
        texts = [row["arr_delay"] for row in csv.DictReader(file)]
    delays = np.array([float(text) for text in texts if text])
    draw_partition(delays)
    draw_small_plan(delays[:: delays.size // FEW][:FEW])


def draw_partition(delays: NDArray[np.float64]) -> None:
    """Picture of a learned partition below the records, and one of records beside samples."""
    domain = hp.Interval(-WIDE, WIDE)
    generator = hp.fit(delays, domain, epsilon=1, expected_records=delays.size, memory="8 KiB")
    levels = generator.partition.levels
    lengths = 2 * WIDE / 2.0**levels
    ends = np.cumsum(lengths) - WIDE

    figure, (above, below) = axes(2, height=4.2)
    draw_bars(above, delays, 256, RECORDS)
    above.set_ylabel("flights")
    below.bar(ends - lengths, levels, lengths, align="edge", color="#dfe3f3", edgecolor=RELEASE, linewidth=0.4)
    below.set_yticks(range(0, int(levels.max()) + 1, 5))
    below.set_ylabel("halvings")
    save(figure, below, "partition.png")

    figure, (above, below) = axes(2, height=4.2)
    draw_bars(above, delays, 128, RECORDS)
    draw_bars(below, generator.sample(delays.size, rng=0), 128, SAMPLE)
    above.set_ylabel("flights")
    below.set_ylabel("synthetic flights")
    below.sharey(above)
    save(figure, below, "synthetic.png")


def draw_small_plan(delays: NDArray[np.float64]) -> None:
    """Pictures of noisy counts, and of estimates by least squares."""
    budget = Fraction(1, 20)
    plan = hp.Plan(hp.Interval(LOW, HIGH), epsilon=2 * budget, budgets={COARSE: budget, FINE: budget}, exact_depth=FINE)
    summary = hp.Summary(plan)
    summary.update(delays)
    layers = {int(layer.levels[0]): layer for layer in Hierarchy(summary.release().release).layers}

    figure, columns = axes(2, height=4.2)
    for axis, level in zip(columns, (COARSE, FINE), strict=True):
        draw_bars(axis, delays, 2**level, RECORDS, label="records")
        draw_steps(axis, layers[level].measured, RELEASE, label="noisy count")
        axis.set_ylabel(f"{2**level} cells")
    columns[0].legend(frameon=False)
    save(figure, columns[1], "noise.png")

    figure, (axis,) = axes(1, height=2.8)
    draw_bars(axis, delays, 2**FINE, RECORDS, label="records")
    draw_steps(axis, layers[FINE].measured, "#9aa5d8", label="noisy count")
    draw_steps(axis, layers[FINE].estimate, SAMPLE, label="estimate")
    axis.legend(frameon=False)
    axis.set_ylabel(f"{2**FINE} cells")
    save(figure, axis, "estimates.png")


def axes(rows: int, height: float) -> tuple[Figure, list[Axes]]:
    """A figure with axes one below the other that share the delays."""
    figure = Figure(figsize=(7.2, height), layout="constrained")
    columns: Any = figure.subplots(rows, sharex=True, squeeze=False)
    return figure, [axis for (axis,) in columns]


def draw_bars(axis: Axes, values: NDArray[Any], cells: int, color: str, label: str | None = None) -> None:
    """Draw numbers of values as bars."""
    axis.hist(values, bins=cells, range=(LOW, HIGH), color=color, label=label)


def draw_steps(axis: Axes, counts: NDArray[np.float64], color: str, label: str) -> None:
    """Draw counts of cells of equal length as steps."""
    axis.stairs(counts, np.linspace(LOW, HIGH, counts.size + 1), color=color, linewidth=1.6, label=label)


def save(figure: Figure, last: Axes, name: str) -> None:
    """Name the delays below the last axes, and write the picture."""
    last.set_xlabel("delay at arrival, minutes")
    last.set_xlim(LOW, HIGH)
    for axis in figure.axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.axhline(0, color="black", linewidth=0.6)
    figure.savefig(PICTURES / name, dpi=160)


if __name__ == "__main__":
    main()

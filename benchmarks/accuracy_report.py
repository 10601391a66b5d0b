"""Report of the accuracy benchmark: ACCURACY.md and accuracy.svg."""

import datetime as dt
import itertools
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.accuracy_figures import (
    Figures,
    collapse,
    geometric_mean,
    least,
    markdown,
    mean,
    mean_and_deviation,
    number,
)
from benchmarks.methods import (
    BALANCE,
    BASELINES,
    COMPLETE,
    DEFAULT,
    HALVES,
    KNOWN,
    MEMORY,
    ONE_PASS,
    PAPER,
    RESOLUTION,
    plan_of,
)
from benchmarks.streams import SOURCES
from benchmarks.zoo_report import zoo_sections
from privhp.planning.streams import Stream

SPARSE = ("40 atoms", "taxi fares")
UNEVEN = ("postcodes", "postcodes, sorted", "crimes", "flights 3-D")
ENDS = ("64 KiB", "1 MiB")
HERE = Path(__file__).parent
Line = dict[str, Any]
EXPLANATION = """# Accuracy

`make accuracy`, {date}. Error is W1 x n with the domain scaled to 1: 10 means "as if ten records had been moved
across the whole domain". It is exact on the line; for planes, tables and IPv4 it is the exact distance in the domain's
hierarchy down to level 24. Entries are the mean ± the standard deviation of five fits of a plan and three of a
baseline, each with new noise and new hash functions; whole streams on a line at epsilon = 1, where errors vary most,
have forty fits of the default, ten of other plans and six of a baseline. These errors are computed from the real data
and are not private.

- **default**: `hp.fit` for that memory: two passes over samples learn a partition, and a third measures.
- **known partition**: one pass with the partition of an earlier release. That release is a default fit, new for every
  fit, of as many other records: of a synthetic stream with another seed, of other records of the same file, or, for
  whole files and 100,000 records of the blocklist, of records of the file drawn with replacement. So the earlier
  records have the same distribution. The privacy budget of the earlier release is another, of the same size.
- **one pass**: `Plan.auto` with one pass and no partition, for streams of which nothing is known.
- **paper**: the paper's settings and rules, with the largest number of hot cells that fits.
- **halves**: the distance between two random halves of the records.
- All other methods are [baselines](../docs/baselines.md) in the same memory and under the same neighbouring relation.
  The post-processing of each, and the level of flat histograms, HB and DAWA, are chosen with hindsight by fits that are
  not counted, two on a line and one elsewhere. The complete tree takes as much memory as it needs, up to 64 MiB.

The least error among the methods that fit the memory is in bold.

The neighbouring relation is add-remove. "postcodes, sorted" is sorted by cell; "taxi timestamps" and "drift" are in
order of time; all other streams are shuffled.
"""
RATIOS = """\
Ratios of mean errors at epsilon = 1 on whole streams; below 1 the default is better. Noise dominates where the finest
histogram that fits the memory, without noise, has less than half the error of the best baseline.

In little memory the best baseline of planes and tables is PrivTree, whose memory counts one counter for each leaf. Of
64 KiB the default has 8 KiB of scratch space, 12 KiB of nodes and 5 KiB of exact levels: 4,852 leaves on crimes, where
PrivTree may have 8,192. In a plane the resolution is about one over the square root of the leaves, which is this gap.
A third learning pass does not close it (crimes 4,753 instead of 4,711), but takes 40% off the error of 300 places.
"""
LEARNED = """\
What learning gains, at epsilon = 1: data that can be read again, a stream with the partition of an earlier release, a
stream of which nothing is known, and the paper.
"""
PREDICTED = """\
Errors that `plan.predictions()` predicts and measured errors, at epsilon = 1 on whole streams. The prediction is the
one for sparse streams where the data has few locations, the one for uneven streams for points and tables, else the one
for smooth streams. Noise dominates where the predicted error has more noise than resolution. Elsewhere the error
depends on the distribution inside leaves, which a plan does not know.
"""
PLANE = """\
Exact W1 x n between masses on a grid of 97 x 97, in the maximum norm; epsilon = 1. Baselines are projected.
"""
RANGES = """\
Mean over 50 random regions of |answer - true| / max(true, 0.001 n); epsilon = 1. Baselines are projected.
"""
SAMPLES = """\
W1 x n between 100,000 sampled records and their generator, means of five samples; exact on the line, between masses
on a grid of 64 x 64 in the plane. "Dense" is a complete tree, "sparse" the paper's plan in 64 KiB. The lower bound
holds for samples that are unbiased in every cell: where the expected number of records at or below a point has the
fractional part f, the mean absolute error of the number is at least 2 f (1 - f). The target ratio is out of reach where
nearly all mass is at one location: independent samples are close to the generator there, too.
"""


METHODS = (DEFAULT, PAPER, *BASELINES)
PLOTTED = (DEFAULT, PAPER, "truncated least squares", "flat", "HB", "DAWA", "PrivTree")
LEARNING = (DEFAULT, KNOWN, ONE_PASS, PAPER)
UNLIMITED = (COMPLETE, HALVES)
GRID_METHODS = (DEFAULT, PAPER, "truncated least squares", "AGrid", COMPLETE)
"""Methods whose exact distance on a grid is measured, which takes seconds."""
RANGE_METHODS = (DEFAULT, PAPER, "truncated least squares", "AGrid", "PrivTree", COMPLETE)
"""Methods whose errors of range queries are measured."""


def compare_methods(figures: Figures) -> str:
    """Ratios of the default plan's mean errors to those of other methods, at epsilon 1 on whole streams."""
    rows = []

    def row(label: str, ratios: dict[str, float], target: str, mean_target: str = "") -> None:
        known = {name: ratio for name, ratio in ratios.items() if not math.isnan(ratio)}
        if known:
            worst = max(known, key=known.__getitem__)
            average = f"{geometric_mean(known.values()):.2f}"
            rows.append([label, f"{known[worst]:.2f} ({worst})", target, average, mean_target])

    ours = {memory: {name: figures.error(name, DEFAULT, memory) for name in figures.streams} for memory in MEMORY}
    for other, targets in ((PAPER, ("0.6", "0.4")), (ONE_PASS, ("", "")), (KNOWN, ("", ""))):
        for memory in ENDS:
            ratios = {name: error / figures.error(name, other, memory) for name, error in ours[memory].items()}
            row(f"{other}, both in {memory}", ratios, *targets)
    ratios = {name: error / figures.error(name, COMPLETE) for name, error in ours["1 MiB"].items()}
    row("complete tree without memory limit, default in 1 MiB", ratios, "0.7", "0.5")
    for memory in MEMORY:
        rivals = {name: figures.best_baseline(name, memory)[0] for name in figures.streams}
        ratios = {name: error / rivals[name] for name, error in ours[memory].items()}
        row(f"best baseline, both in {memory}", ratios, "1.1")
        noisy = {name for name in rivals if 2 * figures.error(name, RESOLUTION, memory, epsilon=None) < rivals[name]}
        row(f"the same where noise dominates, {memory}", {name: ratios[name] for name in noisy}, "1.1")
        if memory == "64 KiB":
            row(f"the same on sparse data, {memory}", {name: ratios[name] for name in SPARSE if name in ratios}, "0.5")
        row(f"the same on IPv4, {memory}", {name: ratios[name] for name in ("blocklist",) if name in ratios}, "0.9")
    return markdown(["default compared with", "worst ratio", "target", "geometric mean", "target"], rows)


def errors(
    figures: Figures,
    memory: str,
    *,
    methods: tuple[str, ...] = (*METHODS, *UNLIMITED),
    name: str = "w1",
    epsilon: float = 1.0,
    size: int | None = None,
) -> str:
    """One figure of some methods on all streams in one memory; the least error of those that fit it in bold."""
    rows = []
    rule = None if name == "w1" else "projection"
    for stream in figures.streams:
        fits = {
            method: figures.fits(
                stream, method, memory, epsilon=None if method == HALVES else epsilon, size=size, rule=rule
            )
            for method in methods
        }
        best = least(mean(lines, name) for method, lines in fits.items() if method not in UNLIMITED)
        if not math.isnan(best):
            texts = {method: mean_and_deviation(lines, name) for method, lines in fits.items()}
            bold = {method: f"**{texts[method]}**" for method in fits if mean(fits[method], name) == best}
            rows.append([stream, *(texts | bold).values()])
    return markdown([memory, *methods], rows) if rows else ""


def all_errors(figures: Figures, memories: Iterable[str], **where: Any) -> str:
    """Tables of errors, one for each memory."""
    return "\n".join(filter(None, (errors(figures, memory, **where) for memory in memories)))


def prediction_ratios(figures: Figures) -> str:
    """Ratios of measured to predicted errors."""
    rows = []
    for name in figures.streams:
        domain = SOURCES[name].domain
        kind: Stream = "sparse" if name in SPARSE else "uneven" if name in UNEVEN else "smooth"
        for method, memory in itertools.product((DEFAULT, ONE_PASS), ENDS):
            fits = figures.fits(name, method, memory)
            if fits:
                records = fits[0]["records"]
                plan = plan_of(method, domain, epsilon=1, expected_records=records, memory=memory)
                error, unit = plan.predictions()[kind], domain.diameter(0) / records
                noisy = "yes" if error.noise > error.resolution else "no"
                figure = [number(error.total / unit), number(mean(fits)), f"{mean(fits) * unit / error.total:.2f}"]
                rows.append([name, method, memory, kind, *figure, noisy])
    header = ["stream", "plan", "memory", "kind of stream", "predicted", "measured", "ratio", "noise dominates"]
    return markdown(header, rows)


def balance(figures: Figures) -> str:
    """Distances between samples and their generator."""
    rows = []
    for name in figures.streams:
        for line in figures.fits(name, BALANCE, epsilon=None):
            plane = "bound" not in line
            ratio = line["balanced"] / line["independent"]
            bound = "" if plane else number(line["bound"])
            target = "0.25" if plane else "0.05"
            leaves = f"{line['form']}, {line['leaves']:,} leaves"
            figure = [number(line["balanced"]), number(line["independent"]), f"{ratio:.3f}", target, bound]
            rows.append([name, leaves, *figure])
    return markdown(["stream", "release", "balanced", "independent", "ratio", "target", "lower bound"], rows)


def plot(figures: Figures, path: Path) -> None:
    """Plot of error by memory at epsilon 1, one panel for each stream."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "privhp"
    from matplotlib import pyplot as plt

    columns = 4
    rows = -(-(len(figures.streams) + 1) // columns)
    figure, panels = plt.subplots(rows, columns, figsize=(3.2 * columns, 2.6 * rows), squeeze=False, sharex=True)
    sizes = np.array(list(MEMORY.values())) / 2**10
    for panel, name in zip(panels.flat, figures.streams, strict=False):
        for index, method in enumerate(PLOTTED):
            values = [figures.error(name, method, memory) for memory in MEMORY]
            width = 2.5 if method == DEFAULT else 1.2
            panel.loglog(sizes, values, marker="o", markersize=3, linewidth=width, color=f"C{index}", label=method)
        panel.axhline(figures.error(name, COMPLETE), color="black", linestyle="--", linewidth=1, label=COMPLETE)
        panel.set_title(name, fontsize=9)
        panel.set_xticks(sizes, [memory.replace(" ", "\n") for memory in MEMORY])
        panel.xaxis.minorticks_off()
        panel.tick_params(labelsize=7)
    for panel in panels.flat[len(figures.streams) :]:
        panel.axis("off")
    handles, labels = panels.flat[0].get_legend_handles_labels()
    panels.flat[-1].legend(handles, labels, loc="center", fontsize=9, frameon=False)
    figure.suptitle("W1 x n against memory, epsilon = 1", fontsize=11)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def write_report(figures: Figures) -> None:
    """Write the report and the plot beside the benchmark."""
    parts = [
        EXPLANATION.format(date=dt.date.today()),
        "## The default and the other methods\n",
        RATIOS,
        compare_methods(figures),
    ]
    parts += zoo_sections(figures)
    parts += ["## Learned and known partitions\n", LEARNED, all_errors(figures, MEMORY, methods=LEARNING)]
    for size in figures.sizes:
        parts.append(collapse(f"{size:,} records", all_errors(figures, ENDS, methods=LEARNING, size=size)))
    parts += ["## Error by memory\n", "![Error by memory](accuracy.svg)\n", all_errors(figures, MEMORY)]
    for size in (None, *figures.sizes):
        for epsilon in (0.1, 1.0, 10.0):
            if (size, epsilon) != (None, 1.0):
                title = f"{f'{size:,}' if size else 'All'} records, epsilon = {epsilon:g}"
                parts.append(collapse(title, all_errors(figures, ENDS, epsilon=epsilon, size=size)))
    parts += ["## Predictions\n", PREDICTED, prediction_ratios(figures)]
    parts += ["## Planes\n", PLANE, all_errors(figures, ENDS, methods=(*GRID_METHODS, HALVES), name="grid")]
    parts += ["## Range queries\n", RANGES, all_errors(figures, ENDS, methods=(*RANGE_METHODS, HALVES), name="ranges")]
    parts += ["## Samples\n", SAMPLES, balance(figures)]
    (HERE / "ACCURACY.md").write_text("\n".join(filter(None, parts)))
    plot(figures, HERE / "accuracy.svg")

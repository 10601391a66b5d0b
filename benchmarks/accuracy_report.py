"""Report of the accuracy benchmark: ACCURACY.md and accuracy.svg."""

import datetime as dt
import itertools
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.methods import (
    BALANCE,
    BASELINE,
    CELL_BYTES,
    COMPLETE,
    DEFAULT,
    FLAT,
    KNOWN,
    LEAST_SQUARES,
    MEMORY,
    ONE_PASS,
    PAPER,
    RESOLUTION,
    TRUNCATED,
    plan_of,
)
from benchmarks.streams import SOURCES
from privhp.planning.error_model import Stream

SPARSE = ("40 atoms", "taxi fares")
UNEVEN = ("postcodes", "postcodes, sorted", "crimes", "flights 3-D")
ENDS = ("64 KiB", "1 MiB")
HERE = Path(__file__).parent
Line = dict[str, Any]
EXPLANATION = """# Accuracy

`make accuracy`, {date}. Error is W1 x n with the domain scaled to 1: 10 means "as if ten records had been moved
across the whole domain". It is exact on the line; for planes, tables and IPv4 it is the exact distance in the domain's
hierarchy down to level 24. Entries are the mean ± the standard deviation of five fits at epsilon = 1 and of three fits
at other epsilons, each with new noise and new hash functions; whole streams on a line, where errors vary most, have
forty fits of the default and ten of the others at epsilon = 1. These errors are computed from the real data and are
not private.

- **default**: `hp.fit` for that memory: two passes over samples learn a partition, and a third measures.
- **known partition**: one pass with the partition of an earlier release. That release is a default fit, new for every
  fit, of as many other records: of a synthetic stream with another seed, of other records of the same file, or, for
  whole files and 100,000 records of the blocklist, of records of the file drawn with replacement. So the earlier
  records have the same distribution. The privacy budget of the earlier release is another, of the same size.
- **one pass**: `Plan.auto` with one pass and no partition, for streams of which nothing is known.
- **paper**: the paper's settings and rules, with the largest number of hot cells that fits.
- **truncated tree**: every level counted exactly and measured, to the largest depth that fits, at most the depth of the
  complete tree, with the paper's budgets and rule.
- **truncated least squares**: the same measurements with least-squares estimates.
- **flat**: a histogram of one level, the level with the least mean error of all levels that fit, chosen with hindsight.
- **complete tree**: the paper's rule on a tree of depth log2(epsilon n), at most 22, without a limit on memory.
- **baseline**: the distance between two random halves of the records.

The least error among the methods that fit the memory is in bold.

The neighbouring relation is add-remove. "postcodes, sorted" is sorted by cell; "taxi timestamps" and "drift" are in
order of time; all other streams are shuffled.
"""
RATIOS = """\
Ratios of mean errors at epsilon = 1 on whole streams; below 1 the default is better. Noise dominates where the finest
histogram that fits the memory, without noise, has less than half the error of the best other method.
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
Exact W1 x n between masses on a grid of 97 x 97, in the maximum norm; epsilon = 1.
"""
RANGES = """\
Mean over 50 random regions of |answer - true| / max(true, 0.001 n); epsilon = 1.
"""
SAMPLES = """\
W1 x n between 100,000 sampled records and their generator, means of five samples; exact on the line, between masses
on a grid of 64 x 64 in the plane. "Dense" is a complete tree, "sparse" the paper's plan in 64 KiB. The lower bound
holds for samples that are unbiased in every cell: where the expected number of records at or below a point has the
fractional part f, the mean absolute error of the number is at least 2 f (1 - f). The target ratio is out of reach where
nearly all mass is at one location: independent samples are close to the generator there, too.
"""


RIVALS = (TRUNCATED, LEAST_SQUARES, FLAT)
METHODS = (DEFAULT, PAPER, TRUNCATED, LEAST_SQUARES, FLAT)
LEARNING = (DEFAULT, KNOWN, ONE_PASS, PAPER)
UNLIMITED = (COMPLETE, BASELINE)


class Figures:
    """Lines of the benchmark, by stream, size, method and epsilon."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.lines: dict[tuple[Any, ...], list[Line]] = {}
        for line in lines:
            size = None if line.get("whole", True) else line["records"]
            self.lines.setdefault((line["data"], size, line["method"], line.get("epsilon")), []).append(line)
        self.streams = [name for name in SOURCES if any(key[0] == name for key in self.lines)]
        self.sizes = sorted({key[1] for key in self.lines if key[1] is not None}, reverse=True)

    def fits(
        self, data: str, method: str, memory: str = "", *, epsilon: float | None = 1.0, size: int | None = None
    ) -> list[Line]:
        """Fits of a method in a memory; for the flat histogram the fits of its best level."""
        lines = self.lines.get((data, size, method, epsilon), [])
        if method == FLAT:
            levels: dict[int, list[Line]] = {}
            for line in lines:
                if CELL_BYTES << line["level"] <= MEMORY[memory]:
                    levels.setdefault(line["level"], []).append(line)
            most = max(map(len, levels.values()), default=0)  # only the best level of a memory has all its runs
            return min((lines for lines in levels.values() if len(lines) == most), key=mean, default=[])
        return [line for line in lines if line.get("memory", memory) == memory]

    def error(self, data: str, method: str, memory: str = "", **where: Any) -> float:
        """Mean W1 x n; NaN if it was not measured."""
        return mean(self.fits(data, method, memory, **where))

    def best_rival(self, data: str, memory: str, **where: Any) -> float:
        """Least error of the truncated trees and the flat histogram."""
        return least(self.error(data, method, memory, **where) for method in RIVALS)


def least(values: Iterable[float]) -> float:
    """Minimum of the values that were measured; NaN without any."""
    return min((value for value in values if not math.isnan(value)), default=math.nan)


def mean(lines: list[Line], name: str = "w1") -> float:
    """Mean of one figure; NaN without any value."""
    values = [line[name] for line in lines if name in line]
    return float(np.mean(values)) if values else math.nan


def mean_and_deviation(lines: list[Line], name: str = "w1") -> str:
    """Mean and standard deviation of one figure, or a dash."""
    values = [line[name] for line in lines if name in line]
    if not values:
        return "-"
    spread = f" ± {number(np.std(values, ddof=1))}" if len(values) > 1 else ""
    return number(np.mean(values)) + spread


def number(value: Any) -> str:
    """Number with three significant digits, or with all digits before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def markdown(header: list[str], rows: Iterable[list[str]]) -> str:
    """Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def compare_methods(figures: Figures) -> str:
    """Ratios of the default plan's mean errors to those of other methods, at epsilon 1 on whole streams."""
    rows = []

    def row(label: str, ratios: dict[str, float], target: str, mean_target: str = "") -> None:
        known = {name: ratio for name, ratio in ratios.items() if not math.isnan(ratio)}
        if known:
            worst = max(known, key=known.__getitem__)
            geometric = math.exp(np.mean([math.log(ratio) for ratio in known.values()]))
            rows.append([label, f"{known[worst]:.2f} ({worst})", target, f"{geometric:.2f}", mean_target])

    ours = {memory: {name: figures.error(name, DEFAULT, memory) for name in figures.streams} for memory in MEMORY}
    for other, targets in ((PAPER, ("0.6", "0.4")), (ONE_PASS, ("", "")), (KNOWN, ("", ""))):
        for memory in ENDS:
            ratios = {name: error / figures.error(name, other, memory) for name, error in ours[memory].items()}
            row(f"{other}, both in {memory}", ratios, *targets)
    ratios = {name: error / figures.error(name, COMPLETE) for name, error in ours["1 MiB"].items()}
    row("complete tree without memory limit, default in 1 MiB", ratios, "0.7", "0.5")
    for memory in MEMORY:
        rivals = {name: figures.best_rival(name, memory) for name in figures.streams}
        ratios = {name: error / rivals[name] for name, error in ours[memory].items()}
        row(f"best of truncated trees and flat, {memory}", ratios, "1.5")
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
    for stream in figures.streams:
        fits = {
            method: figures.fits(stream, method, memory, epsilon=None if method == BASELINE else epsilon, size=size)
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


def collapse(title: str, text: str) -> str:
    """Collapsed section."""
    return f"<details><summary>{title}</summary>\n\n{text}\n</details>\n" if text else ""


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
        for index, method in enumerate(METHODS):
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
    parts += ["## Planes\n", PLANE, all_errors(figures, ENDS, name="grid")]
    parts += ["## Range queries\n", RANGES, all_errors(figures, ENDS, name="ranges")]
    parts += ["## Samples\n", SAMPLES, balance(figures)]
    (HERE / "ACCURACY.md").write_text("\n".join(filter(None, parts)))
    plot(figures, HERE / "accuracy.svg")

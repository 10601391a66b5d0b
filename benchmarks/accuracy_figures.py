"""Figures of the accuracy benchmark: the lines of its results by stream, size, method and epsilon."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks.methods import BASELINES
from benchmarks.streams import SOURCES

SCREENING = 2
"""Runs that choose the options and the rule of a baseline; its errors are those of later runs."""

Line = dict[str, Any]


class Figures:
    """Lines of the benchmark."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._lines: dict[tuple[Any, ...], list[Line]] = {}
        for line in lines:
            size = None if line.get("whole", line["part"] == "streams") else line["records"]
            self._lines.setdefault((line["part"], line["data"], size, line["method"], line.get("epsilon")), []).append(
                line
            )
        self.streams = [name for name in SOURCES if any(key[:2] == ("streams", name) for key in self._lines)]
        self.sizes = sorted({key[2] for key in self._lines if key[0] == "streams" and key[2]}, reverse=True)

    def fits(
        self,
        data: str,
        method: str,
        memory: str = "",
        *,
        epsilon: float | None = 1.0,
        size: int | None = None,
        part: str = "streams",
        rule: str | None = None,
    ) -> list[Line]:
        """Fits of a method in a memory; for a baseline, those of its best options, and its best rule or a given one."""
        lines = self._lines.get((part, data, size, method, epsilon), [])
        lines = [line for line in lines if line.get("memory", memory) in (memory, "")]
        return choose_options(lines, rule) if lines and isinstance(lines[0].get("w1"), dict) else lines

    def error(self, data: str, method: str, memory: str = "", **where: Any) -> float:
        """Mean W1 x n; NaN if it was not measured."""
        return mean(self.fits(data, method, memory, **where))

    def best_baseline(self, data: str, memory: str, **where: Any) -> tuple[float, str]:
        """Least error of the baselines that fit a memory, of those measured anew if any, and the name of the method."""
        fits = {method: self.fits(data, method, memory, **where) for method in BASELINES}
        anew = {method: lines for method, lines in fits.items() if lines and lines[0]["run"] >= SCREENING}
        known = anew or {method: lines for method, lines in fits.items() if lines}
        return min(((mean(lines), method) for method, lines in known.items()), default=(math.nan, ""))


def choose_options(lines: list[Line], rule: str | None) -> list[Line]:
    """Fits of a baseline with the options that have the most runs, and the rule of least error when screened.

    The fits of the screening are left out if there are others, so that luck in the screening does not count.
    """
    by_level: dict[int | None, list[Line]] = {}
    for line in lines:
        by_level.setdefault(line.get("level"), []).append(line)
    most = max(map(len, by_level.values()))
    best = min((own for own in by_level.values() if len(own) == most), key=lambda own: min(rule_errors(own).values()))
    screened = [line for line in best if line["run"] < SCREENING] or best
    errors = rule_errors(screened)
    rule = rule or min(errors, key=errors.__getitem__)
    fresh = [line for line in best if line["run"] >= SCREENING]
    return [with_rule(line, rule) | {"rule": rule} for line in fresh or best]


def with_rule(line: Line, rule: str) -> Line:
    """A line of a baseline with the errors of one rule."""
    return {
        name: value[rule] if isinstance(value, dict) else value
        for name, value in line.items()
        if not isinstance(value, dict) or rule in value
    }


def rule_errors(lines: list[Line]) -> dict[str, float]:
    """Mean W1 x n of each rule."""
    return {rule: float(np.mean([line["w1"][rule] for line in lines])) for rule in lines[0]["w1"]}


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


def geometric_mean(values: Iterable[float]) -> float:
    """Geometric mean."""
    return math.exp(float(np.mean([math.log(value) for value in values])))


def markdown(header: list[str], rows: Iterable[list[str]]) -> str:
    """Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def collapse(title: str, text: str) -> str:
    """Collapsed section."""
    return f"<details><summary>{title}</summary>\n\n{text}\n</details>\n" if text else ""

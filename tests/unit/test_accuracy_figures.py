"""Figures of the accuracy benchmark: options and rules are chosen by fits that do not count, and errors by others."""

import math
from typing import Any

from benchmarks.accuracy_figures import Figures

Line = dict[str, Any]


def line(method: str, run: int, w1: Any, **more: Any) -> Line:
    names = {"part": "zoo", "data": "cents", "records": 10, "memory": "256 KiB", "epsilon": 1.0}
    return names | {"method": method, "run": run, "w1": w1} | more


WHERE: Line = {"part": "zoo", "size": 10}


def test_fits_of_the_screening_do_not_count() -> None:
    lines = [
        line("HB", 0, {"projection": 9.0, "monotone cdf": 2.0}, level=12),
        line("HB", 1, {"projection": 9.0, "monotone cdf": 3.0}, level=12),
        line("HB", 0, {"projection": 4.0, "monotone cdf": 5.0}),
        line("HB", 1, {"projection": 4.0, "monotone cdf": 5.0}),
        line("HB", 2, {"projection": 1.0, "monotone cdf": 7.0}, level=12, small={"monotone cdf": 6.0}),
    ]
    (found,) = Figures(lines).fits("cents", "HB", "256 KiB", **WHERE)
    assert (found["w1"], found["rule"], found["small"]) == (7.0, "monotone cdf", 6.0)
    assert Figures(lines).error("cents", "HB", "256 KiB", **WHERE, rule="projection") == 1.0
    assert Figures(lines[2:4]).error("cents", "HB", "256 KiB", **WHERE) == 4.0
    assert math.isnan(Figures(lines).error("cents", "HB", "64 KiB", **WHERE))


def test_best_baseline_is_one_that_was_measured_anew() -> None:
    lines = [
        line("HB", 0, {"projection": 3.0}),
        line("HB", 2, {"projection": 5.0}),
        line("DAWA", 0, {"projection": 4.0}),
        line("default", 0, 1.0),
    ]
    assert Figures(lines).best_baseline("cents", "256 KiB", **WHERE) == (5.0, "HB")
    assert Figures(lines[2:]).best_baseline("cents", "256 KiB", **WHERE) == (4.0, "DAWA")
    assert Figures(lines[3:]).best_baseline("cents", "256 KiB", **WHERE)[1] == ""

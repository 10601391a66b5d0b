"""Speed of the planner, relative to a million square roots in Python, which take some 50 milliseconds.

python -m benchmarks.planning
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import privhp as hp
from benchmarks.timing import best_seconds

ANCHOR = "a million square roots"
DOMAINS: dict[str, hp.Domain] = {
    "line": hp.Interval(0, 1000),
    "plane": hp.Box([(0, 1), (0, 1)]),
    "addresses": hp.IPv4(),
    "table of three columns": hp.Table(a=hp.Interval(0, 1), b=hp.Interval(0, 1), c=hp.Integers(0, 100)),
}


def take_roots() -> float:
    """The anchor."""
    total = 0.0
    for number in range(1_000_000):
        total += math.sqrt(number)
    return total


def measure() -> list[tuple[str, float, float | None]]:
    """Speed of each plan relative to the anchor: name, ratio and the least ratio that is accepted."""
    contenders: dict[str, Callable[[], object]] = {ANCHOR: take_roots}
    for name, domain in DOMAINS.items():
        for passes, memory in ((3, "1 MiB"), (1, "1 MiB"), (3, None)):
            label = f"{name}, passes={passes}, {memory or 'default memory'}"
            settings: dict[str, Any] = {"epsilon": 1, "expected_records": 1_000_000, "memory": memory, "passes": passes}
            contenders[label] = partial(hp.Plan.auto, domain, **settings)
    best = best_seconds(contenders, turns=5)
    return [(f"plan: {name}", best[ANCHOR] / best[name], None) for name in contenders if name != ANCHOR]


if __name__ == "__main__":
    for name, ratio, _ in measure():
        print(f"{name:55s} {ratio:.2f}")

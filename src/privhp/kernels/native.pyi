"""Types of the compiled kernels; see plain.py for what they do."""

from typing import Any

from numpy.typing import NDArray

from privhp.cells import Codes, Counts, Floats
from privhp.kernels.plain import Group

def encode_grid(
    points: Floats,
    low: Floats,
    high: Floats,
    rate: Floats,
    bits: Counts,
    masks: Codes,
    clamp: bool,
    codes: Codes,
) -> None: ...
def encode_integers(numbers: NDArray[Any], low: int, high: int, shift: int, clamp: bool, codes: Codes) -> None: ...
def add(
    codes: Codes,
    weights: Counts | None,
    depth: int,
    exact_depth: int,
    counters: Counts,
    groups: list[Group],
    level: int,
    slots: Counts | None,
) -> None: ...
def fill_grid(
    codes: Codes,
    levels: Counts,
    counts: Counts,
    masks: Codes,
    low: Floats,
    width: Floats,
    margin: Floats,
    steps: Codes,
    even: bool,
    words: Codes,
    points: Floats,
) -> None: ...
def scatter_grid(
    codes: Codes,
    levels: Counts,
    places: Counts,
    masks: Codes,
    low: Floats,
    width: Floats,
    margin: Floats,
    words: Codes,
    points: Floats,
) -> None: ...
def draw(thresholds: Codes, others: Counts, words: Codes, places: Counts) -> None: ...
def shuffle(records: Codes, words: Codes, shuffled: Codes) -> None: ...

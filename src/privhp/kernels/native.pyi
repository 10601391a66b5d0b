"""Types of the compiled kernels; see plain.py, and sources/fields.py for `scan`, for what they do."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Codes, Counts, Floats
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
def interleave(own: Codes, mask: int, codes: Codes) -> None: ...
def lay_out(
    numbers: Floats,
    low: float,
    high: float,
    widths: Floats,
    steps: float,
    middle: float,
    least: float,
    shift: int,
    first: int,
    before: Counts,
    starts: Floats,
    half: int,
    positions: Floats,
) -> None: ...
def find_texts(
    texts: NDArray[np.uint32],
    declared: NDArray[np.uint32],
    columns: Counts,
    factors: Codes,
    bits: int,
    table: Counts,
    values: Codes,
    other: int,
    found: Codes,
) -> None: ...
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
def buckets(words: Codes, cells: Codes, apart: int, width: int, places: Counts) -> None: ...
def estimate(table: Counts, words: Codes, cells: Codes, apart: int, least: Counts) -> None: ...
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
def count_lines(block: bytes) -> int: ...
def scan(
    block: bytes,
    longest: int,
    places: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    nullable: NDArray[np.bool_],
    values: NDArray[np.uint64],
    empty: NDArray[np.bool_],
    lost: NDArray[np.bool_],
    odd: NDArray[np.bool_],
) -> list[list[int]]: ...

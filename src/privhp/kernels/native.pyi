"""Types of the extension module; `compiled` gives its functions the signatures of `plain`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Codes, Counts, Floats
from privhp.kernels.counting import LeafCounters, SketchGroup

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
def encode_days(
    ticks: NDArray[Any],
    first: int,
    last: int,
    midnight: int,
    odd: int,
    unit_bits: int,
    root: int,
    shift: int,
    clamp: bool,
    codes: Codes,
) -> None: ...
def encode_integers(numbers: NDArray[Any], low: int, high: int, shift: int, clamp: bool, codes: Codes) -> None: ...
def interleave(column_codes: Codes, mask: int, codes: Codes) -> None: ...
def interpolate(
    numbers: Floats,
    low: float,
    high: float,
    widths: Floats,
    length: float,
    middle: float,
    offset: float,
    shift: int,
    first: int,
    before: Counts,
    starts: Floats,
    half: int,
    positions: Floats,
) -> None: ...
def look_up_texts(
    texts: NDArray[np.uint32],
    declared: NDArray[np.uint32],
    columns: Counts,
    factors: Codes,
    bits: int,
    table: Counts,
    values: Codes,
    default: int,
    found: Codes,
) -> None: ...
def count_codes(
    codes: Codes,
    weights: Counts | None,
    depth: int,
    exact_depth: int,
    counters: Counts | None,
    groups: list[SketchGroup],
    leaves: LeafCounters | None,
) -> None: ...
def find_buckets(words: Codes, cells: Codes, levels_below: int, width: int, buckets: Counts) -> None: ...
def estimate_counts(table: Counts, words: Codes, cells: Codes, levels_below: int, least: Counts) -> None: ...
def sample_grid_allocation(
    codes: Codes,
    levels: Counts,
    counts: Counts,
    masks: Codes,
    low: Floats,
    width: Floats,
    margin: Floats,
    steps: Codes,
    balanced: bool,
    words: Codes,
    points: Floats,
) -> None: ...
def sample_grid_cells(
    codes: Codes,
    levels: Counts,
    indices: Counts,
    masks: Codes,
    low: Floats,
    width: Floats,
    margin: Floats,
    words: Codes,
    points: Floats,
) -> None: ...
def draw_indices(thresholds: Codes, aliases: Counts, words: Codes, indices: Counts) -> None: ...
def shuffle(records: Codes, words: Codes, shuffled: Codes) -> None: ...
def count_line_feeds(piece: bytes) -> int: ...
def line_bounds(piece: bytes, bounds: NDArray[np.int64]) -> None: ...
def find_record_bounds(piece: bytes, begin: int, delimiter: int, bounds: NDArray[np.int64]) -> tuple[int, int]: ...
def scan_records(
    block: bytes,
    starts: NDArray[np.int64],
    nexts: NDArray[np.int64],
    longest: int,
    width: int,
    indices: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    nullable: NDArray[np.bool_],
    separator: int,
    quoting: bool,
    null_lines: list[bytes],
    values: NDArray[np.uint64],
    empty: NDArray[np.bool_],
    invalid: NDArray[np.bool_],
    odd: NDArray[np.bool_],
) -> list[list[int]]: ...

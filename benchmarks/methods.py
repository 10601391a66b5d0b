"""Methods whose accuracy is compared, each as a plan for a given memory."""

import dataclasses
import math
from fractions import Fraction

import privhp as hp
from privhp.fitting import DEFAULT_PASSES

MEMORY = {"16 KiB": 2**14, "64 KiB": 2**16, "256 KiB": 2**18, "1 MiB": 2**20}
CELL_BYTES = 8
MAX_COMPLETE_DEPTH = 22  # of the complete tree: 64 MiB of counters

DEFAULT, KNOWN, ONE_PASS, PAPER = "default", "known partition", "one pass", "paper"
TRUNCATED, LEAST_SQUARES = "truncated tree", "truncated least squares"
FLAT, COMPLETE = "flat", "complete tree"
BOUNDED = (DEFAULT, KNOWN, ONE_PASS, PAPER, TRUNCATED, LEAST_SQUARES)
"""Methods with one plan for each memory; the flat histogram's depth is chosen with hindsight."""
BASELINE, RESOLUTION, BALANCE = "baseline", "resolution", "balanced samples"
"""Other distances: between two halves of the records, of histograms without noise, of samples from their generator."""


def plan_of(method: str, domain: hp.Domain, *, epsilon: float, expected_records: int, memory: str) -> hp.Plan:
    """Plan of a method with bounded memory; for a known partition, the plan of the earlier release that has it."""
    if method in (DEFAULT, KNOWN, ONE_PASS):
        passes = 1 if method == ONE_PASS else DEFAULT_PASSES
        return hp.Plan.auto(domain, epsilon=epsilon, expected_records=expected_records, memory=memory, passes=passes)
    if method == PAPER:
        return largest_paper(domain, epsilon=epsilon, expected_records=expected_records, memory=MEMORY[memory])
    fits = int(math.log2(MEMORY[memory] / CELL_BYTES)) - 1  # all levels together have twice the cells of the last
    plan = complete(domain, epsilon=epsilon, expected_records=expected_records, most=fits)
    return dataclasses.replace(plan, inference="least-squares") if method == LEAST_SQUARES else plan


def largest_paper(domain: hp.Domain, *, epsilon: float, expected_records: int, memory: int) -> hp.Plan:
    """The paper's settings with the most hot cells that fit, a multiple of eight, so that four levels share a hash."""

    def plan(hot_cells: int) -> hp.Plan:
        return hp.Plan.paper(
            domain, epsilon=epsilon, expected_records=expected_records, hot_cells=hot_cells, expand="all"
        )

    few, many = 1, 2**16
    while many - few > 1:  # the answer is in [few, many)
        middle = (few + many) // 2
        few, many = (middle, many) if plan(middle).nbytes <= memory else (few, middle)
    return plan(few if few < 8 else few // 8 * 8)


def complete(domain: hp.Domain, *, epsilon: float, expected_records: int, most: int = MAX_COMPLETE_DEPTH) -> hp.Plan:
    """Complete tree of the paper's depth, log2(epsilon n), at most `most`."""
    depth = min(max(math.ceil(math.log2(epsilon * expected_records)), 1), domain.depth, most)
    return hp.Plan.paper(domain, epsilon=epsilon, expected_records=expected_records, depth=depth, exact_depth=depth)


def flat(domain: hp.Domain, *, epsilon: float, level: int) -> hp.Plan:
    """Plan of one level with the whole budget."""
    budget = Fraction(str(epsilon))
    return hp.Plan(domain, epsilon=budget, budgets={level: budget}, exact_depth=level)


def flat_levels(domain: hp.Domain, memory: str) -> range:
    """Levels that fit a memory, one at a time."""
    return range(min(int(math.log2(MEMORY[memory] / CELL_BYTES)), domain.depth) + 1)

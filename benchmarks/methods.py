"""Methods whose accuracy is compared: plans of privhp, and baselines with the choices that are made with hindsight."""

from typing import Any

import privhp as hp
from privhp.baselines import METHODS
from privhp.baselines.complete_tree import plan_tree
from privhp.baselines.memory import finest_level
from privhp.core.budget import exact_epsilon
from privhp.fitting import DEFAULT_PASSES

MEMORY = {"16 KiB": 2**14, "64 KiB": 2**16, "256 KiB": 2**18, "1 MiB": 2**20}

DEFAULT, KNOWN, ONE_PASS, PAPER = "default", "known partition", "one pass", "paper"
PLANS = (DEFAULT, KNOWN, ONE_PASS, PAPER)
"""Plans of privhp."""

COMPLETE = "complete tree"
BASELINES = tuple(method for method in METHODS if method != COMPLETE)
"""Other methods that fit a memory."""

HALVES, RESOLUTION, BALANCE = "halves", "resolution", "balanced samples"
"""Other distances: between two halves of the records, of histograms without noise, of samples from their generator."""

USUAL_LEVEL = 12
"""The 4,096 cells on which papers compare HB and DAWA."""


def plan_of(method: str, domain: hp.Domain, *, epsilon: float, expected_records: int, memory: str) -> hp.Plan:
    """Plan of privhp in a memory; for a known partition, the plan of the earlier release that has it."""
    if method == PAPER:
        return largest_paper(domain, epsilon=epsilon, expected_records=expected_records, memory=MEMORY[memory])
    passes = 1 if method == ONE_PASS else DEFAULT_PASSES
    return hp.Plan.auto(domain, epsilon=epsilon, expected_records=expected_records, memory=memory, passes=passes)


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


def complete(domain: hp.Domain, *, epsilon: float, expected_records: int, most: int) -> hp.Plan:
    """Plan of a complete tree, of depth at most `most`."""
    return plan_tree(domain, epsilon=exact_epsilon(epsilon), expected_records=expected_records, most=most)


def variants(method: str, domain: hp.Domain, memory: str) -> list[dict[str, Any]]:
    """Options of a baseline that are tried, the best being taken with hindsight; none where it does not apply."""
    finest = finest_level(MEMORY[memory], domain.depth)
    if method in ("UGrid", "AGrid"):
        return [{}] if domain.rectangle and len(domain.rectangle) == 2 else []
    if method == "flat":
        return [{"level": level} for level in range(finest, 1, -2)]
    if method in ("HB", "DAWA"):
        return [{}, {"level": USUAL_LEVEL}] if finest - 1 > USUAL_LEVEL else [{}]
    return [{}]

"""The split rule of learned partitions, one leaf at a time: a slow reference for `collect.refinement`."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from privhp import Partition
from privhp.collect.refinement import LearningCounts
from privhp.planning.tuning import Tuning

BINS_PER_OCTAVE, ZERO_BIN, LAST_BIN = 8, 600, 1099


@dataclass
class Leaf:
    """A leaf with the gain bins of its splits: by one level, by a second one and so on."""

    level: int
    code: int
    count: int
    squared_unevenness: float
    gains: list[int]
    steps: int = 0


def refine_slowly(
    partition: Partition,
    learned: LearningCounts,
    *,
    nbytes: int,
    root_level: int,
    diameters: Sequence[float],
    tuning: Tuning,
) -> Partition:
    """The refined partition, as `refine` finds it."""
    most = nbytes // 8
    wanted = sum(2 ** len(leaf.gains) - 1 for leaf in read_leaves(partition, learned, diameters, tuning))
    if wanted > most - partition.size:
        merged, counts = merge_slowly(partition, learned, root_level, tuning)
        if merged.nbytes < partition.nbytes:
            partition, learned = merged, replace(learned, counts=np.array(counts))
    while True:
        leaves = read_leaves(partition, learned, diameters, tuning)
        choose(leaves, most - len(leaves))
        refined = Partition([leaf.level + leaf.steps for leaf in leaves for _ in range(2**leaf.steps)])
        if refined.nbytes <= nbytes or refined == partition:
            return refined
        most = refined.size - math.ceil((refined.nbytes - nbytes) / 8)


def merge_slowly(
    partition: Partition, learned: LearningCounts, root_level: int, tuning: Tuning
) -> tuple[Partition, list[int]]:
    """Merge empty pairs of siblings, the finest first, until there are none; merged leaves have the count 0."""
    leaves = [(level, [count]) for level, count in zip(partition.levels.tolist(), learned.counts.tolist(), strict=True)]
    codes = partition.codes().tolist()
    for level in range(partition.max_level, root_level, -1):
        place = 0
        while place + 1 < len(leaves):
            (one, first), (two, second) = leaves[place : place + 2]
            limit = tuning.merge_z * math.sqrt((len(first) + len(second)) * learned.variance)
            if one == two == level and codes[place] % 2 == 0 and sum(first + second) <= limit:
                leaves[place : place + 2] = [(level - 1, first + second)]
                codes[place : place + 2] = [codes[place] // 2]
            place += 1
    return Partition([level for level, _ in leaves]), [own[0] if len(own) == 1 else 0 for _, own in leaves]


def read_leaves(
    partition: Partition, learned: LearningCounts, diameters: Sequence[float], tuning: Tuning
) -> list[Leaf]:
    cells = zip(partition.levels.tolist(), partition.codes().tolist(), learned.counts.tolist(), strict=True)
    leaves = [Leaf(*cell, squared_unevenness=tuning.min_unevenness**2, gains=[]) for cell in cells]
    if tuning.min_unevenness < 1:
        estimate_unevenness(leaves, learned, tuning)
    total = max(sum(leaf.count for leaf in leaves), 0) / learned.rate
    for leaf in leaves:
        records = leaf.count / learned.rate
        if leaf.count <= tuning.split_z * math.sqrt(learned.variance):
            continue
        most = tuning.zoom_levels if records >= tuning.zoom_share * total else tuning.max_split_levels
        for step in range(min(most, len(diameters) - 1 - leaf.level)):
            signal = leaf.squared_unevenness * records**2 + records
            if signal < tuning.split_signal * learned.measured_variance:
                break
            gain = math.sqrt(signal) * diameters[leaf.level + step] / (diameters[0] or 1)
            place = math.log2(gain) * BINS_PER_OCTAVE + ZERO_BIN if gain else 0
            leaf.gains.append(int(min(max(place, 0), LAST_BIN)))
            records /= 2
    return leaves


def estimate_unevenness(leaves: list[Leaf], learned: LearningCounts, tuning: Tuning) -> None:
    """Sibling pairs of a level, in groups of `uneven_pairs` neighbours, share one estimate."""
    pairs = [(one, two) for one, two in pairwise(leaves) if one.level == two.level and one.code % 2 == 0]
    for level in {one.level for one, _ in pairs}:
        own = [pair for pair in pairs if pair[0].level == level]
        for start in range(0, len(own), tuning.uneven_pairs):
            group = own[start : start + tuning.uneven_pairs]
            of_group = bound_unevenness(group, learned, tuning.uneven_z)
            for pair in group:
                alone = 0.0 if tuning.pair_z is None else bound_unevenness([pair], learned, tuning.pair_z)
                for leaf in pair:
                    leaf.squared_unevenness = min(max(of_group, alone, tuning.min_unevenness**2), 1.0)


def bound_unevenness(group: Sequence[tuple[Leaf, Leaf]], learned: LearningCounts, z: float) -> float:
    """Squared unevenness of a group of pairs, less some standard deviations."""
    noise = 2 * learned.variance / learned.rate**2
    excess = squares = spread = 0.0
    for one, two in group:
        difference, total = (one.count - two.count) / learned.rate, (one.count + two.count) / learned.rate
        chance = max(total, 0) / learned.rate
        excess += difference**2 - chance - noise
        spread += 3.5 * noise**2 + 2 * chance**2
        squares += max(total, 0) ** 2 - noise
    return (excess - z * math.sqrt(spread)) / max(squares, 1)


def choose(leaves: list[Leaf], free: int) -> None:
    """Make the splits of largest gain with at most `free` new leaves; of the last bin, evenly spread ones."""
    costs: Counter[int] = Counter()
    for leaf in leaves:
        for step, gain in enumerate(leaf.gains):
            costs[gain] += 2**step
    made, threshold = 0, -1
    for gain in sorted(costs, reverse=True):
        if made + costs[gain] > free:
            threshold = gain
            break
        made += costs[gain]
    for leaf in leaves:
        leaf.steps = sum(gain > threshold for gain in leaf.gains)
    left = max(free - made, 0)
    candidates = [leaf for leaf in leaves if leaf.gains[leaf.steps : leaf.steps + 1] == [threshold]]
    share = left / costs[threshold] if candidates else 0.0
    for number, leaf in enumerate(candidates):
        if math.floor(share * (number + 1)) > math.floor(share * number):
            left -= 2**leaf.steps
            if left < 0:
                break
            leaf.steps += 1

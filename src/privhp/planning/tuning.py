"""Tuning constants of the planner, the error model and the refinement of learned partitions.

The constants depend on the domain's geometry and on no data. They were set by
hand against the errors that `benchmarks/accuracy.py` and `benchmarks/order.py`
measure. A recorded comparison is quoted with its figure; the other constants
have a reason and no figure. After a change, run both benchmarks and
`tests/statistical/test_predictions.py`.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple


class Tuning(NamedTuple):
    """Constants for one kind of geometry.

    Args:
        learning_rates: Sampling rates of the learning passes; fewer passes are the last ones.
        split_signal: A cell is split if the expected squared difference of its halves is at least this many
            noise variances.
        min_unevenness: Relative difference of two halves that is assumed where the counts show less.
        leaves_per_root: Leaves of a learned partition for each cell of its root level, for which there must be memory.
            From 2 to 4: 3% to 6% less on eleven planes and tables in 64 KiB to 1 MiB, but 10% more on a table of
            three columns in 1 MiB, which 3 is not; on a line 4% less in 64 KiB.
        leaves_per_deepest_root: The same for the deepest root level of a line, since finer first cells gain nothing.
        max_root_level: Deepest first level of a learned partition; None for the level with about
            epsilon x expected_records cells. Doubling the first cells costs 17% to 40% on shuffled streams.
        min_root_level: Least value of the deepest first level of a learned partition; one level more where its cells
            then hold eight records in units of the noise. On 29 lines with 500 such records in all, sixteen cells have
            0.88 of the error of eight in geometric mean; with 200, 0.98, but the worst error relative to a flat
            histogram falls from 2.3 to 1.6.
        min_learning_level: Level with about epsilon x expected_records cells, from which a partition is always learned
            off lines. On 40 random planes and tables with 10,000 and 100,000 records, learning always takes 0% to 4%
            off the error in geometric mean, and up to half where levels alone were chosen.
        root_levels_above_noise: Levels between the first level of a learned partition and the level with about
            epsilon x expected_records cells, at least. Off lines 4 instead of 0: errors of 20 planes and tables are
            0.93 to 1.02 in geometric mean, those of eight sets of codes and addresses 0.86 to 1.05.
        roughness_exponent: Records that decide about the first level of a learned partition are counted in units of the
            noise, times epsilon to this power: the smaller epsilon, the less finer cells find of the roughness that any
            sample has. At epsilon = 0.1, with 2,000 to 1,000,000 records, the levels that 1 / 3 chooses instead of 0
            have 0.80 to 0.95 of the error on 14 smooth lines in geometric mean, and 0.89 to 1.07 on 20 of the zoo.
        min_levels_above_learned: Levels between the last exact level and a learned partition, at least.
        max_levels_above_learned: Levels between them, at most.
        min_learned_share: Share of the budget for a learned partition, at least. Real streams are uneven
            at all scales, which the error model's streams are not.
        max_exact_levels_above_learned: Exact levels of a plan that may learn, at most. With 2 instead of 3, errors of
            23 planes and tables are 0.96 to 1.02 in geometric mean, those of 12 sets of addresses 0.89 to 1.02.
        max_first_exact_level: Coarsest exact level, at most. On a line the largest error among many coarse
            cells moves mass over long distances.
        min_first_exact_level: Coarsest exact level above a learned partition, at least.
        max_exact_levels_alone: Exact levels of a plan without a learned partition, at most. With more, each budget
            is so small that the tails of the noise dominate, which a variance does not show.
        min_level_share: Share of the budget for each measured level, at least.
        share_ratio: Ratio of the budgets of consecutive exact levels, to start the search from.
        finalists: Number of candidate shapes whose budgets are optimised.
        sketch_rows: Rows of each sketch.
        sketch_step: Levels between two sketched levels.
        sketched_window: Levels by which exact levels above sketches may end before memory and noise demand it.
        sketch_hash_group: Levels that share a hash function; see `docs/decisions/02-grouped-hash.md`.
        min_sketch_width: Buckets of a row, at least.
        buckets_per_hot_cell: Buckets of a row for each cell that is split further.
        scratch_share: Share of the memory that is kept as scratch memory.
        min_scratch: Bytes for scratch memory, at least, but never more than a quarter of the memory.
        max_scratch: Bytes for scratch memory, at most.
        split_z: Standard deviations of its noise that a count must exceed for its cell to be split.
        merge_z: Standard deviations of their noise below which a pair of leaves counts as empty. On curves and repeated
            places in the plane, merging takes 5% to 27% off the error, elsewhere between 0% and 2%; 3 costs up to a
            fifth on tables of addresses.
        occupied_z: Standard deviations of their noise that cells must hold for the inference to distinguish
            them from empty cells.
        max_split_levels: Levels by which one refinement splits a cell, at most.
        zoom_levels: Levels by which one refinement splits a cell with at least `zoom_share` of all records, at most.
        zoom_share: Share of all records from which a cell may be split by `zoom_levels`.
        trusts_sums: Whether sums of shrunk leaves count in all layers where the sums themselves are not measured; on a
            table of taxi trips they cost 7%.
        uneven_pairs: Sibling pairs whose unevenness is estimated together.
        uneven_z: Standard deviations by which the estimate of the unevenness is lowered.
        pair_z: Those by which the estimate of a single pair is lowered, which counts where it exceeds that of all pairs
            together; None if it never does.
    """

    learning_rates: tuple[Fraction, ...]
    split_signal: float
    min_unevenness: float
    zoom_share: float
    leaves_per_root: float
    max_root_level: int | None
    min_learned_share: float
    max_exact_levels_above_learned: int
    max_first_exact_level: int
    leaves_per_deepest_root: float = 1.125
    min_root_level: int = 10
    min_learning_level: int = 12
    min_first_exact_level: int = 3
    root_levels_above_noise: int = 4
    roughness_exponent: float = 0.0
    min_levels_above_learned: int = 1
    max_levels_above_learned: int = 3
    max_exact_levels_alone: int = 4
    min_level_share: float = 0.04
    share_ratio: float = 0.7
    finalists: int = 4
    sketch_rows: int = 2
    sketch_step: int = 2
    sketched_window: int = 6
    sketch_hash_group: int = 4
    min_sketch_width: int = 64
    buckets_per_hot_cell: int = 8
    scratch_share: float = 1 / 8
    min_scratch: int = 2**12
    max_scratch: int = 2**22
    split_z: float = 3.0
    merge_z: float = 1.0
    occupied_z: float = 3.0
    max_split_levels: int = 6
    zoom_levels: int = 12
    trusts_sums: bool = False
    uneven_pairs: int = 8
    uneven_z: float = 2.0
    pair_z: float | None = None

    def root_limit(self, epsilon: Fraction, expected_records: float) -> int:
        """Deepest root level: its cells must hold records well above the noise.

        Few cells need no exact level above them. Others do, or their noise adds up.
        """
        resolved = resolved_level(epsilon, expected_records * float(epsilon) ** self.roughness_exponent)
        most = resolved if self.max_root_level is None else self.max_root_level
        least = self.min_root_level + (resolved - self.min_root_level > EIGHT)
        level = min(most, max(resolved - self.root_levels_above_noise, least))
        return level if level >= self.min_first_exact_level + self.min_levels_above_learned else min(level, least)


LEARNING_SHARE = Fraction(1, 4)
"""Budget of a learning pass, as a share of that of a leaf in the measuring pass.

The cost of a sample grows faster than its budget, so a larger sample with a smaller budget shows the same for less.
"""

EIGHT = 3
"""Levels above the resolved one at which a cell holds eight records in units of the noise."""


def resolved_level(epsilon: Fraction, expected_records: float) -> int:
    """Level with about epsilon x expected_records cells; records of deeper cells are below the noise."""
    return max(int(epsilon * expected_records), 1).bit_length() - 1


GENERAL = Tuning(
    learning_rates=(Fraction(1, 4), Fraction(1, 2)),
    split_signal=50.0,
    min_unevenness=1.0,
    zoom_share=0.0,
    leaves_per_root=3.0,
    max_root_level=None,
    min_learned_share=0.6,
    max_exact_levels_above_learned=2,
    max_first_exact_level=63,
)
"""Base of the other two, for planes, most tables and large sets of categories: most error is in the finest cells."""

HALVING = GENERAL._replace(split_signal=128.0, min_learned_share=0.35)
"""Each level halves the diameter, as with addresses: coarse levels contribute as much error as fine ones."""

LINE = HALVING._replace(
    learning_rates=(Fraction(1, 4), Fraction(1, 4)),
    split_signal=150.0,
    min_unevenness=0.1,
    zoom_share=1 / 16,
    leaves_per_root=2.25,
    max_root_level=12,
    min_root_level=3,
    root_levels_above_noise=5,
    roughness_exponent=1 / 3,
    trusts_sums=True,
    min_levels_above_learned=3,
    max_levels_above_learned=5,
    max_first_exact_level=4,
)
"""A line: noise adds up along it, and a learned partition gains nothing from first cells finer than 2**-12."""


TABLE_LEARNING_LEVEL = 9
"""`min_learning_level` of a table of several columns. With 600, 1,000 and 2,000 records in units of the noise, errors
of 27 random tables are 0.92, 0.82 and 0.82 of those of levels alone in geometric mean, at worst 1.22; with 200 they are
0.94 and at worst 1.40. On 26 planes they are 1.08 with 1,200 and 2,200.
"""

TREE_LEARNING_LEVEL = 10
"""`min_learning_level` of codes and addresses, of which few are frequent: with 1,500 records in units of the noise, the
error (W1) of 30 codes is 0.6 times that of levels alone, of 500 codes 1.0, of 100 hosts 0.5, of a list of networks 1.1.
"""

DEEP = 12
"""Levels beyond which levels alone do not measure every code. With 1,500 and 2,500 records in units of the noise,
errors of 1,000 to 3,000 listed categories are 1.4 to 1.5 times as large if a partition is learned.
"""


COLUMN_PAIR_Z = 8.0
"""`pair_z` of a column that is measured by itself, whose single values matter. A heap alone among even neighbours,
such as 6% newborns in a table of 60,000 patients, is told from the next ages in 23 of 24 fits at epsilon = 1 instead of
5, and in 7 instead of 9 at 0.5. Ranges and single values of four other tables have 0.98 of the error, and 1.1 with 4.
Lines that are fitted alone gain nothing (W1 1.00 to 1.04 on 20 lines with 4), and lose where bounds are wide.
"""


def choose_tuning(diameters: Sequence[float], *, is_line: bool, is_table: bool, is_tree: bool) -> Tuning:
    """The constants for a geometry, from the diameter of a cell at each level."""
    if is_line:
        return LINE
    depth = len(diameters) - 1
    level = min(8, depth)
    tuning = HALVING if diameters[level] <= diameters[0] / 2.0**8 else GENERAL
    if is_table:
        return tuning._replace(min_learning_level=TABLE_LEARNING_LEVEL)
    return tuning._replace(min_learning_level=TREE_LEARNING_LEVEL) if is_tree and depth > DEEP else tuning

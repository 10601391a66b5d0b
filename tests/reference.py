"""Reference implementation of the paper's algorithms, one node at a time.

Counts are integers or fractions, without rounding. A node is a pair (level,
cell). The hash function, the noise and the predicate of cells that can hold a
record are arguments. Comments mark the lines that correct the paper's text.
"""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

from privhp import Plan
from privhp.core.cells import Counts

Node = tuple[int, int]
Tree = dict[Node, Fraction]
Sketch = dict[tuple[int, int], int]
Hash = Callable[[int, int, int], int]
"""Function from level, row and cell to a bucket."""


def hash_of(plan: Plan) -> Hash:
    """Hash function of a plan in Python integers: scale to the width, then exclusive or with the last bits."""

    def bucket(level: int, row: int, cell: int) -> int:
        levels_below = level - plan.hash_levels[level]
        ancestor, own = cell >> levels_below, cell % 2**levels_below
        high_factor, low_factor, offset = (int(word) for word in plan.hash_coefficients(level)[row])
        mixed = (ancestor // 2**32 * high_factor + ancestor % 2**32 * low_factor + offset) % 2**64
        return (mixed // 2**32 * plan.sketch_width // 2**32) ^ own

    return bucket


def summarise(
    codes: Iterable[int], plan: Plan, bucket: Hash, noise: Mapping[int, Counts]
) -> tuple[dict[Node, int], dict[int, Sketch]]:
    """Algorithm 1: noise first, then one increment per level and record."""
    tree = {(level, cell): int(noise[level][cell]) for level in plan.exact_levels for cell in range(2**level)}
    sketches: dict[int, Sketch] = {
        level: {
            (row, index): int(noise[level][row, index])
            for row in range(plan.sketch_rows)
            for index in range(plan.sketch_width)
        }
        for level in plan.sketched_levels
    }
    for code in codes:
        for level in plan.budgets:
            cell = code >> (plan.depth - level)
            if level <= plan.exact_depth:
                tree[level, cell] += 1
            else:
                for row in range(plan.sketch_rows):
                    sketches[level][row, bucket(level, row, cell)] += 1
    return tree, sketches


def enforce(parent: Fraction, left: Fraction, right: Fraction) -> tuple[Fraction, Fraction]:
    """Algorithm 3: make two children consistent with their parent."""
    left, right = max(left, Fraction(0)), max(right, Fraction(0))  # correction of the first type
    surplus = left + right - parent
    if min(left - surplus / 2, right - surplus / 2) < 0:  # correction of the second type
        return (Fraction(0), parent) if left < right else (parent, Fraction(0))
    return left - surplus / 2, right - surplus / 2


def enforce_group(parent: Fraction, children: Mapping[int, Fraction]) -> dict[int, Fraction]:
    """Algorithm 3 for any number of children: a child below 0 becomes 0, the others share the difference."""
    values = {cell: max(value, Fraction(0)) for cell, value in children.items()}
    sharing = set(values)
    while sharing:
        surplus = (sum(values[cell] for cell in sharing) - parent) / len(sharing)
        below = {cell for cell in sharing if values[cell] < surplus}
        if not below:
            return {cell: values[cell] - surplus if cell in sharing else Fraction(0) for cell in values}
        sharing -= below
    return {}


def build_leaves(
    tree: Mapping[Node, int],
    sketches: Mapping[int, Sketch],
    plan: Plan,
    bucket: Hash,
    alive: Callable[[Node], bool],
) -> tuple[Tree, set[Node]]:
    """Algorithm 2: consistent counts of all nodes of the measured levels, and the leaves."""

    def estimate(level: int, cell: int) -> Fraction:
        if level <= plan.exact_depth:
            return Fraction(tree[level, cell])
        return Fraction(min(sketches[level][row, bucket(level, row, cell)] for row in range(plan.sketch_rows)))

    above, *deeper = plan.budgets
    # The text does not correct a negative root.
    grown = {
        (above, cell): max(estimate(above, cell), Fraction(0)) if alive((above, cell)) else Fraction(0)
        for cell in range(2**above)
    }
    newest = list(grown)
    leaves: set[Node] = set()
    # The text is depth first and ends one level early.
    for level in deeper:
        everything = above < plan.exact_depth or (above == plan.exact_depth and plan.expand == "all")
        # The text takes the top of a level that does not exist yet.
        hot = newest if everything else largest(newest, grown, plan.hot_cells)
        leaves |= set(newest) - set(hot)
        newest = []
        for node in hot:
            step = level - above
            children = [(level, (node[1] << step) + child) for child in range(2**step)]
            grown.update(split_node(grown[node], children, estimate, alive))
            newest += children
        above = level
    return grown, leaves | set(newest)


def split_node(
    count: Fraction, children: list[Node], estimate: Callable[[int, int], Fraction], alive: Callable[[Node], bool]
) -> Tree:
    """Counts of the children of one node; a child that can hold no record gets 0."""
    living = [node for node in children if alive(node)]
    shares: dict[Node, Fraction] = dict.fromkeys(children, Fraction(0))
    if len(living) == len(children) == 2:
        shares[children[0]], shares[children[1]] = enforce(count, estimate(*children[0]), estimate(*children[1]))
    else:
        group = enforce_group(count, {cell: estimate(level, cell) for level, cell in living})
        shares.update({node: group[node[1]] for node in living})
    return shares


def largest(nodes: list[Node], counts: Mapping[Node, Fraction], most: int) -> list[Node]:
    """Nodes with the largest counts, in order of cells; the lower cell on a tie."""
    return sorted(sorted(nodes, key=lambda node: (-counts[node], node))[:most])


def sample_leaf(point: Fraction, leaves: Mapping[Node, Fraction]) -> Node:
    """Sampling procedure: the leaf of a point in [0, count of the root)."""

    def below(node: Node) -> Fraction:
        level, cell = node
        return sum((count for leaf, count in leaves.items() if is_descendant(leaf, level, cell)), Fraction(0))

    level, cell = 0, 0
    while (level, cell) not in leaves:
        left = below((level + 1, 2 * cell))
        if point < left:
            level, cell = level + 1, 2 * cell
        else:
            point -= left  # The text subtracts the count of the node itself.
            level, cell = level + 1, 2 * cell + 1
    return level, cell


def is_descendant(node: Node, level: int, cell: int) -> bool:
    """Whether a node is a given cell or a descendant of it."""
    return node[0] >= level and node[1] >> (node[0] - level) == cell

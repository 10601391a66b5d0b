"""Domain of the leaves of a declared tree."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import MAX_DEPTH, Codes
from privhp.domains.comparisons import suggest
from privhp.domains.finite import Finite, spread_codes
from privhp.domains.lookup import Lookup
from privhp.domains.presentation import TRANSPORT
from privhp.domains.validation import listed_values, null_hint, quote
from privhp.errors import DomainError

Path: TypeAlias = tuple[str, ...]
SEPARATOR = "/"
MAX_NESTING = 100
"""Maximum number of names in a path."""


class Taxonomy(Finite):
    """Leaves of a declared tree with any number of branches at each node.

    Two leaves with h common ancestors below the root are at distance 2**-h.
    Each level splits the branches of a node in halves, in the declared order,
    so a node with k branches takes log2(k) levels, rounded up.

    Records are names of leaves or paths from the root, as text with slashes,
    "fruit/apple", or as a sequence of names. Other records, including names of
    inner nodes, are dropped. Samples are names of leaves. A region is a node,
    inner or leaf, by name or path as text, or a collection of nodes.

    Args:
        tree: The tree, public knowledge: a dict from names to subtrees, or a list of names and such dicts. An empty
            subtree, or None, is a leaf. Names of leaves are unique; inner nodes may share a name.
    """

    kind: ClassVar[str] = "taxonomy"
    accepts = frozenset({"text", "lists of text"})

    def __init__(self, tree: Mapping[str, Any] | Sequence[Any]) -> None:
        self.tree = _as_lists(tree)
        leaves = [cell for *cell, is_leaf in _cells(self.tree) if is_leaf]
        paths, codes, depths = zip(*leaves, strict=True) if leaves else ((), (), ())
        self._check(paths)
        self.paths: tuple[Path, ...] = paths
        """Names from the root to each leaf, in the order of the cells."""
        depth = max(depths)
        if depth > MAX_DEPTH:
            raise DomainError(f"the tree needs {depth} levels of splits, at most {MAX_DEPTH} are possible; prune it")
        self._nodes = _nodes(paths)
        names = [path[-1] for path in paths]
        indices = {name: index for index, name in enumerate(names)}
        indices |= {SEPARATOR.join(path): index for index, path in enumerate(paths)}
        super().__init__(
            names,
            [code << (depth - own) for code, own in zip(codes, depths, strict=True)],
            depth=depth,
            distances=[2.0 ** -_count_common(one, other) for one, other in pairwise(paths)],
            lookup=Lookup(indices, separator=SEPARATOR),
        )

    def _check(self, paths: Sequence[Path]) -> None:
        if len(paths) < 2:
            raise DomainError(f"expected a tree of 2 or more leaves, got {quote(self.tree)}")
        name, times = Counter(path[-1] for path in paths).most_common(1)[0]
        if times > 1:
            raise DomainError(f"the name {quote(name)} occurs at two leaves; give each leaf a unique name")

    def __repr__(self) -> str:
        return f"Taxonomy({self.tree!r})"

    @cached_property
    def _names(self) -> dict[tuple[int, int], str]:
        """Path of the node of each cell that is a node, by level and code; for an only child, the path of the child."""
        return {(level, code): SEPARATOR.join(path) for path, code, level, _ in _cells(self.tree)}

    def describe(self, code: int, *, level: int) -> Any:
        name = self._names.get((level, code))
        return super().describe(code, level=level) if name is None else name

    def is_reportable(self, codes: Codes, *, level: int) -> NDArray[np.bool_]:
        return np.array([(level, code) in self._names for code in codes.tolist()], dtype=np.bool_)

    def _within(self, region: Any) -> NDArray[np.bool_]:
        chosen = np.zeros(self._values.size, dtype=np.bool_)
        for node in listed_values(region):
            first, after = self._span(node)
            chosen[first:after] = True
        return chosen

    def _span(self, node: Any) -> tuple[int, int]:
        """Indices of the first leaf under a node and of the first leaf after it."""
        spans = self._nodes.get(node, []) if isinstance(node, str) else []
        if len(spans) != 1:
            near = suggest(node, self._nodes) if isinstance(node, str) else null_hint(node)
            reason = "the name of several nodes; write the path" if spans else f"no node of the tree{near}"
            raise DomainError(
                f'expected a node by name or path, such as "{self._values[0]}", got {quote(node)}, {reason}'
            )
        return spans[0]

    def region_kind(self, region: Any) -> str:
        """Depth of a node."""
        return f"nodes of depth {region.count(SEPARATOR) + 1}" if isinstance(region, str) else ""

    @property
    def distance_meaning(self) -> str:
        return f"{TRANSPORT}: two leaves below h common inner nodes are 2 to the power of -h apart."

    def parameters(self) -> dict[str, Any]:
        return {"tree": self.tree}


def _as_lists(tree: Any, above: str | None = None, depth: int = 1) -> list[Any]:
    """A tree as a list of names and of dicts with one name each, whose order every storage format preserves.

    Args:
        tree: The tree, or a subtree.
        above: Name of the node above a subtree.
        depth: Number of names in the paths to its nodes.
    """
    if not tree and (tree is None or isinstance(tree, Mapping | list | tuple)):
        return []
    name = "the tree" if above is None else f"the subtree of {quote(above)}"
    if depth > MAX_NESTING:
        raise DomainError(f"the tree is nested more than {MAX_NESTING} deep; leave out some levels")
    branches = list(tree.items()) if isinstance(tree, Mapping) else tree
    if not isinstance(branches, list | tuple):
        raise DomainError(f"expected {name} as a dict, a list of names or None, got {quote(tree)}")
    found: list[Any] = []
    if not isinstance(tree, Mapping):
        branches = [pair for branch in branches for pair in _branches(branch, name)]
    for key, subtree in branches:
        if not isinstance(key, str) or SEPARATOR in key or key.endswith("\0"):
            raise DomainError(f'expected names in {name} as texts without "{SEPARATOR}", got {quote(key)}')
        inner = _as_lists(subtree, key, depth + 1)
        found.append({str(key): inner} if inner else str(key))
    names = Counter(branch if isinstance(branch, str) else next(iter(branch)) for branch in found)
    for key, times in names.most_common(1):
        if times > 1:
            raise DomainError(f"the name {quote(key)} occurs twice in {name}; names of siblings must differ")
    return found


def _branches(branch: Any, name: str) -> list[tuple[Any, Any]]:
    """Names and subtrees of an entry of a list: a leaf, or the branches of a dict."""
    if isinstance(branch, Mapping):
        return list(branch.items())
    if isinstance(branch, list | tuple):
        raise DomainError(f"expected {name} as a list of names and dicts, got a nested list; give the branch a name")
    return [(branch, None)]


def _cells(tree: list[Any], path: Path = (), code: int = 0, depth: int = 0) -> Iterator[tuple[Path, int, int, bool]]:
    """Path, code and level of each node below the root, and whether it is a leaf, in preorder."""
    bits = (len(tree) - 1).bit_length()
    for own, branch in zip(spread_codes(len(tree)), tree, strict=True):
        below = (code << bits | own, depth + bits)
        ((name, inner),) = [(branch, [])] if isinstance(branch, str) else branch.items()
        yield (*path, name), *below, not inner
        if inner:
            yield from _cells(inner, (*path, name), *below)


def _nodes(paths: Sequence[Path]) -> dict[str, list[tuple[int, int]]]:
    """Spans of leaves under each node, by path and by name; a path has precedence over an equal name."""
    spans: dict[Path, tuple[int, int]] = {}
    for index, path in enumerate(paths):
        for length in range(1, len(path) + 1):
            first, _ = spans.get(path[:length], (index, index))
            spans[path[:length]] = (first, index + 1)
    nodes = {SEPARATOR.join(path): [span] for path, span in spans.items()}
    names: dict[str, list[tuple[int, int]]] = {}
    for path, span in spans.items():
        names.setdefault(path[-1], []).append(span)
    return names | nodes


def _count_common(one: Path, other: Path) -> int:
    """Number of common ancestors of two leaves below the root."""
    return next(index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)

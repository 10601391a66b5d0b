"""A declared tree of names as a domain."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import MAX_DEPTH, Codes
from privhp.domains.finite import Finite, spread_codes
from privhp.domains.lookup import Lookup
from privhp.domains.presentation import TRANSPORT
from privhp.domains.validation import quote
from privhp.errors import DomainError

Path: TypeAlias = tuple[str, ...]
SEPARATOR = "/"
DEEPEST = 100
"""How many names a path may have."""


class Taxonomy(Finite):
    """The leaves of a declared tree, with any number of branches at each node.

    Two leaves are 2**-h apart, h being the number of inner nodes below the root
    that both lie under. The branches of a node are halved again and again in
    their own order, so a node of k branches takes log2(k) levels, rounded up.

    Records are names of leaves, or their paths from the root: as text with
    slashes, "fruit/apple", or as a sequence of names. Anything else is dropped,
    names of inner nodes included. Samples are names of leaves. Regions are a
    node, inner or leaf, by name or path as text, or a collection of nodes.

    Args:
        tree: The tree, public knowledge: a dict with a subtree for each name, or a list of names and such dicts. An
            empty subtree, or None, is a leaf. Leaves have names of their own; inner nodes may share theirs.
    """

    kind: ClassVar[str] = "taxonomy"
    accepts = frozenset({"text", "lists of text"})

    def __init__(self, tree: Mapping[str, Any] | Sequence[Any]) -> None:
        self.tree = _as_lists(tree, "the tree")
        leaves = [cell for *cell, is_leaf in _cells(self.tree) if is_leaf]
        paths, codes, depths = zip(*leaves, strict=True) if leaves else ((), (), ())
        self._check(paths)
        self.paths: tuple[Path, ...] = paths
        """The names from the root to each leaf, in the order of their cells."""
        depth = max(depths)
        if depth > MAX_DEPTH:
            raise DomainError(f"expected a tree of at most {MAX_DEPTH} cuts from root to leaf, got {depth}; prune it")
        self._nodes = _nodes(paths)
        names = [path[-1] for path in paths]
        places = {name: place for place, name in enumerate(names)}
        places |= {SEPARATOR.join(path): place for place, path in enumerate(paths)}
        super().__init__(
            names,
            [code << (depth - own) for code, own in zip(codes, depths, strict=True)],
            depth=depth,
            distances=[2.0 ** -_shared(one, other) for one, other in pairwise(paths)],
            lookup=Lookup(places, joint=SEPARATOR),
        )

    def _check(self, paths: Sequence[Path]) -> None:
        if len(paths) < 2:
            raise DomainError(f"expected a tree of 2 or more leaves, got {quote(self.tree)}")
        name, times = Counter(path[-1] for path in paths).most_common(1)[0]
        if times > 1:
            raise DomainError(f"expected every leaf to have a name of its own, got {quote(name)} twice or more")

    def __repr__(self) -> str:
        return f"Taxonomy({self.tree!r})"

    @cached_property
    def _names(self) -> dict[tuple[int, int], str]:
        """Path of the node that each cell is, by level and code; of a branch that is the only one, if there is one."""
        return {(level, code): SEPARATOR.join(path) for path, code, level, _ in _cells(self.tree)}

    def describe(self, code: int, *, level: int) -> Any:
        name = self._names.get((level, code))
        return super().describe(code, level=level) if name is None else name

    def is_reportable(self, codes: Codes, *, level: int) -> NDArray[np.bool_]:
        return np.array([(level, code) in self._names for code in codes.tolist()], dtype=np.bool_)

    def _within(self, region: Any) -> NDArray[np.bool_]:
        asked = list(region) if isinstance(region, list | tuple | set | frozenset) else [region]
        chosen = np.zeros(self._values.size, dtype=np.bool_)
        for node in asked:
            first, after = self._span(node)
            chosen[first:after] = True
        return chosen

    def _span(self, node: Any) -> tuple[int, int]:
        """Places of the first leaf under a node and of the first after it."""
        spans = self._nodes.get(node, []) if isinstance(node, str) else []
        if len(spans) != 1:
            found = "which several have" if spans else "which none has"
            raise DomainError(
                f'expected a node by name or by path, such as "{self._values[0]}", got {quote(node)}, {found}'
            )
        return spans[0]

    @property
    def distance_meaning(self) -> str:
        return f"{TRANSPORT}: two leaves below h common inner nodes are 2 to the power of -h apart."

    def parameters(self) -> dict[str, Any]:
        return {"tree": self.tree}


def _as_lists(tree: Any, name: str, depth: int = 1) -> list[Any]:
    """A tree as a list of names and of dicts with one name each, which keep their order wherever they are stored."""
    if tree is None:
        return []
    if depth > DEEPEST:
        raise DomainError(f"expected a tree nested at most {DEEPEST} deep, got a deeper one; leave out some levels")
    branches = list(tree.items()) if isinstance(tree, Mapping) else tree
    if not isinstance(branches, list | tuple):
        raise DomainError(f"expected {name} as a dict, a list of names or None, got {quote(tree)}")
    found: list[Any] = []
    if not isinstance(tree, Mapping):
        branches = [pair for branch in branches for pair in _branches(branch, name)]
    for key, subtree in branches:
        if not isinstance(key, str) or SEPARATOR in key or key.endswith("\0"):
            raise DomainError(f'expected names in {name} as texts without "{SEPARATOR}", got {quote(key)}')
        inner = _as_lists(subtree, f"the subtree of {quote(key)}", depth + 1)
        found.append({str(key): inner} if inner else str(key))
    names = Counter(branch if isinstance(branch, str) else next(iter(branch)) for branch in found)
    for key, times in names.most_common(1):
        if times > 1:
            raise DomainError(f"expected every name in {name} once, got {quote(key)} twice or more")
    return found


def _branches(branch: Any, name: str) -> list[tuple[Any, Any]]:
    """What an entry of a list stands for: a leaf, or the branches of a dict."""
    if isinstance(branch, Mapping):
        return list(branch.items())
    if isinstance(branch, list | tuple):
        raise DomainError(f"expected {name} as a list of names and dicts, got a list in it; give the branch a name")
    return [(branch, None)]


def _cells(tree: list[Any], path: Path = (), code: int = 0, depth: int = 0) -> Iterator[tuple[Path, int, int, bool]]:
    """Path, code and level of each node below the root, and whether it is a leaf; a node before those below it."""
    bits = (len(tree) - 1).bit_length()
    for own, branch in zip(spread_codes(len(tree)), tree, strict=True):
        below = (code << bits | own, depth + bits)
        ((name, inner),) = [(branch, [])] if isinstance(branch, str) else branch.items()
        yield (*path, name), *below, not inner
        if inner:
            yield from _cells(inner, (*path, name), *below)


def _nodes(paths: Sequence[Path]) -> dict[str, list[tuple[int, int]]]:
    """The leaves under each node, by its path and, if that is not a path, by its name, which several may have."""
    spans: dict[Path, tuple[int, int]] = {}
    for place, path in enumerate(paths):
        for length in range(1, len(path) + 1):
            first, _ = spans.get(path[:length], (place, place))
            spans[path[:length]] = (first, place + 1)
    nodes = {SEPARATOR.join(path): [span] for path, span in spans.items()}
    names: dict[str, list[tuple[int, int]]] = {}
    for path, span in spans.items():
        names.setdefault(path[-1], []).append(span)
    return names | nodes


def _shared(one: Path, other: Path) -> int:
    """How many nodes below the root two leaves lie under."""
    return next(place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)

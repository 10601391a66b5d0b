"""Deterministic automaton of a pattern: texts to cell codes, ranks of texts to texts, cell codes to ranks.

The automaton is acyclic. A node is a set of continuations. It has an option
for each possible next character, and one for the end of the text. If the text
may end or go on, one bit of the code of a cell decides between the two, since
short texts are often frequent. Then k characters take log2(k) bits, rounded up.
The rank of a text is its number in the order of the codes, which is the
lexicographic order.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import MAX_DEPTH, OUTSIDE, Codes, Counts
from privhp.domains.finite import spread_codes
from privhp.domains.pattern_grammar import END, States
from privhp.errors import DomainError

MAX_NODES = 4096
MAX_TEXTS = 2**62

_END_COLUMN, _UNKNOWN, _IGNORED, _FIRST = 0, 1, 2, 3
"""Columns of the end of a text, of unknown and of ignored characters, and of the first character of the pattern."""

_NEVER = np.iinfo(np.int64).max


class _Node(NamedTuple):
    """A set of continuations, behind a number of bits and a number of characters that the pattern does not fix."""

    states: frozenset[int]
    offset: int
    chosen: int

    @property
    def is_final(self) -> bool:
        """Whether the text has ended."""
        return not self.states


class Span(NamedTuple):
    """Ranks of the texts with a common prefix: the first, and the one after the last."""

    first: int
    after: int


class Automaton:
    """Automaton of a pattern.

    Args:
        pattern: The pattern; see `pattern_grammar`.
        ignored: Characters that are left out of texts before they are matched.
        ignore_case: Whether a letter in the other case than that of the pattern is read as the letter of the pattern.
    """

    def __init__(self, pattern: str, *, ignored: str = "", ignore_case: bool = False) -> None:
        nodes = _nodes(States(pattern))
        self._index = {node: index for index, node in enumerate(nodes)}
        self._own = [option_codes(list(options)) for options in nodes.values()]
        self.alphabet = sorted({character for own in self._own for character in own} - {""})
        """All characters of the texts."""
        bits = [count_bits(options) for options in nodes.values()]
        self.depth = max(node.offset for node in nodes)
        if self.depth > MAX_DEPTH:
            raise DomainError(
                f"the pattern needs {self.depth} levels of splits, at most {MAX_DEPTH} are possible; declare fewer "
                "characters"
            )
        self._count_texts(nodes)
        if not 2 <= self.size <= MAX_TEXTS or "" in self._own[0]:
            raise DomainError("expected a pattern of 2 to 2**62 texts, of which none is empty")
        self._lay_out(nodes, bits)
        self._read_characters(ignored, ignore_case)
        self.diameters = _diameters(nodes, bits, self.depth)

    @property
    def size(self) -> int:
        """Number of texts."""
        return self._sizes[0]

    def _count_texts(self, nodes: dict[_Node, dict[str, _Node]]) -> None:
        """Number of texts from each node on, and the longest of them."""
        self._sizes, lengths = [1] * len(nodes), [0] * len(nodes)
        for node in sorted(nodes, key=lambda own: max(own.states, default=END - 1)):
            after = [self._index[own] for own in nodes[node].values()]
            if not node.is_final:
                self._sizes[self._index[node]] = sum(self._sizes[own] for own in after)
                lengths[self._index[node]] = max(
                    lengths[own] + (character != "") for own, character in zip(after, nodes[node], strict=True)
                )
        self.longest = lengths[0]
        """Characters of the longest text."""

    def _lay_out(self, nodes: dict[_Node, dict[str, _Node]], bits: list[int]) -> None:
        """Tables by node and by the bits of an option; the last node is that of texts outside the pattern."""
        width, gone = max(bits), len(nodes)
        self._width = width
        self._shifts = np.full(gone + 1, MAX_DEPTH, dtype=np.uint64)
        self._below = np.full((gone + 1, 2**width), _NEVER, dtype=np.int64)  # texts before an option
        self._below[:, 0] = 0
        self._after = np.full((gone + 1, 2**width), gone, dtype=np.int64)
        self._letters = np.zeros((gone + 1, 2**width), dtype=np.uint32)
        self._is_final = np.zeros(gone + 1, dtype=np.bool_)
        for node, index in self._index.items():
            if node.is_final:
                self._is_final[index], self._after[index, 0] = True, index
                continue
            self._shifts[index] = self.depth - node.offset - bits[index]
            after = [self._index[own] for own in nodes[node].values()]
            own_codes = list(self._own[index].values())
            totals = np.cumsum([0] + [self._sizes[own] for own in after])
            every = np.arange(2 ** bits[index])
            self._below[index, every] = totals[np.searchsorted(own_codes, every)]
            self._after[index, own_codes] = after
            self._letters[index, own_codes] = [ord(own or "\0") for own in self._own[index]]

    def _read_characters(self, ignored: str, ignore_case: bool) -> None:
        """Tables by node and column of a character: the node after it, and its bits in place."""
        columns = {character: _FIRST + index for index, character in enumerate(self.alphabet)}
        if ignore_case:
            columns |= {other: columns[own] for other, own in other_case(self.alphabet).items()}
        if not columns.keys().isdisjoint(ignored):
            raise DomainError("expected ignored characters that do not occur in the pattern")
        columns |= dict.fromkeys(ignored, _IGNORED)
        self._columns = np.full(max(map(ord, columns)) + 2, _UNKNOWN, dtype=np.int64)
        self._columns[[ord(own) for own in columns]] = list(columns.values())
        self._columns[0] = _END_COLUMN
        size, stride = len(self._shifts), _FIRST + len(self.alphabet)
        after = np.full((size, stride), size - 1, dtype=np.int64)
        after[:, _IGNORED] = np.arange(size)
        after[self._is_final, _END_COLUMN] = np.flatnonzero(self._is_final)
        places = np.zeros((size, stride), dtype=np.uint64)
        for index, own_codes in enumerate(self._own):
            for character, own in own_codes.items():
                column = columns[character] if character else _END_COLUMN
                after[index, column] = self._after[index, own]
                places[index, column] = own << int(self._shifts[index])
        self._steps, self._places = after.ravel() * stride, places.ravel()
        self._ends = self._is_final.repeat(stride)

    def encode(self, characters: NDArray[np.uint32]) -> Codes:
        """Deepest cell of each text, or OUTSIDE.

        Args:
            characters: Characters of each text as a row, filled up with 0.
        """
        codes, nodes = np.zeros(len(characters), dtype=np.uint64), np.zeros(len(characters), dtype=np.int64)
        ends = np.zeros((len(characters), 1), dtype=np.uint32)
        for column in (*characters.T, *ends.T):
            nodes += self._columns[np.minimum(column, self._columns.size - 1)]
            codes |= self._places[nodes]
            nodes = self._steps[nodes]
        return np.where(self._ends[nodes], codes, OUTSIDE)

    def ranks_below(self, codes: Codes) -> Counts:
        """Number of texts whose deepest cell is before each code, which is at most 2**depth."""
        rest, nodes = codes.copy(), np.zeros(codes.shape, dtype=np.int64)
        ranks = np.zeros(codes.shape, dtype=np.int64)
        rest[codes >> np.uint64(self.depth) > 0] = 0
        for _ in range(self.longest + 1):
            own = (rest >> self._shifts[nodes]).astype(np.int64)
            ranks += self._below[nodes, own]
            rest -= own.astype(np.uint64) << self._shifts[nodes]
            nodes = self._after[nodes, own]
        ranks += self._is_final[nodes] & (rest > 0)
        return np.where(codes >> np.uint64(self.depth) > 0, self.size, ranks)

    def texts(self, ranks: Counts) -> NDArray[np.str_]:
        """Texts of these ranks."""
        rest, nodes = ranks.astype(np.int64), np.zeros(ranks.shape, dtype=np.int64)
        letters, below = np.zeros((ranks.size, self.longest), dtype=np.uint32), self._below.ravel()
        for position in range(self.longest):
            places = nodes << self._width  # of the options of a node in the flat tables; binary search for the last
            for bit in reversed(range(self._width)):
                places += (below.take(places + (1 << bit)) <= rest) << bit
            letters[:, position] = self._letters.take(places)
            rest -= below.take(places)
            nodes = self._after.take(places)
        return letters.view(f"U{self.longest}").reshape(ranks.size)

    def span_of_prefix(self, prefix: str) -> Span | None:
        """Ranks of the texts with a prefix; None if there are none."""
        node, first = self._follow(prefix)
        return None if node is None else Span(first, first + self._sizes[node])

    def span_of_text(self, text: str) -> Span | None:
        """Rank of one text; None if it does not match the pattern."""
        node, first = self._follow(text)
        return None if node is None or "" not in self._own[node] else Span(first, first + 1)

    def _follow(self, prefix: str) -> tuple[int | None, int]:
        """The node behind a prefix, and the number of texts before those with the prefix."""
        node, first = 0, 0
        for character in prefix:
            own = self._own[node].get(character)
            if own is None:
                return None, 0
            first += int(self._below[node, own])
            node = int(self._after[node, own])
        return node, first

    def next_characters(self, prefix: str) -> list[str]:
        """Characters that may follow a prefix of a text, in order; "" for the end of the text."""
        node, _ = self._follow(prefix)
        return [] if node is None else list(self._own[node])


def other_case(alphabet: Collection[str]) -> dict[str, str]:
    """Letter of an alphabet that each letter in the other case stands for."""
    others = {own.swapcase(): own for own in alphabet if own.swapcase() != own}
    if not others.keys().isdisjoint(alphabet):
        raise DomainError("expected each letter in one case only, if the case is ignored")
    return {other: own for other, own in others.items() if len(other) == 1}


def common_prefix(one: str, other: str) -> str:
    """Longest common prefix of two texts."""
    return "".join(own for own, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def count_bits(options: Collection[str]) -> int:
    """Bits of the code of a cell that distinguish options: one for the end, if it is possible, and the characters."""
    characters = len(options) - ("" in options)
    return (max(characters, 1) - 1).bit_length() + ("" in options and characters > 0)


def option_codes(options: Sequence[str]) -> dict[str, int]:
    """Bits of each option, increasing; the end of the text is the first option."""
    characters = [own for own in options if own]
    first = 1 << count_bits(options) - 1 if "" in options and characters else 0
    ends = {"": 0} if "" in options else {}
    return ends | {own: first | code for own, code in zip(characters, spread_codes(len(characters)), strict=True)}


def _nodes(states: States) -> dict[_Node, dict[str, _Node]]:
    """Options of all nodes: the node after each character, with "" for the end of the text. The root is the first."""
    found: dict[_Node, dict[str, _Node]] = {}
    open_nodes = [_Node(states.start, 0, 0)]
    while open_nodes:
        node = open_nodes.pop()
        if node in found:
            continue
        if len(found) == MAX_NODES:
            raise DomainError(f"the pattern has more than {MAX_NODES:,} different continuations; simplify it")
        ends = {"": frozenset[int]()} if END in node.states else {}
        moves = ends | states.moves(node.states)
        offset = node.offset + count_bits(moves)
        chosen = node.chosen + (len(moves) > 1)
        found[node] = {own: _Node(after, offset, chosen) for own, after in moves.items()}
        open_nodes += found[node].values()
    return found


def _diameters(nodes: dict[_Node, dict[str, _Node]], bits: list[int], depth: int) -> list[float]:
    """Diameter of the cells of each level: 2**-l after l characters that the pattern does not fix."""
    largest = [0.0] * (depth + 1)
    for node, own in zip(nodes, bits, strict=True):
        for level in range(node.offset, node.offset + own):
            largest[level] = max(largest[level], 2.0**-node.chosen)
    return largest

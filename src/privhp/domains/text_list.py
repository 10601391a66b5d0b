"""Texts of a declared list in the hierarchy of their prefixes, with the same methods as the automaton of a pattern.

The list has the cells of the pattern with all its texts as alternatives.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import MAX_DEPTH, OUTSIDE, Codes, Counts
from privhp.domains.lookup import NOT_FOUND, TextLookup
from privhp.domains.pattern_automaton import Span, common_prefix, count_bits, option_codes, other_case
from privhp.domains.validation import quote
from privhp.errors import DomainError

_IGNORED = 0x110000
"""Number of an ignored character, beyond those of all characters."""


class TextList:
    """Declared texts in lexicographic order.

    Args:
        texts: The texts, each once.
        ignored: Characters that are left out of texts before they are looked up.
        ignore_case: Whether a letter in the other case than that of the list is read as the letter of the list.
    """

    def __init__(self, texts: Sequence[str], *, ignored: str = "", ignore_case: bool = False) -> None:
        for text in texts:
            if not isinstance(text, str) or not text or "\0" in text:
                raise DomainError(f"expected a list of texts that are not empty, got one with {quote(text)}")
        self._texts = sorted(texts)
        for one, other in pairwise(self._texts):
            if one == other:
                raise DomainError(f"the text {quote(one)} is declared twice; declare each text once")
        if len(texts) < 2:
            raise DomainError(f"expected a list of 2 or more texts, got {quote(list(texts))}")
        self.alphabet = sorted(set().union(*self._texts))
        """All characters of the texts."""
        self.size, self.longest = len(texts), max(map(len, self._texts))
        self._places = [(0, 0)] * self.size  # bits of each text, and their number
        self.diameters = [0.0] * (MAX_DEPTH + 1)
        self._divide(0, self.size, 0, 0, 0)
        self.depth = max(offset for _, offset in self._places)
        del self.diameters[self.depth + 1 :]
        codes = [code << (self.depth - offset) for code, offset in self._places]
        self._codes = np.array([*codes, OUTSIDE], dtype=np.uint64)
        self._array = np.array(self._texts)
        self._lookup = TextLookup({text: index for index, text in enumerate(self._texts)}, NOT_FOUND)
        self._characters = self._read_characters(ignored, ignore_case)

    def _divide(self, first: int, after: int, code: int, offset: int, chosen: int) -> None:
        """Assign bits to the texts of a range, which all begin with a prefix behind `offset` bits."""
        if after - first == 1:
            self._places[first] = code, offset
            return
        size = len(common_prefix(self._texts[first], self._texts[after - 1]))
        groups = [
            (own, len(list(group))) for own, group in groupby(t[size : size + 1] for t in self._texts[first:after])
        ]
        bits = count_bits([own for own, _ in groups])
        if offset + bits > MAX_DEPTH:
            raise DomainError(f"the list needs more than {MAX_DEPTH} levels of splits; declare shorter texts")
        for level in range(offset, offset + bits):
            self.diameters[level] = max(self.diameters[level], 2.0**-chosen)
        for (_, count), own in zip(groups, option_codes([own for own, _ in groups]).values(), strict=True):
            self._divide(first, first + count, code << bits | own, offset + bits, chosen + 1)
            first += count

    def _read_characters(self, ignored: str, ignore_case: bool) -> NDArray[np.uint32] | None:
        """Character that each character is read as; None if each is read as itself."""
        read_as = {own: ord(own) for own in self.alphabet}
        others = other_case(self.alphabet) if ignore_case else {}
        if not read_as.keys().isdisjoint(ignored):
            raise DomainError("expected ignored characters that do not occur in the list")
        read_as |= {other: ord(own) for other, own in others.items()} | dict.fromkeys(ignored, _IGNORED)
        if not others and not ignored:
            return None
        characters = np.arange(max(map(ord, read_as)) + 1, dtype=np.uint32)
        characters[[ord(own) for own in read_as]] = list(read_as.values())
        return characters

    def encode(self, characters: NDArray[np.uint32]) -> Codes:
        """Deepest cell of each text, or OUTSIDE; see `Automaton.encode`."""
        if self._characters is not None:
            known = characters < self._characters.size
            characters = np.where(known, self._characters[np.where(known, characters, 0)], characters)
            order = np.argsort(characters == _IGNORED, axis=1, kind="stable")
            characters = np.take_along_axis(characters, order, axis=1)
            characters[characters == _IGNORED] = 0
        texts = np.ascontiguousarray(characters).view(f"U{characters.shape[1]}").reshape(len(characters))
        return self._lookup(texts, self._codes)

    def ranks_below(self, codes: Codes) -> Counts:
        """Number of texts whose deepest cell is before each code, which is at most 2**depth."""
        return np.searchsorted(self._codes[:-1], codes)

    def texts(self, ranks: Counts) -> NDArray[np.str_]:
        """Texts of these ranks."""
        found: NDArray[np.str_] = self._array[ranks]
        return found

    def span_of_prefix(self, prefix: str) -> Span | None:
        """Ranks of the texts with a prefix; None if there are none."""
        first = bisect_left(self._texts, prefix)
        after = bisect_right(self._texts, prefix, key=lambda text: text[: len(prefix)])
        return Span(first, after) if after > first else None

    def span_of_text(self, text: str) -> Span | None:
        """Rank of one text; None if it is not in the list."""
        first = bisect_left(self._texts, text)
        return Span(first, first + 1) if first < self.size and self._texts[first] == text else None

    def next_characters(self, prefix: str) -> list[str]:
        """Characters that may follow a prefix of a text, in order; "" for the end of the text."""
        first, after = self.span_of_prefix(prefix) or Span(0, 0)
        found = []
        while first < after:
            found.append(self._texts[first][len(prefix) : len(prefix) + 1])
            longer = prefix + found[-1]
            first = first + 1 if longer == prefix else (self.span_of_prefix(longer) or Span(0, after)).after
        return found

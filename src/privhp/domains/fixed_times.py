"""Times of a few fixed widths, such as 31/12/2024 07:05 PM, read at once; `TimeFormat` reads the others one by one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Counts

_MONTHS = ["january", "february", "march", "april", "may", "june"]
_MONTHS += ["july", "august", "september", "october", "november", "december"]
_WIDTHS = {"Y": [4], "y": [2], "m": [2], "d": [2], "H": [2], "I": [2], "M": [2], "S": [2], "p": [2], "z": [1, 5, 6]}
_WIDTHS |= {"b": [3], "B": sorted({len(month) for month in _MONTHS})}
"""Possible numbers of characters of each directive: all digits, except those of %b, %B, %p and %z."""

Numbers: TypeAlias = tuple[NDArray[np.int64], NDArray[np.bool_]]
"""Numbers of texts, and a mask of the texts that have one."""


class FixedTimes:
    """Reads texts by directives that each have one of a few widths.

    Args:
        layouts: The layouts that a text may have.
        has_offset: Whether each text has its offset from UTC.
    """

    def __init__(self, layouts: Sequence[_Layout], *, has_offset: bool) -> None:
        self._layouts, self.has_offset = layouts, has_offset

    @classmethod
    def of_format(cls, text: str) -> FixedTimes | None:
        """The reader of a format; None if a directive has no fixed width, or is given twice."""
        tokens = re.findall(r"%(.)|(.)", text, re.DOTALL)
        directives = [directive for directive, _ in tokens if directive]
        dates = [len(set(directives) & names) for names in ({"Y", "y"}, {"m", "b", "B"}, {"d"})]
        if dates != [1, 1, 1] or len(set(directives)) < len(directives) or not _WIDTHS.keys() >= set(directives):
            return None
        layouts = [
            _Layout(tokens, dict(zip(directives, widths, strict=True)))
            for widths in product(*(_WIDTHS[directive] for directive in directives))
        ]
        return cls(layouts, has_offset="z" in directives)

    def read(self, values: Sequence[Any], *, local: bool = False) -> tuple[NDArray[np.int64], Counts]:
        """Places of the values that are times of these widths, and the seconds of each since 1970.

        Args:
            values: The values.
            local: Whether the seconds are those of the clock that a text shows; otherwise they are in UTC.
        """
        sizes = np.array([len(own) if isinstance(own, str) else -1 for own in values], dtype=np.int64)
        seconds, valid = np.zeros(sizes.size, dtype=np.int64), np.zeros(sizes.size, dtype=np.bool_)
        for layout in self._layouts:
            places = np.flatnonzero((sizes == layout.width) & ~valid)
            if places.size:
                seconds[places], valid[places] = layout.read([values[place] for place in places.tolist()], local=local)
        return np.flatnonzero(valid), seconds[valid]


class _Layout:
    """Reads texts in which each directive has one width.

    Args:
        tokens: Directives and other characters in their order; one of each pair is empty.
        widths: Number of characters of each directive.
    """

    def __init__(self, tokens: Sequence[tuple[str, str]], widths: dict[str, int]) -> None:
        self._parts: dict[str, slice] = {}
        self._literals: dict[int, str] = {}
        self.width = 0
        for directive, literal in tokens:
            size = widths[directive] if directive else 1
            if directive:
                self._parts[directive] = slice(self.width, self.width + size)
            else:
                self._literals[self.width] = literal
            self.width += size

    def read(self, values: Sequence[str], *, local: bool) -> Numbers:
        """Seconds since 1970 of texts of this width; see `FixedTimes.read`."""
        texts = np.array(values, dtype=f"U{self.width}")
        characters = texts.view(np.uint32).reshape(texts.size, self.width).astype(np.int64)
        valid = np.ones(texts.size, dtype=np.bool_)
        for column, literal in self._literals.items():
            valid &= characters[:, column] == ord(literal)
        numbers = {directive: np.zeros(texts.size, dtype=np.int64) for directive in "HMSz"}
        for directive, part in self._parts.items():
            numbers[directive], readable = _READERS.get(directive, _read_digits)(characters[:, part])
            valid &= readable
        if "I" in numbers:
            valid &= (numbers["I"] >= 1) & (numbers["I"] <= 12)
            numbers["H"] = numbers["I"] % 12 + numbers["p"]
        for directive, limit in (("H", 23), ("M", 59), ("S", 59)):
            valid &= numbers[directive] <= limit
        year = numbers["Y"] if "Y" in numbers else numbers["y"] + np.where(numbers["y"] < 69, 2000, 1900)
        month = next(numbers[directive] for directive in "mbB" if directive in numbers)
        valid &= (year >= 1) & (month >= 1) & (month <= 12) & (numbers["d"] >= 1)
        months = np.where(valid, (year - 1970) * 12 + month - 1, 0).astype("M8[M]")
        days = months.astype("M8[D]") + np.where(valid, numbers["d"] - 1, 0)
        valid &= days.astype("M8[M]") == months
        seconds = days.astype(np.int64) * 86_400 + numbers["H"] * 3600 + numbers["M"] * 60 + numbers["S"]
        return seconds if local else seconds - numbers["z"], valid


def _read_digits(characters: NDArray[np.int64]) -> Numbers:
    digits = characters - ord("0")
    valid: NDArray[np.bool_] = np.logical_and.reduce((digits >= 0) & (digits <= 9), axis=1)
    return digits @ 10 ** np.arange(digits.shape[1], dtype=np.int64)[::-1], valid


def _read_words(characters: NDArray[np.int64], words: Sequence[str]) -> Numbers:
    """Index among words of ASCII letters, in upper or lower case."""
    index, valid = np.zeros(len(characters), dtype=np.int64), np.zeros(len(characters), dtype=np.bool_)
    for place, word in enumerate(words):
        if len(word) == characters.shape[1]:
            same = ((characters | 0x20) == list(map(ord, word))).all(axis=1)
            index[same], valid[same] = place, True
    return index, valid


def _read_half(characters: NDArray[np.int64]) -> Numbers:
    """Hours at the beginning of a half of the day."""
    half, valid = _read_words(characters, ("am", "pm"))
    return 12 * half, valid


def _read_month(characters: NDArray[np.int64]) -> Numbers:
    month, valid = _read_words(characters, _MONTHS)
    return month + 1, valid


def _read_short_month(characters: NDArray[np.int64]) -> Numbers:
    month, valid = _read_words(characters, [month[:3] for month in _MONTHS])
    return month + 1, valid


def _read_offset(characters: NDArray[np.int64]) -> Numbers:
    """Seconds of an offset such as Z, +0200 or +02:00."""
    width = characters.shape[1]
    if width == 1:
        return np.zeros(len(characters), dtype=np.int64), characters[:, 0] == ord("Z")
    clock, valid = _read_digits(characters[:, [1, 2, width - 2, width - 1]])
    hours, minutes = clock // 100, clock % 100
    behind = characters[:, 0] == ord("-")
    valid &= (behind | (characters[:, 0] == ord("+"))) & (hours <= 23) & (minutes <= 59)
    valid &= (characters[:, 3] == ord(":")) | (width == 5)
    return np.where(behind, -1, 1) * (hours * 3600 + minutes * 60), valid


_READERS: dict[str, Callable[[NDArray[np.int64]], Numbers]] = {
    "p": _read_half,
    "b": _read_short_month,
    "B": _read_month,
    "z": _read_offset,
}
"""Readers of directives that are not digits alone."""

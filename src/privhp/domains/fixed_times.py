"""Times of fixed width, such as 31/12/2024 07:05 PM, read all at once; `TimeFormat` reads the others one by one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Counts

_WIDTHS = {"Y": 4, "y": 2, "m": 2, "b": 3, "d": 2, "H": 2, "I": 2, "M": 2, "S": 2, "p": 2, "z": 5}
"""Characters of each directive: all digits, except those of %b, %p and %z."""

Numbers: TypeAlias = tuple[NDArray[np.int64], NDArray[np.bool_]]
"""Numbers of texts, and a mask of the texts that have one."""


class FixedTimes:
    """Reads texts of one width by directives that each have a fixed width.

    Args:
        parts: Directive and first column of each number.
        literals: Columns of other characters, and the characters.
        width: Number of characters of a text.
    """

    def __init__(self, parts: dict[str, int], literals: dict[int, str], width: int) -> None:
        self._parts, self._literals, self._width = parts, literals, width

    @classmethod
    def of_format(cls, text: str) -> FixedTimes | None:
        """The reader of a format; None if a text in this format has no fixed width, or a directive is given twice."""
        parts: dict[str, int] = {}
        literals: dict[int, str] = {}
        column = 0
        for found in re.finditer(r"%(.)|(.)", text, re.DOTALL):
            directive, literal = found.groups()
            if literal is not None:
                literals[column] = literal
            elif directive not in _WIDTHS or directive in parts:
                return None
            else:
                parts[directive] = column
            column += _WIDTHS.get(directive, 1)
        dates = [len(parts.keys() & names) for names in ("Yy", "mb", "d")]
        return cls(parts, literals, column) if dates == [1, 1, 1] else None

    @property
    def has_offset(self) -> bool:
        """Whether each text has its offset from UTC."""
        return "z" in self._parts

    def read(self, values: Sequence[Any], *, local: bool = False) -> tuple[NDArray[np.int64], Counts]:
        """Places of the values that are times of this width, and the seconds of each since 1970.

        Args:
            values: The values.
            local: Whether the seconds are those of the clock that a text shows; otherwise they are in UTC.
        """
        fitting = (place for place, own in enumerate(values) if isinstance(own, str) and len(own) == self._width)
        places = np.fromiter(fitting, dtype=np.int64)
        texts = np.array([values[place] for place in places.tolist()], dtype=f"U{self._width}")
        characters = texts.view(np.uint32).reshape(texts.size, self._width).astype(np.int64)
        valid = np.ones(texts.size, dtype=np.bool_)
        for column, literal in self._literals.items():
            valid &= characters[:, column] == ord(literal)
        numbers = {directive: np.zeros(texts.size, dtype=np.int64) for directive in "HMSz"}
        for directive, column in self._parts.items():
            read = _READERS.get(directive, _read_digits)
            numbers[directive], readable = read(characters[:, column : column + _WIDTHS[directive]])
            valid &= readable
        if "I" in numbers:
            valid &= (numbers["I"] >= 1) & (numbers["I"] <= 12)
            numbers["H"] = numbers["I"] % 12 + numbers["p"]
        for directive, limit in (("H", 23), ("M", 59), ("S", 59)):
            valid &= numbers[directive] <= limit
        year = numbers["Y"] if "Y" in numbers else numbers["y"] + np.where(numbers["y"] < 69, 2000, 1900)
        month = numbers["m"] if "m" in numbers else numbers["b"]
        valid &= (year >= 1) & (month >= 1) & (month <= 12) & (numbers["d"] >= 1)
        months = np.where(valid, (year - 1970) * 12 + month - 1, 0).astype("M8[M]")
        days = months.astype("M8[D]") + np.where(valid, numbers["d"] - 1, 0)
        valid &= days.astype("M8[M]") == months
        seconds = days.astype(np.int64) * 86_400 + numbers["H"] * 3600 + numbers["M"] * 60 + numbers["S"]
        return places[valid], (seconds if local else seconds - numbers["z"])[valid]


def _read_digits(characters: NDArray[np.int64]) -> Numbers:
    digits = characters - ord("0")
    valid: NDArray[np.bool_] = np.logical_and.reduce((digits >= 0) & (digits <= 9), axis=1)
    return digits @ 10 ** np.arange(digits.shape[1], dtype=np.int64)[::-1], valid


def _read_words(characters: NDArray[np.int64], words: Sequence[str]) -> Numbers:
    """Index among words of ASCII letters, in upper or lower case."""
    known = np.array([list(map(ord, word)) for word in words])
    same = ((characters | 0x20)[:, None] == known).all(axis=2)
    return same.argmax(axis=1), same.any(axis=1)


def _read_half(characters: NDArray[np.int64]) -> Numbers:
    """Hours at the beginning of a half of the day."""
    half, valid = _read_words(characters, ("am", "pm"))
    return 12 * half, valid


def _read_month(characters: NDArray[np.int64]) -> Numbers:
    month, valid = _read_words(characters, _MONTHS)
    return month + 1, valid


def _read_offset(characters: NDArray[np.int64]) -> Numbers:
    """Seconds of an offset such as +0200."""
    clock, valid = _read_digits(characters[:, 1:])
    hours, minutes = clock // 100, clock % 100
    behind = characters[:, 0] == ord("-")
    valid &= (behind | (characters[:, 0] == ord("+"))) & (hours <= 23) & (minutes <= 59)
    return np.where(behind, -1, 1) * (hours * 3600 + minutes * 60), valid


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_READERS: dict[str, Callable[[NDArray[np.int64]], Numbers]] = {"p": _read_half, "b": _read_month, "z": _read_offset}
"""Readers of directives that are not digits alone."""

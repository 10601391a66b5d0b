"""Times of fixed width, such as 31/12/2024 07:05 PM, read all at once; `TimeFormat` reads the others one by one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Counts

_WIDTHS = {"Y": 4, "m": 2, "d": 2, "H": 2, "I": 2, "M": 2, "S": 2, "p": 2}
"""Characters of each directive, all digits except those of %p."""


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
        return cls(parts, literals, column) if {"Y", "m", "d"} <= parts.keys() else None

    def read(self, values: Sequence[Any]) -> tuple[NDArray[np.int64], Counts]:
        """Places of the values that are times of this width, and the seconds of each since 1970."""
        fitting = (place for place, own in enumerate(values) if isinstance(own, str) and len(own) == self._width)
        places = np.fromiter(fitting, dtype=np.int64)
        texts = np.array([values[place] for place in places.tolist()], dtype=f"U{self._width}")
        characters = texts.view(np.uint32).reshape(texts.size, self._width).astype(np.int64)
        valid = np.ones(texts.size, dtype=np.bool_)
        for column, literal in self._literals.items():
            valid &= characters[:, column] == ord(literal)
        numbers = {directive: np.zeros(texts.size, dtype=np.int64) for directive in "HMS"}
        for directive, column in self._parts.items():
            own = characters[:, column : column + _WIDTHS[directive]]
            if directive == "p":
                letters = own | 0x20
                evening = letters[:, 0] == ord("p")
                valid &= (own < 128).all(axis=1) & (evening | (letters[:, 0] == ord("a"))) & (letters[:, 1] == ord("m"))
                continue
            digits = own - ord("0")
            valid &= ((digits >= 0) & (digits <= 9)).all(axis=1)
            numbers[directive] = digits @ 10 ** np.arange(digits.shape[1])[::-1]
        if "I" in numbers:
            valid &= (numbers["I"] >= 1) & (numbers["I"] <= 12)
            numbers["H"] = numbers["I"] % 12 + 12 * evening
        for directive, limit in (("H", 23), ("M", 59), ("S", 59)):
            valid &= numbers[directive] <= limit
        valid &= (numbers["Y"] >= 1) & (numbers["m"] >= 1) & (numbers["m"] <= 12) & (numbers["d"] >= 1)
        months = np.where(valid, (numbers["Y"] - 1970) * 12 + numbers["m"] - 1, 0).astype("M8[M]")
        days = months.astype("M8[D]") + np.where(valid, numbers["d"] - 1, 0)
        valid &= days.astype("M8[M]") == months
        seconds = days.astype(np.int64) * 86_400 + numbers["H"] * 3600 + numbers["M"] * 60 + numbers["S"]
        return places[valid], seconds[valid]

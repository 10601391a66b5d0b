"""A block of CSV lines to columns.

`fields.py` says what a line and a field are read as. Where it was compiled, a
scanner reads all that is written in a plain way, to the same values; the lines
that it marks, or all of them without it, are read one by one.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Codes, Counts
from privhp.domains.column import Column
from privhp.domains.fields import Field, FieldKind
from privhp.io.sources.csv_fields import as_text, converter, split
from privhp.io.sources.text_lines import MAX_LINE
from privhp.kernels import native

Mask = NDArray[np.bool_]

_INVALID = object()


class Scanner:
    """Reads the same places of every line.

    Args:
        fields: What is read.
        places: Where in a line each of them is, from 0.
    """

    def __init__(self, fields: Sequence[Field], places: Sequence[int]) -> None:
        self._fields = list(fields)
        self._converters = list(zip([converter(field) for field in fields], places, strict=True))
        self._places = np.array(places, dtype=np.int64)
        self._kinds = np.array([field.kind for field in fields], dtype=np.uint8)
        self._nullable = np.array([field.nullable for field in fields], dtype=np.bool_)

    def columns(self, block: bytes) -> tuple[list[Any], Mask]:
        """The columns of a block of lines, and which of the lines are lost; these hold anything."""
        values, empty, lost, odd, distinct = self._scan(block)
        lost |= (empty & ~self._nullable[:, None]).any(axis=0) & ~odd
        places = np.flatnonzero(odd)
        rows = [self._read(line) for line in _lines(block, places)]
        lost[places] = [row is None for row in rows]
        nothing = (None,) * len(self._fields)
        given = list(zip(*(row or nothing for row in rows), strict=True)) or [()] * len(self._fields)
        columns: list[Any] = []
        for field, own, gaps, instead, spans in zip(self._fields, values, empty, given, distinct, strict=True):
            if field.kind is FieldKind.DICTIONARY:
                columns.append(_texts(block, own.view(np.int64), spans, gaps, places, instead, lost))
            elif field.kind is FieldKind.TEXT:
                every = np.arange(own.size)
                columns.append(_texts(block, every, own.tolist(), gaps, places, instead, lost).to_list())
            else:
                columns.append(_numbers(field, own, gaps, places, instead))
        return columns, lost

    def _scan(self, block: bytes) -> tuple[Codes, Mask, Mask, Mask, list[list[int]]]:
        """Values and which are empty, for each field; lines that are lost, and those that must be read one by one.

        Last, for each field whose texts repeat, where they are.
        """
        size = len(self._fields)
        if native is None:
            lines = block.count(b"\n") + (not block.endswith(b"\n"))
            values, empty = np.zeros((size, lines), dtype=np.uint64), np.ones((size, lines), dtype=np.bool_)
            return values, empty, np.zeros(lines, dtype=np.bool_), np.ones(lines, dtype=np.bool_), [[]] * size
        lines = native.count_lines(block)
        values, empty = np.empty((size, lines), dtype=np.uint64), np.empty((size, lines), dtype=np.bool_)
        lost, odd = np.empty(lines, dtype=np.bool_), np.empty(lines, dtype=np.bool_)
        texts = native.scan(block, MAX_LINE, self._places, self._kinds, self._nullable, values, empty, lost, odd)
        return values, empty, lost, odd, texts

    def _read(self, line: bytes) -> tuple[Any, ...] | None:
        """The values of one line, whatever its bytes; None if it is lost."""
        try:
            fields = split(line)
            return tuple([convert(fields[place]) for convert, place in self._converters])
        except (ValueError, IndexError):
            return None


def _lines(block: bytes, places: NDArray[np.int64]) -> list[bytes]:
    """The lines at some places of a block."""
    if not places.size:
        return []
    ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n"))
    ends = np.append(ends, len(block))
    starts = np.where(places > 0, ends[places - 1] + 1, 0)
    return [block[start:end] for start, end in zip(starts.tolist(), ends[places].tolist(), strict=True)]


def _numbers(field: Field, values: Codes, empty: Mask, places: NDArray[np.int64], given: Sequence[Any]) -> Column:
    """What the scanner found and, at some places, what was given instead; null where the field is empty."""
    if field.kind is FieldKind.REAL:
        reals = values.view(np.float64)
        reals[empty] = np.nan
        reals[places] = [np.nan if value is None else value for value in given]
        return Column(reals)
    fits = all(value is None or (type(value) is int and abs(value) < 2**63) for value in given)
    null = empty.copy()
    null[places] = [value is None for value in given]
    array: NDArray[Any] = values.view(np.int64)
    if fits:
        array[places] = [0 if value is None else value for value in given]
    if field.kind is FieldKind.TIME:
        times = array.view("M8[us]")
        times[null] = np.datetime64("NaT", "us")
        fits, array = all(value is None for value in given), times
    elif fits and null.any():
        return Column(array, null=null)
    if fits:
        return Column(array)
    listed: list[Any] = [None if gone else value for value, gone in zip(array.tolist(), null.tolist(), strict=True)]
    for place, value in zip(places.tolist(), given, strict=True):
        listed[place] = value
    return Column(listed)


def _texts(
    block: bytes,
    codes: Counts,
    spans: Sequence[int],
    empty: Mask,
    places: NDArray[np.int64],
    given: Sequence[Any],
    lost: Mask,
) -> Column:
    """The texts at some spans of a block, by their places in that list. What is no text loses its line."""
    texts = [_text(block[span >> 32 : (span >> 32) + (span & 0xFFFFFFFF)]) for span in spans]
    codes[empty] = len(texts)
    codes[places] = np.arange(len(given)) + len(texts) + 1
    texts += [None, *given]
    lost |= np.array([text is _INVALID for text in texts], dtype=np.bool_)[codes]
    return Column(codes, dictionary=[None if text is _INVALID else text for text in texts])


def _text(field: bytes) -> Any:
    try:
        return as_text(field)
    except ValueError:
        return _INVALID

"""Columns of a block of CSV lines.

`csv_fields` defines the values. The compiled scanner reads plainly written
lines to the same values and marks the others as odd. Odd lines, or all lines
without the compiled scanner, are read one by one.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Codes, Counts
from privhp.domains.column import Column
from privhp.domains.fields import Field, FieldKind
from privhp.io.sources.csv_fields import as_text, converter, split_line
from privhp.io.sources.text_lines import MAX_LINE
from privhp.kernels import native

Mask = NDArray[np.bool_]

_INVALID = object()


class Scanner:
    """Scanner of selected fields of every line.

    Args:
        fields: The fields that make a record.
        indices: Index of each field in a line, from 0.
    """

    def __init__(self, fields: Sequence[Field], indices: Sequence[int]) -> None:
        self._fields = list(fields)
        self._converters = list(zip([converter(field) for field in fields], indices, strict=True))
        self._indices = np.array(indices, dtype=np.int64)
        self._kinds = np.array([field.kind for field in fields], dtype=np.uint8)
        self._nullable = np.array([field.nullable for field in fields], dtype=np.bool_)

    def columns(self, block: bytes) -> tuple[list[Any], Mask]:
        """Columns of a block of lines, and a mask of the invalid lines, whose values are arbitrary."""
        values, empty, invalid, odd, spans = self._scan(block)
        invalid |= (empty & ~self._nullable[:, None]).any(axis=0) & ~odd
        odd_lines = np.flatnonzero(odd)
        rows = [self._read(line) for line in take_lines(block, odd_lines)]
        invalid[odd_lines] = [row is None for row in rows]
        nothing = (None,) * len(self._fields)
        odd_values = list(zip(*(row or nothing for row in rows), strict=True)) or [()] * len(self._fields)
        columns: list[Any] = []
        for index, field in enumerate(self._fields):
            scanned, replaced = values[index], (empty[index], odd_lines, odd_values[index])
            if field.kind is FieldKind.DICTIONARY:
                columns.append(_texts(block, scanned.view(np.int64), spans[index], *replaced, invalid))
            elif field.kind is FieldKind.TEXT:
                every = np.arange(scanned.size)
                columns.append(_texts(block, every, scanned.tolist(), *replaced, invalid).to_list())
            else:
                columns.append(_numbers(field, scanned, *replaced))
        return columns, invalid

    def _scan(self, block: bytes) -> tuple[Codes, Mask, Mask, Mask, list[list[int]]]:
        """Values of the scanner, masks of empty fields, invalid lines and odd lines, and spans of distinct texts.

        Values, empty fields and spans have one row or list per field. A span is the offset of a text in the block,
        shifted by 32 bits, plus its length.
        """
        size = len(self._fields)
        if native is None:
            lines = block.count(b"\n") + (not block.endswith(b"\n"))
            values, empty = np.zeros((size, lines), dtype=np.uint64), np.ones((size, lines), dtype=np.bool_)
            return values, empty, np.zeros(lines, dtype=np.bool_), np.ones(lines, dtype=np.bool_), [[]] * size
        lines = native.count_lines(block)
        values, empty = np.empty((size, lines), dtype=np.uint64), np.empty((size, lines), dtype=np.bool_)
        invalid, odd = np.empty(lines, dtype=np.bool_), np.empty(lines, dtype=np.bool_)
        spans = native.scan(block, MAX_LINE, self._indices, self._kinds, self._nullable, values, empty, invalid, odd)
        return values, empty, invalid, odd, spans

    def _read(self, line: bytes) -> tuple[Any, ...] | None:
        """Values of one line; None if the line is invalid."""
        try:
            fields = split_line(line)
            return tuple([convert(fields[index]) for convert, index in self._converters])
        except (ValueError, IndexError):
            return None


def take_lines(block: bytes, indices: NDArray[np.intp]) -> list[bytes]:
    """Lines of a block at some indices."""
    if not indices.size:
        return []
    ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n"))
    ends = np.append(ends, len(block))
    starts = np.where(indices > 0, ends[indices - 1] + 1, 0)
    return [block[start:end] for start, end in zip(starts.tolist(), ends[indices].tolist(), strict=True)]


def _numbers(
    field: Field, values: Codes, empty: Mask, odd_lines: NDArray[np.int64], odd_values: Sequence[Any]
) -> Column:
    """Column of the values of the scanner, and of other values in the odd lines; null where the field is empty."""
    if field.kind is FieldKind.REAL:
        reals = values.view(np.float64)
        reals[empty] = np.nan
        reals[odd_lines] = [np.nan if value is None else value for value in odd_values]
        return Column(reals)
    fits = all(value is None or (type(value) is int and abs(value) < 2**63) for value in odd_values)
    null = empty.copy()
    null[odd_lines] = [value is None for value in odd_values]
    array: NDArray[Any] = values.view(np.int64)
    if fits:
        array[odd_lines] = [0 if value is None else value for value in odd_values]
    if field.kind is FieldKind.TIME:
        times = array.view("M8[us]")
        times[null] = np.datetime64("NaT", "us")
        fits, array = all(value is None for value in odd_values), times
    elif fits and null.any():
        return Column(array, null=null)
    if fits:
        return Column(array)
    listed: list[Any] = [None if is_null else value for value, is_null in zip(array.tolist(), null, strict=True)]
    for line, value in zip(odd_lines.tolist(), odd_values, strict=True):
        listed[line] = value
    return Column(listed)


def _texts(
    block: bytes,
    codes: Counts,
    spans: Sequence[int],
    empty: Mask,
    odd_lines: NDArray[np.int64],
    odd_values: Sequence[Any],
    invalid: Mask,
) -> Column:
    """Column of the texts at spans of a block, with other values in the odd lines; marks lines of invalid text."""
    texts = [_text(block[span >> 32 : (span >> 32) + (span & 0xFFFFFFFF)]) for span in spans]
    codes[empty] = len(texts)
    codes[odd_lines] = np.arange(len(odd_values)) + len(texts) + 1
    texts += [None, *odd_values]
    invalid |= np.array([text is _INVALID for text in texts], dtype=np.bool_)[codes]
    return Column(codes, dictionary=[None if text is _INVALID else text for text in texts])


def _text(field: bytes) -> Any:
    try:
        return as_text(field)
    except ValueError:
        return _INVALID

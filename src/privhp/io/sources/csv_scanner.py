"""Columns of a block of CSV records.

`csv_fields` defines the values. The compiled scanner reads plainly written
records to the same values and marks the others as odd. Odd records, or all
records without the compiled scanner, are read one by one.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Codes, Counts
from privhp.domains.column import Column
from privhp.domains.fields import Field, FieldKind
from privhp.io.sources.csv_dialect import CsvDialect
from privhp.io.sources.csv_fields import NUMBERS, TEXTS, TIMES, as_text, converter, null_texts, split_record
from privhp.io.sources.text_records import MAX_RECORD, Offsets
from privhp.kernels import native

Mask = NDArray[np.bool_]

_INVALID = object()

_SWAP = bytes.maketrans(b".,", b",.")
"""Points and commas exchanged: the compiled scanner reads numbers with a decimal comma in such a copy of the text."""


class Scanner:
    """Scanner of selected fields of every record.

    Args:
        fields: The fields to read.
        indices: Index of each field in a record, from 0.
        dialect: How the records are written.
        width: Number of fields of a valid record; 0 if any number is valid, and what is behind the last selected field
            does not matter.
    """

    def __init__(self, fields: Sequence[Field], indices: Sequence[int], *, dialect: CsvDialect, width: int = 0) -> None:
        self._fields, self._width, self._separator = list(fields), width, dialect.separator
        self._has_quotes = dialect.has_quotes
        kinds = {field.kind for field in fields}
        self._swaps = dialect.decimal == "," and dialect.has_plain_digits and kinds <= NUMBERS | TEXTS
        self._is_compiled = dialect.plain_numbers or self._swaps or not kinds & NUMBERS
        self._converters = list(zip([converter(field, dialect) for field in fields], indices, strict=True))
        self._null_lines = [_lines(null_texts(field, dialect)) if field.nullable else b"" for field in fields]
        self._first = None if width else max(indices, default=-1) + 1
        self._indices = np.array(indices, dtype=np.int64)
        self._kinds = np.array([field.kind for field in fields], dtype=np.uint8)
        self._nullable = np.array([field.nullable for field in fields], dtype=np.bool_)

    def columns(self, block: bytes, starts: Offsets, nexts: Offsets) -> tuple[list[Any], Mask]:
        """Columns of some records of a block, and a mask of the invalid records, whose values are arbitrary.

        Args:
            block: Text of the records.
            starts: Start of each record to read.
            nexts: Start of the record after each of them.
        """
        values, empty, invalid, odd, spans = self._scan(block, starts, nexts)
        invalid |= (empty & ~self._nullable[:, None]).any(axis=0) & ~odd
        odd_records = np.flatnonzero(odd)
        limits = zip(starts[odd_records].tolist(), nexts[odd_records].tolist(), strict=True)
        rows = [self._read(block[start : following - 1]) for start, following in limits]
        invalid[odd_records] = [row is None for row in rows]
        nothing = (None,) * len(self._fields)
        odd_values = list(zip(*(row or nothing for row in rows), strict=True)) or [()] * len(self._fields)
        columns: list[Any] = []
        for index, field in enumerate(self._fields):
            scanned, replaced = values[index], (empty[index], odd_records, odd_values[index])
            if field.kind is FieldKind.DICTIONARY:
                columns.append(_texts(block, scanned.view(np.int64), spans[index], *replaced, invalid))
            elif field.kind is FieldKind.TEXT:
                every = np.arange(scanned.size)
                columns.append(_texts(block, every, scanned.tolist(), *replaced, invalid).to_list())
            else:
                columns.append(_numbers(field, scanned, *replaced))
        return columns, invalid

    def _scan(self, block: bytes, starts: Offsets, nexts: Offsets) -> tuple[Codes, Mask, Mask, Mask, list[list[int]]]:
        """Values of the scanner, masks of empty fields, invalid records and odd records, and spans of distinct texts.

        Values, empty fields and spans have one row or list per field. A span is the offset of a text in the block,
        shifted by 32 bits, plus its length.
        """
        size, records = len(self._fields), nexts.size
        if native is None or not self._is_compiled:
            values, empty = np.zeros((size, records), dtype=np.uint64), np.ones((size, records), dtype=np.bool_)
            return values, empty, np.zeros(records, dtype=np.bool_), np.ones(records, dtype=np.bool_), [[]] * size
        values, empty = np.empty((size, records), dtype=np.uint64), np.empty((size, records), dtype=np.bool_)
        invalid, odd = np.empty(records, dtype=np.bool_), np.empty(records, dtype=np.bool_)
        shape = (MAX_RECORD, self._width, self._indices, self._kinds, self._nullable)
        separator, null_lines = self._separator, self._null_lines
        if self._swaps:
            block, separator = block.translate(_SWAP), separator.translate(_SWAP)
            null_lines = [lines.translate(_SWAP) for lines in null_lines]
        dialect = (ord(separator), self._has_quotes, null_lines)
        spans = native.scan_records(block, starts, nexts, *shape, *dialect, values, empty, invalid, odd)
        return values, empty, invalid, odd, spans

    def _read(self, record: bytes) -> tuple[Any, ...] | None:
        """Values of one record; None if the record is invalid."""
        try:
            fields = list(islice(split_record(record, self._separator, quotes=self._has_quotes), self._first))
            if self._width and len(fields) != self._width:
                return None
            return tuple([convert(fields[index]) for convert, index in self._converters])
        except (ValueError, IndexError):
            return None


def _lines(texts: frozenset[bytes]) -> bytes:
    """Texts that are not empty, with a line feed behind each."""
    return b"".join(text + b"\n" for text in sorted(texts) if text)


def _numbers(
    field: Field, values: Codes, empty: Mask, odd_records: NDArray[np.int64], odd_values: Sequence[Any]
) -> Column:
    """Column of the values of the scanner, and of other values in the odd records; null where the field is empty."""
    if field.kind is FieldKind.REAL:
        reals = values.view(np.float64)
        reals[empty] = np.nan
        reals[odd_records] = [np.nan if value is None else value for value in odd_values]
        return Column(reals)
    fits = all(value is None or (type(value) is int and abs(value) < 2**63) for value in odd_values)
    null = empty.copy()
    null[odd_records] = [value is None for value in odd_values]
    array: NDArray[Any] = values.view(np.int64)
    if fits:
        array[odd_records] = [0 if value is None else value for value in odd_values]
    if field.kind in TIMES:
        times = array.view("M8[us]")
        times[null] = np.datetime64("NaT", "us")
        fits, array = all(value is None for value in odd_values), times
    elif fits and null.any():
        return Column(array, null=null)
    if fits:
        return Column(array)
    listed: list[Any] = [None if is_null else value for value, is_null in zip(array.tolist(), null, strict=True)]
    for record, value in zip(odd_records.tolist(), odd_values, strict=True):
        listed[record] = value
    return Column(listed)


def _texts(
    block: bytes,
    codes: Counts,
    spans: Sequence[int],
    empty: Mask,
    odd_records: NDArray[np.int64],
    odd_values: Sequence[Any],
    invalid: Mask,
) -> Column:
    """Column of the texts at spans of a block, with other values in the odd records; marks records of invalid text."""
    texts = [_text(block[span >> 32 : (span >> 32) + (span & 0xFFFFFFFF)]) for span in spans]
    codes[empty] = len(texts)
    codes[odd_records] = np.arange(len(odd_values)) + len(texts) + 1
    texts += [None, *odd_values]
    invalid |= np.array([text is _INVALID for text in texts], dtype=np.bool_)[codes]
    return Column(codes, dictionary=[None if text is _INVALID else text for text in texts])


def _text(field: bytes) -> Any:
    try:
        return as_text(field)
    except ValueError:
        return _INVALID

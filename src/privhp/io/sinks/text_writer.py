"""Rows as lines of text: CSV and NDJSON.

Where pyarrow is installed, the values of a column become text all at once. The
bytes are the same as without it.
"""

import json
from collections.abc import Sequence
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privhp.domains.fields import OutputForm
from privhp.io.sinks.text_values import listed, with_texts

Columns: TypeAlias = Sequence[tuple[OutputForm, NDArray[Any]]]
"""The columns of some rows, each with its output form."""

_ROWS = 2**16  # turned into text at once


class _Lines:
    """Rows as lines.

    Args:
        file: Where they go.
        before: What stands before each of the values.
        end: What stands after the last one.
    """

    def __init__(self, file: BinaryIO, before: Sequence[str], end: str) -> None:
        self._file, self._before, self._end = file, list(before), end
        self._arrow = _arrow()

    def write(self, columns: Columns) -> None:
        """Turn some rows into text at a time."""
        for start in range(0, len(columns[0][1]), _ROWS):
            part = [(own, values[start : start + _ROWS]) for own, values in columns]
            self._file.write(self._by_row(part) if self._arrow is None else self._by_column(part))

    def _by_row(self, columns: Columns) -> bytes:
        line = "".join(f"{before.replace('%', '%%')}%s" for before in self._before) + self._end
        arrays = [with_texts(own, values) for own, values in columns]
        texts = [map(repr if _is_plain(array) else self._text, listed(array)) for array in arrays]
        return "".join(map(line.__mod__, zip(*texts, strict=True))).encode()

    def _by_column(self, columns: Columns) -> memoryview:
        pa, compute = self._arrow
        texts = [self._texts(own, values).fill_null(self._text(None)) for own, values in columns]
        pieces = [piece for pair in zip(map(pa.scalar, self._before), texts, strict=True) for piece in pair]
        pieces = [piece.cast("large_string") for piece in (*pieces, pa.scalar(self._end), pa.scalar(""))]
        _, places, text = compute.binary_join_element_wise(*pieces).buffers()
        return memoryview(text)[: int(np.frombuffer(places, dtype=np.int64)[len(texts[0])])]

    def _texts(self, form: OutputForm, values: NDArray[Any]) -> Any:
        """What is written of each value, as a column of Arrow; null where that is."""
        pa, compute = self._arrow
        array = with_texts(form, values)
        data, null = np.ma.getdata(array), np.ma.getmaskarray(array)
        if data.dtype.kind in "iuf":
            texts = pa.array(data, mask=null).cast("string")
            odd = _is_odd(data) & ~null
            if odd.any():
                texts = compute.replace_with_mask(texts, odd, self._each(listed(data[odd])))
            return texts
        if data.dtype.kind != "U":
            return self._each(listed(array))
        coded = pa.array(data, mask=null).dictionary_encode()
        return self._each(coded.dictionary.to_pylist()).take(coded.indices)

    def _each(self, values: Sequence[Any]) -> Any:
        return self._arrow[0].array(map(self._text, values), "string")

    def _text(self, value: Any) -> str:
        """What is written of one value: a text, a number, a truth value, or None for null."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing ends a text."""


class Csv(_Lines):
    """Comma-separated text with a header."""

    def __init__(self, file: BinaryIO, names: Sequence[str]) -> None:
        """Write the header."""
        self._nothing = '""' if len(names) == 1 else ""  # an empty line would be no row
        super().__init__(file, ["", *[","] * (len(names) - 1)], "\n")
        file.write(f"{','.join(map(self._text, names))}\n".encode())

    def _text(self, value: Any) -> str:
        if isinstance(value, str) and any(special in value for special in ',"\r\n'):
            return '"' + value.replace('"', '""') + '"'
        if isinstance(value, bool):
            return str(value).lower()  # as all readers know it
        return self._nothing if value is None or value == "" else str(value)


class Ndjson(_Lines):
    """One object of JSON a line."""

    def __init__(self, file: BinaryIO, names: Sequence[str]) -> None:
        """Prepare what is the same in every line."""
        self._encode = json.JSONEncoder(ensure_ascii=False).encode
        first, *others = [f"{self._encode(name)}:" for name in names]
        super().__init__(file, [f"{{{first}", *[f",{other}" for other in others]], "}\n")

    def _text(self, value: Any) -> str:
        return repr(value) if type(value) in (float, int) else self._encode(value)


def _arrow() -> Any:
    """The library pyarrow and its kernels, if it is installed."""
    try:
        import pyarrow as pa
        from pyarrow import compute
    except ImportError:
        return None
    return pa, compute


def _is_plain(values: NDArray[Any]) -> bool:
    """Whether they are numbers and nothing else."""
    return values.dtype.kind in "iuf" and not np.ma.is_masked(values)


def _is_odd(numbers: NDArray[Any]) -> NDArray[np.bool_]:
    """Which numbers Arrow and Python write in different ways: whole ones among floats, very small and very large."""
    if numbers.dtype.kind != "f":
        return np.zeros(numbers.shape, dtype=np.bool_)
    sizes = np.abs(numbers)
    odd: NDArray[np.bool_] = ~((sizes >= 1e-4) & (sizes < 1e15) & (numbers != np.floor(numbers)))
    return odd

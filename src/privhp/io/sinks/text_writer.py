"""Writers of CSV and NDJSON.

With pyarrow, the values of a column are formatted together. The bytes are the
same as without it.
"""

import json
from collections.abc import Sequence
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from privhp.domains.fields import OutputForm
from privhp.io.sample_chunks import Columns
from privhp.io.sinks.text_values import format_column, to_list

_ROWS = 2**16  # formatted together


class _Lines:
    """Writer of rows as lines.

    Args:
        file: An open binary file.
        before: Text before each value of a line.
        end: Text after the last value.
    """

    def __init__(self, file: BinaryIO, before: Sequence[str], end: str) -> None:
        self._file, self._before, self._end = file, list(before), end
        self._arrow = _arrow()

    def write(self, columns: Columns) -> None:
        """Append rows."""
        for start in range(0, len(columns[0][1]), _ROWS):
            rows = [(form, values[start : start + _ROWS]) for form, values in columns]
            self._file.write(self._by_row(rows) if self._arrow is None else self._by_column(rows))

    def _by_row(self, columns: Columns) -> bytes:
        line = "".join(f"{before.replace('%', '%%')}%s" for before in self._before) + self._end
        arrays = [format_column(form, values) for form, values in columns]
        texts = [map(repr if _is_plain(array) else self._text, to_list(array)) for array in arrays]
        return "".join(map(line.__mod__, zip(*texts, strict=True))).encode()

    def _by_column(self, columns: Columns) -> memoryview:
        pa, compute = self._arrow
        texts = [self._texts(form, values).fill_null(self._text(None)) for form, values in columns]
        pieces = [piece for pair in zip(map(pa.scalar, self._before), texts, strict=True) for piece in pair]
        pieces = [piece.cast("large_string") for piece in (*pieces, pa.scalar(self._end), pa.scalar(""))]
        _, offsets, text = compute.binary_join_element_wise(*pieces).buffers()
        return memoryview(text)[: int(np.frombuffer(offsets, dtype=np.int64)[len(texts[0])])]

    def _texts(self, form: OutputForm, values: NDArray[Any]) -> Any:
        """Text of each value as an Arrow array, with null for null values."""
        pa, compute = self._arrow
        array = format_column(form, values)
        data, null = np.ma.getdata(array), np.ma.getmaskarray(array)
        if data.dtype.kind in "iuf":
            texts = pa.array(data, mask=null).cast("string")
            odd = _is_odd(data) & ~null
            if odd.any():
                texts = compute.replace_with_mask(texts, odd, self._each(to_list(data[odd])))
            return texts
        if data.dtype.kind != "U":
            return self._each(to_list(array))
        encoded = pa.array(data, mask=null).dictionary_encode()
        return self._each(encoded.dictionary.to_pylist()).take(encoded.indices)

    def _each(self, values: Sequence[Any]) -> Any:
        return self._arrow[0].array(map(self._text, values), "string")

    def _text(self, value: Any) -> str:
        """Text of one value: a text, a number, a boolean, or None for null."""
        raise NotImplementedError

    def close(self) -> None:
        """Do nothing: a text has no footer."""


class Csv(_Lines):
    """Writer of CSV with a header.

    Args:
        file: An open binary file.
        names: Names of the columns.
        delimiter: Character between two fields.
    """

    def __init__(self, file: BinaryIO, names: Sequence[str], *, delimiter: str = ",") -> None:
        """Write the header."""
        self._special = f'{delimiter}"\r\n'
        self._nothing = '""' if len(names) == 1 else ""  # an empty line is not a row
        super().__init__(file, ["", *[delimiter] * (len(names) - 1)], "\n")
        file.write(f"{delimiter.join(map(self._text, names))}\n".encode())

    def _text(self, value: Any) -> str:
        if isinstance(value, str) and any(special in value for special in self._special):
            return '"' + value.replace('"', '""') + '"'
        if isinstance(value, bool):
            return str(value).lower()  # the spelling that all readers accept
        return self._nothing if value is None or value == "" else str(value)


class Ndjson(_Lines):
    """Writer of one JSON object per line."""

    def __init__(self, file: BinaryIO, names: Sequence[str]) -> None:
        """Prepare the keys, which are the same in every line."""
        self._encode = json.JSONEncoder(ensure_ascii=False).encode
        first, *others = [f"{self._encode(name)}:" for name in names]
        super().__init__(file, [f"{{{first}", *[f",{other}" for other in others]], "}\n")

    def _text(self, value: Any) -> str:
        return repr(value) if type(value) in (float, int) else self._encode(value)


def _arrow() -> Any:
    """The package pyarrow and its module compute; None if it is not installed."""
    try:
        import pyarrow as pa
        from pyarrow import compute
    except ImportError:
        return None
    return pa, compute


def _is_plain(values: NDArray[Any]) -> bool:
    """Whether all values are numbers without null."""
    return values.dtype.kind in "iuf" and not np.ma.is_masked(values)


def _is_odd(numbers: NDArray[Any]) -> NDArray[np.bool_]:
    """Mask of the floats that Arrow and Python format differently: integers, very small and very large numbers."""
    if numbers.dtype.kind != "f":
        return np.zeros(numbers.shape, dtype=np.bool_)
    sizes = np.abs(numbers)
    odd: NDArray[np.bool_] = ~((sizes >= 1e-4) & (sizes < 1e15) & (numbers != np.floor(numbers)))
    return odd

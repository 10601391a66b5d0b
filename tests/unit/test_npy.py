"""NumPy files: columns, large integers, and files that are refused."""

import io

import numpy as np
import pytest

from privhp import FileError
from privhp.io.sources import open_source
from source_files import BIG, DECADE, SQUARE, read, write


@pytest.mark.parametrize(
    "array",
    [
        np.arange(5, dtype=np.int8),
        np.arange(5, dtype=">f4"),
        np.arange(5.0).reshape(-1, 1),
        np.array([True, False]),
        np.arange(5, dtype=np.longdouble),
        np.zeros(0),
    ],
    ids=str,
)
def test_npy(tmp_path, array):
    path = tmp_path / "data.npy"
    np.save(path, array)
    read_back = [DECADE.encode(batch.records, level=8) for batch in open_source(path, domain=DECADE).batches()]
    assert np.array_equal(np.concatenate([*read_back, []]), DECADE.encode(array, level=8))


def test_columns_of_npy(tmp_path):
    path = tmp_path / "data.npy"
    for order in "CF":
        np.save(path, np.array([[1, 2, 3], [4, 5, 6]], order=order))
        assert read(path, DECADE, ["3"]).tolist() == [3, 6]
        assert read(path, SQUARE, ["3", "1"]).tolist() == [[3, 1], [6, 4]]


def test_large_integers_in_npy(tmp_path):
    path = tmp_path / "data.npy"
    np.save(path, np.array([2**60 + 1]))
    assert BIG.encode(read(path, BIG), level=BIG.depth).tolist() == [2**60 + 1]


def not_numbers() -> dict[str, bytes]:
    """Contents of .npy files that must be refused."""

    def saved(array: np.ndarray, **options: bool) -> bytes:
        file = io.BytesIO()
        np.save(file, array, **options)
        return file.getvalue()

    archive = io.BytesIO()
    np.savez(archive, a=np.zeros(3))
    return {
        "pickled": saved(np.array([1, None], dtype=object), allow_pickle=True),
        "text": saved(np.array(["1", "2"])),
        "complex": saved(np.zeros(3, dtype=complex)),
        "dates": saved(np.zeros(3, dtype="M8[s]")),
        "structured": saved(np.zeros(3, dtype=[("a", "f8")])),
        "long text": saved(np.array(["1" * 7919])),
        "structured text": saved(np.zeros(3, dtype=[("a", "U7919")])),
        "no dimension": saved(np.array(1.0)),
        "three dimensions": saved(np.zeros((7919, 2, 2))),
        "too wide": saved(np.zeros((7919, 2))),
        "on its side": saved(np.zeros((2, 7919))),
        "archive": archive.getvalue(),
        "cut short": saved(np.zeros(7919))[:-1],
        "header cut short": saved(np.zeros(7919))[:20],
        "nonsense header": saved(np.zeros(7919)).replace(b"descr", b"d(((r"),
        "CSV": b"a\n1\n",
        "empty": b"",
    }


@pytest.mark.parametrize(("content"), not_numbers().values(), ids=not_numbers().keys())
def test_invalid_npy(tmp_path, content):
    with pytest.raises(FileError, match="expected") as caught:
        read(write(tmp_path, content, "data.npy"), DECADE)
    assert "7919" not in str(caught.value)


def test_missing_column_of_npy(tmp_path):
    path = tmp_path / "data.npy"
    np.save(path, np.zeros((3, 2)))
    with pytest.raises(FileError, match="at least 3 columns"):
        read(path, DECADE, ["3"])

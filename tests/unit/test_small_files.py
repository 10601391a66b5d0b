"""Pipes, devices, deep and endless files in place of plans, domains, releases and arrays: refused at once."""

import io
import os
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privhp as hp
from privhp.cli.plan_options import load_plan
from privhp.domains.specs import MAX_DOMAIN_FILE, MAX_KEY_PARTS
from privhp.io.sources import open_source
from privhp.release import Release

READERS: dict[str, Callable[[Any], object]] = {
    "release": hp.load,
    "checkpoint": hp.resume,
    "plan": lambda path: load_plan(str(path)),
    "domain": hp.read_domain,
}


@pytest.mark.parametrize("reader", READERS)
def test_pipe_that_nobody_writes_to(tmp_path: Path, reader: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(hp.FileError, match="this is a pipe or a device; write its content to a file first"):
        READERS[reader](tmp_path / "pipe")


@pytest.mark.parametrize("reader", READERS)
def test_endless_device(reader: str) -> None:
    with pytest.raises(hp.FileError, match="this is a pipe or a device"):
        READERS[reader]("/dev/zero")


@pytest.mark.parametrize("reader", READERS)
def test_folder(tmp_path: Path, reader: str) -> None:
    with pytest.raises(IsADirectoryError, match="Is a directory") as caught:
        READERS[reader](tmp_path)
    assert isinstance(caught.value, hp.FileError)


DEEP = ".".join("a" * 50_000)
TOML = {
    "nested lists": 'kind = "taxonomy"\ntree = ' + "[" * 5000 + "]" * 5000,
    "nested tables": "x = " + "{a = " * 3000 + "1" + "}" * 3000,
    "dotted key": f"{DEEP} = 1",
    "dotted key with spaces": f"{DEEP.replace('.', ' . ')} = 1",
    "quoted parts": '"a".' * 5000 + "b = 1",
    "dotted header": f"[{DEEP}]",
    "dotted header of a list": f"[[{DEEP}]]",
    "dotted key of an inline table": f"x = {{a = 1, {DEEP} = 1}}",
    "many digits": "low = " + "9" * 10**5,
    "open string": '"' + r"\"" * 10**5,
    "open literal": "'a" * (10**6 + 1),
    "not UTF-8": b"\xff",
    "zero bytes": b"\0" * 10**6,
}


@pytest.mark.parametrize("case", TOML)
def test_domain_files_that_take_long(tmp_path: Path, case: str) -> None:
    content = TOML[case]
    (tmp_path / "a.toml").write_bytes(content if isinstance(content, bytes) else content.encode())
    start = time.process_time()
    with pytest.raises(hp.DomainError, match="expected a TOML file at"):
        hp.read_domain(tmp_path / "a.toml")
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("epsilon = 0,5  # a half", "; write 0.5, with a decimal point"),
        ("low = -1,25", "; write -1.25, with a decimal point"),
        ("low =", ""),
    ],
)
def test_decimal_comma(tmp_path: Path, line: str, advice: str) -> None:
    (tmp_path / "a.toml").write_text(f'kind = "interval"\nlow = 0\nhigh = 1\n[plan]\n{line}\n')
    with pytest.raises(hp.DomainError, match=rf"expected a TOML file at .*\(at line 5, column \d+\){advice}$"):
        hp.read_domain(tmp_path / "a.toml")


def test_large_domain_file(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(b"#" * (MAX_DOMAIN_FILE + 1))
    with pytest.raises(hp.FileError, match=r"a\.toml: this file has more than 2 MiB, which no file of its kind needs"):
        hp.read_domain(tmp_path / "a.toml")


def test_dots_in_values_are_no_parts_of_keys(tmp_path: Path) -> None:
    dots = ".".join("a" * (MAX_KEY_PARTS + 50))
    names = ", ".join(f'"{index}.example.org"' for index in range(300))
    (tmp_path / "a.toml").write_text(f'kind = "categories"  # it\'s\nvalues = [\'{dots}\', "{dots}b", {names}]\n')
    assert len(hp.read_domain(tmp_path / "a.toml").values) == 302


def test_deep_domains() -> None:
    spec: dict[str, Any] = hp.Interval(0, 1).spec()
    for _ in range(2000):
        spec = {"kind": "nullable", "domain": spec}
    with pytest.raises(hp.DomainError, match="nested too deeply"):
        hp.Domain.from_spec(spec)


def test_release_that_is_cut_while_it_is_read(tmp_path: Path) -> None:
    """The checksum is read first, and the cells after it."""
    plan = hp.Plan(hp.Integers(0, 12), epsilon=1, budgets={3: 1}, exact_depth=3)
    content = hp.Summary(plan).release().release.to_bytes()

    class Cut(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(size)[:-1] if size == 8 * plan.counters else super().read(size)

    with pytest.raises(hp.FileError, match="damaged or was cut short"):
        Release.read(Cut(content))


def test_endless_header() -> None:
    for reading in ("rfc4180", "lines"):
        source = open_source("/dev/zero", domain=hp.Interval(0, 1), csv=hp.CsvDialect(records=reading))
        with pytest.raises(hp.FileError, match="the first line has more than 1 MiB, so this is not CSV with a header"):
            next(source.batches())


def array_bytes(text: str, data: bytes = b"", *, version: tuple[int, int] = (1, 0), length: int | None = None) -> bytes:
    size = struct.pack("<H" if version == (1, 0) else "<I", len(text) if length is None else length)
    return b"\x93NUMPY" + bytes(version) + size + text.encode() + data


def header(shape: Any = (1,), descr: Any = "'<f8'", order: Any = False) -> str:
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}}}\n"


ARRAYS = {
    "nothing": b"",
    "magic alone": b"\x93NUMPY",
    "unknown version": array_bytes(header(), bytes(8), version=(9, 9)),
    "version of names": array_bytes(header(), bytes(8), version=(3, 0)),
    "long header": array_bytes(header() + " " * 20_000, bytes(8), version=(2, 0)),
    "endless header": array_bytes(header(), bytes(8), version=(2, 0), length=2**32 - 1),
    "nested header": array_bytes("(" * 9000 + ")" * 900, bytes(8)),
    "no dictionary": array_bytes("[]", bytes(8)),
    "code": array_bytes("__import__('os').getcwd()", bytes(8)),
    "more keys": array_bytes(header()[:-2] + ", 'x': 1}\n", bytes(8)),
    "negative shape": array_bytes(header((-1,)), bytes(8)),
    "negative columns": array_bytes(header((-1, -1)), bytes(8)),
    "huge shape": array_bytes(header((2**62,)), bytes(8)),
    "many digits": array_bytes(header(f"({'9' * 5000},)"), bytes(8)),
    "many columns": array_bytes(header((1, 10**9)), bytes(8)),
    "no columns": array_bytes(header((10**18, 0))),
    "fractions": array_bytes(header((1.0,)), bytes(8)),
    "text": array_bytes(header(descr="'<U1'"), bytes(4)),
    "objects": array_bytes(header(descr="'|O'"), bytes(8)),
    "structure": array_bytes(header(descr="[('a', '<f8')]"), bytes(8)),
    "array of arrays": array_bytes(header(descr="('<f8', (10**9,))"), bytes(8)),
    "unknown type": array_bytes(header(descr="'<q9'"), bytes(8)),
    "order as text": array_bytes(header(order="'x'"), bytes(8)),
    "cut": array_bytes(header((2,)), bytes(15)),
    "two arrays": array_bytes(header(), bytes(8)) * 2,
}


@pytest.mark.parametrize("case", ARRAYS)
def test_odd_arrays(tmp_path: Path, case: str) -> None:
    (tmp_path / "a.npy").write_bytes(ARRAYS[case])
    with pytest.raises(hp.FileError, match="expected a"):
        open_source(tmp_path / "a.npy", domain=hp.Interval(0, 1))


def test_endless_header_of_a_sparse_file(tmp_path: Path) -> None:
    (tmp_path / "a.npy").write_bytes(ARRAYS["endless header"])
    os.truncate(tmp_path / "a.npy", 2**40)
    with pytest.raises(hp.FileError, match="damaged, pickled or in another format"):
        open_source(tmp_path / "a.npy", domain=hp.Interval(0, 1))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", "<i2", ">u8", "|b1"])
def test_arrays_of_any_order_and_type(tmp_path: Path, order: str, dtype: str) -> None:
    array = np.asarray(np.random.default_rng(0).integers(0, 2, (1000, 3)), dtype=dtype, order=order)
    np.save(tmp_path / "a.npy", array)
    domain = hp.Box([(0, 2), (0, 2)])
    source = open_source(tmp_path / "a.npy", domain=domain, columns=["3", "1"])
    codes = [code for batch in source.batches() for code in domain.encode(batch.records, level=4).tolist()]
    assert codes == domain.encode(array[:, [2, 0]].astype(float), level=4).tolist()

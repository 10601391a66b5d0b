"""NDJSON: lines that are no objects, and keys."""

import pytest

import privhp as hp
from privhp import FileError
from privhp.io.sources import open_source
from silent import assert_silent

BAD_JSON = [
    b"",
    b"{",
    b"[]",
    b"5",
    b"null",
    b'"text"',
    b"\xff\xfe",
    b"{}",
    b'{"a":',
    b'{"a": {"b": 1}}',
    b'{"a": [1, 2]}',
    b'{"a": "x"}',
    b'{"a": true, "a": "y"}',
    b'{"b": 0.5}',
    b'{"a": 1e999}',
    b'{"a": ' + b"9" * 5000 + b"}",
    b"[" * 100_000,
    b'{"a": "' + b"x" * 2**20 + b'"}',
    b'{"a": "\xed\xa0\x80"}',
    b'{"a": NaN}',
]


@pytest.mark.parametrize("bad", BAD_JSON, ids=lambda line: repr(line[:20]))
def test_invalid_line_of_json(tmp_path, bad):
    domain = hp.Table(a=hp.Interval(0, 1))
    good = b'{"a": 0.25}\n{"a": 0.75, "more": {}}\n'
    (tmp_path / "a.ndjson").write_bytes(good + bad + b"\n" + good)
    with assert_silent():
        batches = list(open_source(tmp_path / "a.ndjson", domain=domain).batches())
        codes = [code for batch in batches for code in domain.encode(batch.records, level=2).tolist()]
    assert len(codes) == 5
    assert codes[:2] == codes[3:] == [1, 3]
    assert codes[2] >= 4


def test_byte_order_marks_of_lines(tmp_path):
    """Each line may have one, and is read by itself."""
    domain, path = hp.Table(a=hp.Interval(0, 1)), tmp_path / "a.ndjson"
    lines = [b'{"a": 0.25}', b'\xef\xbb\xbf{"a": 0.75}', b'\xef\xbb\xbf\xef\xbb\xbf{"a": 0.5}']
    codes = []
    for chosen in (lines, lines[::-1], *([line] for line in lines)):
        path.write_bytes(b"".join(line + b"\n" for line in chosen))
        (batch,) = open_source(path, domain=domain).batches()
        codes.append(domain.encode(batch.records, level=2).tolist())
    assert codes[0] == codes[1][::-1] == [code for alone in codes[2:] for code in alone] == [1, 3, hp.OUTSIDE]


def test_keys_of_json(tmp_path):
    (tmp_path / "a.ndjson").write_bytes(b'{"a": 1}\n')
    with pytest.raises(FileError, match=r"columns=\['NAME'\]"):
        open_source(tmp_path / "a.ndjson", domain=hp.Interval(0, 1))
    (batch,) = open_source(tmp_path / "a.ndjson", domain=hp.Interval(0, 1), columns=["a"]).batches()
    assert list(batch.records) == [1]

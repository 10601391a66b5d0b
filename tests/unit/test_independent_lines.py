"""The values of a line depend on that line only."""

import codecs
import io
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cases import case_count
from privhp import Box, Integers, IPv4, Plan, Tally
from privhp.io.sources import text_records
from privhp.io.sources.text_records import MAX_RECORD, LineFeeds, RecordReader
from source_files import DECADE, SQUARE, codes, parse, same
from texts import text_batches

BAD_LINES = [
    b"",
    b",",
    b"text",
    b"1.2.3",
    b"--1",
    b"1;2",
    b"\xff\xfe",
    b"3\x00",
    b"\x00",
    b"3\xc2\xa0",
    b'"',
    b'"3',
    b'3"',
    b'""3"',
    b'"3"4,',
    b"0x10",
    b"1_000",
    b"1_0.5",
    b"9" * (MAX_RECORD + 1),
]


@pytest.mark.parametrize("bad", BAD_LINES, ids=lambda line: repr(line[:12]))
def test_invalid_line(bad):
    assert same(parse([b"1", bad, b"2"]), [1.0, np.nan, 2.0])


def test_a_line_is_read_up_to_its_last_selected_field():
    assert same(parse([b"1", b'"3",\r"4"', b'5,"6', b'"' + b"9" * 200_000 + b'"']), [1.0, 3.0, 5.0, np.inf])


@pytest.mark.parametrize("bad", [b"1", b"1,", b",1", b"1,x", b'"1,1', b"1\x00,1", b'1,"1"2"'])
def test_row_with_invalid_number(bad):
    assert same(parse([b"1,2", bad, b"3,4"], SQUARE), [[1.0, 2.0], [np.nan, np.nan], [3.0, 4.0]])


@pytest.mark.parametrize("length", [MAX_RECORD - 1, MAX_RECORD, MAX_RECORD + 1, 2 * MAX_RECORD])
@pytest.mark.parametrize("before", [0, 1, 2**18 - 2])
def test_longest_line_at_any_offset(length, before):
    line = b"1," + b"x" * (length - 2)
    expected = 1.0 if length <= MAX_RECORD else np.nan
    assert same(parse([b" " * before, line, b"2"])[1:], [expected, 2.0])


@given(st.binary(max_size=60), st.lists(st.integers(1, 9), min_size=1))
@example(codecs.BOM_UTF8 + b"1\n2\n", [3])
def test_lines_from_partial_reads(content, sizes):
    class Trickle(io.BytesIO):
        turn = 0

        def read(self, size: int | None = -1) -> bytes:
            self.turn += 1
            return super().read(sizes[self.turn % len(sizes)])

    with mock.patch.object(text_records, "_BLOCK", 11):
        blocks = list(RecordReader(Trickle(content), LineFeeds()).blocks())
        parts = [block.text for block in blocks]
        assert b"".join(parts) == content
        assert all(part.endswith(b"\n") for part in parts[:-1])
        for block in blocks:
            again = RecordReader(Trickle(content), LineFeeds())
            again.skip_to(block.end)
            assert b"".join(block.text for block in again.blocks()) == content[block.end :]


any_line = st.lists(
    st.sampled_from(
        [b'"', b",", b"\r", b"\x00", b"\xff", b"1", b"7.5", b"-2", b"nan", b"inf", b"1e999", b" ", b"x", b"_"]
    )
    | st.binary(min_size=1, max_size=3),
    max_size=8,
).map(lambda parts: b"".join(parts).replace(b"\n", b""))


DOMAINS = [DECADE, SQUARE, Integers(-3, 12, outside="clamp"), IPv4(), Box([(0, 9), (0, 9)], outside="clamp")]


# The number of cases is part of the privacy checks; --offline runs more.
CASES = case_count(500)


@settings(max_examples=CASES)
@given(st.lists(any_line, max_size=8), st.sampled_from(DOMAINS))
def test_lines_are_independent(records, domain):
    alone = [code for line in records for code in codes([line], domain)]
    with mock.patch.object(text_records, "_BLOCK", 7):
        assert codes(records, domain) == alone
    assert len(alone) == len(records)


def state(content: bytes, plan: Plan, *, header: bool) -> np.ndarray:
    """All counters of a file, without noise."""
    tally = Tally(plan)
    for batch in text_batches(content, plan.domain, header=header):
        tally.add(batch)
    return np.concatenate([tally.counters, *[table.ravel() for table in tally.sketches.values()]])


@settings(max_examples=CASES)
@given(
    st.lists(any_line, min_size=1, max_size=8),
    st.data(),
    any_line | st.none(),
    st.sampled_from(DOMAINS),
    st.booleans(),
)
def test_sensitivity_to_one_line(records, data, replacement, domain, header):
    """Removing a line changes each level by at most one record, replacing it by at most two."""
    plan = Plan.paper(domain, epsilon=1, expected_records=64, hot_cells=2, exact_depth=1, depth=4, sketch_rows=2)
    place = data.draw(st.integers(0, len(records) - 1))
    others = records[:place] + ([] if replacement is None else [replacement]) + records[place + 1 :]
    names = [b"a,b" if isinstance(domain, Box) else b"a"] if header else []
    before, after = (
        state(b"\n".join([*names, *chosen]) + b"\n" * bool(names or chosen), plan, header=header)
        for chosen in (records, others)
    )
    one_record = 1 + plan.sketch_rows * len(plan.sketched_levels)
    assert np.abs(before - after).sum() <= (one_record if replacement is None else 2 * one_record)

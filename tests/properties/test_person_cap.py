"""The cap of records per person against a slow reference, on any ids in any batches."""

import re
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import person_checks
from cases import case_count
from person_checks import keep_in_batches, keep_slowly
from privhp import RecordsError
from privhp.collect.person_cap import SortedPersonCap, keep_first

TEXTS = st.text(min_size=1, max_size=3) | st.integers(-12, 12).map(str)
CUTS = st.lists(st.integers(0, 30), max_size=4).map(sorted)


def cut_within(cuts: list[int], ids: list[Any]) -> list[int]:
    return [min(cut, len(ids)) for cut in cuts]


@given(ids=st.lists(TEXTS | st.integers(-12, 12), max_size=30), most=st.integers(1, 4))
@settings(max_examples=case_count(300))
def test_any_order(ids: list[Any], most: int) -> None:
    assert keep_first(ids, most).tolist() == keep_slowly(ids, most)


@given(ids=st.lists(TEXTS, max_size=30), most=st.integers(1, 4), cuts=CUTS)
@settings(max_examples=case_count(300))
def test_sorted_texts(ids: list[str], most: int, cuts: list[int]) -> None:
    ids = sorted(ids)  # by code points, which is the order of the bytes of UTF-8
    assert keep_in_batches(SortedPersonCap(most), ids, cut_within(cuts, ids)) == keep_slowly(ids, most)


@given(
    ids=st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-12, 12), max_size=30),
    most=st.integers(1, 4),
    cuts=CUTS,
    form=st.sampled_from([list, lambda ids: np.array(ids, dtype=np.int64), lambda ids: list(map(str, ids))]),
)
@settings(max_examples=case_count(300))
def test_sorted_numbers(ids: list[int], most: int, cuts: list[int], form: Any) -> None:
    ids = sorted(ids)
    assert keep_in_batches(SortedPersonCap(most), form(ids), cut_within(cuts, ids)) == keep_slowly(ids, most)


@given(ids=st.lists(TEXTS, max_size=30), most=st.integers(1, 4), cuts=CUTS)
@settings(max_examples=case_count(300))
def test_state_continues(ids: list[str], most: int, cuts: list[int]) -> None:
    """A cap that begins with the state of another one keeps what the other one would keep."""
    ids, kept, state = sorted(ids), list[int](), None
    ends = cut_within(cuts, ids)
    for start, end in zip([0, *ends], [*ends, len(ids)], strict=True):
        cap = SortedPersonCap(most, state=state)
        kept += (start + cap.keep(ids[start:end])).tolist()
        state = cap.state
    assert kept == keep_slowly(ids, most)


@given(ids=st.lists(TEXTS | st.none(), max_size=30), most=st.integers(1, 4), cuts=CUTS, data=st.data())
@settings(max_examples=case_count(100))
def test_rows_without_a_person_are_one_person(ids: list[Any], most: int, cuts: list[int], data: st.DataObject) -> None:
    named = [("null",) if person is None else person for person in ids]
    assert keep_first(ids, most, null_person="one").tolist() == keep_slowly(named, most)
    ids = sorted(person for person in ids if person is not None)
    for place in data.draw(st.lists(st.integers(0, len(ids)), max_size=6)):
        ids.insert(place, None)
    named = [("null",) if person is None else person for person in ids]
    cap = SortedPersonCap(most, null_person="one")
    assert keep_in_batches(cap, ids, cut_within(cuts, ids)) == keep_slowly(named, most)


@given(ids=st.lists(st.integers(-12, 120) | TEXTS, max_size=9), cut=st.integers(0, 9), as_array=st.booleans())
@settings(max_examples=case_count(300))
def test_refused_if_and_only_if_not_sorted(ids: list[Any], cut: int, as_array: bool) -> None:
    """Sorted as numbers, or as bytes; equal numbers as bytes."""
    texts = [str(person).encode() for person in ids]
    numbers = [(int(text), text) for text in texts if re.fullmatch(rb"-?[0-9]+", text)]
    expected = texts == sorted(texts) or (len(numbers) == len(texts) and numbers == sorted(numbers))
    is_array = as_array and all(type(person) is int for person in ids)
    given = np.array(ids, dtype=np.int64) if is_array else ids
    cap = SortedPersonCap(1)
    try:
        for batch in (given[:cut], given[cut:]):
            cap.keep(batch)
        assert expected, "rows that are not sorted are accepted"
    except RecordsError:
        assert not expected, "sorted rows are refused"


def test_person_in_every_pass() -> None:
    person_checks.person_changes_each_level_by_at_most_c_in_every_pass()

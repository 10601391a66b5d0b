"""Patterns compared with Python's regular expressions and with a slow encoder of all texts."""

import itertools
import re

import hypothesis.strategies as st
import numpy as np
from hypothesis import assume, given, settings

from cases import case_count
from privhp import OUTSIDE, DomainError, Pattern, check_domain

ALPHABET = "ABC012.-"
LONGEST = 4


def patterns() -> st.SearchStrategy[str]:
    """Short patterns of a few characters, with optional parts, repetitions and alternatives."""
    atoms = st.sampled_from(["A", "[AB]", "[A-C]", "[0-2]", "[.]", r"\-", "[B0]", r"[.\-A]"])

    def combine(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        times = st.sampled_from(["?", "{2}", "{1,2}", "{0,1}", "{3}"])
        pairs = st.tuples(inner, inner)
        choices = pairs.map(lambda own: f"({own[0]}|{own[1]})")
        return st.one_of(pairs.map("".join), choices, st.builds("({}){}".format, inner, times))

    return st.recursive(atoms, combine, max_leaves=6)


def all_texts(pattern: str) -> list[str]:
    """Texts of a pattern, found by trying every text of up to `LONGEST` characters."""
    used = [own for own in ALPHABET if own in pattern or own.isalnum()]
    tried = ("".join(own) for size in range(LONGEST + 1) for own in itertools.product(used, repeat=size))
    return sorted(own for own in tried if re.fullmatch(pattern, own))


def slow_codes(texts: list[str]) -> dict[str, str]:
    """Binary digits of each text: for each character, 1 if the text might end, and its place among all that occur."""
    found: dict[str, str] = {}

    def assign(prefix: str, group: list[str], digits: str) -> None:
        options = sorted({own[len(prefix) : len(prefix) + 1] for own in group} - {""})
        if prefix in group:
            found[prefix] = digits + "0" * bool(options)
            digits += "1"
        size = (len(options) - 1).bit_length() if options else 0
        for index, option in enumerate(options):
            below = digits + (f"{index * 2**size // len(options):0{size}b}" if size else "")
            assign(prefix + option, [own for own in group if own.startswith(prefix + option)], below)

    assign("", texts, "")
    depth = max(map(len, found.values()))
    return {text: digits.ljust(depth, "0") for text, digits in found.items()}


def build(pattern: str, *, listed: bool = False) -> Pattern:
    """The domain of a pattern with few short texts, or of the list of its texts."""
    try:
        domain = Pattern(pattern)
    except DomainError as refusal:
        assume("2 to 2**62 texts" not in str(refusal))
        raise
    assume(domain._texts.longest <= LONGEST)
    return Pattern(all_texts(pattern)) if listed else domain


@settings(max_examples=case_count(60), deadline=None)
@given(patterns(), st.booleans())
def test_codes_are_those_of_a_slow_encoder(pattern: str, listed: bool) -> None:
    domain = build(pattern, listed=listed)
    codes = slow_codes(all_texts(pattern))
    assert domain.depth == len(next(iter(codes.values())))
    assert domain.encode(list(codes), level=domain.depth).tolist() == [int(own, 2) for own in codes.values()]
    ranks = np.arange(len(codes))
    assert domain._records_at(ranks).tolist() == list(codes)
    for level in range(domain.depth + 1):
        cells = np.arange(2**level, dtype=np.uint64)
        held = [[text for text, own in codes.items() if int(own[:level] or "0", 2) == code] for code in range(2**level)]
        np.testing.assert_allclose(domain.measure(cells, level=level), [len(own) / len(codes) for own in held])


@settings(max_examples=case_count(60), deadline=None)
@given(patterns(), st.booleans(), st.lists(st.text(ALPHABET, max_size=LONGEST + 1), max_size=20))
def test_a_text_has_a_cell_if_it_matches_the_regular_expression(pattern: str, listed: bool, texts: list[str]) -> None:
    domain = build(pattern, listed=listed)
    matches = [re.fullmatch(pattern, own) is not None for own in texts]
    for batch in (texts, np.array(texts, dtype=str), np.array(texts, dtype=f"U{2 * LONGEST}")):
        assert (domain.encode(batch, level=domain.depth) != OUTSIDE).tolist() == matches


@settings(max_examples=case_count(40), deadline=None)
@given(patterns(), st.booleans(), st.data())
def test_cells_are_described_by_regions_of_their_texts(pattern: str, listed: bool, data: st.DataObject) -> None:
    domain = build(pattern, listed=listed)
    texts = all_texts(pattern)
    level = data.draw(st.integers(0, domain.depth))
    code = data.draw(st.integers(0, 2**level - 1))
    inside = domain.encode(texts, level=level) == code
    region = domain.describe(code, level=level)
    prefixes = region if isinstance(region, list) else [region]
    held = [any(t == own or (own[-1:] == "*" and t.startswith(own[:-1])) for own in prefixes) for t in texts]
    assert held == inside.tolist()
    if inside.any():
        cell = np.array([code], dtype=np.uint64)
        assert domain.overlap(region, cell, level=level).tolist() == [1.0]
        assert domain.overlap(region, np.zeros(1, dtype=np.uint64), level=0)[0] == np.mean(inside)


@settings(max_examples=case_count(30), deadline=None)
@given(patterns(), st.booleans())
def test_the_diameter_is_the_largest_distance_in_a_cell(pattern: str, listed: bool) -> None:
    """Characters count if another character, or the end, is possible in their place."""
    domain = build(pattern, listed=listed)
    texts = all_texts(pattern)
    choices = {own[:size]: set[str]() for own in texts for size in range(len(own) + 1)}
    for own in texts:
        for size in range(len(own) + 1):
            choices[own[:size]].add(own[size : size + 1])
    largest = [0.0] * (domain.depth + 1)
    cells = [domain.encode(texts, level=level).tolist() for level in range(domain.depth + 1)]
    for (i, one), (j, other) in itertools.combinations(enumerate(texts), 2):
        size = next(size for size in range(LONGEST + 1) if one[: size + 1] != other[: size + 1])
        distance = 2.0 ** -sum(len(choices[one[:own]]) > 1 for own in range(size))
        for level in range(domain.depth + 1):
            if cells[level][i] == cells[level][j]:
                largest[level] = max(largest[level], distance)
    assert [domain.diameter(level) for level in range(domain.depth + 1)] == largest


@settings(max_examples=case_count(15), deadline=None)
@given(patterns(), st.booleans())
def test_patterns_obey_the_laws_of_domains(pattern: str, listed: bool) -> None:
    check_domain(build(pattern, listed=listed), awkward=["A", "A.", b"A", b"\xff", "A\0", ["A"]], cells=8)

"""Ranked lists of a report: heavy prefixes and nodes, one picture for each length or depth."""

from typing import Any

import numpy as np
import pytest

from privhp import Categories, IPv4, Nullable, Pattern, Taxonomy
from privhp.reporting.figures.bars import bars_figure
from privhp.reporting.overlay import RealRecords, real_shares
from privhp.reporting.pictures import MAX_KINDS, Names, pictures_of
from releases import exact_generator

TREE = Taxonomy({f"g{i}": {f"s{i}{j}": [f"l{i}{j}{k}" for k in range(8)] for j in range(4)} for i in range(4)})
CODES = Pattern("[A-D][0-9]{2}")
ADDRESSES = ["10.1.0.1"] * 40 + ["10.9.0.1"] * 30 + ["192.168.1.1"] * 25 + ["8.8.8.8"] * 5


def lists(domain: Any, records: Any) -> list[Names]:
    found = [own for own in pictures_of(exact_generator(domain, records, depth=domain.depth)) if isinstance(own, Names)]
    assert 1 <= len(found) <= MAX_KINDS
    return found


def shares(picture: Names) -> dict[str, float]:
    return dict(zip(picture.names, picture.shares.round(9).tolist(), strict=True))


def test_one_picture_for_each_length_of_a_prefix() -> None:
    """A prefix whose records are all in a longer heavy one is listed as well."""
    first, second, whole = lists(CODES, ["A11"] * 50 + ["A20"] * 20 + ["A21"] * 10 + ["B35"] * 20)
    assert shares(first) == {"A*": 0.8, "B*": 0.2}
    assert shares(second) == {"A1*": 0.5, "A2*": 0.3, "B3*": 0.2}
    assert shares(whole) == {"A11": 0.5, "A20": 0.2, "B35": 0.2, "A21": 0.1}
    assert [own.label for own in (first, second, whole)] == [
        "value: first character",
        "value: first 2 characters",
        "value: whole texts",
    ]
    assert not any(own.nested for own in (first, second, whole))


def test_lengths_with_a_single_prefix_are_left_out() -> None:
    (second, whole) = lists(CODES, ["A11"] * 50 + ["A20"] * 50)
    assert set(shares(second)) == {"A1*", "A2*"}
    assert set(shares(whole)) == {"A11", "A20"}
    (only,) = lists(CODES, ["A11"] * 50)
    assert shares(only) == {"A11": 1.0}


def test_nodes_by_depth() -> None:
    records = ["l000"] * 50 + ["l010"] * 30 + ["l123"] * 20
    assert [set(shares(own)) for own in lists(TREE, records)] == [
        {"g0", "g1"},
        {"g0/s00", "g0/s01", "g1/s12"},
        {"g0/s00/l000", "g0/s01/l010", "g1/s12/l123"},
    ]


def test_prefixes_of_addresses() -> None:
    generator = exact_generator(IPv4(), ADDRESSES, depth=16)
    eight, sixteen = (own for own in pictures_of(generator) if isinstance(own, Names))
    assert shares(eight) == {"10.0.0.0/8": 0.7, "192.0.0.0/8": 0.25, "8.0.0.0/8": 0.05}
    assert sixteen.label == "value: prefixes /16"
    assert len(sixteen.names) == 4


def test_null_is_in_every_picture() -> None:
    records = [None] * 50 + ["A11"] * 30 + ["B20"] * 20
    for own in lists(Nullable(CODES), records):
        assert shares(own)["missing"] == 0.5
        assert sum(shares(own).values()) == pytest.approx(1)


def test_values_without_kinds_are_one_picture() -> None:
    (only,) = lists(Categories(range(100)), np.repeat([3, 70], [30, 70]))
    assert shares(only) == {"70": 0.7, "3": 0.3}
    assert only.label == "value"


def test_real_records_of_each_picture() -> None:
    records = ["A11"] * 50 + ["A20"] * 20 + ["B35"] * 30
    found = lists(CODES, records)
    for own, real in zip(found, real_shares(found, RealRecords(CODES, [records])), strict=True):
        np.testing.assert_allclose(real, own.shares)


def test_caption_names_what_is_left_out() -> None:
    codes = ["A11"] * 450 + ["A12"] * 450 + [f"B{number:02}" for number in range(100)]
    *_, whole = lists(CODES, codes)
    assert "The remaining 10.0% is in values below 1.0% each, or not resolved into values." in bars_figure(whole)

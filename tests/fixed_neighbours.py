"""Neighbouring streams of known edge cases."""

import datetime as dt
import ipaddress
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from neighbours import Batches, Lines, Pair
from privhp import (
    Box,
    Categories,
    Domain,
    Geo,
    Integers,
    Interval,
    IPv4,
    IPv6,
    Nullable,
    Pattern,
    Plan,
    Table,
    Taxonomy,
    Time,
)
from strange_values import STRANGE

HOMES: list[tuple[Domain, list[Any]]] = [
    (
        Time("2020-01-01", "2021-01-01", zone="Europe/Berlin"),
        ["2020-02-29T12:00", dt.datetime(2020, 10, 25, 2, fold=1)],
    ),
    (Time("2020-01-01", "2020-12-31", unit="D", outside="clamp"), ["2020-02-29", dt.date(2020, 6, 1)]),
    (Time("2020-01-01", "2020-12-31", unit="ns"), [np.datetime64("2020-02-29"), "2020-06-01T00:00:00.123456789Z"]),
    (IPv4("10.0.0.0/8"), ["10.0.0.1", ipaddress.IPv4Address("10.255.0.1")]),
    (IPv6("2001:db8::/32"), ["2001:db8::1", ipaddress.IPv6Address("2001:db8:f000::")]),
    (Categories([f"c{place}" for place in range(40)]), ["c1", b"c39"]),
    (Categories(range(40), other=7), [1, "39"]),
    (Taxonomy({f"g{i}": [f"l{i}.{j}" for j in range(4)] for i in range(8)}), ["l1.2", ("g7", "l7.0")]),
    (Pattern("[A-Z][0-9]([.][0-9])?", ignore=" ", ignore_case=True), ["E1", b"f7 .3"]),
    (Interval(0, 1, cuts=[0.1, 0.2]), [0.15, 0.7]),
]
"""Domains whose records are not plain numbers, with two records of each."""


def fixed_pairs() -> list[Pair]:
    """Pairs of known edge cases: cell edges, persons, large integers, many records and unusual values."""
    ways = [*_at_edges(), *_of_persons(), *_of_large_integers(), *_of_many_records(), *_with_a_missing_value()]
    ways += _of_arrays_of_text()
    return [*ways, *(_through_tally(pair) for pair in ways), *_with_strange_values()]


def _through_tally(pair: Pair) -> Pair:
    assert isinstance(pair.one, Batches)
    assert isinstance(pair.other, Batches)
    one, other = replace(pair.one, through_tally=True), replace(pair.other, through_tally=True)
    return replace(pair, one=one, other=other)


def _plan(domain: Domain, neighbours: str = "add-remove", *, persons: int = 1, depth: int = 5) -> Plan:
    return Plan.paper(
        domain,
        epsilon=1,
        expected_records=100,
        hot_cells=2,
        depth=depth,
        exact_depth=3,
        sketch_rows=2,
        neighbours=neighbours,
        max_records_per_person=persons,
        hash_seed=7,
    )


def _swap(plan: Plan, stream: list[Any], record: Any) -> Pair:
    """The stream with the record, against the stream without it or with its first record repeated."""
    other = [stream[0], *stream] if plan.neighbours == "replace-one" else stream
    return Pair(plan, Batches([([record, *stream], None)]), Batches([(other, None)]))


def _at_edges() -> Iterable[Pair]:
    for neighbours in ("add-remove", "replace-one"):
        plan = _plan(Interval(0, 1), neighbours)
        for edge in (0.0, 0.5, 0.625, 1.0, math.nextafter(1.0, 0.0), math.nextafter(0.5, 0.0), 1.5):
            yield _swap(plan, [0.3, 0.7], edge)
    yield _swap(_plan(Integers(-3, 40)), [1, 2], 40)
    yield _swap(_plan(Box([(0, 1), (0, 2)])), [(0.1, 0.2)], (0.5, 2.0))
    for edge in ((180.0, 90.0), (-180.0, -90.0), (190.0, 0.0), (-170.0, 0.0), (360.0, 91.0)):
        yield _swap(_plan(Geo()), [(0.1, 0.2)], edge)
        yield _swap(_plan(Geo(170, -50, -170, -30)), [(175, -40)], edge)


def _of_arrays_of_text() -> Iterable[Pair]:
    """Arrays of strings with an unknown string, or a long one that widens the type of the array."""
    words = [f"word {place}" for place in range(40)]
    tree = {f"group {place}": words[place : place + 10] for place in range(0, 40, 10)}
    stream = ["mauve", "mauve", "word 7", "word 7", ""]
    declared = [Categories(words), Categories(words, other="word 0"), Taxonomy(tree)]
    for domain in (*declared, Pattern("word [0-9]{1,2}"), Pattern("word[0-9]{1,2}", ignore=" ")):
        for text in ("word 30", "violet", "w", "word 7 and a good deal more than any word has", "wörd 7"):
            yield Pair(_plan(domain), Batches([(np.array([text, *stream]), None)]), Batches([(np.array(stream), None)]))


def _with_strange_values() -> Iterable[Pair]:
    table = Table(a=Interval(0, 1), b=Nullable(Integers(-3, 40)))
    places: list[Any] = [(0.1, 0.2)]
    domains: list[tuple[Domain, list[Any]]] = [
        (Interval(0, 1), [0.3, 0.7]),
        (Interval(0, 1, outside="clamp"), [0.3, 0.7]),
        (Integers(-3, 40), [1, 2]),
        (IPv4(), [1, 2]),
        (Nullable(Integers(-3, 40)), [1, None]),
        (Box([(0, 1), (0, 2)]), places),
        *HOMES,
    ]
    homes = [(_plan(domain), stream) for domain, stream in domains]
    homes.append((_plan(Interval(0, 1), "replace-one"), [0.3, 0.7]))
    box, globe, rows, persons = (_plan(Box([(0, 1), (0, 2)])), _plan(Geo()), _plan(table), _plan(table, persons=2))
    for value in STRANGE:
        for plan, stream in homes:
            yield _swap(plan, stream, value)
        yield _swap(box, places, (0.5, value))
        yield _swap(globe, places, (value, 0.5))
        for row in (value, (value, 2), (0.3, value), {"a": 0.3, "b": value}, {"a": value}):
            yield _swap(rows, [(0.3, 1), (0.7, None)], row)
        columns = {"a": [0.3, 0.7, value], "b": [1, value, None]}
        yield Pair(persons, Batches([(columns, None)]), Batches([({"a": [0.3], "b": [1]}, None)]), changed=2)


def _of_persons() -> Iterable[Pair]:
    plan = _plan(Interval(0, 1), persons=3)
    yield Pair(plan, Batches([([0.1, 0.2, 0.3, 0.4], None)]), Batches([([0.4], None)]), changed=3)
    yield Pair(plan, Batches([([0.1, 0.4], [3, 1])]), Batches([([0.1, 0.4], [0, 1])]), changed=3)
    yield Pair(plan, Batches([([0.1], [1])]), Batches([([], [])]))
    plan = _plan(Interval(0, 1), "replace-one", persons=3)
    yield Pair(plan, Batches([([0.1, 0.2, 0.3], None)]), Batches([([0.7, 0.8, 0.9], None)]), changed=3)
    yield Pair(plan, Batches([([0.1, 0.2, 0.3], None)]), Batches([([9, 9, 9], None)]), changed=3)


def _of_large_integers() -> Iterable[Pair]:
    domain = Integers(0, 2**60)
    yield _swap(_plan(domain, depth=domain.depth), [2**53 + 1, 2**55 + 1], math.nan)
    yield _swap(_plan(domain, depth=domain.depth), [2**53 + 1, 2**55 + 1], None)
    table = Table(a=Nullable(domain))
    for value in (math.nan, None):
        one, other = {"a": [2**53 + 1, 2**55 + 1, value]}, {"a": [2**53 + 1, 2**55 + 1]}
        yield Pair(_plan(table, depth=table.depth), Batches([(one, None)]), Batches([(other, None)]))


def _with_a_missing_value() -> Iterable[Pair]:
    """Arrow columns with missing values, with and without the record that ends the dictionary or sets the type."""
    values: list[tuple[Domain, list[Any], Any]] = [
        (Categories([f"c{place}" for place in range(40)]), ["c2", None, None], "c1"),
        (Categories(range(40), other=7), [2, None, None], 1),
        (Integers(-3, 40), [1, None, None], 2),
        (Time("2020-01-01", "2021-01-01"), [dt.datetime(2020, 2, 29), None, None], dt.datetime(2020, 3, 1)),
        (IPv6("2001:db8::/32"), ["2001:db8::1", None, None], "2001:db8:f000::"),
    ]
    for domain, stream, record in values:
        columns = pa.array(stream), pa.array([*stream, record])
        for column in (columns, [pa.chunked_array([part]) for part in columns]):
            yield Pair(_plan(domain), Batches([(column[0], None)]), Batches([(column[1], None)]))
            coded = [part.dictionary_encode() for part in column]
            yield Pair(_plan(domain), Batches([(coded[0], None)]), Batches([(coded[1], None)]))


def _of_many_records() -> Iterable[Pair]:
    """More records in one cell than a 16-bit counter holds."""
    plan = _plan(Interval(0, 1))
    for size in (2**16, 2**16 + 1):
        records = np.full(size, 0.3)
        yield Pair(plan, Batches([(records, None)]), Batches([(records[1:], None)]))
        yield Pair(plan, Batches([(records.tolist(), None)]), Batches([(records[1:].tolist(), None)]))


def fixed_line_pairs() -> list[Pair]:
    """Lines that a parser could split, join with the next one or take for the end, at each position of a text."""
    quotes = [b'"', b'"0.5', b'0.5"', b"'", b"0.5\\", b'0.5,"']
    breaks = [b"0.5\r0.5", b"0.5\x0b0.5", b"0.5\x0c0.5", b"0.5\x1c0.5", b"0.5\xc2\x850.5", b"0.5\xe2\x80\xa80.5"]
    others = [b"", b"\x00", b"\x1a", b"\x04", b"\xef\xbb\xbf0.5", b"0.5,0.5,0.5", b"0.5" + b" " * 2**20]
    pairs = []
    for line in (*quotes, *breaks, *others):
        for neighbours, place in (("add-remove", 0), ("add-remove", 1), ("add-remove", 3), ("replace-one", 1)):
            before, after = [b"0.25", b'"0.75"', b"0.5"][:place], [b"0.25", b'"0.75"', b"0.5"][place:]
            another = [b"0.1"] if neighbours == "replace-one" else []
            plan = _plan(Interval(0, 1), neighbours)
            pairs.append(Pair(plan, Lines([*before, line, *after]), Lines([*before, *another, *after])))
    return pairs

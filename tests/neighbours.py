"""Neighbouring streams: pairs that differ in the records of one person."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import hypothesis.strategies as st
import numpy as np

from privhp import Box, Geo, Plan, Summary, Table, Tally
from strange_values import STRANGE
from strategies import any_domains, as_batch, junk, measured_plans, plans, records
from texts import text_batches

PLANS = st.one_of(plans(any_domains()), measured_plans())


@dataclass(frozen=True)
class Batches:
    """A stream of batches, counted directly or by a tally in threads."""

    batches: list[tuple[Any, Any]]
    through_tally: bool = False

    def feed(self, summary: Summary) -> None:
        if not self.through_tally:
            for batch, counts in self.batches:
                summary.update(batch, counts=counts)
            return
        tally = Tally(summary.plan)
        for batch, counts in self.batches:
            tally.add(batch, counts=counts, threads=2)
        summary.absorb(tally)


@dataclass(frozen=True)
class Lines:
    """A stream as the lines of a text without a header."""

    lines: list[bytes]

    def feed(self, summary: Summary) -> None:
        for batch in text_batches(b"".join(line + b"\n" for line in self.lines), summary.plan.domain):
            summary.update(batch)


@dataclass(frozen=True)
class Pair:
    """Two streams that differ in at most `changed` records under the neighbouring relation of the plan."""

    plan: Plan
    one: Batches | Lines
    other: Batches | Lines
    changed: int = 1


@cache
def anything() -> st.SearchStrategy[Any]:
    """Any Python object."""
    leaves = st.one_of(junk(), st.sampled_from(STRANGE), st.integers(), st.floats())
    return st.recursive(leaves, lambda inner: st.one_of(st.lists(inner, max_size=3), st.tuples(inner, inner)))


def as_objects(chosen: list[Any]) -> Any:
    """An object array of the records."""
    array = np.empty(len(chosen), dtype=object)
    for place, record in enumerate(chosen):
        array[place] = record
    return array


def as_masked(chosen: list[Any]) -> Any:
    """A masked object array in which None is masked."""
    return np.ma.MaskedArray(as_objects(chosen), mask=[record is None for record in chosen])


@st.composite
def stream_pairs(draw: st.DrawFn) -> Pair:
    """Any plan and any stream, as a list or an array, with one person's records removed, replaced or recounted."""
    plan = draw(PLANS)
    one_dimensional = not isinstance(plan.domain, Box | Geo) or len(plan.domain.axes) == 1
    untidy = st.one_of(records(plan.domain), anything())
    shapes: list[tuple[Any, st.SearchStrategy[Any]]] = [(list, untidy), (tuple, untidy)]
    shapes += [(lambda chosen: as_batch(plan.domain, chosen), records(plan.domain))]
    shapes += [(as_objects, untidy), (as_masked, untidy)] if one_dimensional else []
    if isinstance(plan.domain, Table):
        width = len(plan.domain.names)
        mixed = st.tuples(
            records(plan.domain), st.lists(anything(), min_size=width, max_size=width), st.integers(0, width)
        )
        rows = mixed.map(lambda parts: (*parts[1][: parts[2]], *parts[0][parts[2] :]))
        shapes += [(list, rows), (lambda chosen: as_batch(plan.domain, chosen), rows)]
    shape, record = draw(st.sampled_from(shapes))
    stream = draw(st.lists(record, min_size=1, max_size=12))
    changed = draw(st.integers(1, min(plan.max_records_per_person, len(stream))))
    places = draw(st.permutations(range(len(stream))))[:changed]
    through_tally = draw(st.booleans())
    cut = draw(st.integers(0, len(stream)))

    def batches(chosen: list[Any], counts: list[Any] | None) -> Batches:
        parts = [slice(None, cut), slice(cut, None)]
        return Batches([(shape(chosen[part]), counts and counts[part]) for part in parts], through_tally)

    if draw(st.booleans()):
        counts = draw(st.lists(st.one_of(st.integers(0, 3), junk()), min_size=len(stream), max_size=len(stream)))
        other_stream, other_counts = list(stream), list(counts)
        for place in places:
            counts[place] = draw(st.integers(1, 3))
            other_counts[place] = counts[place] - 1
        if plan.neighbours == "replace-one":
            other_stream += draw(st.lists(record, min_size=changed, max_size=changed))
            other_counts += [1] * changed
        return Pair(plan, batches(stream, counts), batches(other_stream, other_counts), changed)
    if plan.neighbours == "replace-one":
        other_stream = list(stream)
        for place in places:
            other_stream[place] = draw(record)
    else:
        other_stream = [kept for place, kept in enumerate(stream) if place not in places]
    return Pair(plan, batches(stream, None), batches(other_stream, None), changed)


@st.composite
def line_pairs(draw: st.DrawFn) -> Pair:
    """Lines of any bytes but the newline, one of which is removed or replaced."""
    plan = replace(draw(PLANS), max_records_per_person=1)
    fields = st.one_of(st.floats().map(repr), st.integers().map(str), st.sampled_from(['"', "", '"1"', "1\r", "x"]))
    written = st.lists(fields, max_size=4).map(lambda parts: ",".join(parts).encode())
    raw = st.binary(max_size=8).map(lambda line: line.replace(b"\n", b""))
    home = records(plan.domain).map(
        lambda record: ",".join(map(_written, record if isinstance(record, tuple) else (record,))).encode()
    )
    line = st.one_of(home, home, written, raw)
    lines = draw(st.lists(line, min_size=1, max_size=8))
    place = draw(st.integers(0, len(lines) - 1))
    others = [draw(line)] if plan.neighbours == "replace-one" else []
    return Pair(plan, Lines(lines), Lines(lines[:place] + others + lines[place + 1 :]))


def _written(value: Any) -> str:
    return "" if value is None else str(value)

"""The sections of a page: guarantee, predicted error, and levels of the partition."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from privhp.answers.distribution import Distribution
from privhp.answers.generator import NOT_COUNTED, Generator
from privhp.answers.high_counts import describe_high_count
from privhp.answers.low_counts import describe_low_count
from privhp.core.number_format import format_bytes, format_number, format_share
from privhp.planning.plan import Plan
from privhp.planning.plan_warnings import plan_warnings
from privhp.planning.prediction_table import prediction_table
from privhp.reporting.prose import guarantee_sentences


def facts(pairs: Iterable[tuple[str, str, str]]) -> str:
    """A list of key figures: name, value and note of each."""
    cards = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd><p>{escape(note)}</p></div>"
        for name, value, note in pairs
    )
    return f'<dl class="facts">{cards}</dl>'


def plan_facts(plan: Plan) -> list[tuple[str, str, str]]:
    """Key figures of a plan."""
    each = plan.max_records_per_person
    counters = f"{format_bytes(plan.nbytes)} of it in counters; " if plan.memory else ""
    return [
        (
            "Privacy budget",
            f"\N{GREEK SMALL LETTER EPSILON} = {float(plan.epsilon):g}",
            "the smaller, the more private",
        ),
        ("Protected", "1 record" if each == 1 else f"{each:,} records", f"of each person; {plan.neighbours}"),
        ("Memory", format_bytes(plan.memory or plan.nbytes), f"{counters}whatever the number of records"),
    ]


def distribution_facts(distribution: Distribution, *, of_count: str = "") -> list[tuple[str, str, str]]:
    """Key figures of a distribution, with a note on the number of records."""
    leaves = distribution.leaves()
    return [
        ("Records", format_number(distribution.total), f"estimated by a noisy count{of_count}"),
        ("Detail", f"{leaves.codes.size:,} cells", f"level {int(leaves.levels.max())} at the finest"),
    ]


def generator_facts(generator: Generator) -> list[tuple[str, str, str]]:
    """Key figures of a plan and its release."""
    privacy, protected, memory = plan_facts(generator.plan)
    of_count = f", standard error {format_number(float(f'{generator.total_stderr:.2g}'))}"
    if generator.is_below_expected:
        of_count += f"; {generator.plan.expected_records:,} were expected. Note: {NOT_COUNTED}"
    return [privacy, protected, *distribution_facts(generator, of_count=of_count), memory]


def warnings_section(generator: Generator) -> str:
    """What makes a release less useful than it looks: a low or high count, little data, columns hardly resolved."""
    counts = {"Low count": describe_low_count(generator), "High count": describe_high_count(generator)}
    found = counts | plan_warnings(generator.plan)
    return "".join(
        f'<aside class="warning"><strong>{name}:</strong> {escape(text)}.</aside>'
        for name, text in found.items()
        if text is not None
    )


def guarantee_section(plan: Plan, *, covers_page: bool) -> str:
    """The guarantee."""
    first, *rest = guarantee_sentences(plan, covers_page=covers_page)
    return f'<p class="lead">{escape(first)}</p>' + "".join(f"<p>{escape(sentence)}</p>" for sentence in rest)


def accuracy_section(plan: Plan, records: float) -> str:
    """Predicted error for each kind of data."""
    if records < 1:
        return "<p>There are too few records for a prediction.</p>"
    causes, rows = prediction_table(plan, records)
    header = ("If the records are", "expected error", *(f"from {cause}" for cause in causes))
    return (
        f"<p>{escape(plan.domain.distance_meaning)} It is predicted from public numbers alone, for "
        f"{format_number(records)} records, with its parts by cause.</p>"
        f'<div class="stacked">{table(header, rows)}</div>'
    )


def table(header: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """A table that scrolls where the page is too narrow; inside an element of class stacked, one cell per line."""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in header)
    lines = ""
    for first, *cells in rows:
        labelled = zip(header[1:], cells, strict=True)
        values = "".join(f'<td data-label="{escape(name, quote=True)}">{escape(c)}</td>' for name, c in labelled)
        lines += f'<tr><th scope="row" data-label="{escape(header[0], quote=True)}">{escape(first)}</th>{values}</tr>'
    return f'<div class="wide" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>'


def levels_section(distribution: Distribution) -> str:
    """Number of leaves of each level, and their share of the records."""
    leaves, shares = distribution.leaves(), distribution.probabilities
    rows = []
    for level in np.unique(leaves.levels).tolist():
        own = leaves.levels == level
        rows.append((level, int(own.sum()), float(shares[own].sum()), distribution.domain.format_resolution(level)))
    most_leaves, most_mass = max(row[1] for row in rows), max(row[2] for row in rows) or 1.0
    lines = "".join(
        f'<tr><th scope="row">{level}</th><td class="text">{escape(size)}</td>'
        f"{_bar_cell(f'{count:,}', count / most_leaves)}{_bar_cell(format_share(mass), mass / most_mass)}</tr>"
        for level, count, mass, size in rows
    )
    head = "".join(
        f'<th scope="col">{name}</th>' for name in ("level", "size of a cell", "cells", "share of the records")
    )
    return (
        "<p>Each level splits the cells of the one above in two, first everywhere and then only where records are. "
        "These are the leaves, the cells that were not split, or the parts into which the columns of a table divide "
        "them. Inside a cell, synthetic records are spread evenly.</p>"
        f'<div class="wide" tabindex="0"><table class="levels"><thead><tr>{head}</tr></thead>'
        f"<tbody>{lines}</tbody></table></div>"
    )


def _bar_cell(text: str, part: float) -> str:
    bar = f'<span class="bar synthetic" style="width:{100 * part:.2f}%"></span>'
    return f'<td class="with-bar"><span>{text}</span>{bar}</td>'

"""HTML of distributions, plans, domains and estimates in a notebook."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from privhp.answers.distribution import Distribution
from privhp.answers.estimate import Estimate, as_scalar, format_alike
from privhp.answers.generator import Generator
from privhp.core.progress_displays import watch_session
from privhp.domains.domain import Domain
from privhp.errors import QueryError
from privhp.planning.plan import Plan
from privhp.reporting.page import picture_figure, read_style
from privhp.reporting.pictures import Picture, pictures_of
from privhp.reporting.sections import (
    accuracy_section,
    distribution_facts,
    facts,
    generator_facts,
    plan_facts,
    table,
    warnings_section,
)
from privhp.reporting.variables import variables_of

MAX_PICTURES = 4
"""Largest number of pictures in a notebook; a report has all of them."""

MAX_NAMES = 12
"""Largest number of names of columns in a sentence."""

UNTRUSTED = "The pictures are shown once the notebook is trusted."

MAX_ROWS = 50
"""Largest number of values of an estimate that a notebook lists; a longer one is shown as text."""

_OWN = ".privhp.privhp.privhp"
"""The class of a card, more specific than the rules of notebooks for single elements."""

_RESET = f"{_OWN} :where(:not(svg, svg *)) {{ all: revert; }}"
"""Rule that takes back what a notebook says about the elements of a card."""


def generator_card(generator: Generator) -> str:
    """Key figures of a release, and its first pictures."""
    summary = warnings_section(generator) + facts(generator_facts(generator))
    return _card(generator.domain, summary + _figures(generator))


def distribution_card(distribution: Distribution) -> str:
    """Key figures of a distribution, such as a marginal, and its first pictures."""
    return _card(distribution.domain, facts(distribution_facts(distribution)) + _figures(distribution))


def plan_card(plan: Plan) -> str:
    """Key figures and predictions of a plan."""
    expected = accuracy_section(plan, plan.expected_records) if plan.expected_records else ""
    text = f'<details><summary>Full plan</summary><pre class="wide">{escape(str(plan))}</pre></details>'
    return _card(plan.domain, facts(plan_facts(plan)) + expected + text)


def domain_card(domain: Domain) -> str:
    """Columns of a domain."""
    columns = [(column.names, column.domain) for column in domain.columns] or [(domain.value_names, domain)]
    rows = [(", ".join(names), repr(own)) for names, own in columns]
    return _styled(f'<div class="texts">{table(("column", "domain"), rows)}</div>')


def estimate_card(estimate: Estimate[Any]) -> str:
    """An answer with its standard error and its 90% interval; of several answers, one row for each."""
    values = np.asarray(estimate.value)
    if values.size > MAX_ROWS:
        return _styled(f'<pre class="wide">{escape(repr(estimate))}</pre>')
    try:
        error, (low, high) = np.asarray(estimate.stderr), map(np.asarray, estimate.interval())
    except QueryError as missing:
        return _styled(facts([("Estimate", str(estimate.value), str(missing))]))
    if not estimate.resolved:
        return _styled(
            facts([("90% interval", repr(estimate), "the release shows bounds alone: its cells are larger")])
        )
    rows = []
    for index in np.ndindex(values.shape):
        parts = (as_scalar(part[index]) for part in (error, values, low, high))
        stderr, *texts = format_alike(*parts, zone=estimate.zone)
        label = ", ".join(map(str, index)) if estimate.asked is None else str(estimate.asked[1][index])
        rows.append((label, texts[0], stderr, "{1} to {2}".format(*texts)))
    if values.ndim:
        asked = "index" if estimate.asked is None else estimate.asked[0]
        header = (asked, "estimate", "standard error", "90% interval")
        return _styled(f'<div class="stacked">{table(header, rows)}</div>')
    ((_, value, stderr, interval),) = rows
    shown = [("Estimate", value, ""), ("Standard error", stderr, ""), ("90% interval", interval, "")]
    if estimate.cell_bounds is not None:
        _, *ends = format_alike(as_scalar(error), *estimate.cell_bounds)
        shown.append(("Cells allow", " to ".join(ends), "if values are heaped inside the cells of the release"))
    return _styled(facts(shown))


def _figures(distribution: Distribution) -> str:
    """The first pictures; without the style of the card, which a notebook of somebody else removes, a sentence."""
    with watch_session():
        pictures = pictures_of(distribution, max_maps=1, max_kinds=1, most=MAX_PICTURES)
    figures = f'<div class="figures" style="display:none">{"".join(map(picture_figure, pictures))}</div>'
    return f'{figures}{_left_out(distribution, pictures)}<p class="unstyled">{UNTRUSTED}</p>'


def _left_out(distribution: Distribution, pictures: Sequence[Picture]) -> str:
    """A sentence on the columns that no picture shows; empty if all are shown."""
    shown = {variable.label for picture in pictures for variable in picture.variables}
    known = [variable.label for variable in variables_of(distribution.domain)]
    missing = [label for label in known if label not in shown]
    if not missing:
        return ""
    more = len(missing) - MAX_NAMES
    names = ", ".join(missing[:MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
    return (
        f"<p>{len(missing)} of {len(known)} columns are not shown: {escape(names)}. privhp.report writes a page with "
        "all of them.</p>"
    )


def _card(domain: Domain, body: str) -> str:
    return _styled(f'<p class="kind">{escape(repr(domain))}</p>{body}')


def _styled(body: str) -> str:
    style = _RESET + read_style().replace(".privhp", _OWN)
    return f'<div class="privhp card"><style>{style}</style>{body}</div>'

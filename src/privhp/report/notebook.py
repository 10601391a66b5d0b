"""Generators and plans as they show themselves in a notebook."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from html import escape

from privhp.answers.generator import Generator
from privhp.planning.plan import Plan
from privhp.report.page import picture_figure, style
from privhp.report.pictures import pictures_of
from privhp.report.sections import accuracy_section, facts, generator_facts, plan_facts

MOST = 4
"""How many pictures a notebook shows; a report has all of them."""


def generator_card(generator: Generator) -> str:
    """What a release promises, and its first pictures."""
    shown = pictures_of(generator, most_maps=1)[:MOST]
    figures = "".join(map(picture_figure, shown))
    return _card(generator.plan, facts(generator_facts(generator)), f'<div class="figures">{figures}</div>')


def plan_card(plan: Plan) -> str:
    """What a plan promises and predicts."""
    expected = accuracy_section(plan, plan.expected_records) if plan.expected_records else ""
    table = f'<details><summary>All of the plan</summary><pre class="wide">{escape(str(plan))}</pre></details>'
    return _card(plan, facts(plan_facts(plan)), expected + table)


def _card(plan: Plan, summary: str, body: str) -> str:
    return (
        f'<div class="privhp card"><style>{style()}</style><p class="kind">{escape(repr(plan.domain))}</p>'
        f"{summary}{body}</div>"
    )

"""HTML of generators and plans in a notebook."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from html import escape

from privhp.answers.generator import Generator
from privhp.planning.plan import Plan
from privhp.reporting.page import picture_figure, read_style
from privhp.reporting.pictures import pictures_of
from privhp.reporting.sections import accuracy_section, facts, generator_facts, plan_facts

MAX_PICTURES = 4
"""Largest number of pictures in a notebook; a report has all of them."""


def generator_card(generator: Generator) -> str:
    """Key figures of a release, and its first pictures."""
    figures = "".join(map(picture_figure, pictures_of(generator, max_maps=1)[:MAX_PICTURES]))
    return _card(generator.plan, facts(generator_facts(generator)), f'<div class="figures">{figures}</div>')


def plan_card(plan: Plan) -> str:
    """Key figures and predictions of a plan."""
    expected = accuracy_section(plan, plan.expected_records) if plan.expected_records else ""
    table = f'<details><summary>Full plan</summary><pre class="wide">{escape(str(plan))}</pre></details>'
    return _card(plan, facts(plan_facts(plan)), expected + table)


def _card(plan: Plan, summary: str, body: str) -> str:
    return (
        f'<div class="privhp card"><style>{read_style()}</style><p class="kind">{escape(repr(plan.domain))}</p>'
        f"{summary}{body}</div>"
    )

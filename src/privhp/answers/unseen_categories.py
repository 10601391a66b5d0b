"""Declared categories of which a release shows no records, though its noise is small enough to show some."""

from collections.abc import Iterator
from typing import Any

from privhp.answers.distribution import Distribution
from privhp.answers.generator import Generator
from privhp.domains.conditions import format_condition
from privhp.domains.domain import Domain

VISIBLE = 1 / 20
"""A category is looked for if the noise shows this part of the records that it has where all have as many."""

LEVEL = 0.999
"""Level of the interval of a share that noise explains."""

MOST_VALUES = 100
"""Longer lists are not looked through: they rarely occur in full."""

_MOST_NAMES = 6


def describe_unseen_categories(generator: Generator) -> str | None:
    """Sentence on declared categories without records that the noise lets us see; None if there are none."""
    unseen = unseen_categories(generator)
    if not unseen:
        return None
    more = len(unseen) - _MOST_NAMES
    named = ", ".join(unseen[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
    advice = "check the encoding of the file, and their spelling"
    if all(map(str.isascii, unseen)):
        advice = "check their spelling, and the encoding of the file"
    return f"these declared categories hold no records that the noise lets us see: {named}; {advice}"


def unseen_categories(generator: Generator) -> list[str]:
    """Conditions of those categories, such as paid = cash. They follow from the release alone."""
    if generator.plan.inference == "top-down":  # it has no standard errors
        return []
    domain = generator.domain
    if not domain.columns:
        return [format_condition(value, domain) for value in _unseen(generator, _declared(domain))]
    return [
        format_condition({column.name: value}, domain)
        for column in domain.columns
        if (declared := _declared(column.domain))
        for value in _unseen(generator.marginal(column.name), declared)
    ]


def _declared(domain: Domain) -> list[Any]:
    """Values of a short list of categories, without the one that collects all others; none of other domains."""
    spec = domain.inner.cell_spec()
    values: list[Any] = spec["values"] if spec["kind"] == "categories" else []
    return values if len(values) <= MOST_VALUES else []


def _unseen(part: Distribution, declared: list[Any]) -> Iterator[Any]:
    """Values whose interval has no share at its lower end, and a small part of an equal share at its upper end."""
    for value in declared:
        share, least = part.mass(value), VISIBLE / len(declared)
        if share.value <= least:  # the interval takes longer
            low, high = share.interval(LEVEL)
            if low <= 0 and high <= least:
                yield value

"""The guarantee and the predictions of a plan in sentences, for readers who do not know differential privacy."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import math

from privhp.core.budget import Neighbours
from privhp.core.number_format import format_number
from privhp.planning.plan import Plan

PROTECTED: dict[Neighbours, str] = {
    "add-remove": "the presence of {unit} in the data, and every value in it",
    "zero-out": "the presence of {unit} in the counts, and every value in it; the number of rows is public",
    "replace-one": "every value of {unit}; the number of rows is public",
}
"""What the release protects of one person under each neighbouring relation."""

CHANGE: dict[Neighbours, str] = {
    "add-remove": "adding or removing {unit}",
    "zero-out": "counting or not counting {unit}",
    "replace-one": "replacing {unit} by any other",
}
"""Change of the data that epsilon bounds under each neighbouring relation."""

STREAMS = {
    "smooth": "spread evenly over the domain",
    "clustered": "concentrated in a sixteenth of it",
    "sparse": "at forty points only",
    "sorted": "concentrated, and arriving in order",
}
"""Kinds of data that a prediction assumes."""


def protected_unit(plan: Plan) -> str:
    """The records of one person that the guarantee protects."""
    many = plan.max_records_per_person
    return "one person's record" if many == 1 else f"all of one person's records (up to {many:,})"


def guarantee_sentences(plan: Plan, *, covers_page: bool = True) -> list[str]:
    """The guarantee in sentences.

    Args:
        plan: The plan of the release.
        covers_page: Whether the guarantee covers the page; it does not if the page shows real records.
    """
    epsilon = float(plan.epsilon)
    unit = protected_unit(plan)
    protected = PROTECTED[plan.neighbours].format(unit=unit)
    return [
        f"The release protects {protected}.",
        _odds(plan.neighbours, epsilon),
        f"This is differential privacy with epsilon = {epsilon:g}: {CHANGE[plan.neighbours].format(unit=unit)} changes "
        f"the probability of any outcome by a factor of at most {_factor(epsilon)}. There is no failure probability "
        "(delta).",
        f"It covers {'this page, ' if covers_page else ''}the release, and every synthetic record that is ever made "
        f"from it{'' if covers_page else ', but not this page'}. Releases of the same people's data add up: so do "
        "their epsilons.",
    ]


def _odds(neighbours: Neighbours, epsilon: float) -> str:
    """Largest posterior probabilities of an attacker, from even prior odds."""
    presence, value = _posterior(epsilon), _posterior(2 * epsilon)
    if neighbours == "replace-one":
        return (
            "An attacker with even odds between two possible values of a record can be at most "
            f"{_percent(presence)} sure of one of them after seeing the release, whatever else they know."
        )
    return (
        f"An attacker with even odds on the presence of a record can be at most {_percent(presence)} sure of it after "
        "seeing the release, whatever else they know. Between two possible values of a record that is known to be in "
        f"the data, they can be at most {_percent(value)} sure: a change of value is a removal and an addition."
    )


def _posterior(epsilon: float) -> float:
    """Largest posterior probability after even prior odds and a likelihood ratio of at most exp(epsilon)."""
    return 1 / (1 + math.exp(-epsilon))


def _percent(value: float) -> str:
    return f"{value:.1%}" if value < 0.9995 else "almost 100%"


def _factor(epsilon: float) -> str:
    return format_number(math.exp(epsilon)) if epsilon < 30 else f"e to the power of {epsilon:g}"

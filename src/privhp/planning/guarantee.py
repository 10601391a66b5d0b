"""The guarantee of a plan in sentences, for readers who do not know differential privacy.

The sentences depend on three fields of the plan: epsilon, the neighbouring
relation, and the largest number of records per person.
"""

import math
from typing import TYPE_CHECKING

from privhp.core.number_format import format_number

if TYPE_CHECKING:
    from privhp.planning.plan import Plan

WEAK_EPSILON = 5
"""Least epsilon of which no sentence says that a release hides something: from even odds, 99.3% sure."""


def state_guarantee(plan: "Plan") -> str:
    """Sentence that says who is protected, what a release hides, and what it does not hide."""
    single, several = "record is in the data and what it says", "records are in the data and what they say"
    hidden = f"whether any one person's {single if _is_one(plan) else several}"
    if plan.epsilon >= WEAK_EPSILON:
        return f"The guarantee is weak: at this epsilon, it limits little what an observer learns of {hidden}."
    return f"The release hides {hidden}, but not what many records have in common."


def state_conditions(plan: "Plan", *, capped: bool | None = None) -> str:
    """Sentences that say what the guarantee assumes of people and of the steps before privhp.

    Args:
        plan: The plan.
        capped: Whether the number of records per person was enforced; None if it is not known, as a release does not
            tell.
    """
    return (
        f"{_state_cap(_number(plan), capped)} if no step before privhp lets one record decide about others: a filter "
        "that looks at each record alone is fine, and so is sorting; a limit such as head, removing duplicates, and "
        "joins are not."
    )


def _state_cap(number: str, capped: bool | None) -> str:
    """Beginning of the conditions: the number of records per person."""
    if capped:
        be = "is" if number == "one record" else "are"
        return f"At most {number} of each person {be} counted. The guarantee holds"
    if capped is not None:
        return f"The guarantee holds for people with at most {number},"
    return (
        f"The guarantee covers at most {number} of each person: fit counts no more if it is given the column of "
        "persons, and otherwise assumes that there are no more. It holds"
    )


def state_definition(plan: "Plan") -> str:
    """The guarantee in the terms of differential privacy."""
    epsilon = float(plan.epsilon)
    unit = "one person's record" if _is_one(plan) else f"up to {_number(plan)} of one person"
    change = f"{'replacing' if plan.neighbours == 'replace-one' else 'adding or removing'} {unit}"
    factor = format_number(math.exp(epsilon)) if epsilon < 30 else f"e to the power of {epsilon:g}"
    return (
        f"This is differential privacy with epsilon = {epsilon:g}: {change} changes the probability of any outcome by "
        f"a factor of at most {factor}. There is no failure probability (delta)."
    )


def state_odds(plan: "Plan") -> str:
    """Sentence with the largest posterior probabilities of an observer, from even prior odds."""
    epsilon = float(plan.epsilon)
    records, be, they = ("record", "is", "it") if _is_one(plan) else ("records", "are", "they")
    # Under add-remove, a change of value is a removal and an addition.
    of_value = "as sure" if plan.neighbours == "replace-one" else f"{_posterior(2 * epsilon)} sure"
    return (
        f"From even odds, an observer can become {_posterior(epsilon)} sure whether a person's {records} {be} in the "
        f"data, and {of_value} of one of two values that {they} may have, whatever else is known."
    )


def _is_one(plan: "Plan") -> bool:
    """Whether the guarantee protects a single record of each person."""
    return plan.max_records_per_person == 1


def _number(plan: "Plan") -> str:
    """The largest number of records of a person."""
    return "one record" if _is_one(plan) else f"{plan.max_records_per_person:,} records"


def _posterior(epsilon: float) -> str:
    """Largest posterior probability after even prior odds and a likelihood ratio of at most exp(epsilon)."""
    value = 1 / (1 + math.exp(-epsilon))
    return f"at most {value:.1%}" if value < 0.9995 else "almost 100%"

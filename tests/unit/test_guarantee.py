"""The guarantee of a plan in sentences: true for its epsilon, relation and records per person."""

import math
import re
from fractions import Fraction

import pytest

from privhp import Interval, Plan
from privhp.core.budget import Neighbours, sensitivity
from privhp.planning.guarantee import state_conditions, state_definition, state_guarantee, state_odds

RELATIONS: list[Neighbours] = ["add-remove", "replace-one"]


def planned(*, epsilon: float = 1, neighbours: Neighbours = "add-remove", most: int = 1) -> Plan:
    return Plan.paper(
        Interval(0, 1), epsilon=epsilon, expected_records=1000, neighbours=neighbours, max_records_per_person=most
    )


def test_sentences_of_one_record() -> None:
    plan = planned()
    assert state_guarantee(plan) == (
        "The release hides whether any one person's record is in the data and what it says, but not what many records "
        "have in common."
    )
    assert state_conditions(plan) == (
        "The guarantee covers at most one record of each person: fit counts no more if it is given the column of "
        "persons, and otherwise assumes that there are no more. It holds if no step before privhp lets one record "
        "decide about others: a filter that looks at each record alone is fine, and so is sorting; a limit such as "
        "head, removing duplicates, and joins are not."
    )
    assert "At most one record of each person is counted. The" in state_conditions(plan, capped=True)
    assert state_odds(plan) == (
        "From even odds, an observer can become at most 73.1% sure whether a person's record is in the data, and at "
        "most 88.1% sure of one of two values that it may have, whatever else is known."
    )
    assert "adding or removing one person's record changes the probability" in state_definition(plan)


def test_sentences_of_several_records() -> None:
    plan = planned(most=1234)
    assert "whether any one person's records are in the data and what they say" in state_guarantee(plan)
    assert "covers at most 1,234 records of each person: fit counts no more if" in state_conditions(plan)
    assert "people with at most 1,234 records, if" in state_conditions(plan, capped=False)
    assert state_conditions(plan, capped=True).startswith(
        "At most 1,234 records of each person are counted. The guarantee holds if no step before privhp "
    )
    assert "adding or removing up to 1,234 records of one person changes" in state_definition(plan)
    assert "whether a person's records are in the data" in state_odds(plan)


@pytest.mark.parametrize("most", [1, 7])
@pytest.mark.parametrize(("neighbours", "steps"), [("add-remove", [1, 2]), ("replace-one", [1])])
def test_odds_of_presence_and_value(neighbours: Neighbours, steps: list[int], most: int) -> None:
    """A change of value is two steps under add-remove, one under replace-one, and presence is one under both."""
    text = state_odds(planned(epsilon=0.5, neighbours=neighbours, most=most))
    assert re.findall(r"at most ([\d.]+)% sure", text) == [f"{100 / (1 + math.exp(-0.5 * k)):.1f}" for k in steps]
    assert ("and as sure of one of two values" in text) == (neighbours == "replace-one")


@pytest.mark.parametrize("epsilon", [0.1, 3, 50])
def test_definition(epsilon: float) -> None:
    text = state_definition(planned(epsilon=epsilon, neighbours="replace-one"))
    assert f"epsilon = {epsilon:g}: replacing one person's record changes" in text
    assert {0.1: "at most 1.105.", 3: "at most 20.09.", 50: "at most e to the power of 50."}[epsilon] in text


@pytest.mark.parametrize(("epsilon", "weak"), [(4.99, False), (5, True), (20, True)])
@pytest.mark.parametrize("most", [1, 7])
def test_weak_epsilon(epsilon: float, weak: bool, most: int) -> None:
    text = state_guarantee(planned(epsilon=epsilon, most=most))
    assert text.startswith("The guarantee is weak") == weak
    assert ("hides" not in text) == weak
    assert "whether any one person's record" in text


def test_odds_close_to_certainty() -> None:
    assert "almost 100% sure of one" in state_odds(planned(epsilon=5))
    assert "99.3% sure" in state_odds(planned(epsilon=5))


@pytest.mark.parametrize("most", [1, 7])
def test_presence_under_replace_one(most: int) -> None:
    """The noise of a plan under replace-one also bounds the loss of an added or removed record by epsilon."""
    plan = planned(neighbours="replace-one", most=most)
    rows = {level: plan.sketch_rows if level in plan.sketched_levels else 1 for level in plan.budgets}
    presence = sum(
        (
            sensitivity("add-remove", level=level, rows=rows[level], max_records_per_person=most) / plan.scale(level)
            for level in plan.budgets
        ),
        Fraction(0),
    )
    assert presence <= plan.epsilon

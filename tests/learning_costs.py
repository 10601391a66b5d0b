"""The cost of learning passes as named checks that raise AssertionError."""

import contextlib
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction

import privhp.collect.ingest
from learning_checks import relations, table_relations
from learning_runs import no_noise, plan_of
from privacy_plans import parts_of
from privhp import Box, Categories, Integers, Interval, IPv4, Nullable, Plan, PlanError, Summary, Table
from privhp.core.budget import amplified_cost
from privhp.planning.learning import LearningPass
from spies import record_draws

PRECISE = Context(prec=80)


def loss_of_pass(rate: Fraction, budget: Fraction) -> Fraction:
    """ln(1 + rate (exp(budget) - 1)), correct to more than 60 digits."""
    exponential = PRECISE.exp(_decimal(budget))
    gain = PRECISE.multiply(_decimal(rate), PRECISE.subtract(exponential, Decimal(1)))
    return Fraction(PRECISE.ln(PRECISE.add(Decimal(1), gain)))


def _decimal(value: Fraction) -> Decimal:
    return PRECISE.divide(Decimal(value.numerator), Decimal(value.denominator))


def passes_cost_at_most_epsilon() -> None:
    """The losses of all passes, from the scales of their draws, add up to at most epsilon."""
    for plan in [*relations(), *table_relations(), *_planned()]:
        assert plan.learning is not None
        sensitivity = plan.max_records_per_person * (1 if plan.neighbours == "add-remove" else 2)
        levels = [(part, level) for part in parts_of(plan) for level in part.budgets if level > 0]
        loss = sum(Fraction(sensitivity) / part.scale(level) for part, level in levels)
        for number, own in enumerate(plan.learning.passes):
            counted = privhp.collect.ingest.pass_plan(plan, number)
            with record_draws(no_noise) as draws:
                Summary(replace(counted, memory=0))  # so that the leaves of each part have one draw
            assert len(draws) == len(parts_of(counted)), "a part of a pass has several levels, or none"
            loss += loss_of_pass(own.rate, sum(Fraction(sensitivity) / draw.scale for draw in draws))
        assert loss <= plan.epsilon, f"the passes cost {float(loss):.17g}, more than epsilon"


def _planned() -> list[Plan]:
    """Plans of the planner that learn a partition."""
    found = []
    table = Table(a=Interval(0, 1), b=Integers(0, 10**6), c=Nullable(IPv4()), d=Categories(["x", "y"]))
    for domain in (Interval(0, 1), Integers(0, 10**6), IPv4(), Box([(0, 1), (0, 1)]), table):
        for epsilon, passes, neighbours, persons in ((1, 2, "add-remove", 1), ("0.1", 3, "replace-one", 2)):
            plan = Plan.auto(
                domain,
                epsilon=epsilon,
                expected_records=10**6,
                memory="64 KiB",
                passes=passes,
                neighbours=neighbours,
                max_records_per_person=persons,
            )
            found += [plan] if plan.learning is not None else []
    assert len(found) > 4, "the planner learns no partition"
    learned = [own.learning for plan in found for own in plan.columns.values()]
    assert len(learned) > 3, "the planner measures no columns"
    assert None not in learned, "a column learns no partition where the table does"
    return found


def cost_of_a_pass_is_rounded_up() -> None:
    """The cost of a pass is at least its loss, and a plan whose loss exceeds epsilon in the 25th digit is refused."""
    for rate in (Fraction(1, 256), Fraction(1, 16), Fraction(7, 64), Fraction(1, 2), Fraction(1)):
        for budget in (Fraction(1, 10**6), Fraction(1, 3), Fraction(306, 1000), Fraction(1), Fraction(7), Fraction(90)):
            loss = loss_of_pass(rate, budget)
            assert amplified_cost(rate, budget) >= loss * (1 - Fraction(1, 10**60)), "a cost is below the loss"
    plan = plan_of("1/16")
    assert plan.learning is not None
    passes = (LearningPass(Fraction(1, 16), Fraction(3, 10)),)
    learning, digits = replace(plan.learning, passes=passes), 10**25
    loss = loss_of_pass(Fraction(1, 16), Fraction(3, 10))
    short = sum(plan.budgets.values(), Fraction(0)) + Fraction(int(loss * digits), digits)
    enough = short + Fraction(1, 10**15)
    replace(plan, learning=learning, epsilon=enough)
    spec = replace(plan, learning=learning, epsilon=enough).spec() | {"epsilon": str(short)}
    for make in (lambda: replace(plan, learning=learning, epsilon=short), lambda: Plan.from_spec(spec)):
        with contextlib.suppress(PlanError):
            make()
            raise AssertionError("a plan is accepted whose passes cost more than epsilon")


def learning_columns_are_paid_for() -> None:
    """A pass costs what the sum of its budgets does; a plan that falls short in the 25th digit is refused."""
    digits = 10**25
    for plan in table_relations():
        assert plan.learning is not None
        parts = parts_of(plan)
        learning = [part.learning.passes for part in parts if part.learning is not None]
        sums = [(own[0].rate, sum((each.budget for each in own), Fraction(0))) for own in zip(*learning, strict=True)]
        loss = sum((loss_of_pass(*own) for own in sums), Fraction(0))
        spent = sum((sum(part.budgets.values()) for part in parts), Fraction(0))
        short = spent + Fraction(int(loss * digits), digits)
        replace(plan, epsilon=short + Fraction(1, 10**15))
        with contextlib.suppress(PlanError):
            replace(plan, epsilon=short)
            raise AssertionError("a plan is accepted whose columns cost more than epsilon")

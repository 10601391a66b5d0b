"""Learning passes at the limits of what a plan allows, and their checkpoints."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from learning_runs import array_file, ingest, plan_of
from privhp import Plan, PlanError
from privhp.cli import main
from privhp.collect.ingest import CheckpointedIngestion
from privhp.io.sources import open_source
from privhp.planning.learning import Learning, LearningPass
from privhp.planning.partition import MAX_LEAVES


@pytest.mark.parametrize("budget", [Fraction(3), Fraction(1, 10**9)])
def test_budget_of_a_sample_above_and_far_below_epsilon(budget: Fraction) -> None:
    """A sample of 1/256 costs 0.07 at a budget of 3."""
    passes = (LearningPass(Fraction(1, 256), budget),)
    plan = plan_of(epsilon="2.1", learning=Learning(nbytes=2**12, passes=passes))
    assert plan.learning is not None
    assert plan.learning.cost < Fraction(1, 10)
    ingestion = ingest(plan, [range(100)])
    assert replace(ingestion.plan, partition=None) == plan


def test_partition_of_more_leaves_than_any_plan_is_refused() -> None:
    passes = (LearningPass(Fraction(1, 16), Fraction(1)),)
    Learning(nbytes=8 * MAX_LEAVES, passes=passes)
    with pytest.raises(PlanError, match="nbytes= as an integer"):
        Learning(nbytes=8 * MAX_LEAVES + 1, passes=passes)


def test_inspect_shows_the_plan_of_all_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan, state = plan_of(), tmp_path / "state"
    with array_file(tmp_path, range(100), rows=10) as data:
        ingestion = CheckpointedIngestion(plan, open_source(data, domain=plan.domain), state)
        assert not ingestion.run(lambda batch: True)
        ingestion.close(remove=False)
    assert main(["inspect", str(state)]) == 0
    assert str(plan) in capsys.readouterr().out


def test_plan_with_a_learned_partition_is_not_learned_again() -> None:
    learned = ingest(plan_of(), [range(100)]).plan
    assert isinstance(learned, Plan)
    again = ingest(learned, [range(100)])
    assert (again.number, again.plan) == (2, learned)

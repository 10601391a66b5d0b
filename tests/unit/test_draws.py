"""What is drawn for a summary, when, and at which scale."""

import inspect
import os

import numpy as np
import pytest
from hypothesis import given, settings

import leaks
import privacy
import privhp.collect.noise
import privhp.collect.summary
import privhp.collect.tally
from privhp import Plan, Summary
from privhp.collect.noise import discrete_laplace
from strategies import plans


@given(plan=plans())
@settings(max_examples=50)
def test_every_cell_gets_one_draw_at_the_declared_scale_before_the_first_record(plan: Plan) -> None:
    privacy.every_cell_gets_one_draw([plan])


@given(plan=plans())
@settings(max_examples=50)
def test_draws_cost_at_most_epsilon(plan: Plan) -> None:
    privacy.draws_cost_at_most_epsilon([plan])


@given(plan=plans())
@settings(max_examples=50)
def test_released_levels_are_their_counts_and_their_own_draws(plan: Plan) -> None:
    privacy.released_counts_are_counts_and_draws([plan])


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_draws_its_own_noise() -> None:
    plan = privacy.example_plans()[0]
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, Summary(plan).state().tobytes())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        theirs = np.frombuffer(pipe.read(), dtype=np.int64)
    assert os.waitpid(child, 0)[1] == 0
    own = Summary(plan).state()
    assert theirs.shape == own.shape
    assert not np.array_equal(theirs, own)


def test_nobody_can_choose_the_noise() -> None:
    """Neither a seed nor a generator of random numbers goes in, and none is made inside."""
    actions = [value for value in vars(Summary).values() if inspect.isfunction(value)]
    for action in (discrete_laplace, *actions):
        assert not {"seed", "rng", "random_state"} & set(inspect.signature(action).parameters)
    for module in (privhp.collect.noise, privhp.collect.summary, privhp.collect.tally):
        assert "random." not in inspect.getsource(module).replace("os.urandom", "")


def test_bad_records_pass_in_silence(offline: bool) -> None:
    leaks.bad_records_pass_in_silence(10_000 if offline else 300)

"""Noise draws of a summary: number, time and scale."""

import inspect
import os

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import leaks
import privacy
import privhp.collect.coins
import privhp.collect.entropy
import privhp.collect.noise
import privhp.collect.summary
import privhp.collect.tally
from cases import case_count
from privacy_plans import example_plans
from privhp import Plan, Summary
from privhp.collect.coins import poisson_sample
from privhp.collect.entropy import random_bytes
from privhp.collect.noise import discrete_laplace
from strategies import measured_plans, plans

PLANS = st.one_of(plans(), measured_plans())


@given(plan=PLANS)
@settings(max_examples=case_count(50))
def test_one_draw_per_counter_before_records(plan: Plan) -> None:
    privacy.every_counter_has_one_draw_at_its_scale([plan])


@given(plan=PLANS)
@settings(max_examples=case_count(50))
def test_draws_spend_at_most_epsilon(plan: Plan) -> None:
    privacy.draws_spend_at_most_epsilon([plan])


@given(plan=PLANS)
@settings(max_examples=case_count(50))
def test_released_counts_are_exact_counts_plus_noise(plan: Plan) -> None:
    privacy.released_counts_are_exact_counts_plus_noise([plan])


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_noise_of_forked_process() -> None:
    plan = example_plans()[0]
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


def test_noise_has_no_seed() -> None:
    """No parameter is a seed or a random generator, and none is created inside."""
    actions = [value for value in vars(Summary).values() if inspect.isfunction(value)]
    for action in (discrete_laplace, poisson_sample, random_bytes, *actions):
        assert not {"seed", "rng", "random_state"} & set(inspect.signature(action).parameters)
    collect = privhp.collect
    for module in (collect.coins, collect.entropy, collect.noise, collect.summary, collect.tally):
        assert "random." not in inspect.getsource(module).replace("os.urandom", "")


def test_invalid_records_are_skipped_without_messages(offline: bool) -> None:
    leaks.invalid_records_are_skipped_without_messages(10_000 if offline else 300)

"""Recording and replacing the noise draws of summaries."""

import contextlib
import itertools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import ModuleType
from unittest import mock

import numpy as np

import privhp.collect.noisy_counters
from privhp import Plan, Summary
from privhp.core.cells import Counts
from privhp.release import Release


@dataclass(frozen=True)
class Draw:
    """One call of the sampler."""

    scale: Fraction
    values: Counts


@contextlib.contextmanager
def record_draws(sampler: Callable[[int, Fraction], Counts] | None = None) -> Iterator[list[Draw]]:
    """Record every call of the noise sampler in all modules; `sampler` may replace it."""
    draws: list[Draw] = []
    original = privhp.collect.noisy_counters.discrete_laplace

    def watched(size: int, *, scale: Fraction) -> Counts:
        values = original(size, scale=scale) if sampler is None else sampler(size, scale)
        draws.append(Draw(scale, values.copy()))
        return values

    with contextlib.ExitStack() as stack:
        for module in _modules_with_sampler(len(sys.modules)):
            stack.enter_context(mock.patch.object(module, "discrete_laplace", watched))
        yield draws


@lru_cache(maxsize=1)
def _modules_with_sampler(imported: int) -> list[ModuleType]:
    """Modules of the package with the noise sampler, found again when the number of imported modules changes."""
    package = [module for name, module in sys.modules.items() if name.startswith("privhp")]
    return [module for module in package if "discrete_laplace" in vars(module)]


@contextlib.contextmanager
def fixed_noise() -> Iterator[list[Draw]]:
    """Deterministic noise by number of call: large, never 0, different for each call and counter."""
    calls = itertools.count()

    def pinned(size: int, scale: Fraction) -> Counts:
        return np.random.default_rng(next(calls)).integers(10**6, 10**12, size)

    with record_draws(pinned) as draws:
        yield draws


def draws_by_level(plan: Plan) -> list[dict[int, Draw]]:
    """The draw of each level of an empty summary, found by its values: of the records, then of each measured column."""
    with fixed_noise() as draws:
        released = released_counts(Summary(plan).close())
    found = [{level: find_draw(counts, draws) for level, counts in own.items()} for own in released]
    assert len(draws) == sum(map(len, found)), "a draw stands on no level"
    return found


def released_counts(release: Release) -> list[dict[int, Counts]]:
    """Noisy counts by level: of the records, then of each measured column."""
    return [dict(own.counts) for own in (release, *release.columns.values())]


def find_draw(counts: Counts, draws: list[Draw]) -> Draw:
    """The draw with these values."""
    same = [draw for draw in draws if np.array_equal(draw.values, counts.ravel())]
    assert len(same) == 1, "the noise of a level is not one draw of its own"
    return same[0]

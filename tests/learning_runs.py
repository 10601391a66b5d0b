"""Runs of learning passes under recorded or replaced entropy, for the checks and audits of learned partitions."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

import privhp.collect.ingest
import privhp.collect.learning
from privhp import Integers, Partition, Plan, Table
from privhp.collect.ingest import CheckpointedIngestion, Ingestion
from privhp.core.cells import Counts
from privhp.io.sources import open_source
from privhp.io.sources.selection import Selection
from privhp.planning.learning import Learning, LearningPass
from privhp.planning.plan_sizes import PlanSizes
from privhp.release import Release

LEVEL = 4
"""Root level of the partition of `plan_of`."""


def plan_of(*rates: str, budget: str = "1/2", **changes: Any) -> Plan:
    """A plan with learning passes at these rates over the integers below 1024, and memory for nearly all splits."""
    passes = tuple(LearningPass(Fraction(rate), Fraction(budget)) for rate in rates or ("1/4", "3/8"))
    settings: dict[str, Any] = {
        "epsilon": 4,
        "budgets": {1: "1/2", 2: "1/2", LEVEL: 1},
        "exact_depth": 2,
        "learning": Learning(nbytes=2**16, passes=passes),
        "inference": "least-squares",
    }
    return Plan(Integers(0, 1023), **(settings | changes))


TABLE = Table(a=Integers(0, 31), b=Integers(0, 63), c=Integers(0, 15))


def table_plan_of(*rates: str, **changes: Any) -> Plan:
    """The same for a table, with columns that learn a partition on the samples of the table, and one that does not."""
    rates = rates or ("1/4", "3/8")
    sizes = {
        "a": PlanSizes({1: "1/8", 3: "1/4"}, 1, learning=_learning(rates, "1/5")),
        "b": PlanSizes({2: "1/4"}, 0, learning=_learning(rates, "1/3")),
        "c": PlanSizes({4: "1/2"}, 4),
    }
    return replace(plan_of(*rates, epsilon="4.02"), domain=TABLE, **({"columns": sizes} | changes))


def _learning(rates: tuple[str, ...], budget: str) -> Learning:
    return Learning(nbytes=2**14, passes=tuple(LearningPass(Fraction(rate), Fraction(budget)) for rate in rates))


def no_noise(size: int, scale: Fraction) -> Counts:
    return np.zeros(size, dtype=np.int64)


@dataclass
class Batches:
    """An iterable of batches that can be read again, and the number of times that it was."""

    batches: list[Any]
    reads: int = 0

    def __iter__(self) -> Iterator[Any]:
        self.reads += 1
        yield from self.batches


def ingest(plan: Plan, batches: list[Any]) -> Ingestion:
    """All passes over batches."""
    ingestion = Ingestion(plan, open_source(Batches(batches), domain=plan.domain))
    assert ingestion.run(), "an ingestion without interruption is not complete"
    return ingestion


@dataclass
class Refined:
    """The noisy counts of one learning pass, and the plans before and after its refinement."""

    before: Plan
    number: int
    release: Release
    after: Plan

    @property
    def counts(self) -> Counts:
        return self.release.counts[self.before.learned_level]

    @property
    def counted(self) -> Partition:
        """The partition in which the pass counted."""
        assert self.release.plan.partition is not None
        return self.release.plan.partition


@contextlib.contextmanager
def watched_refinements() -> Iterator[list[Refined]]:
    """Record the refinements of ingestions."""
    seen: list[Refined] = []
    original = privhp.collect.ingest.refine_plan

    def watched(plan: Plan, number: int, release: Release) -> Plan:
        after = original(plan, number, release)
        seen.append(Refined(plan, number, release, after))
        return after

    with mock.patch.object(privhp.collect.ingest, "refine_plan", watched):
        yield seen


@contextlib.contextmanager
def splits_by_code(seed: int = 0) -> Iterator[None]:
    """Split leaves by their codes in place of their counts, so that two streams have the same partitions."""

    def refine(partition: Partition, learned: Any, *, diameters: Any, **_: Any) -> Partition:
        leaves = zip(partition.levels.tolist(), partition.codes().tolist(), strict=True)
        steps = [
            min(int(np.random.default_rng([seed, *leaf]).choice([0, 0, 0, 1, 2, 3])), diameters.size - 1 - leaf[0])
            for leaf in leaves
        ]
        return partition.split(np.array(steps, dtype=np.int64))

    with mock.patch.object(privhp.collect.learning, "refine", refine):
        yield


@dataclass
class Coins:
    """Coins in place of those of a sample: given ones, then random ones; all are recorded."""

    given: list[bool] = field(default_factory=list)
    heads: list[bool] = field(default_factory=list)

    def __call__(self, rows: int, *, rate: Fraction) -> NDArray[np.intp]:
        rng = np.random.default_rng(len(self.heads))
        coins, self.given = self.given[:rows], self.given[rows:]
        coins += (rng.random(rows - len(coins)) < float(rate)).tolist()
        self.heads += coins
        return np.flatnonzero(coins)


@contextlib.contextmanager
def replaced_coins(given: list[bool] | None = None) -> Iterator[Coins]:
    """Replace the coins of learning passes, and record them."""
    coins = Coins(list(given or []))
    with mock.patch.object(privhp.collect.ingest, "poisson_sample", coins):
        yield coins


@dataclass
class Entropy:
    """Bytes in place of those of the operating system: given ones, then zeros; all are recorded."""

    given: bytes
    drawn: list[bytes] = field(default_factory=list)

    def __call__(self, size: int) -> bytes:
        found, self.given = self.given[:size], self.given[size:]
        self.drawn.append(found.ljust(size, b"\0"))
        return self.drawn[-1]


@contextlib.contextmanager
def replaced_entropy(given: bytes = b"") -> Iterator[Entropy]:
    """Replace the entropy of the operating system, and record it."""
    with mock.patch.object(os, "urandom", Entropy(given)) as entropy:
        yield entropy


def count_leaves(partition: Partition, values: Any, depth: int) -> list[int]:
    """Reference: the number of integers of `depth` bits in each leaf; other values are skipped."""
    counts = dict.fromkeys(zip(partition.levels.tolist(), partition.codes().tolist(), strict=True), 0)
    for value in values:
        if 0 <= value < 2**depth:
            (leaf,) = [own for own in counts if value >> (depth - own[0]) == own[1]]
            counts[leaf] += 1
    return list(counts.values())


class KilledError(Exception):
    """The end of a process, without a last save."""


@contextlib.contextmanager
def array_file(folder: Path, values: Any, *, rows: int) -> Iterator[Path]:
    """A file of values that is read in batches of `rows` rows."""
    path = folder / "data.npy"
    np.save(path, np.asarray(values))
    with mock.patch.object(Selection, "rows", property(lambda self: rows)):
        yield path


def run_resumed(
    plan: Plan, data: Path, state: Path, *, batches: int, kill: bool, **reading: Any
) -> tuple[Ingestion, int]:
    """All passes, interrupted again and again after some batches and resumed; and the number of runs.

    Args:
        plan: The plan.
        data: The file.
        state: Path of the checkpoint.
        batches: Number of batches of each run.
        kill: Whether the process ends without a last save; else it stops and saves.
        reading: How the file is read.
    """
    for runs in range(100):
        source = open_source(data, domain=plan.domain, **reading)
        ingestion = CheckpointedIngestion(plan, source, state, every=0, resume=runs > 0)
        left = iter(range(batches))

        def is_over(_: Any, left: Iterator[int] = left) -> bool:
            over = next(left, None) is None
            if over and kill:
                raise KilledError
            return over

        done = False
        with contextlib.suppress(KilledError):
            done = ingestion.run(is_over)
        ingestion.close(remove=done)
        if done:
            return ingestion, runs + 1
    raise AssertionError("a resumed ingestion does not end")

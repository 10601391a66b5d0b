"""The fold of a pass: shards of records to tallies, tallies to one tally.

Every pass of a plan is linear, so a pass over any shards, on any engine, ends in
the counters of one process. An engine runs the fold once for each pass. Noise and
refinement are the coordinator's alone.

Tallies travel as bytes of `Tally.to_bytes`. They hold noise-free counts, so every
place where an engine stores them is confidential.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from privhp.answers.generator import Generator, Reading
from privhp.answers.high_counts import describe_high_count
from privhp.answers.low_counts import describe_low_count
from privhp.collect.coins import poisson_sample
from privhp.collect.ingest import READING_SCRATCH
from privhp.collect.learning import first_pass, is_learning, pass_plan, refine_plan
from privhp.collect.summary import Summary
from privhp.collect.tally import Tally
from privhp.domains import Domain
from privhp.errors import PlanError, warn
from privhp.fitting import DEFAULT_PASSES, name_columns
from privhp.io.sources import open_source
from privhp.planning.plan import Plan
from privhp.planning.plan_warnings import plan_warnings


@dataclass(frozen=True)
class PassFold:
    """How a worker counts in one pass. Public, and equal in all workers: it holds the plan and no record.

    Args:
        plan: The plan of the summary of the pass.
        rate: Sampling rate of a learning pass; None counts all records.
        columns: Columns of a record, by name.
    """

    plan: Plan
    rate: Fraction | None = None
    columns: Sequence[str] | None = None

    def start(self) -> Tally:
        """An empty tally of the pass. Confidential, once it has counted."""
        return Tally(self.plan)

    def add(self, tally: Tally, shard: Any) -> None:
        """Count the records of a shard, each once.

        In a learning pass each row has its own coin from the operating system's
        entropy, drawn here. A task that is repeated draws new ones.

        Args:
            tally: A tally of this pass.
            shard: Records, as `privhp.fit` takes them: a path, a frame, Arrow batches, an iterator of batches.
        """
        sample = None if self.rate is None else partial(poisson_sample, rate=self.rate)
        source = open_source(shard, domain=self.plan.domain, columns=self.columns)
        for batch in source.batches(sample=sample):
            tally.add(batch.records, scratch=READING_SCRATCH)

    def count(self, shard: Any) -> bytes:
        """The tally of a shard. Confidential.

        Args:
            shard: Records, as `privhp.fit` takes them.
        """
        tally = self.start()
        self.add(tally, shard)
        return tally.to_bytes()

    def merge(self, tallies: Iterable[bytes]) -> bytes:
        """The sum of tallies, in any order; a tally that comes twice is refused. Confidential.

        Args:
            tallies: Results of `count` and `merge`.
        """
        total = self.start()
        for data in tallies:
            total.merge(Tally.from_bytes(data))
        return total.to_bytes()


def fit_passes(
    plan: Plan, run_pass: Callable[[PassFold], Iterable[bytes]], *, columns: Sequence[str] | None = None
) -> Generator:
    """Return a differentially private generator from the passes that an engine runs.

    The generator is that of `privhp.fit` on all records in one process: its
    counters without noise are the same, bit for bit. The guarantee needs that
    `run_pass` counts each record once.

    Args:
        plan: The plan, with or without learning passes.
        run_pass: Runs one pass over all records and returns its tallies: one, or one of each shard.
        columns: Columns of a record, by name.
    """
    warn(*plan_warnings(plan).values())
    for number in range(first_pass(plan), plan.passes):
        learning = plan.learning if is_learning(plan, number) else None
        rate = None if learning is None else learning.passes[number].rate
        fold = PassFold(pass_plan(plan, number), rate, columns)
        summary = Summary(fold.plan)
        for data in run_pass(fold):
            summary.absorb(Tally.from_bytes(data))
        if learning is not None:
            plan = refine_plan(plan, number, summary.close())
    generator = summary.release()
    generator.reading = Reading(formats=())
    warn(describe_low_count(generator), describe_high_count(generator))
    return generator


def release_groups(
    plan: Plan, groups: Iterable[Hashable], tallies: Iterable[tuple[Any, bytes]]
) -> dict[Hashable, Generator]:
    """Return a generator for each declared group of records; all together cost the epsilon of the plan.

    Groups are disjoint: a record is in the group of its own value. So a person's
    records, in whatever groups, change all generators together by no more than
    those of one release. Groups that are not declared are left out, and a declared
    group without records has a release like any other.

    Args:
        plan: A plan of one pass, or with a partition. The expected records are those of one group.
        groups: The groups, declared without looking at the data.
        tallies: Pairs of a group and a tally of its records; see `PassFold.count`.
    """
    if plan.neighbours != "add-remove":
        raise PlanError(
            'groups need neighbours="add-remove": a replaced record may move to another group and change the number of '
            "records of both"
        )
    declared = list(groups)
    summaries = {group: Summary(plan) for group in declared}
    if len(summaries) != len(declared):
        raise PlanError("expected different groups, got one of them twice")
    for group, data in tallies:
        if group in summaries:
            summaries[group].absorb(Tally.from_bytes(data))
    return {group: summary.release() for group, summary in summaries.items()}


def read_plan(
    domain: Domain | None, plan: Plan | None, columns: Sequence[str] | None, settings: dict[str, Any]
) -> Plan:
    """The plan of an engine's `fit`: the given one, or that of `Plan.auto` with the default number of passes."""
    if plan is not None:
        if domain is not None or settings:
            raise PlanError("plan= fixes the domain and all settings; leave these arguments out")
    elif domain is None:
        raise PlanError("fit needs domain, epsilon= and expected_records=, or plan=")
    else:
        passes = 1 if settings.get("partition") is not None else DEFAULT_PASSES
        plan = Plan.auto(domain, **{"passes": passes, **settings})
    return name_columns(plan, columns, header=True)

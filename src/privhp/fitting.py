"""Fit a generator to data, or learn a partition from it, in one call."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from threading import Event
from typing import TYPE_CHECKING, Any

from privhp.answers.generator import Generator, Reading
from privhp.answers.high_counts import describe_high_count
from privhp.answers.low_counts import check_min_records, describe_low_count
from privhp.answers.unseen_nulls import describe_unseen_nulls
from privhp.core.budget import Neighbours
from privhp.core.progress import Progress, Unit
from privhp.core.progress_displays import watch_session
from privhp.domains import Domain
from privhp.errors import PlanError, RecordsError, describe_value, file_errors, warn
from privhp.planning.learning import MAX_PASSES
from privhp.planning.parameter_checks import MAX_RECORDS, check_integer, check_is_domain
from privhp.planning.plan import Plan, check_is_plan
from privhp.planning.plan_warnings import plan_warnings

if TYPE_CHECKING:
    from privhp.collect.ingest import Ingestion
    from privhp.io.sources import Batch, CsvDialect, Format, NullPerson, Persons, Source

DEFAULT_PASSES = 3
"""Passes over data that can be read again: two that learn a partition, and one that measures."""


@file_errors()
def fit(
    data: Any,
    domain: Domain | None = None,
    *,
    epsilon: float | int | str | Fraction | Decimal | None = None,
    expected_records: float | None = None,
    memory: int | str | None = None,
    passes: int | None = None,
    partition: Any = None,
    neighbours: Neighbours = "add-remove",
    max_records_per_person: int = 1,
    person: str | int | None = None,
    null_person: "NullPerson" = "refuse",
    pan_private: bool = False,
    plan: Plan | None = None,
    columns: Sequence[str | int] | str | int | None = None,
    header: bool = True,
    csv: "CsvDialect | None" = None,
    format: "Format | None" = None,  # noqa: A002 - the name of the parameter in the public API
    min_records: int | None = None,
    progress: bool = True,
) -> Generator:
    """Return a differentially private generator of synthetic records.

    The generator is epsilon-differentially private under the neighbouring
    relation of the plan, whatever the order of the records. Memory is bounded,
    whatever their number. Data that can be read again is read three times: twice to
    learn a partition on private samples, and once to measure. A pipe or an iterator
    is read once.

    Args:
        data: A path, a glob or "-" for standard input; a list of `Path`s; an array or a sequence of records, a
            dict of arrays, a data frame, a polars LazyFrame, a DuckDB relation or another object with Arrow's
            PyCapsule interface, or a list of frames or columns, or an iterator of any of these.
        domain: Domain of the records; not with `plan`.
        epsilon: Total privacy budget; not with `plan`.
        expected_records: Expected number of records: a public guess, never a count of the data; not with `plan`.
        memory: Bytes for all counters, such as 65536 or "64 KiB"; see `Plan.auto`. Reading a file takes about ten
            megabytes more.
        passes: Number of times that the data is read: 1 to 3, by default 3, or 1 for a pipe or an iterator.
        partition: A partition that is known before, for one pass; see `Plan.auto`.
        neighbours: Neighbouring relation; see `Plan.auto`.
        max_records_per_person: Largest number of records of one person. It is assumed, unless `person` is given.
        person: Column of the ids of persons. Of each person the first `max_records_per_person` records are counted,
            of the plan if `plan` is given, and the others left out. Files and batches must be sorted by it, as numbers
            or as text in byte order; frames and dicts may be in any order.
        null_person: What a null id means: "refuse" raises, "one" counts all records without an id as one person's.
        pan_private: Whether noise is drawn twice; see `Plan.auto`. It does not cover checkpoints of `privhp fit`.
        plan: A plan in place of the arguments above, such as `Plan.paper(...)`; by default `Plan.auto` makes it.
        columns: Columns of a record, by name or, without names, by number from 1.
        header: Whether the first record of a CSV file names its columns. If so, records with another number of
            fields are skipped.
        csv: Dialect of CSV files: what a record is, the delimiter, nulls, decimal mark and encoding.
        format: Format of a file, if its name does not say: "csv", "ndjson", "parquet", "arrow" or "npy".
        min_records: Raise `LowCountError` if the noisy number of records is below it. The generator is an attribute of
            the error, since its budget is spent.
        progress: Whether a long fit shows its progress, as a bar in a notebook or a line in an interactive session. It
            is removed at the end. A script shows none.
    """
    from privhp.collect.ingest import Ingestion  # slow to import, and needed by fit and learn only
    from privhp.io.frames import frame_kind
    from privhp.io.sources.object_forms import holds_batches

    if min_records is not None:
        check_integer(min_records, "min_records", 0, MAX_RECORDS)
    persons = _persons(person, null_person)
    reading: dict[str, Any] = {"columns": columns, "header": header, "csv": csv, "format": format, "persons": persons}
    if plan is not None:
        check_is_plan(plan)
        if (domain is not None and domain != plan.domain) or epsilon is not None or expected_records is not None:
            raise PlanError("plan= fixes the domain, epsilon and expected_records; leave these arguments out")
        if max_records_per_person not in (1, plan.max_records_per_person):
            raise PlanError(
                f"plan= fixes the number of records of a person, {plan.max_records_per_person:,}; leave out "
                "max_records_per_person="
            )
        source = _open(data, plan.domain, **reading)
    else:
        if domain is None or epsilon is None or expected_records is None:
            given = {"domain": domain, "epsilon=": epsilon, "expected_records=": expected_records}
            missing = " and ".join(name for name, value in given.items() if value is None)
            raise PlanError(f"fit needs {missing}, or plan= in place of domain, epsilon= and expected_records=")
        source = _open(data, domain, **reading)
        if passes is None:
            passes = DEFAULT_PASSES if source.rereadable and partition is None else 1
        plan = Plan.auto(
            domain,
            epsilon=epsilon,
            expected_records=expected_records,
            memory=memory,
            passes=passes,
            partition=partition,
            neighbours=neighbours,
            max_records_per_person=max_records_per_person,
            pan_private=pan_private,
        )
    warn(*plan_warnings(plan).values())
    frame = frame_kind(data[0] if isinstance(data, list | tuple) and holds_batches(data) else data)
    with watch_session(shown=progress) as watched:
        ingestion = Ingestion(name_columns(plan, columns, header=header), source)
        run_passes(ingestion, plan, source, watched)
        generator = ingestion.summary.release()
    generator.frame = frame
    generator.reading = Reading(source.formats, persons=persons is not None, declared=source.declared)
    warn(describe_low_count(generator), describe_high_count(generator), describe_unseen_nulls(generator))
    check_min_records(generator, min_records)
    return generator


@file_errors()
def learn(
    data: Any,
    domain: Domain,
    *,
    epsilon: float | int | str | Fraction | Decimal,
    expected_records: float,
    memory: int | str | None = None,
    passes: int = DEFAULT_PASSES,
    neighbours: Neighbours = "add-remove",
    max_records_per_person: int = 1,
    person: str | int | None = None,
    null_person: "NullPerson" = "refuse",
    pan_private: bool = False,
    columns: Sequence[str | int] | str | int | None = None,
    header: bool = True,
    csv: "CsvDialect | None" = None,
    format: "Format | None" = None,  # noqa: A002 - the name of the parameter in the public API
    progress: bool = True,
) -> Plan:
    """Learn a partition on samples of the data and return the plan that has it. Public.

    The plan measures the same data in one pass, by `fit(data, plan=plan)`, by a
    summary or by tallies of many machines; learning and measuring together are
    epsilon-differentially private. For other data of this kind, make a new plan by
    `Plan.auto(..., partition=plan)`, whose whole budget is for measuring.

    Args:
        data: Data that can be read again; see `fit`.
        domain: Domain of the records.
        epsilon: Total privacy budget; learning costs a small part of it, `plan.learning_cost`.
        expected_records: Expected number of records: a public guess, never a count of the data.
        memory: Bytes for all counters, such as 65536 or "64 KiB"; see `Plan.auto`.
        passes: Number of passes, the one that measures included: 2 or 3.
        neighbours: Neighbouring relation; see `Plan.auto`.
        max_records_per_person: Largest number of records of one person.
        person: Column of the ids of persons, whose records are then bounded; see `fit`.
        null_person: What a null id means; see `fit`.
        pan_private: Whether noise is drawn twice; see `Plan.auto`. It does not cover checkpoints of `privhp fit`.
        columns: Columns of a record, by name or, without names, by number from 1.
        header: Whether the first record of a CSV file names its columns.
        csv: Dialect of CSV files.
        format: Format of a file, if its name does not say.
        progress: Whether progress is shown, as for `fit`.
    """
    from privhp.collect.ingest import Ingestion  # slow to import, and needed by fit and learn only

    check_integer(passes, "passes", 2, MAX_PASSES)
    persons = _persons(person, null_person)
    source = _open(data, domain, columns=columns, header=header, csv=csv, format=format, persons=persons)
    plan = Plan.auto(
        domain,
        epsilon=epsilon,
        expected_records=expected_records,
        memory=memory,
        passes=passes,
        neighbours=neighbours,
        max_records_per_person=max_records_per_person,
        pan_private=pan_private,
    )
    warn(*plan_warnings(plan).values())
    with watch_session(shown=progress) as watched:
        ingestion = Ingestion(name_columns(plan, columns, header=header), source)
        run_passes(ingestion, plan, source, watched, learn_only=True)
    return ingestion.plan


def run_passes(
    ingestion: "Ingestion",
    plan: Plan,
    source: "Source",
    progress: Progress,
    *,
    unit: Unit | None = None,
    resumed: bool = False,
    stop: Event | None = None,
    learn_only: bool = False,
) -> bool:
    """Run the passes as one stage of a task until `stop` is set; whether all are complete.

    Args:
        ingestion: The passes.
        plan: The plan with which the first of them began.
        source: The source of the records.
        progress: Progress of the task.
        unit: Unit of the rate; None shows no rate.
        resumed: Whether an earlier run did part of the work.
        stop: Set to stop after the current batch.
        learn_only: Whether to run the learning passes alone.
    """
    from privhp.collect.learning import first_pass  # slow to import, and needed by fit and learn only

    first, each = first_pass(plan), source.size
    size = None if each is None else each * (plan.passes - learn_only - first)
    progress.begin(size=size, unit=unit, resumed=resumed)

    def should_stop(batch: "Batch") -> bool:
        earlier = 0 if each is None else each * (ingestion.number - first)
        progress.show(None if batch.read is None else earlier + batch.read)
        return stop is not None and stop.is_set()

    done = ingestion.learn(should_stop) if learn_only else ingestion.run(should_stop)
    progress.begin()
    return done


def name_columns(plan: Plan, columns: Any, *, header: bool) -> Plan:
    """The plan whose domain has the names of the columns, unless it has names or the columns are numbers."""
    names = [columns] if isinstance(columns, str | int) else columns
    domain = plan.domain
    if names is None or not header or domain.columns or domain.declared_names is not None:
        return plan
    named = all(isinstance(name, str) and name and not name.isdecimal() for name in names)
    distinct = len(set(names)) == len(names) == len(domain.fields())  # readers refuse another number
    return replace(plan, domain=domain.named(*names)) if named and distinct else plan


def _persons(column: str | int | None, null: Any) -> "Persons | None":
    """The declared persons."""
    from privhp.io.sources import Persons  # slow to import, and needed here only

    if null not in ("refuse", "one"):
        raise RecordsError(f'expected null_person="refuse" or "one", got {describe_value(null)}')
    if column is None:
        return None
    if isinstance(column, bool) or not isinstance(column, str | int):
        raise RecordsError(f"person= takes the name of a column, or its number from 1, got {describe_value(column)}")
    return Persons(str(column), null)


def _open(data: Any, domain: Domain, *, columns: Any, **reading: Any) -> "Source":
    """The source of records; columns are selected only where data has names."""
    from privhp.io.sources import open_source  # slow to import, and needed here only
    from privhp.io.sources.opening import check_named_columns

    check_is_domain(domain)
    if columns is not None:
        check_named_columns(data)
    return open_source(data, domain=domain, columns=columns, **reading, warn=warn)

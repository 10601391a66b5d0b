"""Spark: fits on data frames, by `mapInArrow` alone, so that they run on Spark Connect too.

A task counts one shard and returns one row with its tally. Two more stages merge
the rows in a tree. Only the collected row counts, and Spark collects one attempt
of each task: repeated and speculative attempts leave no trace.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from privhp.answers.generator import Generator
from privhp.domains import Domain
from privhp.engines.fold import PassFold, fit_passes, read_plan
from privhp.engines.spark_persons import cap_persons
from privhp.engines.spark_plans import check_query
from privhp.errors import StateError, warn
from privhp.io.sources import NullPerson
from privhp.io.sources.arrow import select_columns
from privhp.io.sources.selection import Selection
from privhp.planning.plan import Plan

_SCHEMA = "shards array<int>, tally binary"


def fit(
    df: Any,
    domain: Domain | None = None,
    *,
    plan: Plan | None = None,
    columns: Sequence[str] | None = None,
    person: str | None = None,
    null_person: NullPerson = "refuse",
    **settings: Any,
) -> Generator:
    """Return a differentially private generator of the rows of a Spark data frame.

    The guarantee and the counters are those of `privhp.fit` on the same records.
    The query runs once for each pass. A query whose rows could count twice after the
    loss of an executor is refused before a record is read; see `check_stable`.

    Args:
        df: A data frame of Spark, or of Spark Connect.
        domain: Domain of the records; not with `plan`.
        plan: A plan in place of the domain and the settings.
        columns: Columns of a record, by name.
        person: Column of the ids of persons. Of each person `max_records_per_person` records are counted, chosen by the
            values of that person's records alone; see `cap_persons`.
        null_person: What a null id means: "refuse" ends the job, "one" counts such records as those of one person.
        **settings: Arguments of `Plan.auto`: `epsilon`, `expected_records`, `memory`, `passes` (by default 3), ...
    """
    plan = read_plan(domain, plan, columns, settings)
    frame = select_records(df, plan.domain, columns)
    if person is not None:
        quoted = [_quote(name) for name in frame.columns]
        frame = cap_persons(df, quoted, _quote(person), plan.max_records_per_person, null_person=null_person)
        return fit_passes(plan, partial(count_frame, frame), columns=columns)
    check_records(frame)
    return fit_passes(plan, partial(count_frame, frame), columns=columns)


def count_frame(frame: Any, fold: PassFold) -> list[bytes]:
    """Count all rows of a frame of `select_records` in one pass; its tally, or none without tasks. Confidential.

    The caller has checked that the query is stable.
    """
    from pyspark.sql import functions

    counted = frame.mapInArrow(partial(_count_shard, fold), _SCHEMA)
    # By the number of the shard: a tally goes to the same task however often it is computed.
    grouped = counted.repartition(functions.col("shards")[0])
    merged = grouped.mapInArrow(partial(_merge_rows, fold), _SCHEMA)
    rows = merged.repartition(1).mapInArrow(partial(_merge_rows, fold), _SCHEMA).collect()
    shards = [shard for row in rows for shard in row.shards]
    if len(set(shards)) != len(shards):
        raise StateError("Spark returned two tallies of one shard; nothing was released, run the job again")
    return [bytes(row.tally) for row in rows]


def select_records(df: Any, domain: Domain, columns: Sequence[str] | None = None) -> Any:
    """The columns of the records of a domain, after a check of their types."""
    from pyspark.sql.pandas.types import to_arrow_schema

    selection = Selection(domain, columns, warn=warn)
    indices = selection.indices_by_name(df.columns, where="the data frame", in_memory=True)
    frame = df.select(*[_quote(df.columns[index]) for index in indices])
    select_columns(to_arrow_schema(frame.schema), selection, "data frame", in_memory=True)
    return frame


def check_records(frame: Any) -> None:
    """Refuse a query whose rows could count twice in a pass."""
    # Below another operator, as it will be counted: a limit at the top is planned in another way.
    check_query(frame.mapInArrow(_same, frame.schema))


def _count_shard(fold: PassFold, batches: Iterator[Any]) -> Iterator[Any]:
    """One row: the number of the shard and its tally."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    yield _row([context.partitionId()], fold.count(batches))


def _merge_rows(fold: PassFold, batches: Iterator[Any]) -> Iterator[Any]:
    """One row: the numbers of the shards of all rows, and the sum of their tallies; no row for none."""
    shards: list[int] = []

    def tallies() -> Iterator[bytes]:
        for batch in batches:
            for row in batch.to_pylist():
                shards.extend(row["shards"])
                yield row["tally"]

    merged = fold.merge(tallies())
    if shards:
        yield _row(shards, merged)


def _row(shards: list[int], tally: bytes) -> Any:
    import pyarrow as pa

    return pa.record_batch(
        {"shards": pa.array([shards], pa.list_(pa.int32())), "tally": pa.array([tally], pa.binary())}
    )


def _quote(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _same(batches: Iterator[Any]) -> Iterator[Any]:
    return batches

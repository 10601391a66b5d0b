"""DataFusion: a tally as an aggregate function of SQL and data frames, and fits by it.

DataFusion counts in one accumulator for each thread and group, and merges their
states, which are tallies as bytes. It runs in one process and repeats no task.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from privhp.answers.generator import Generator
from privhp.collect.tally import Tally
from privhp.domains import Domain
from privhp.engines.fold import PassFold, fit_passes, read_plan
from privhp.errors import warn
from privhp.io.sources.arrow import select_columns
from privhp.io.sources.selection import Selection
from privhp.planning.plan import Plan


def fit(
    frame: Any,
    domain: Domain | None = None,
    *,
    plan: Plan | None = None,
    columns: Sequence[str] | None = None,
    **settings: Any,
) -> Generator:
    """Return a differentially private generator of the rows of a DataFusion data frame.

    The guarantee and the counters are those of `privhp.fit` on the same records.
    The query runs once for each pass.

    Args:
        frame: A data frame of DataFusion, such as `context.sql(...)`.
        domain: Domain of the records; not with `plan`.
        plan: A plan in place of the domain and the settings.
        columns: Columns of a record, by name.
        **settings: Arguments of `Plan.auto`: `epsilon`, `expected_records`, `memory`, `passes` (by default 3), ...
    """
    plan = read_plan(domain, plan, columns, settings)
    schema = frame.schema()
    names = select_columns(schema, Selection(plan.domain, columns, warn=warn), "data frame", in_memory=True)
    return fit_passes(plan, partial(_count_frame, frame, names, [schema.field(name).type for name in names]))


def tally_function(fold: PassFold, types: Sequence[Any], *, name: str = "privhp_tally") -> Any:
    """The aggregate function that counts records in a tally, for `SessionContext.register_udaf`.

    Its arguments are the values of a record in the order of the domain. Its result is
    a tally as bytes, without noise: confidential.

    Args:
        fold: The fold of a pass, such as `PassFold(plan)`.
        types: Arrow types of the arguments.
        name: Name of the function.
    """
    import pyarrow as pa
    from datafusion import Accumulator, udaf

    names = fold.plan.domain.value_names

    class TallyAccumulator(Accumulator):  # type: ignore[misc]  # the engine has no types here
        """Counts of one thread and group."""

        def __init__(self) -> None:
            self._tally = fold.start()

        def update(self, *values: Any) -> None:
            """Count a batch."""
            fold.add(self._tally, pa.record_batch(list(values), names=list(names)))

        def merge(self, states: list[Any]) -> None:
            """Add the counts of other threads."""
            for data in states[0].to_pylist():
                self._tally.merge(Tally.from_bytes(data))

        def state(self) -> list[Any]:
            """The tally as bytes."""
            return [self.evaluate()]

        def evaluate(self) -> Any:
            """The tally as bytes."""
            return pa.scalar(self._tally.to_bytes(), pa.binary())

    return udaf(TallyAccumulator, list(types), pa.binary(), [pa.binary()], "volatile", name=name)


def _count_frame(frame: Any, names: Sequence[str], types: Sequence[Any], fold: PassFold) -> list[bytes]:
    """The tally of all rows in one pass."""
    from datafusion import col

    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    counted = frame.aggregate([], [tally_function(fold, types)(*map(col, quoted)).alias("tally")])
    return [bytes(data) for batch in counted.collect() for data in batch.column(0).to_pylist()]

"""Which queries of Spark count each row once, also after the loss of an executor.

When an executor is lost, Spark computes its shuffle files again. Tasks that have
read the old files keep their results, and other tasks read the new ones. If the
new files divide the rows in another way, a row is in both or in neither
(SPARK-23243, SPARK-38160). Without a shuffle, a task is repeated as a whole.

So a query is accepted if it has no shuffle, or if all below its shuffles depends
on values of rows alone: then the new files hold the same rows.
"""

import contextlib
import io
import re
from typing import Any

from privhp.errors import RecordsError

_NODES = {
    "AQEShuffleRead",
    "AdaptiveSparkPlan",
    "BatchScan",
    "BroadcastExchange",
    "BroadcastHashJoin",
    "BroadcastQueryStage",
    "Coalesce",
    "ColumnarToRow",
    "Exchange",
    "Expand",
    "FileScan",
    "Filter",
    "Generate",
    "HashAggregate",
    "InMemoryRelation",
    "InMemoryTableScan",
    "LocalTableScan",
    "Project",
    "Range",
    "ReusedExchange",
    "ShuffleQueryStage",
    "ShuffledHashJoin",
    "Sort",
    "SortMergeJoin",
    "StreamingRelation",
    "Union",
}
"""Operators whose rows, as a set, follow from the values of the rows below them."""

_FUNCTIONS = {
    *(
        "abs",
        "cast",
        "ceil",
        "coalesce",
        "concat",
        "contains",
        "date_add",
        "date_trunc",
        "dayofmonth",
        "dayofweek",
        "endswith",
        "exp",
    ),
    *(
        "explode",
        "floor",
        "from_unixtime",
        "get_json_object",
        "greatest",
        "hash",
        "hashpartitioning",
        "hour",
        "if",
        "in",
    ),
    *("isnan", "isnotnull", "isnull", "knownfloatingpointnormalized", "least", "length", "like", "ln", "log", "lower"),
    *(
        "minute",
        "month",
        "nanvl",
        "normalizenanandzero",
        "pmod",
        "pow",
        "rangepartitioning",
        "replace",
        "round",
        "second",
    ),
    *(
        "split",
        "sqrt",
        "startswith",
        "substring",
        "to_date",
        "to_timestamp",
        "trim",
        "trunc",
        "try_cast",
        "upper",
        "year",
    ),
}
"""Functions of one row, with the two ways to divide rows by value."""

_CHECKED = {"Exchange", "Expand", "Filter", "Generate", "HashAggregate", "Project", "Sort"}
"""Operators with expressions; the text of a scan has the names of files too."""

_SHUFFLE = re.compile("^(?!Broadcast|ShuffledHashJoin).*(Exchange|Shuffle)")
"""Operators that divide rows among tasks, also those of other executions of Spark; unknown ones are then refused."""

_LINE = re.compile(r"^([\s:|+-]*)(?:\*\s*(?:\(\d+\))? )?(\w+)(.*)$")


def check_query(query: Any) -> None:
    """Refuse a data frame whose rows could count twice in a pass."""
    with contextlib.redirect_stdout(io.StringIO()) as explained:
        query.explain()
    check_stable(explained.getvalue())


def check_stable(explained: str) -> None:
    """Refuse a query whose rows could count twice in a pass.

    Args:
        explained: The physical plan, as `DataFrame.explain()` prints it.
    """
    if "ExistingRDD" in explained or "Scan[" in explained:
        raise _unstable("an RDD, a checkpoint or a list, whose computation is not in the query")
    if "RoundRobinPartitioning" in explained:
        raise _unstable("a repartition that does not name a column, which privhp does not need")
    below: int | None = None  # depth of the first shuffle on the way to the current operator
    for line in explained.splitlines():
        found = _LINE.match(line)
        if found is None:
            continue
        depth, name, arguments = len(found[1]), found[2], found[3]
        if below is not None and depth <= below:
            below = None
        if below is None and _SHUFFLE.search(name):
            below = depth
        if below is not None:
            _check_operator(name, arguments)


def _check_operator(name: str, arguments: str) -> None:
    """Refuse an operator below a shuffle that does not depend on values of rows alone."""
    if name not in _NODES or (name == "HashAggregate" and "functions=[]" not in arguments):
        raise _unstable(f"a shuffle of what the operator {name} computes")
    if name in _CHECKED:
        unknown = set(re.findall(r"(\w+)\(", arguments.lower())) - _FUNCTIONS
        if unknown or "more fields" in arguments:
            raise _unstable("a shuffle of expressions that are not known to depend on one row alone")


def _unstable(what: str) -> RecordsError:
    return RecordsError(
        f"the query has {what}: if an executor is lost, Spark may count a row twice; leave that step out, or write its "
        "result to Parquet in a job without failures and read that"
    )

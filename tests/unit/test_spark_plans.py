"""Queries of Spark that are accepted and refused, by physical plans that Spark 4.3 printed."""

import pytest

from privhp import RecordsError
from privhp.engines.spark_plans import check_stable

SCAN = "FileScan parquet [x#4,k#5L] Batched: true, Format: Parquet, Location: InMemoryFileIndex(1 paths)[file:/rand(1)]"
ACCEPTED = {
    "scan": f"*(1) ColumnarToRow\n+- {SCAN}",
    "filter": f"*(1) Filter (isnotnull(x#4) AND (x#4 > 3.0))\n+- *(1) ColumnarToRow\n   +- {SCAN}",
    "random filter, no shuffle": f"*(1) Filter (rand(7) < 0.5)\n+- {SCAN}",
    "user function, no shuffle": f"ArrowEvalPython [f(x#4)#9], [pythonUDF0#9], 101\n+- {SCAN}",
    "local rows": "LocalTableScan [x#102]",
    "union": f"Union\n:- {SCAN}\n+- {SCAN}",
    "by column": f"""AdaptiveSparkPlan isFinalPlan=false
+- Project [x#4]
   +- Exchange hashpartitioning(k#5L, 4), REPARTITION_BY_NUM, [plan_id=81]
      +- {SCAN}""",
    "sorted": f"""Sort [x#4 ASC NULLS FIRST], true, 0
+- Exchange rangepartitioning(x#4 ASC NULLS FIRST, 4), ENSURE_REQUIREMENTS, [plan_id=132]
   +- {SCAN}""",
    "distinct": f"""HashAggregate(keys=[x#4], functions=[])
+- Exchange hashpartitioning(x#4, 4), ENSURE_REQUIREMENTS, [plan_id=145]
   +- HashAggregate(keys=[knownfloatingpointnormalized(normalizenanandzero(x#4)) AS x#4], functions=[])
      +- {SCAN}""",
    "random above a shuffle": f"""Project [rand(3) AS r#1]
+- Exchange hashpartitioning(k#5L, 4), REPARTITION_BY_NUM, [plan_id=81]
   +- {SCAN}""",
    "broadcast join of a function": f"""BroadcastHashJoin [k#5L], [k#11L], Inner, BuildRight, false, false
:- ArrowEvalPython [f(x#4)#9], [pythonUDF0#9], 101
:  +- {SCAN}
+- BroadcastExchange HashedRelationBroadcastMode(List(input[0, bigint, true]),false), [plan_id=202]
   +- {SCAN}""",
    "shuffle beside a function": f"""Union
:- Exchange hashpartitioning(k#5L, 4), REPARTITION_BY_NUM, [plan_id=81]
:  +- {SCAN}
+- ArrowEvalPython [f(x#4)#9], [pythonUDF0#9], 101
   +- {SCAN}""",
}
REFUSED = {
    "round robin": f"Exchange RoundRobinPartitioning(4), REPARTITION_BY_NUM, [plan_id=38]\n+- {SCAN}",
    "cached round robin": f"""InMemoryTableScan [x#4]
      +- InMemoryRelation [x#4], StorageLevel(disk, memory, deserialized, 1 replicas)
            +- Exchange RoundRobinPartitioning(4), REPARTITION_BY_NUM, [plan_id=38]
               +- {SCAN}""",
    "by a random number": f"""+- Exchange hashpartitioning(_nondeterministic#7, 4), REPARTITION_BY_NUM, [plan_id=107]
   +- Project [x#4, rand(5036560095737242447) AS _nondeterministic#7]
      +- {SCAN}""",
    "random rows, shuffled": f"""Exchange hashpartitioning(k#5L, 4), REPARTITION_BY_NUM, [plan_id=1]
+- *(1) Sample 0.0, 0.5, false, 4969470424010143136
   +- {SCAN}""",
    "one of duplicates": f"""HashAggregate(keys=[k#5L], functions=[first(x#4, false)])
+- Exchange hashpartitioning(k#5L, 4), ENSURE_REQUIREMENTS, [plan_id=160]
   +- HashAggregate(keys=[k#5L], functions=[partial_first(x#4, false)])
      +- {SCAN}""",
    "limit": f"""GlobalLimit 10
+- Exchange SinglePartition, ENSURE_REQUIREMENTS, [plan_id=160]
   +- LocalLimit 10
      +- {SCAN}""",
    "user function, shuffled": f"""Exchange hashpartitioning(x#106, 3), REPARTITION_BY_NUM, [plan_id=382]
+- Project [pythonUDF0#211 AS x#106]
   +- ArrowEvalPython [<lambda>(x#4)#105], [pythonUDF0#211], 101
      +- {SCAN}""",
    "compiled user function": f"""Exchange hashpartitioning(x#106, 3), REPARTITION_BY_NUM, [plan_id=382]
+- *(1) Project [UDF(x#4) AS x#106]
   +- {SCAN}""",
    "expressions not shown": f"""Exchange hashpartitioning(x#106, 3), REPARTITION_BY_NUM, [plan_id=382]
+- *(1) Project [x#106, ... 30 more fields]
   +- {SCAN}""",
    "rdd": "*(1) Scan ExistingRDD[x#104]",
    "rdd of objects": "SerializeFromObject [input[0, bigint, false] AS x#2L]\n+- Scan[obj#1L]",
    "shuffle of another execution": f"""CometColumnarToRow
+- CometExchange hashpartitioning(k#5L, 4), REPARTITION_BY_NUM, CometNativeShuffle, [plan_id=1]
   +- {SCAN}""",
    "shuffle read of another execution": f"""PhotonResultStage
+- PhotonShuffleExchangeSource
   +- PhotonShuffleMapStage
      +- {SCAN}""",
    "second shuffle": f"""Exchange hashpartitioning(k#5L, 4), REPARTITION_BY_NUM, [plan_id=1]
+- Exchange hashpartitioning(r#8, 4), REPARTITION_BY_NUM, [plan_id=121]
   +- Project [x#4, rand(2523124185183553441) AS r#8]
      +- {SCAN}""",
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str) -> None:
    check_stable(f"== Physical Plan ==\n{ACCEPTED[name]}\n\n\n")


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    with pytest.raises(RecordsError, match="may count a row twice; leave that step out"):
        check_stable(f"== Physical Plan ==\n{REFUSED[name]}\n\n\n")

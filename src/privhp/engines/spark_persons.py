"""At most c records of each person on Spark, by a window over the records of that person."""

from collections.abc import Sequence
from typing import Any

from privhp.engines.spark_plans import check_query
from privhp.errors import RecordsError

_PERSON, _RANK = "privhp_person", "privhp_rank"
_IDS = {"byte", "short", "integer", "long", "string"}
_NULL = (
    "a row has no person; fill the column of persons, leave such rows out, or count them all as one person's with "
    'null_person="one"'
)


def cap_persons(df: Any, columns: Sequence[str], person: str, most: int, *, null_person: str) -> Any:
    """The records of a frame, at most `most` of each person.

    Those are kept whose values have the smallest hashes. So which records of a
    person are kept depends on the records of that person alone, not on their order,
    and nearly as a random choice would.

    Args:
        df: The data frame.
        columns: Columns of a record, quoted.
        person: Column of the ids of persons, integers or texts, quoted.
        most: Largest number of records of a person.
        null_person: What a null id means: "refuse" ends the job, "one" keeps records as those of one person.
    """
    from pyspark.sql import Window, functions

    if null_person not in ("refuse", "one"):
        raise RecordsError(f'expected null_person="refuse" or "one", got {null_person!r}')
    owned = df.select(functions.col(person).alias(_PERSON), *columns)
    kind = owned.schema[_PERSON].dataType.typeName()
    if kind not in _IDS:
        raise RecordsError(f"expected integers or text as ids of persons, got {kind}; convert them")
    check_query(owned.repartition(_PERSON))  # the window shuffles by person
    owner = functions.nullif(functions.col(_PERSON).cast("string"), functions.lit(""))
    if null_person == "refuse":
        owner = functions.coalesce(owner, functions.raise_error(functions.lit(_NULL)))
    order = [functions.xxhash64(*columns), *columns]
    rank = functions.row_number().over(Window.partitionBy(_PERSON).orderBy(*order))
    return owned.withColumn(_PERSON, owner).withColumn(_RANK, rank).where(f"{_RANK} <= {most}").select(*columns)

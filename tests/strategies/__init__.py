"""Hypothesis strategies for domains, records, batches, plans and noise.

domains()               a domain of any kind, of one column
tables()                several of them as columns, some nullable
records(domain)         one record of the right type: inside, on an edge or outside
junk()                  something that is no record
batches(domain)         an array of records
untidy_batches(domain)  a list of records and junk
partitions()            a partition with leaves of several levels
plans()                 a small plan: as in the paper, with any measured levels, or with a partition
measured_plans()        a small plan of a table that measures some columns by themselves
noise(plan)             chosen noise for every counter of a plan
releases(plan)          a release of it, with measured columns
"""

from strategies.domains import (
    OUTSIDE_RULES,
    any_domains,
    box_sides,
    boxes,
    cut_intervals,
    domains,
    geos,
    integers,
    linear_intervals,
    log_intervals,
    ordered_domains,
    pattern_texts,
    tables,
)
from strategies.plans import (
    HASH_SEEDS,
    free_plans,
    generators,
    measured_plans,
    noise,
    paper_plans,
    partition_plans,
    partitions,
    plans,
    releases,
)
from strategies.records import as_batch, batches, junk, records, untidy_batches

__all__ = [
    "HASH_SEEDS",
    "OUTSIDE_RULES",
    "any_domains",
    "as_batch",
    "batches",
    "box_sides",
    "boxes",
    "cut_intervals",
    "domains",
    "free_plans",
    "generators",
    "geos",
    "integers",
    "junk",
    "linear_intervals",
    "log_intervals",
    "measured_plans",
    "noise",
    "ordered_domains",
    "paper_plans",
    "partition_plans",
    "partitions",
    "pattern_texts",
    "plans",
    "records",
    "releases",
    "tables",
    "untidy_batches",
]

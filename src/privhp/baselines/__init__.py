"""Other methods for private histograms, to compare privhp with. No other package imports this one.

    import privhp as hp
    from privhp import baselines

    histogram = baselines.fit("HB", records, hp.Interval(0, 1), epsilon=1, expected_records=100_000)
    histogram.mass((0.2, 0.3))                # signed answer
    histogram.distribution("monotone cdf")    # samples and answers, as a generator

Every method counts cells of the domain's hierarchy, draws exact noise of integers
from the operating system's entropy, knows the expected number of records and not the true
one, and returns a `SignedHistogram` with the same choice of post-processing. Each
is epsilon-differentially private for one record.
"""

from collections.abc import Callable
from typing import Any

from privhp.baselines import (
    adaptive_grid,
    complete_tree,
    dawa,
    flat,
    hb,
    privtree,
    quantile_tree,
    truncated_tree,
    uniform_grid,
)
from privhp.baselines.cell_counts import CellCounts
from privhp.baselines.mechanism import Mechanism
from privhp.baselines.signed_histogram import POST_PROCESSING, SignedHistogram
from privhp.core.budget import Neighbours
from privhp.domains.domain import Domain
from privhp.errors import PlanError
from privhp.planning.parameter_checks import check_expected_records, read_memory

METHODS: dict[str, Callable[..., SignedHistogram]] = {
    "complete tree": complete_tree.estimate,
    "truncated tree": truncated_tree.estimate,
    "truncated least squares": truncated_tree.estimate_by_least_squares,
    "flat": flat.estimate,
    "HB": hb.estimate,
    "DAWA": dawa.estimate,
    "UGrid": uniform_grid.estimate,
    "AGrid": adaptive_grid.estimate,
    "PrivTree": privtree.estimate,
    "quantile tree": quantile_tree.estimate,
}
"""Methods by name. Each takes counts of cells, a mechanism, `expected_records` and `memory` in bytes."""

__all__ = ["METHODS", "POST_PROCESSING", "CellCounts", "Mechanism", "SignedHistogram", "fit"]


def fit(
    method: str,
    records: Any,
    domain: Domain,
    *,
    epsilon: float,
    expected_records: int,
    memory: int | str = "64 KiB",
    neighbours: Neighbours = "add-remove",
    **options: Any,
) -> SignedHistogram:
    """Fit a baseline to records.

    Args:
        method: One of `METHODS`.
        records: Records as `domain.encode` takes them, or a data frame of one of the libraries that `hp.fit` takes.
        domain: Domain of the records.
        epsilon: Privacy budget of one record.
        expected_records: Public guess of the number of records.
        memory: Limit of the method's counters, in bytes or as text.
        neighbours: Neighbouring relation; under replace-one all noise is twice as large.
        options: Public choices of a method, such as `level=` of flat, HB and DAWA.
    """
    if method not in METHODS:
        raise PlanError(f"expected one of {', '.join(METHODS)}, got {method!r}")
    check_expected_records(expected_records)
    counts, mechanism = CellCounts(domain, records), Mechanism(epsilon, neighbours=neighbours)
    limits = {"expected_records": expected_records, "memory": read_memory(memory)}
    return METHODS[method](counts, mechanism, **limits, **options)

"""privhp: from a sensitive stream to a private generator of synthetic records.

One pass, fixed memory, pure epsilon-differential privacy:

    import privhp as hp

    plan = hp.Plan.auto(hp.Interval(0, 1000), epsilon=1, records=1_000_000, memory="64 KiB")
    summary = hp.Summary(plan)
    for batch in batches:
        summary.update(batch)
    generator = summary.release()
    generator.sample(100_000)
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privhp.bounds import Prediction
    from privhp.distribution import Distribution
    from privhp.domains import (
        Box,
        Categories,
        Domain,
        Geo,
        Integers,
        Interval,
        IPv4,
        IPv6,
        Nullable,
        Table,
        Taxonomy,
        Time,
        check_domain,
    )
    from privhp.domains.specs import read_domain
    from privhp.errors import DomainError, FileError, PlanError, PrivhpError, QueryError, RecordsError, StateError
    from privhp.files import load, resume, save
    from privhp.generator import Generator
    from privhp.growth import Growth
    from privhp.ingest import fit
    from privhp.metrics import grid_wasserstein, range_errors, tree_wasserstein, wasserstein
    from privhp.plan import Plan
    from privhp.queries.heavy import HeavyHitter
    from privhp.release import Release
    from privhp.summary import Summary
    from privhp.tally import Tally
    from privhp.tree import Leaves
    from privhp.uncertainty import Estimate

__version__ = "0.1.0"

__all__ = [
    "Box",
    "Categories",
    "Distribution",
    "Domain",
    "DomainError",
    "Estimate",
    "FileError",
    "Generator",
    "Geo",
    "Growth",
    "HeavyHitter",
    "IPv4",
    "IPv6",
    "Integers",
    "Interval",
    "Leaves",
    "Nullable",
    "Plan",
    "PlanError",
    "Prediction",
    "PrivhpError",
    "QueryError",
    "RecordsError",
    "Release",
    "StateError",
    "Summary",
    "Table",
    "Tally",
    "Taxonomy",
    "Time",
    "check_domain",
    "fit",
    "grid_wasserstein",
    "load",
    "range_errors",
    "read_domain",
    "resume",
    "save",
    "tree_wasserstein",
    "wasserstein",
]

_ROOMS = {
    "privhp.bounds": ("Prediction",),
    "privhp.distribution": ("Distribution",),
    "privhp.domains": (
        "Box",
        "Categories",
        "Domain",
        "Geo",
        "IPv4",
        "IPv6",
        "Integers",
        "Interval",
        "Nullable",
        "Table",
        "Taxonomy",
        "Time",
        "check_domain",
    ),
    "privhp.domains.specs": ("read_domain",),
    "privhp.errors": (
        "DomainError",
        "FileError",
        "PlanError",
        "PrivhpError",
        "QueryError",
        "RecordsError",
        "StateError",
    ),
    "privhp.files": ("load", "resume", "save"),
    "privhp.generator": ("Generator",),
    "privhp.growth": ("Growth",),
    "privhp.ingest": ("fit",),
    "privhp.metrics": ("grid_wasserstein", "range_errors", "tree_wasserstein", "wasserstein"),
    "privhp.plan": ("Plan",),
    "privhp.queries.heavy": ("HeavyHitter",),
    "privhp.release": ("Release",),
    "privhp.summary": ("Summary",),
    "privhp.tally": ("Tally",),
    "privhp.tree": ("Leaves",),
    "privhp.uncertainty": ("Estimate",),
}
"""Where the public names live: a room is imported when one of its names is asked for; `privhp --help` needs none."""


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for room, names in _ROOMS.items():
        if name in names:
            globals().update({own: getattr(import_module(room), own) for own in names})
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

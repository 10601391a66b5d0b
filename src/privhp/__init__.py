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
    from privhp.answers.distribution import Distribution
    from privhp.answers.estimate import Estimate
    from privhp.answers.generator import Generator
    from privhp.answers.heavy_hitters import HeavyHitter
    from privhp.answers.leaves import Leaves
    from privhp.api import fit, load, resume, save
    from privhp.collect.summary import Summary
    from privhp.collect.tally import Tally
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
    from privhp.evaluate import grid_wasserstein, range_errors, tree_wasserstein, wasserstein
    from privhp.planning.error_model import Prediction
    from privhp.planning.growth import Growth
    from privhp.planning.plan import Plan
    from privhp.release import Release

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
    "privhp.planning.error_model": ("Prediction",),
    "privhp.answers.distribution": ("Distribution",),
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
    "privhp.api": ("fit", "load", "resume", "save"),
    "privhp.answers.generator": ("Generator",),
    "privhp.planning.growth": ("Growth",),
    "privhp.evaluate": ("grid_wasserstein", "range_errors", "tree_wasserstein", "wasserstein"),
    "privhp.planning.plan": ("Plan",),
    "privhp.answers.heavy_hitters": ("HeavyHitter",),
    "privhp.release": ("Release",),
    "privhp.collect.summary": ("Summary",),
    "privhp.collect.tally": ("Tally",),
    "privhp.answers.leaves": ("Leaves",),
    "privhp.answers.estimate": ("Estimate",),
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

"""privhp: from a sensitive stream to a private generator of synthetic records.

Bounded memory, any order of the records, pure epsilon-differential privacy:

    import privhp as hp

    domain = hp.Table(fare=hp.Interval(0, 1000), kind=hp.Categories(["bus", "tram"]))
    generator = hp.fit("trips/*.parquet", domain, epsilon=1, expected_records=1_000_000)
    generator.sample(100_000)
    generator.mass({"fare": (0, 10)})
"""

from typing import TYPE_CHECKING, Any

from privhp.core.display import register_renderers
from privhp.core.version import __version__ as __version__

if TYPE_CHECKING:
    from privhp.answers.distribution import Distribution as Distribution
    from privhp.answers.estimate import Estimate as Estimate
    from privhp.answers.generator import Generator as Generator
    from privhp.answers.heavy_hitters import HeavyHitter as HeavyHitter
    from privhp.api import compare as compare
    from privhp.api import load as load
    from privhp.api import report as report
    from privhp.api import resume as resume
    from privhp.api import save as save
    from privhp.collect.summary import Summary as Summary
    from privhp.collect.tally import Tally as Tally
    from privhp.core.cells import OUTSIDE as OUTSIDE
    from privhp.domains.box import Box as Box
    from privhp.domains.categories import Categories as Categories
    from privhp.domains.checks import check_domain as check_domain
    from privhp.domains.domain import Domain as Domain
    from privhp.domains.geo import Geo as Geo
    from privhp.domains.ip import IPv4 as IPv4
    from privhp.domains.ip import IPv6 as IPv6
    from privhp.domains.nullable import Nullable as Nullable
    from privhp.domains.numbers import Integers as Integers
    from privhp.domains.numbers import Interval as Interval
    from privhp.domains.pattern import Pattern as Pattern
    from privhp.domains.plot_scale import PlotScale as PlotScale
    from privhp.domains.specs import read_domain as read_domain
    from privhp.domains.table import Table as Table
    from privhp.domains.taxonomy import Taxonomy as Taxonomy
    from privhp.domains.time import Time as Time
    from privhp.errors import DomainError as DomainError
    from privhp.errors import FileError as FileError
    from privhp.errors import LowCountError as LowCountError
    from privhp.errors import PlanError as PlanError
    from privhp.errors import PrivhpError as PrivhpError
    from privhp.errors import PrivhpWarning as PrivhpWarning
    from privhp.errors import QueryError as QueryError
    from privhp.errors import RecordsError as RecordsError
    from privhp.errors import StateError as StateError
    from privhp.evaluate import grid_wasserstein as grid_wasserstein
    from privhp.evaluate import range_errors as range_errors
    from privhp.evaluate import tree_wasserstein as tree_wasserstein
    from privhp.evaluate import wasserstein as wasserstein
    from privhp.fitting import fit as fit
    from privhp.fitting import learn as learn
    from privhp.io.sources.csv_dialect import CsvDialect as CsvDialect
    from privhp.planning.error_model import Prediction as Prediction
    from privhp.planning.partition import Partition as Partition
    from privhp.planning.plan import Plan as Plan

_PUBLIC = {
    "privhp.answers.distribution": "Distribution",
    "privhp.answers.estimate": "Estimate",
    "privhp.answers.generator": "Generator",
    "privhp.answers.heavy_hitters": "HeavyHitter",
    "privhp.api": "compare load report resume save",
    "privhp.collect.summary": "Summary",
    "privhp.collect.tally": "Tally",
    "privhp.core.cells": "OUTSIDE",
    "privhp.domains.box": "Box",
    "privhp.domains.categories": "Categories",
    "privhp.domains.checks": "check_domain",
    "privhp.domains.domain": "Domain",
    "privhp.domains.geo": "Geo",
    "privhp.domains.ip": "IPv4 IPv6",
    "privhp.domains.nullable": "Nullable",
    "privhp.domains.numbers": "Integers Interval",
    "privhp.domains.pattern": "Pattern",
    "privhp.domains.plot_scale": "PlotScale",
    "privhp.domains.specs": "read_domain",
    "privhp.domains.table": "Table",
    "privhp.domains.taxonomy": "Taxonomy",
    "privhp.domains.time": "Time",
    "privhp.errors": "DomainError FileError LowCountError PlanError PrivhpError PrivhpWarning QueryError RecordsError "
    "StateError",
    "privhp.evaluate": "grid_wasserstein range_errors tree_wasserstein wasserstein",
    "privhp.fitting": "fit learn",
    "privhp.io.sources.csv_dialect": "CsvDialect",
    "privhp.planning.error_model": "Prediction",
    "privhp.planning.partition": "Partition",
    "privhp.planning.plan": "Plan",
}
"""Modules of the public names. A module is imported on the first access to one of its names."""

_MODULES = {name: module for module, names in _PUBLIC.items() for name in names.split()}

__all__ = sorted(_MODULES)  # noqa: PLE0605 - a list, derived from the one table of names

register_renderers(
    {
        "distribution card": "privhp.reporting.notebook:distribution_card",
        "domain card": "privhp.reporting.notebook:domain_card",
        "estimate card": "privhp.reporting.notebook:estimate_card",
        "generator card": "privhp.reporting.notebook:generator_card",
        "plan card": "privhp.reporting.notebook:plan_card",
        "plot": "privhp.reporting.plot:plot",
    }
)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    globals()[name] = getattr(import_module(_MODULES[name]), name)
    return globals()[name]


def __dir__() -> list[str]:
    """The public names alone, for completion: neither modules nor names that this module imports."""
    return sorted([*__all__, "__version__"])

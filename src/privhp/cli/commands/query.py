"""`privhp query`: a release in, answers out."""

import json
from argparse import Namespace
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from privhp.answers.distribution import Distribution
from privhp.answers.generator import Generator
from privhp.api import load
from privhp.cli.reading import read_file
from privhp.cli.tables import as_table
from privhp.domains import Domain
from privhp.domains.conditions import condition_of, read_condition
from privhp.domains.table_column import Name
from privhp.errors import QueryError
from privhp.io.sinks import format_values


class _Answers(NamedTuple):
    """Answers of one kind: for programs, and the same as a table for people."""

    records: Sequence[dict[str, Any]]
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


def run(options: Namespace) -> None:
    """Print the answers, in the order where, quantile, heavy."""
    if not options.where and not options.quantile and options.heavy_hitters is None:
        raise QueryError(
            "expected a question, --where, --quantile or --heavy-hitters, got none; see privhp query --help"
        )
    generator = read_file(load, options.release)
    kinds = list(_answered(generator, options))
    if options.json:
        for record in chain.from_iterable(kind.records for kind in kinds):
            print(json.dumps(record, ensure_ascii=False))
    else:
        print("\n\n".join(as_table(kind.header, kind.rows) for kind in kinds))


def _answered(generator: Generator, options: Namespace) -> Iterator[_Answers]:
    if options.where:
        yield _masses(generator, options.where, options.columns)
    if options.quantile:
        yield _quantiles(generator, options.quantile, options.marginal)
    if options.heavy_hitters is not None:
        yield _heavy(generator, options.heavy_hitters, options)


def _tells_errors(generator: Generator) -> bool:
    return generator.plan.inference == "least-squares"


def _masses(generator: Generator, conditions: Sequence[str], names: Sequence[str] | None) -> _Answers:
    regions = [read_condition(text, generator.domain, names=names) for text in conditions]
    records: list[dict[str, Any]] = []
    for text, region in zip(conditions, regions, strict=True):
        mass = generator.mass(region)
        share, error = mass.value, mass.stderr if _tells_errors(generator) else None
        least, most = generator.mass_bounds(region)
        answer = {"share": share, "standard_error": error, "cells_inside": least, "cells_touched": most}
        records.append({"where": text, **answer, "records": share * generator.total})
    kinds = ("share", "standard_error", "cells_inside", "cells_touched")
    rows = [(*(_percent(one[kind]) for kind in kinds), f"{one['records']:,.0f}", one["where"]) for one in records]
    return _Answers(records, (*(kind.replace("_", " ") for kind in kinds), "records", "where"), rows)


def _quantiles(generator: Generator, shares: Sequence[float], column: str | None) -> _Answers:
    if column is None and len(generator.domain.columns) == 1:
        column = _columns(generator.domain)
    part = _part(generator, column, values_only=True)
    if part.domain.columns:
        raise QueryError(f"expected --marginal COLUMN with --quantile, one of {_columns(part.domain)}, got none")
    found = part.quantile(shares)
    errors: list[Any] = [None] * len(shares)
    if _tells_errors(generator) and part.domain.is_line:
        errors = [_plain_error(stderr) for stderr in found.stderr]
    values = format_values(part.domain, found.value)
    records: list[dict[str, Any]] = [
        {"quantile": share, "of": column, "value": value, "standard_error": error}
        for share, value, error in zip(shares, values, errors, strict=True)
    ]
    rows = [(f"{one['quantile']:.6g}", _text(one["value"]), _text(one["standard_error"])) for one in records]
    return _Answers(records, ("share at or below", f"{column or 'value'}", "standard error"), rows)


def _plain_error(doubt: Any) -> float:
    """A standard error as a number; that of times in seconds."""
    return float(doubt / np.timedelta64(1, "s")) if isinstance(doubt, np.timedelta64) else float(doubt)


def _heavy(generator: Generator, threshold: float, options: Namespace) -> _Answers:
    part = _part(generator, options.marginal)
    names = options.columns if options.marginal is None else options.marginal.split(",")
    hitters = part.heavy_hitters(threshold)
    records: list[dict[str, Any]] = [
        {
            "heavy": condition_of(hitter.region, part.domain, names=names),
            "share": hitter.mass,
            "records": hitter.count,
            "residual_share": hitter.residual_mass,
            "residual_records": hitter.residual_count,
        }
        for hitter in hitters
    ]
    rows = [
        (_percent(one["share"]), _percent(one["residual_share"]), f"{one['residual_records']:,.0f}", one["heavy"])
        for one in records
    ]
    return _Answers(records, ("share", "without those inside", "records of that", "where"), rows)


def _part(generator: Generator, column: str | None, *, values_only: bool = False) -> Distribution:
    """The release itself, or the distribution of one of its columns, without null if only values are asked for."""
    if column is None:
        return generator
    if not generator.domain.columns:
        raise QueryError(f"expected --marginal with a release of a table, got {generator.domain!r}; leave it out")
    known: dict[str, Name] = {",".join(own.names): own.name for own in generator.domain.columns}
    if column not in known:
        raise QueryError(f"expected --marginal with one of {_columns(generator.domain)}, got {column!r}")
    name = known[column]
    nullable = any(own.name == name and own.domain.nullable for own in generator.domain.columns)
    return generator.marginal(name, null=not (values_only and nullable))


def _columns(table: Domain) -> str:
    return ", ".join(",".join(column.names) for column in table.columns)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.3%}"


def _text(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)

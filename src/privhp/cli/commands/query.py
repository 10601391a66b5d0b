"""`privhp query`: shares, quantiles and heavy hitters from a release."""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from privhp.cli.options import add_file, add_names, number, shares
from privhp.cli.parsers import Commands, add_command

if TYPE_CHECKING:
    from privhp.answers.distribution import Distribution
    from privhp.answers.generator import Generator
    from privhp.domains import Domain

_EXAMPLES = """\
examples:
  privhp query fares.privhp --where 'fare < 10' --where 'fare < 5 or fare >= 100'
  privhp query fares.privhp --quantile 0.25,0.5,0.75
  privhp query t.privhp --quantile 0.5 --marginal fare
  privhp query log.privhp --where 'value in 10.0.0.0/8' --heavy-hitters 0.05 --json

conditions, joined by and; conditions on one column also by or:
  fare >= 5 and fare < 10           numbers; on a continuous scale < and <= are the same
  fare between 5 and 10             the same with both ends
  port in [22, 445], port != 80     any of several integers, all but one
  pickup < 2018-02-01               times; a date is its midnight; quote '2018-02-01 12:30'
  kind = cash                       categories and nodes of a tree, such as service = web/https
  kind in [cash, card, 'gift card'] any of several values; kind != cash
  code in E11*, code = E11.9        prefixes and texts of a pattern; code in [E10*, E11*]
  source in 10.0.0.0/8              addresses; source = 10.0.0.1
  lon,lat in -9:49.8:2:61           places: west, south, east, north
  x,y in 0:1,2:3                    points: one pair per coordinate; x < 0.5 for a single one
  delay is null, delay is not null  missing values

A release keeps the names that fit had by --columns or --domain. Without names a value is called
value, the coordinates of a point x1, x2, ..., and those of a place longitude and latitude. Queries
cost no privacy. The standard error covers noise and discretisation: 90% of true values
are within 1.645 standard errors. Plans of --method paper have none. The columns
at least and at most bound the share by the cells inside and the cells touched.
"""


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "query", "Compute shares, quantiles and heavy hitters from a release.", _EXAMPLES)
    add_file(parser, "release", help="a release that privhp fit wrote")
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="CONDITION",
        help="share of the records that satisfy the condition; may be repeated",
    )
    parser.add_argument(
        "--quantile", type=shares, default=[], metavar="SHARES", help="quantiles at these shares, such as 0.25,0.5"
    )
    parser.add_argument(
        "--heavy-hitters",
        type=number,
        metavar="SHARE",
        help="prefixes, values or regions with at least this share of the records",
    )
    parser.add_argument(
        "--marginal", metavar="COLUMN", help="column of a table for --quantile and --heavy-hitters: its marginal"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per answer and line")
    add_names(parser)


class _Answers(NamedTuple):
    """Answers of one kind, as JSON objects and as a table."""

    objects: Sequence[dict[str, Any]]
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


def run(options: Namespace) -> None:
    """Print the answers: shares, quantiles, heavy hitters."""
    from privhp.api import load
    from privhp.cli.paths import read_file
    from privhp.cli.streams import print_object
    from privhp.errors import QueryError

    if not options.where and not options.quantile and options.heavy_hitters is None:
        raise QueryError("nothing to query; give --where, --quantile or --heavy-hitters; see privhp query --help")
    answers = list(_answer(read_file(load, options.release), options))
    if options.json:
        for answer in chain.from_iterable(kind.objects for kind in answers):
            print_object(answer)
    else:
        print("\n\n".join(_as_table(kind.header, kind.rows) for kind in answers))


def _answer(generator: "Generator", options: Namespace) -> Iterator[_Answers]:
    if options.where:
        yield _masses(generator, options.where, options.columns)
    if options.quantile:
        yield _quantiles(generator, options.quantile, options)
    if options.heavy_hitters is not None:
        yield _heavy_hitters(generator, options.heavy_hitters, options)


def _has_stderr(generator: "Generator") -> bool:
    return generator.plan.inference == "least-squares"


def _masses(generator: "Generator", conditions: Sequence[str], names: Sequence[str] | None) -> _Answers:
    from privhp.domains.conditions import read_condition

    regions = [read_condition(text, generator.domain, names=names) for text in conditions]
    objects: list[dict[str, Any]] = []
    for text, region in zip(conditions, regions, strict=True):
        mass = generator.mass(region)
        known = _has_stderr(generator) and mass.resolved
        low, high = mass.interval(0.9) if _has_stderr(generator) else (None, None)
        at_least, at_most = generator.mass_bounds(region)
        objects.append(
            {
                "where": text,
                "share": mass.value,
                "stderr": mass.stderr if known else None,
                "low": low,
                "high": high,
                "at_least": at_least,
                "at_most": at_most,
                "count": mass.value * generator.total,
            }
        )
    keys = ("share", "stderr", "low", "high")
    rows = [(*(_percent(one[key]) for key in keys), f"{one['count']:,.0f}", one["where"]) for one in objects]
    return _Answers(objects, ("share", "standard error", "90% from", "to", "count", "where"), rows)


def _quantiles(generator: "Generator", shares: Sequence[float], options: Namespace) -> _Answers:
    from privhp.errors import QueryError
    from privhp.io.sinks import format_values

    column = options.marginal
    if column is None and len(generator.domain.columns) == 1:
        column = _columns(generator.domain)
    part = _marginal(generator, column, values_only=True)
    if part.domain.columns:
        raise QueryError(f"--quantile of a table needs --marginal COLUMN, one of {_columns(part.domain)}")
    estimates = part.quantile(shares)
    unknown: list[Any] = [None] * len(shares)
    stderr, lows, highs = unknown, unknown, unknown
    if _has_stderr(generator) and part.domain.is_line:
        stderr = [_plain_error(error) for error in estimates.stderr]
        lows, highs = (format_values(part.domain, ends) for ends in estimates.interval(0.9))
    values = format_values(part.domain, estimates.value)
    objects: list[dict[str, Any]] = [
        {"quantile": share, "marginal": column, "value": value, "stderr": error, "low": low, "high": high}
        for share, value, error, low, high in zip(shares, values, stderr, lows, highs, strict=True)
    ]
    keys = ("value", "stderr", "low", "high")
    rows = [(f"{one['quantile']:.6g}", *(_text(one[key]) for key in keys)) for one in objects]
    label = column or ",".join(options.columns or part.domain.value_names)
    if part is not generator and _has_null(generator, column):
        label += ", of the values that are not null"
    return _Answers(objects, ("quantile", label, "standard error", "90% from", "to"), rows)


def _has_null(generator: "Generator", column: str | None) -> bool:
    return any(own.domain.nullable for own in generator.domain.columns if ",".join(own.names) == column)


def _plain_error(stderr: Any) -> float:
    """Standard error as a number; of times, in seconds."""
    import numpy as np

    return float(stderr / np.timedelta64(1, "s")) if isinstance(stderr, np.timedelta64) else float(stderr)


def _heavy_hitters(generator: "Generator", threshold: float, options: Namespace) -> _Answers:
    from privhp.domains.conditions import format_condition

    part = _marginal(generator, options.marginal)
    names = options.columns if options.marginal is None else options.marginal.split(",")
    objects: list[dict[str, Any]] = [
        {
            "heavy_hitter": format_condition(hitter.region, part.domain, names=names),
            "share": hitter.mass,
            "count": hitter.count,
            "residual_share": hitter.residual_mass,
            "residual_count": hitter.residual_count,
        }
        for hitter in part.heavy_hitters(threshold)
    ]
    rows = [
        (_percent(one["share"]), _percent(one["residual_share"]), f"{one['residual_count']:,.0f}", one["heavy_hitter"])
        for one in objects
    ]
    return _Answers(objects, ("share", "residual share", "residual count", "where"), rows)


def _marginal(generator: "Generator", column: str | None, *, values_only: bool = False) -> "Distribution":
    """The generator, or the marginal of one of its columns, without null if only values are asked for."""
    from privhp.errors import QueryError

    if column is None:
        return generator
    if not generator.domain.columns and column == ",".join(generator.domain.value_names):
        return generator
    if not generator.domain.columns:
        raise QueryError(f"--marginal needs a release of a table; this one is of {generator.domain!r}; leave it out")
    known = {",".join(own.names): own for own in generator.domain.columns}
    if column not in known:
        raise QueryError(f"--marginal {column}: no such column; choose one of {_columns(generator.domain)}")
    own = known[column]
    return generator.marginal(own.name, null=not (values_only and own.domain.nullable))


def _columns(table: "Domain") -> str:
    return ", ".join(",".join(column.names) for column in table.columns)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.3%}"


def _text(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _as_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Aligned lines with a header; empty columns are left out."""
    kept = [index for index in range(len(header)) if any(row[index] for row in rows) or not rows]
    lines = [[line[index] for index in kept] for line in (header, *rows)]
    *widths, _ = (max(map(len, column)) for column in zip(*lines, strict=True))
    return "\n".join("   ".join([*map(str.rjust, line, widths), line[-1]]) for line in lines)

"""Answers of the commands that query a release, as JSON objects and as tables."""

import re
import warnings
from argparse import Namespace
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from privhp.answers.distribution import Distribution
from privhp.answers.estimate import Estimate
from privhp.answers.generator import Generator
from privhp.answers.regions import describe_outside, is_outside
from privhp.cli.streams import print_object
from privhp.core.number_format import format_duration, format_number, format_rounded
from privhp.domains import Domain
from privhp.domains.conditions import format_condition, read_condition
from privhp.errors import DomainError, PrivhpWarning, QueryError
from privhp.io.sinks import format_values

_ZONE = re.compile(r"(?:Z|[-+]\d\d:\d\d)$")
ERROR_HEADER = ("standard error", "90% from", "to")
_FINER = "\nwithout a share: finer than the cells of the release; the interval gives bounds"


class Answers(NamedTuple):
    """Answers of one kind, as JSON objects and as a table."""

    objects: Sequence[dict[str, Any]]
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    """Text under the table, from a new line on."""


def print_answers(answers: Sequence[Answers], *, as_json: bool) -> None:
    """Print answers of several kinds: one object per line, or tables with an empty line between them."""
    if as_json:
        for answer in chain.from_iterable(kind.objects for kind in answers):
            print_object(answer)
    else:
        print("\n\n".join(as_table(kind.header, kind.rows) + kind.note for kind in answers))


def find_masses(generator: Generator, conditions: Sequence[str], options: Namespace) -> Answers:
    """Shares of the records that satisfy each condition."""
    regions = _read_conditions(conditions, generator.domain, options)
    objects: list[dict[str, Any]] = []
    for text, region in zip(conditions, regions, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivhpWarning)  # name_outside names the conditions
            mass = generator.mass(region)
        at_least, at_most = generator.mass_bounds(region)
        objects.append(
            {
                "where": text,
                "share": mass.value,
                **_share_errors(generator, mass),
                "at_least": at_least,
                "at_most": at_most,
                "count": mass.value * generator.total,
            }
        )
    rows = [_mass_row(one) for one in objects]
    note = _FINER if any(map(_is_interpolated, objects)) else ""
    return Answers(objects, ("share", *ERROR_HEADER, "count", "where"), rows, note)


def _mass_row(answer: dict[str, Any]) -> list[str]:
    """Row of a share; an interpolated one is left out, since only its interval says something about the records."""
    share, *ends = (_percent(answer[key]) for key in ("share", "stderr", "low", "high"))
    known = ("", "") if _is_interpolated(answer) else (share, f"{answer['count']:,.0f}")
    return [known[0], *ends, known[1], answer["where"]]


def _is_interpolated(answer: dict[str, Any]) -> bool:
    """Whether a region is finer than the cells, so that the answer has an interval and no standard error."""
    return answer["stderr"] is None and answer["low"] is not None


def _read_conditions(conditions: Sequence[str], domain: Domain, options: Namespace) -> list[Any]:
    """Region of each condition; one error names all that cannot be read."""
    regions, errors = [], []
    for text in conditions:
        try:
            regions.append(read_condition(text, domain, names=options.columns))
            is_outside(domain, regions[-1])  # refuses values that are not of the domain
        except DomainError as error:
            errors.append(str(error) if len(conditions) == 1 else f"--where {text!r}: {error}")
    if errors:
        raise DomainError("; ".join(errors))
    return regions


def name_outside(generator: Generator, options: Namespace) -> str | None:
    """Sentence on conditions that no record of the domain meets; None if there are none."""
    regions = _read_conditions(options.where, generator.domain, options)
    pairs = zip(options.where, regions, strict=True)
    empty = [repr(text) for text, region in pairs if is_outside(generator.domain, region)]
    return describe_outside(f"meets {' or '.join(empty)}") if empty else None


def find_shares(generator: Generator, options: Namespace) -> Answers:
    """Share of each value of a column of categories or nodes."""
    column = _column(generator, options)
    part = _marginal(generator, column)
    regions = part.domain.value_regions()
    if not regions:
        raise QueryError(f"--shares needs --marginal COLUMN with a list of values, got {part.domain!r}")
    names = options.columns if column is None else column.split(",")
    conditions = [format_condition(region, part.domain, names=names) for region in regions]
    return find_masses(generator, conditions, options)


def find_moments(generator: Generator, kinds: Sequence[str], options: Namespace) -> Answers:
    """Mean and standard deviation of a column of numbers or times."""
    column, part = _values(generator, options, f"--{kinds[0]}")
    objects, rows = [], []
    for kind in kinds:
        estimate: Estimate[Any] = getattr(part, kind)()
        ends = estimate.interval(0.9)
        numbers = [_plain(part.domain, number) for number in (estimate.value, estimate.stderr, *ends)]
        objects.append({kind: numbers[0], "marginal": column, **_errors(*numbers[1:])})
        rows.append((kind, *_texts(estimate.stderr, numbers[0], *numbers[2:])))
    return Answers(objects, ("", _label(generator, part, column, options), *ERROR_HEADER), rows)


def find_correlation(generator: Generator, columns: Sequence[str]) -> Answers:
    """Correlation of two columns of numbers or times."""
    known = {",".join(own.names): own.name for own in generator.domain.columns}
    if len(columns) != 2 or not set(columns) <= set(known):
        advice = f"choose among {_columns(generator.domain)}" if known else f"this release is of {generator.domain!r}"
        raise QueryError(f"--correlation needs two columns of a table, such as fare,tip; {advice}")
    estimate = generator.correlation(*(known[column] for column in columns))
    numbers = [estimate.value, estimate.stderr, *estimate.interval(0.9)]
    answer = {"correlation": numbers[0], "columns": list(columns), **_errors(*numbers[1:])}
    row = ("correlation", *_texts(numbers[1], numbers[0], *numbers[2:]))
    return Answers([answer], ("", " and ".join(columns), *ERROR_HEADER), [row])


def find_quantiles(generator: Generator, shares: Sequence[float], options: Namespace, *, flag: str) -> Answers:
    """Quantiles of an ordered column."""
    column, part = _values(generator, options, flag)
    estimates = part.quantile(shares)
    unknown: list[Any] = [None] * len(shares)
    errors, stderr, lows, highs = unknown, unknown, unknown, unknown
    if _has_stderr(generator) and part.domain.is_line:
        ends = estimates.interval(0.9)
        # Of whole values, one standard error may hold a single one where the interval holds several.
        errors = [
            error if error or low == high else None for error, low, high in zip(estimates.stderr, *ends, strict=True)
        ]
        stderr = [None if error is None else _plain(part.domain, error) for error in errors]
        lows, highs = (format_values(part.domain, own) for own in ends)
    values = format_values(part.domain, estimates.value)
    objects: list[dict[str, Any]] = [
        {"quantile": share, "marginal": column, "value": value, **_errors(*known)}
        for share, value, *known in zip(shares, values, stderr, lows, highs, strict=True)
    ]
    rows = [
        (f"{share:.6g}", *_texts(error, *numbers))
        for share, error, *numbers in zip(shares, errors, values, lows, highs, strict=True)
    ]
    return Answers(objects, ("quantile", _label(generator, part, column, options), *ERROR_HEADER), rows)


def find_heavy_hitters(generator: Generator, threshold: float, options: Namespace) -> Answers:
    """Heavy hitters as conditions."""
    part = _marginal(generator, options.marginal)
    names = options.columns if options.marginal is None else options.marginal.split(",")
    hitters = part.heavy_hitters(threshold)
    objects: list[dict[str, Any]] = [
        {
            "heavy_hitter": format_condition(hitter.region, part.domain, names=names),
            "share": hitter.mass,
            **_share_errors(generator, hitter.estimate),
            "count": hitter.count,
            "residual_share": hitter.residual_mass,
            "residual_count": hitter.residual_count,
        }
        for hitter in hitters
    ]
    keys = ("share", "stderr", "low", "high", "residual_share")
    rows = [
        (
            *(_percent(one[key]) for key in keys),
            f"{one['residual_count']:,.0f}",
            format_condition(part.domain.round_region(hitter.region), part.domain, names=names),
        )
        for one, hitter in zip(objects, hitters, strict=True)
    ]
    return Answers(objects, ("share", *ERROR_HEADER, "residual share", "residual count", "where"), rows)


def _share_errors(generator: Generator, share: Estimate[float]) -> dict[str, Any]:
    """Standard error and 90% interval of a share, None where unknown; no standard error if the interval says it all."""
    if not _has_stderr(generator):
        return _errors(None, None, None)
    return _errors(share.stderr if share.resolved else None, *share.interval(0.9))


def _has_stderr(generator: Generator) -> bool:
    return generator.plan.inference == "least-squares"


def _column(generator: Generator, options: Namespace) -> str | None:
    """The column that `--marginal` names, or the only one of a table."""
    column: str | None = options.marginal
    return _columns(generator.domain) if column is None and len(generator.domain.columns) == 1 else column


def _values(generator: Generator, options: Namespace, flag: str) -> tuple[str | None, Distribution]:
    """The column that is asked for, and the distribution of its values without null."""
    column = _column(generator, options)
    part = _marginal(generator, column, values_only=True)
    if part.domain.columns:
        raise QueryError(f"{flag} of a table needs --marginal COLUMN, one of {_columns(part.domain)}")
    return column, part


def _marginal(generator: Generator, column: str | None, *, values_only: bool = False) -> Distribution:
    """The generator, or the marginal of one of its columns, without null if only values are asked for."""
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


def _columns(table: Domain) -> str:
    return ", ".join(",".join(column.names) for column in table.columns)


def _label(generator: Generator, part: Distribution, column: str | None, options: Namespace) -> str:
    """Name of a column of answers, with a note on null."""
    label = column or ",".join(options.columns or part.domain.value_names)
    names_of_nullable = [",".join(own.names) for own in generator.domain.columns if own.domain.nullable]
    null_left_out = part is not generator and column in names_of_nullable
    label += ", of the values that are not null" if null_left_out else ""
    return f"{label}, of all records" if getattr(options, "where", []) else label  # quantiles has no --where


def _errors(stderr: Any, low: Any, high: Any) -> dict[str, Any]:
    return {"stderr": stderr, "low": low, "high": high}


def _plain(domain: Domain, number: Any) -> Any:
    """A number for JSON: a time as text, a duration in seconds."""
    if isinstance(number, np.datetime64):
        return format_values(domain, np.array([number]))[0]
    return float(number / np.timedelta64(1, "s") if isinstance(number, np.timedelta64) else number)


def _texts(stderr: Any, value: Any, low: Any, high: Any) -> list[str]:
    """Value, standard error and interval for people, each to the digits that the error leaves."""
    if isinstance(stderr, np.timedelta64):
        seconds = float(stderr / np.timedelta64(1, "s"))
        first, *ends = (_round_time(number, seconds) for number in (value, low, high))
        return [first, format_duration(seconds), *ends]
    if stderr is None:
        return [_text(number) for number in (value, stderr, low, high)]
    first, *ends = (format_rounded(number, stderr) for number in (value, low, high))
    return [first, format_number(float(f"{stderr:.2g}")), *ends]


def _round_time(time: Any, seconds: float) -> str:
    """A time up to the day, the minute or the second, whichever its error leaves; a duration in its unit."""
    if not isinstance(time, str):
        return format_duration(time)
    date, _, clock = time.partition("T")
    if seconds >= 86_400 or not clock:
        return date
    zone, digits = _ZONE.search(clock), 5 if seconds >= 60 else 8 if seconds >= 1 else len(clock)
    return f"{date}T{clock[:digits]}{zone[0] if zone and digits < len(clock) else ''}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.3%}"


def _text(value: Any) -> str:
    return "" if value is None else format_rounded(value, 0) if isinstance(value, int | float) else str(value)


def as_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Aligned lines with a header; empty columns are left out."""
    kept = [index for index in range(len(header)) if any(row[index] for row in rows) or not rows]
    lines = [[line[index] for index in kept] for line in (header, *rows)]
    *widths, _ = (max(map(len, column)) for column in zip(*lines, strict=True))
    return "\n".join("   ".join([*map(str.rjust, line, widths), line[-1]]) for line in lines)

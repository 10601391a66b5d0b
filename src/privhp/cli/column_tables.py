"""Moments and quantiles of columns, of all records or of each group, as JSON objects and as tables."""

import re
import warnings
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from privhp.answers.distribution import Distribution
from privhp.answers.estimate import Estimate, format_length
from privhp.answers.generator import Generator
from privhp.cli.answer_tables import (
    ERROR_HEADER,
    Answers,
    asked_column,
    error_fields,
    has_stderr,
    list_columns,
    marginal_of,
)
from privhp.core.number_format import format_duration, format_number, format_rounded
from privhp.domains import Domain
from privhp.domains.conditions import format_condition
from privhp.domains.numbers import Integers
from privhp.errors import PrivhpWarning, QueryError
from privhp.io.sinks import format_values

_IN_PYTHON = "in Python marginal(COLUMN, where=REGION)"
_ZONE = re.compile(r"(?:Z|[-+]\d\d:\d\d)$")


class _Group(NamedTuple):
    """Records that answers are of.

    Args:
        condition: The condition that they meet; None for all records.
        part: Distribution of the values of the column; None if the group has the mass 0, and so no distribution.
        significant: Whether the release shows that there are any; None if it is not known.
    """

    condition: str | None
    part: Distribution | None
    significant: bool | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """The condition and its significance as fields of a JSON object, if there is one."""
        return {} if self.condition is None else {"significant": self.significant, "where": self.condition}

    @property
    def text(self) -> str:
        """The condition in a table, with a note on records that the release does not show."""
        return (self.condition or "") + " (no records shown)" * (self.significant is False)


def find_moments(generator: Generator, kinds: Sequence[str], options: Namespace) -> Answers:
    """Mean and standard deviation of a column of numbers or times."""
    column, part = _values(generator, options, f"--{kinds[0]}")
    objects: list[dict[str, Any]] = []
    rows = []
    for group, kind in product(_groups(generator, column, part, options), kinds):
        stderr, numbers = _moment(group.part, kind)
        objects.append({kind: numbers[0], "marginal": column, **error_fields(*numbers[1:]), **group.fields})
        rows.append((kind, *_texts(stderr, numbers[0], *numbers[2:]), group.text))
    header = ("", _label(generator, part, column, options), *ERROR_HEADER, "where")
    return Answers(objects, header, rows, _note(generator, options, " and ".join(f"--{kind}" for kind in kinds)))


def _moment(part: Distribution | None, kind: str) -> tuple[Any, list[Any]]:
    """Standard error of a moment; its value, standard error and 90% interval for JSON, None without a distribution."""
    if part is None:
        return None, [None] * 4
    estimate: Estimate[Any] = getattr(part, kind)()
    numbers = (estimate.value, estimate.stderr, *estimate.interval(0.9))
    return estimate.stderr, [_plain(part.domain, number) for number in numbers]


def find_correlation(generator: Generator, columns: Sequence[str]) -> Answers:
    """Correlation of two columns of numbers or times."""
    known = {",".join(own.names): own for own in generator.domain.columns}
    if len(columns) != 2 or not known:
        advice = (
            f"choose among {list_columns(generator.domain)}" if known else f"this release is of {generator.domain!r}"
        )
        raise QueryError(f"--correlation needs two columns of a table, such as fare,tip; {advice}")
    lines = [name for name, own in known.items() if own.domain.inner.is_line]
    for column in columns:
        if column not in lines:
            found = f"declared as {known[column].domain.inner.kind}" if column in known else "no such column"
            raise QueryError(
                f"--correlation {column}: {found}; choose two columns of numbers or times among {', '.join(lines)}"
            )
    estimate = generator.correlation(*(known[column].name for column in columns))
    numbers = [estimate.value, estimate.stderr, *estimate.interval(0.9)]
    answer = {"correlation": numbers[0], "columns": list(columns), **error_fields(*numbers[1:])}
    row = ("correlation", *_texts(numbers[1], numbers[0], *numbers[2:]))
    return Answers([answer], ("", " and ".join(columns), *ERROR_HEADER), [row])


def find_quantiles(generator: Generator, shares: Sequence[float], options: Namespace, *, flag: str) -> Answers:
    """Quantiles of an ordered column."""
    column, part = _values(generator, options, flag)
    objects: list[dict[str, Any]] = []
    rows = []
    for group in _groups(generator, column, part, options):
        for share, (value, error, low, high) in zip(shares, _quantiles(generator, group.part, shares), strict=True):
            stderr = None if error is None else _plain(part.domain, error)
            answer = {"quantile": share, "marginal": column, "value": value, **error_fields(stderr, low, high)}
            objects.append(answer | group.fields)
            texts = _texts(error, value, low, high, least=_least_length(part))
            rows.append((f"{share:.6g}", *texts, group.text))
    header = ("quantile", _label(generator, part, column, options), *ERROR_HEADER, "where")
    return Answers(objects, header, rows, _note(generator, options, flag))


def _quantiles(generator: Generator, part: Distribution | None, shares: Sequence[float]) -> list[tuple[Any, ...]]:
    """Value, standard error and 90% interval of each quantile, None where unknown."""
    unknown: list[Any] = [None] * len(shares)
    if part is None:
        return [(None,) * 4] * len(shares)
    errors, lows, highs = unknown, unknown, unknown
    estimates = part.quantile(shares)
    if has_stderr(generator) and part.domain.is_line:
        ends = estimates.interval(0.9)
        # Of whole values, one standard error may hold a single one where the interval holds several.
        errors = [
            error if error or low == high else None for error, low, high in zip(estimates.stderr, *ends, strict=True)
        ]
        lows, highs = (format_values(part.domain, own) for own in ends)
    return list(zip(format_values(part.domain, estimates.value), errors, lows, highs, strict=True))


def _integers(domain: Domain) -> int:
    """Number of integers of a column; 0 if it is of another kind."""
    spec = domain.inner.cell_spec()
    return int(spec["high"]) - int(spec["low"]) + 1 if spec["kind"] == "integers" else 0


def _groups(generator: Generator, column: str | None, part: Distribution, options: Namespace) -> Iterator[_Group]:
    """All records, or those with each value of the column that `--by` names."""
    if options.by is None:
        yield _Group(None, part)
        return
    if not generator.domain.columns:
        raise QueryError(f"--by needs a release of a table; this one is of {generator.domain!r}; leave it out")
    known = {",".join(own.names): own for own in generator.domain.columns}
    own = known.get(options.by)
    regions = {} if own is None else own.domain.value_regions()
    if own is None or not regions or options.by == column:
        listed = [name for name, each in known.items() if each.domain.value_regions() and name != column]
        named = f"choose among {', '.join(listed)}" if listed else "this release has none"
        if own is not None and options.by != column and (size := _integers(own.domain)):
            raise QueryError(
                f"--by {options.by}: the column has {size:,} values, and at most {Integers.MAX_LISTED} can be groups; "
                f"use {_IN_PYTHON} for ranges of it{f', or {named}' if listed else ''}. A fit that declares it as "
                "categories:200,404:other=rest has such groups, and costs epsilon again"
            )
        advice = named if listed else f"{named}; for other groups use {_IN_PYTHON}"
        raise QueryError(f"--by needs another column with a list of values; {advice}")
    for region in regions.values():
        where, group = {own.name: region}, None
        with warnings.catch_warnings(), suppress(QueryError):  # of a group with the share 0
            warnings.simplefilter("ignore", PrivhpWarning)  # the table marks the groups
            group = marginal_of(generator, column, values_only=True, where=where)
        significant = False if group is None else generator.shows_records(where)
        yield _Group(format_condition(where, generator.domain), group, significant)


def _values(generator: Generator, options: Namespace, flag: str) -> tuple[str | None, Distribution]:
    """The column that is asked for, and the distribution of its values without null."""
    column = asked_column(generator, options)
    part = marginal_of(generator, column, values_only=True)
    if part.domain.columns:
        raise QueryError(f"{flag} of a table needs --marginal COLUMN, one of {list_columns(part.domain)}")
    return column, part


def _label(generator: Generator, part: Distribution, column: str | None, options: Namespace) -> str:
    """Name of a column of answers, with a note on null."""
    label = column or ",".join(options.columns or part.domain.value_names)
    nullable = {",".join(own.names): own.domain.nullable for own in generator.domain.columns}
    null_left_out = nullable.get(column or "", generator.domain.nullable)
    if not _has_where(options):
        return f"{label}, of the values that are not null" if null_left_out else label
    return f"{label}, of all counted records{' in which it is not null' * null_left_out}"


def _has_where(options: Namespace) -> bool:
    return bool(getattr(options, "where", []))  # quantiles has no --where


def _note(generator: Generator, options: Namespace, flag: str) -> str:
    """Note on answers of all records beside those of conditions."""
    if not _has_where(options) or options.by is not None:
        return ""
    advice = f"; for the records of a group use --by COLUMN, or {_IN_PYTHON}" if generator.domain.columns else ""
    return f"\n--where does not apply to {flag}{advice}"


def _plain(domain: Domain, number: Any) -> Any:
    """A number for JSON: a time as text, a duration in seconds."""
    if isinstance(number, np.datetime64):
        return format_values(domain, np.array([number]))[0]
    return float(number / np.timedelta64(1, "s") if isinstance(number, np.timedelta64) else number)


def _least_length(part: Distribution) -> str:
    """Distance of neighbouring values of a line of whole values, such as 1 day; empty for others."""
    first = part.domain.cell_quantile(np.zeros(1), np.zeros(1, dtype=np.uint64), level=0)
    if first.dtype.kind == "M":
        return format_length((first + 1 - first)[0])
    return format_number(part.domain.value_step) if part.domain.value_step else ""


def _texts(stderr: Any, value: Any, low: Any, high: Any, *, least: str = "") -> list[str]:
    """Value, standard error and interval for people, each to the digits that the error leaves.

    An interval of several whole values without a standard error has one below the `least` length.
    """
    if isinstance(stderr, np.timedelta64):
        seconds = float(stderr / np.timedelta64(1, "s"))
        first, *ends = (_round_time(number, seconds) for number in (value, low, high))
        return [first, format_length(stderr), *ends]
    if stderr is None:
        return [_text(value), f"under {least}" if least and low is not None else "", *map(_text, (low, high))]
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


def _text(value: Any) -> str:
    return "" if value is None else format_rounded(value, 0) if isinstance(value, int | float) else str(value)

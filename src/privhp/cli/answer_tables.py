"""Answers of the commands that query a release, as JSON objects and as tables."""

import warnings
from argparse import Namespace
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

from privhp.answers.distribution import Distribution
from privhp.answers.estimate import Estimate
from privhp.answers.generator import Generator
from privhp.answers.heavy_hitters import describe_remaining
from privhp.answers.regions import describe_outside, is_outside
from privhp.cli.plan_options import would_learn
from privhp.cli.streams import print_object
from privhp.domains import Domain
from privhp.domains.conditions import format_condition, read_condition
from privhp.errors import DomainError, PrivhpWarning, QueryError

HARDLY_Z = 6.0
"""Standard errors below which noise is more than a sixth of the number of records."""

ERROR_HEADER = ("standard error", "90% from", "to")
_ALONE = "A fit of this column alone resolves more of it, and costs epsilon again."
_FINER = "\nwithout a share: finer than the cells of the release; the interval gives bounds"
_NETWORKS = {"ipv4": "ipv4:10.0.0.0/8", "ipv6": "ipv6:2001:db8::/32"}
_BOUNDED = {"interval", "integers", "box", "geo", "time"}
_IN_CELLS = (
    "\nat least, at most: what the cells of the release allow, up to noise. If values are heaped, such as at\n"
    "round numbers, and cells are wider than the heaps, the share can be anywhere between these."
)


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
    bounded: list[bool] = []
    for text, region in zip(conditions, regions, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivhpWarning)  # name_outside names the conditions
            mass = generator.mass(region)
        at_least, at_most = generator.mass_bounds(region)
        bounded.append(_exceeds_interval(generator, mass))
        shown = not has_stderr(generator) or mass.resolved  # else only the interval says something about the records
        objects.append(
            {
                "where": text,
                "share": mass.value if shown else None,
                **_share_errors(generator, mass),
                "at_least": at_least,
                "at_most": at_most,
                "count": mass.value * generator.total if shown else None,
            }
        )
    rows = [_mass_row(*pair) for pair in zip(objects, bounded, strict=True)]
    note = f"{_FINER}{_finer_fits(generator)}" if any(own["share"] is None for own in objects) else ""
    note += _IN_CELLS if any(bounded) else ""
    return Answers(objects, ("share", *ERROR_HEADER, "at least", "at most", "count", "where"), rows, note)


def _finer_fits(generator: Generator) -> str:
    """Sentence on fits with finer cells, by the domain and the plan; empty if there are none."""
    domain = generator.domain
    kinds = {own.domain.inner.kind for own in domain.columns} or {domain.inner.kind}
    networks = [network for kind, network in _NETWORKS.items() if kind in kinds]
    fits = {
        f"declares the network that holds the data, such as {' or '.join(networks)}": networks,
        "declares narrower bounds": kinds & _BOUNDED,
        "has this column alone": len(domain.columns) > 1,
        "reads files, not a pipe, three times": would_learn(generator.plan),
    }
    ways = [way for way, applies in fits.items() if applies]
    return f"\nA fit that {', or '.join(ways)} has finer cells, and costs epsilon again." if ways else ""


def _mass_row(answer: dict[str, Any], bounded: bool) -> list[str]:
    """Row of a share."""
    count = "" if answer["count"] is None else f"{answer['count']:,.0f}"
    return [*_share_cells(answer, bounded), count, answer["where"]]


def _share_cells(answer: dict[str, Any], bounded: bool) -> list[str]:
    """Share, error and interval of an answer, and the bounds of its cells if they are to be shown."""
    shown = [_percent(answer[key]) for key in ("share", "stderr", "low", "high", "at_least", "at_most")]
    return shown if bounded else [*shown[:-2], "", ""]


def _exceeds_interval(generator: Generator, share: Estimate[float]) -> bool:
    """Whether the cells of the release allow clearly more than the interval of a share."""
    return has_stderr(generator) and share.cell_bounds is not None


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


def describe_noise(generator: Generator, name: str) -> str | None:
    """Sentence on a release whose number of records is hardly above its noise and below the expected one; else None."""
    if not generator.is_below_expected or generator.total > HARDLY_Z * generator.total_stderr:
        return None
    return (
        f"{name}: {generator.counted_text} and {generator.plan.expected_records:,} were expected, so "
        f"answers and samples are mostly noise; privhp inspect {name} names likely causes"
    )


def find_shares(generator: Generator, options: Namespace) -> Answers:
    """Share of each value of a column with a list of values."""
    column = asked_column(generator, options)
    part = marginal_of(generator, column)
    regions = part.domain.value_regions()
    if not regions:
        chosen = "--marginal COLUMN" if generator.domain.columns else "a release of a column"
        advice = "" if part.domain.columns else "; use --heavy-hitters or --where"
        raise QueryError(f"--shares needs {chosen} with a list of values, got {part.domain!r}{advice}")
    names = options.columns if column is None else column.split(",")
    conditions = [format_condition(region, part.domain, names=names) for region in regions.values()]
    return find_masses(generator, conditions, options)


def find_heavy_hitters(generator: Generator, threshold: float, options: Namespace) -> Answers:
    """Heavy hitters as conditions, and the share of the records that are in none."""
    part = marginal_of(generator, options.marginal)
    names = options.columns if options.marginal is None else options.marginal.split(",")
    hitters = part.heavy_hitters(threshold)
    remaining = max(0.0, 1 - sum(hitter.residual_mass for hitter in hitters))
    objects: list[dict[str, Any]] = [
        {
            "heavy_hitter": format_condition(hitter.region, part.domain, names=names),
            "share": hitter.mass,
            **_share_errors(generator, hitter.estimate),
            **dict(zip(("at_least", "at_most"), part.mass_bounds(hitter.region), strict=True)),
            "count": hitter.count,
            "residual_share": hitter.residual_mass,
            "residual_count": hitter.residual_count,
            "remaining_share": remaining,
        }
        for hitter in hitters
    ]
    bounded = [_exceeds_interval(generator, hitter.estimate) for hitter in hitters]
    rows = [
        (
            *_share_cells(one, own),
            _percent(one["residual_share"]),
            f"{one['residual_count']:,.0f}",
            format_condition(part.domain.round_region(hitter.region), part.domain, names=names),
        )
        for one, own, hitter in zip(objects, bounded, hitters, strict=True)
    ]
    sentence = describe_remaining(remaining, least=threshold)
    advice = f" {_ALONE}" if len(generator.domain.columns) > 1 and not part.domain.columns else ""
    note = ("" if sentence is None else f"\n{sentence}{advice}") + (_IN_CELLS if any(bounded) else "")
    header = ("share", *ERROR_HEADER, "at least", "at most", "residual share", "residual count", "where")
    return Answers(objects, header, rows, note)


def _share_errors(generator: Generator, share: Estimate[float]) -> dict[str, Any]:
    """Standard error and 90% interval of a share, None where unknown; no standard error if the interval says it all."""
    if not has_stderr(generator):
        return error_fields(None, None, None)
    return error_fields(share.stderr if share.resolved else None, *share.interval(0.9))


def has_stderr(generator: Generator) -> bool:
    """Whether answers have standard errors."""
    return generator.plan.inference == "least-squares"


def asked_column(generator: Generator, options: Namespace) -> str | None:
    """The column that `--marginal` names, or the only one of a table."""
    column: str | None = options.marginal
    return list_columns(generator.domain) if column is None and len(generator.domain.columns) == 1 else column


def marginal_of(
    generator: Generator, column: str | None, *, values_only: bool = False, where: Any = None
) -> Distribution:
    """The generator, or the marginal of one of its columns, without null if only values are asked for.

    Args:
        generator: The generator.
        column: The column; None for all of a record.
        values_only: Whether null is left out.
        where: Region of other columns whose records alone count.
    """
    domain = generator.domain
    if column is None or (not domain.columns and column == ",".join(domain.value_names)):
        return generator.marginal(null=False) if values_only and domain.nullable else generator
    if not domain.columns:
        raise QueryError(f"--marginal needs a release of a table; this one is of {domain!r}; leave it out")
    known = {",".join(own.names): own for own in domain.columns}
    if column not in known:
        raise QueryError(f"--marginal {column}: no such column; choose one of {list_columns(domain)}")
    own = known[column]
    return generator.marginal(own.name, null=not (values_only and own.domain.nullable), where=where)


def list_columns(table: Domain) -> str:
    """Names of the columns of a table, for a message."""
    return ", ".join(",".join(column.names) for column in table.columns)


def error_fields(stderr: Any, low: Any, high: Any) -> dict[str, Any]:
    """Standard error and 90% interval as fields of a JSON object."""
    return {"stderr": stderr, "low": low, "high": high}


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.3%}"


def as_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Aligned lines with a header; empty columns are left out."""
    kept = [index for index in range(len(header)) if any(row[index] for row in rows) or not rows]
    lines = [[line[index] for index in kept] for line in (header, *rows)]
    *widths, _ = (max(map(len, column)) for column in zip(*lines, strict=True))
    return "\n".join("   ".join([*map(str.rjust, line, widths), line[-1]]) for line in lines)

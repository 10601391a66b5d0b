"""Plan and source of records from options."""

import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from privhp.cli.messages import speak_options
from privhp.cli.plan_options import domain_from_options, read_given_plan, read_plan
from privhp.domains.fields import NULL_TEXTS, place_columns
from privhp.errors import FileError
from privhp.fitting import name_columns
from privhp.io.sources import CsvDialect, Persons, Source
from privhp.io.sources.files import FileSource
from privhp.io.sources.identity import STANDARD_INPUT
from privhp.io.sources.selection import Selection
from privhp.planning.plan import Plan
from privhp.release import check_plan_size


def plan_data(options: Namespace) -> Plan:
    """Plan of the options, with the names of the columns in --columns. No data is read."""
    plan = read_given_plan(options)
    if plan is None:
        domain = domain_from_options(options)
        plan = read_plan(options, domain, rereadable=not any(map(_is_pipe, options.data)))
    plan = name_columns(plan, options.columns, header=not options.no_header)
    check_plan_size(plan)
    return plan


def _is_pipe(name: str) -> bool:
    return name == STANDARD_INPUT or (Path(name).exists() and not Path(name).is_file())


def csv_dialect(options: Namespace) -> CsvDialect:
    """Dialect of CSV files that the options declare."""
    return CsvDialect(
        records=options.csv,
        delimiter=options.delimiter,
        nulls=NULL_TEXTS if options.null is None else options.null,
        decimal=options.decimal,
        thousands=options.thousands,
        currency=options.currency,
        encoding=options.encoding,
    )


def open_data(options: Namespace, plan: Plan) -> Source:
    """Source of the options. Only headers and schemas are read."""
    selection = Selection(
        plan.domain,
        options.columns,
        header=not options.no_header,
        csv=csv_dialect(options),
        persons=_persons(options),
        warn=partial(note, options),
    )
    with _folder_errors():
        source = FileSource(options.data, selection, format=options.format)
    note(options, _describe_places(selection))
    return source


@contextmanager
def _folder_errors() -> Iterator[None]:
    """Name the folder that looks like a column, such as day=1, in the error for a column that a file does not have."""
    try:
        yield
    except FileError as error:
        file, _, problem = str(error).partition(": ")
        for name in (part.partition("=")[0] for part in Path(file).parent.parts if "=" in part):
            if f"to name a column {name!r}, got no such name" in problem:
                raise FileError(
                    f"{file}: the folder {name}=... is no column: names of folders are not read; leave out {name}, or "
                    "write it into the files first"
                ) from None
        raise


def _describe_places(selection: Selection) -> str | None:
    """Which columns are read as longitudes and latitudes; None without any. The header of a file is not quoted."""
    if selection.names is None:
        pairs = (
            place_columns(["the first column", "the second"], selection.fields) if len(selection.fields) == 2 else []
        )
        others = "" if selection.persons is None else f", of those without {selection.persons.column!r}"
    else:
        pairs, others = place_columns([f"column {name!r}" for name in selection.names], selection.fields), ""
    read = [f"{longitude} as longitude and {latitude} as latitude" for longitude, latitude in pairs]
    return f"reads {'; '.join(read)}{others}" if read else None


def _persons(options: Namespace) -> Persons | None:
    """The persons of the options; of a plan file's number of records, this fit may count fewer."""
    if options.person is None:
        return None
    most = None if options.plan is None else options.max_records_per_person
    return Persons(options.person, options.null_person, most)


def note(options: Namespace, text: str | None) -> None:
    """Print a note that follows from public values, unless it is None; the output with --json is JSON alone."""
    if text is not None and not options.quiet:
        with suppress(BrokenPipeError):  # the release is still wanted
            stream = sys.stderr if getattr(options, "json", False) else sys.stdout  # learn has no --json
            print(f"note: {speak_options(text)}", file=stream, flush=True)

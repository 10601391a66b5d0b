"""Sources of records from options, and the passes over them with progress."""

import sys
from argparse import Namespace
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from threading import Event

from privhp.cli.plan_options import domain_from_options, read_given_plan, read_plan
from privhp.cli.progress import Progress
from privhp.collect.ingest import Ingestion
from privhp.io.sources import Batch, Source
from privhp.io.sources.files import FileSource
from privhp.io.sources.selection import Selection
from privhp.planning.plan import Plan


def open_planned(options: Namespace) -> tuple[Plan, Source]:
    """Plan and source of the options. Only headers and schemas are read."""
    plan = read_given_plan(options)
    domain, columns = domain_from_options(options) if plan is None else (plan.domain, None)
    reading = {"header": not options.no_header, "csv": options.csv}
    selection = Selection(domain, options.columns or columns, **reading, warn=_note(options))
    source = FileSource(options.data, selection, format=options.format)
    return plan or read_plan(options, domain, rereadable=source.rereadable), source


def run_passes(
    ingestion: Ingestion,
    source: Source,
    *,
    quiet: bool,
    resumed: bool = False,
    stop: Event | None = None,
    learn_only: bool = False,
) -> bool:
    """Run the passes with a line of progress until `stop` is set; whether all are complete."""
    passes = ingestion.plan.passes - learn_only
    size = None if source.size is None else source.size * passes
    with Progress(sys.stderr, size=size, shown=not quiet and sys.stderr.isatty(), resumed=resumed) as progress:

        def should_stop(batch: Batch) -> bool:
            earlier = 0 if source.size is None else source.size * ingestion.number
            progress.show(None if batch.read is None else earlier + batch.read)
            return stop is not None and stop.is_set()

        return ingestion.learn(should_stop) if learn_only else ingestion.run(should_stop)


def _note(options: Namespace) -> Callable[[str], None]:
    """Function that prints a note about column types, once for all files."""

    @cache
    def note(text: str) -> None:
        if not options.quiet:
            with suppress(BrokenPipeError):  # the release is still wanted
                print(f"note: {text}", flush=True)

    return note

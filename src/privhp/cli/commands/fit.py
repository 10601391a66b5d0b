"""`privhp fit`: records in, a release out."""

import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Event
from typing import Any

from privhp.api import save
from privhp.cli.output import check_checkpoint, check_release
from privhp.cli.planning import read_planned
from privhp.cli.progress import Progress
from privhp.collect.ingest import CheckpointedIngestion, Ingestion
from privhp.collect.summary import Summary
from privhp.errors import PlanError
from privhp.io.sources import Batch, Source
from privhp.io.sources.files import FileSource
from privhp.io.sources.selection import Selection
from privhp.planning.plan import Plan


def run(options: Namespace) -> None:
    """Check everything that can be checked without data, then read it once."""
    plan, columns = read_planned(options)
    if options.summary_only:
        _check_mergeable(plan)
    output = check_release(options.output, data=options.data, force=options.force)
    checkpoint = check_checkpoint(options, output)
    selection = Selection(plan.domain, options.columns or columns, header=not options.no_header, warn=_note(options))
    source = FileSource(options.data, selection, format=options.format)
    if checkpoint is None:
        ingestion = Ingestion(plan, source)
        _count(ingestion, source, options, stop=Event())
        said = _write(ingestion.summary, output, options)
    else:
        kept = CheckpointedIngestion(plan, source, checkpoint, every=options.every, resume=options.resume)
        written = False
        try:
            with _interrupts() as stop:
                if not _count(kept, source, options, stop=stop):
                    _say_how_to_go_on(options)
                    raise KeyboardInterrupt
            said = _write(kept.summary, output, options)
            written = True
        finally:
            kept.close(released=written)
    if not options.quiet:
        print(said)


def _note(options: Namespace) -> Callable[[str], None]:
    """Say what is worth knowing of the types of columns, once for all files."""

    @cache
    def note(text: str) -> None:
        if not options.quiet:
            with suppress(BrokenPipeError):  # whoever read it has gone, and wants the release all the same
                print(f"note: {text}", flush=True)

    return note


def _check_mergeable(plan: Plan) -> None:
    if plan.growth is not None:
        raise PlanError(
            "expected a plan whose parts can be added up, got one whose partition grows; "
            "make one by privhp plan --mergeable -o plan.json, and give it to each fit by --plan plan.json"
        )


def _write(summary: Summary, output: Path, options: Namespace) -> str:
    """Write the release, or the summary as it is, and say what was written."""
    if options.summary_only:
        save(summary, output)
        return f"wrote {output}, a summary, confidential; add it to others by privhp merge"
    save(generator := summary.release(), output)
    # The guess stands beside the count whatever that is: no other word may depend on a record.
    planned = f", planned for {summary.plan.expected_records:,}" if summary.plan.expected_records else ""
    return (
        f"wrote {output}, {float(summary.plan.epsilon):g}-differentially private: "
        f"about {generator.total:,.0f} records (noisy){planned}; see privhp inspect {output}"
    )


def _count(ingestion: Ingestion, source: Source, options: Namespace, *, stop: Event) -> bool:
    """Count all there is, or until a signal comes; whether it was all."""
    shown = not options.quiet and sys.stderr.isatty()
    with Progress(sys.stderr, size=source.size, shown=shown, resumed=options.resume) as progress:

        def watch(batch: Batch) -> bool:
            progress.show(batch.read)
            return stop.is_set()

        return ingestion.run(watch)


@contextmanager
def _interrupts() -> Iterator[Event]:
    """An event that Ctrl-C or a request to terminate sets: a batch that is begun is counted to its end."""
    stop = Event()
    signals = (signal.SIGINT, signal.SIGTERM)

    def note(*_: Any) -> None:
        stop.set()

    before = [signal.signal(number, note) for number in signals]
    try:
        yield stop
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)


def _say_how_to_go_on(options: Namespace) -> None:
    if not options.quiet:
        print(
            f"stopped; {options.checkpoint} holds what was counted and is confidential; "
            "go on by the same command with --resume",
            file=sys.stderr,
        )

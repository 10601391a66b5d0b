"""Progress of a command, on standard error if that is a terminal."""

import sys
from argparse import Namespace
from collections.abc import Generator

from privhp.core.progress import Progress
from privhp.core.progress_displays import TerminalLine
from privhp.io.sources import START, Batch, Cap, Position, Sample, Source


def watch(options: Namespace) -> Progress:
    """Progress of a command with these options; nothing is shown with --quiet, or without a terminal."""
    shown = not getattr(options, "quiet", False) and sys.stderr.isatty()
    return Progress(TerminalLine(sys.stderr) if shown else None)


class WatchedSource:
    """A source whose reading is a stage of a command.

    Args:
        source: The source.
        progress: Progress of the command.
    """

    def __init__(self, source: Source, progress: Progress) -> None:
        self._source, self._progress = source, progress
        self.size, self.identity, self.rereadable = source.size, source.identity, source.rereadable
        self.persons, self.formats = source.persons, source.formats

    def batches(
        self, after: Position = START, *, sample: Sample | None = None, cap: Cap | None = None
    ) -> Generator[Batch, None, None]:
        """All batches after a position."""
        self._progress.begin(size=self.size, unit="bytes")
        for batch in self._source.batches(after, sample=sample, cap=cap):
            yield batch
            self._progress.show(batch.read)
        self._progress.begin()

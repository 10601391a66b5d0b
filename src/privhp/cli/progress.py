"""Progress of a long command: fraction, rate and time, never a number of real records."""

import sys
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from types import TracebackType
from typing import Literal, TextIO

from privhp.io.sources import START, Batch, Cap, Position, Sample, Source

_EVERY = 0.1


class Progress:
    """A line on a terminal, rewritten at most ten times a second and removed at the end.

    Args:
        stream: The terminal.
        size: Total amount of work, if known.
        unit: Unit of the amounts.
        shown: Whether anything is written.
        resumed: Whether an earlier run did part of the work, which is excluded from the rate.
        clock: Current time in seconds.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        size: int | None,
        unit: Literal["bytes", "rows"] = "bytes",
        shown: bool,
        resumed: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream, self._size, self._unit, self._shown, self._clock = stream, size, unit, shown, clock
        self._start = self._last = clock()
        self._first: int | None = None if resumed else 0

    def show(self, done: int | None) -> None:
        """Rewrite the line for an amount of finished work; None if it is unknown."""
        if self._first is None:
            self._first = 0 if done is None else done
        now = self._clock()
        if not self._shown or now - self._last < _EVERY:
            return
        self._last = now
        elapsed = now - self._start
        line = f"{_minutes(elapsed)} elapsed"
        if done is not None:
            new = max(done - self._first, 0)
            line += f", {_rate(new / max(elapsed, 1e-9), self._unit)}"
            if self._size and new:
                line = f"{done / self._size:4.0%}  {line}, {_minutes(elapsed * (self._size - done) / new)} left"
        self._write(line)

    def _write(self, line: str) -> None:
        with suppress(OSError):  # a terminal may be closed before the command ends
            self._stream.write(f"\r{line}\033[K")
            self._stream.flush()

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._write("")


def _rate(per_second: float, unit: str) -> str:
    return f"{per_second / 1e6:.1f} {'MB/s' if unit == 'bytes' else 'million rows/s'}"


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


class WatchedSource:
    """A source that shows progress on standard error while it is read.

    Args:
        source: The source.
        shown: Whether progress is written.
    """

    def __init__(self, source: Source, *, shown: bool) -> None:
        self._source, self._shown = source, shown
        self.size, self.identity, self.rereadable = source.size, source.identity, source.rereadable
        self.persons = source.persons

    def batches(
        self, after: Position = START, *, sample: Sample | None = None, cap: Cap | None = None
    ) -> Generator[Batch, None, None]:
        """All batches after a position."""
        with Progress(sys.stderr, size=self.size, shown=self._shown) as progress:
            for batch in self._source.batches(after, sample=sample, cap=cap):
                yield batch
                progress.show(batch.read)

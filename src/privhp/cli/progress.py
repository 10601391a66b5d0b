"""How far a long job has come: share, rate and time, never a number of records that are not synthetic."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Literal, TextIO

_EVERY = 0.1


class Progress:
    """One line on a terminal, rewritten at most ten times a second and removed at the end.

    Args:
        stream: The terminal.
        size: How much there is to do in all, if that is known.
        unit: What it is counted in.
        shown: Whether anything is written at all.
        resumed: Whether an earlier run has done part of it, which says nothing of the rate.
        clock: What tells the time.
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
        """Rewrite the line; if it is not known how much is done, only the time is."""
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

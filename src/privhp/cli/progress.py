"""How far a long read has come: share of the bytes and time, never a number of records."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import TextIO

_EVERY = 0.1


class Progress:
    """One line on a terminal, rewritten at most ten times a second and removed at the end."""

    def __init__(self, stream: TextIO, *, shown: bool, clock: Callable[[], float] = time.monotonic) -> None:
        """Start the clock."""
        self._stream, self._shown, self._clock = stream, shown, clock
        self._start = self._last = clock()

    def show(self, share: float | None) -> None:
        """Rewrite the line; without a share only the time is known."""
        now = self._clock()
        if not self._shown or now - self._last < _EVERY:
            return
        self._last = now
        elapsed = now - self._start
        line = f"{_minutes(elapsed)} elapsed"
        if share:
            line = f"{share:4.0%}  {line}, {_minutes(elapsed * (1 - share) / share)} left"
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


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"

"""Progress of long work: fraction, rate and time, never a number of real records."""

import contextvars
import time
from collections.abc import Callable
from threading import Event, RLock, Thread
from types import TracebackType
from typing import Literal, Protocol

EVERY = 0.1
"""Seconds between two changes of what is shown, at least."""

IDLE = 1.0
"""Seconds after which the time is shown anew, though nothing was reported."""

Unit = Literal["bytes", "rows"]


class Display(Protocol):
    """Where progress is shown, until it is removed at the end."""

    def show(self, text: str, share: float | None) -> None:
        """Show a text and the share of the work that is done, if it is known."""

    def remove(self) -> None:
        """Remove what was shown."""


class Progress:
    """Progress of one task, shown while the block runs.

    A thread shows the time that has passed while the task reports nothing.

    Args:
        display: Where it is shown; None for nowhere.
        delay: Seconds before anything is shown.
        clock: Current time in seconds.
    """

    def __init__(
        self, display: Display | None, *, delay: float = 0.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._display, self._clock = display, clock
        self._start = clock()
        self._next = self._start + max(delay, EVERY)
        self._lock, self._ended = RLock(), Event()
        self._thread = Thread(target=contextvars.copy_context().run, args=[self._show_time], daemon=True)
        self.begin()

    def begin(self, *, size: int | None = None, unit: Unit | None = None, resumed: bool = False) -> None:
        """Begin a stage of the task.

        Args:
            size: Amount of work of the stage, if known.
            unit: Unit of the amounts; None shows no rate.
            resumed: Whether an earlier run did part of the work, which is excluded from the rate.
        """
        with self._lock:
            self._size, self._unit, self._stage = size, unit, self._clock()
            self._first: int | None = None if resumed else 0
            self._done: int | None = None

    def show(self, done: int | None) -> None:
        """Report an amount of finished work of the stage; None if it is unknown."""
        with self._lock:
            self._first = (done or 0) if self._first is None else self._first
            self._done = done
            self._draw()

    def _draw(self) -> None:
        with self._lock:
            now = self._clock()
            if self._display is None or now < self._next:
                return
            self._next = now + EVERY
            text, share, elapsed = f"{_minutes(now - self._start)} elapsed", None, max(now - self._stage, 1e-9)
            if self._done is not None and self._first is not None:
                new = max(self._done - self._first, 0)
                text += "" if self._unit is None else f", {_rate(new / elapsed, self._unit)}"
                if self._size and new:
                    share = min(self._done / self._size, 1.0)
                    text = f"{share:4.0%}  {text}, {_minutes(elapsed * max(self._size - self._done, 0) / new)} left"
            self._display.show(text, share)

    def _show_time(self) -> None:
        while not self._ended.wait(IDLE):
            self._draw()

    def __enter__(self) -> "Progress":
        if self._display is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._display is not None:
            self._ended.set()
            self._thread.join()
            self._display.remove()


def _rate(per_second: float, unit: Unit) -> str:
    return f"{per_second / 1e6:.1f} {'MB/s' if unit == 'bytes' else 'million rows/s'}"


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"

"""The life cycle of a tally or a summary, as a state machine of four states.

    OPEN -- update --> UPDATING -- done --> OPEN
                       UPDATING -- exception --> UNFINISHED
    OPEN -- release, or merge into another summary --> CLOSED

An unfinished tally or summary has counted part of a batch. Repeating the batch
would count records twice, and a release would depend on the number of rows
before the interruption. So it refuses everything, as a closed one does.

One thread at a time works on a tally or a summary; others wait.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from threading import RLock

from privhp.errors import StateError


class State(Enum):
    """A state of the life cycle."""

    OPEN = "open"
    UPDATING = "updating"
    UNFINISHED = "unfinished"
    CLOSED = "closed"


class LifeCycle:
    """The state of one tally or summary, its lock, and the process that owns it."""

    def __init__(self) -> None:
        self.state = State.OPEN
        self._lock = RLock()
        self._process = os.getpid()

    @contextmanager
    def locked(self, *others: "LifeCycle") -> Iterator[None]:
        """Keep other threads away from this object and from others until the block ends."""
        # Always in the same order, so that two threads cannot wait for each other.
        first, *rest = sorted({id(own): own for own in (self, *others)}.values(), key=id)
        with first._lock:
            if rest:
                with rest[0].locked(*rest[1:]):
                    yield
            else:
                yield

    @contextmanager
    def updating(self) -> Iterator[None]:
        """Count one batch, or the counts of another object. An exception inside leaves the state unfinished."""
        with self.locked():
            self.check_complete()
            self.state = State.UPDATING
            try:
                yield
            except BaseException:
                self.state = State.UNFINISHED
                raise
            self.state = State.OPEN

    def close(self) -> None:
        """End the life cycle; possible once."""
        with self.locked():
            self.check_open()
            self.check_complete()
            self.state = State.CLOSED

    def check_complete(self) -> None:
        """Refuse an operation while part of a batch is counted, or on a closed object."""
        if self.state is State.CLOSED:
            raise _closed()
        if self.state is not State.OPEN:
            raise StateError(
                "part of a batch is counted, because an update was interrupted; "
                "resume from a checkpoint, or start again"
            )

    def check_open(self) -> None:
        """Refuse an operation on a closed summary, or in a forked process, where its noise would be used twice."""
        if self.state is State.CLOSED:
            raise _closed()
        if self._process != os.getpid():
            raise StateError(
                "this summary belongs to the parent process, and its noise may be used once; "
                "count in a Tally here and let the summary absorb it"
            )


def _closed() -> StateError:
    return StateError(
        "this summary is closed: it was released or merged into another summary, and a second output from "
        "one state is not private; start a new summary"
    )

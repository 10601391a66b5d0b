"""The life cycle of a tally or a summary, as a state machine of four states.

    OPEN -- update --> UPDATING -- done --> OPEN
                       UPDATING -- exception --> UNFINISHED
    any state -- release, or merge into another summary --> CLOSED

An unfinished tally or summary has counted part of a batch. Repeating the batch
would count records twice, so it accepts no more records and cannot be saved or
merged; a summary can still be released. A closed summary refuses everything.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum

from privhp.errors import StateError


class State(Enum):
    """A state of the life cycle."""

    OPEN = "open"
    UPDATING = "updating"
    UNFINISHED = "unfinished"
    CLOSED = "closed"


class LifeCycle:
    """The state of one tally or summary, and the process that owns it."""

    def __init__(self) -> None:
        self._progress = State.OPEN
        self._closed = False  # never reset, so no race between threads can reopen a summary
        self._process = os.getpid()

    @property
    def state(self) -> State:
        """The current state."""
        return State.CLOSED if self._closed else self._progress

    @contextmanager
    def updating(self) -> Iterator[None]:
        """Count one batch. An exception inside leaves the state unfinished."""
        self.check_complete()
        self._progress = State.UPDATING
        try:
            yield
        except BaseException:
            self._progress = State.UNFINISHED
            raise
        self._progress = State.OPEN

    def close(self) -> None:
        """End the life cycle."""
        self._closed = True

    def check_complete(self) -> None:
        """Refuse an operation while part of a batch is counted."""
        if self._progress is not State.OPEN:
            raise StateError(
                "part of a batch is counted: an update was interrupted, or runs in another thread; "
                "resume from a checkpoint or release the summary, and give each thread its own tally"
            )

    def check_open(self) -> None:
        """Refuse an operation on a closed summary, or in a forked process, where its noise would be used twice."""
        if self._closed:
            raise StateError(
                "this summary is closed: it was released or merged into another summary, and a second output from "
                "one state is not private; start a new summary"
            )
        if self._process != os.getpid():
            raise StateError(
                "this summary belongs to the parent process, and its noise may be used once; "
                "count in a Tally here and let the summary absorb it"
            )

"""Signals that end a command: SIGINT of Ctrl-C, SIGTERM, and SIGHUP of a closed terminal."""

import os
import signal
import threading
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from threading import Event
from typing import Any

from privhp.cli.streams import say

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interrupting() -> Iterator[None]:
    """Handle SIGTERM and SIGHUP like Ctrl-C, so that a command ends in order; a handler of the caller stays."""
    own = {number: signal.getsignal(number) for number in ENDING}
    with _handled(
        {number: signal.default_int_handler if one == signal.SIG_DFL else one for number, one in own.items()}
    ):
        yield


def ignore_signals() -> None:
    """Ignore signals up to the end of `interrupting`, from before the output is written: exit codes say if it is."""
    if threading.current_thread() is threading.main_thread():
        for number in ENDING:
            signal.signal(number, signal.SIG_IGN)


@contextmanager
def noting() -> Iterator[Event]:
    """Event that a signal sets, so that the current batch is counted to its end; an ignored signal stays ignored."""
    event = Event()
    ending = [number for number in ENDING if signal.getsignal(number) != signal.SIG_IGN]
    with _handled(dict.fromkeys(ending, lambda *_: event.set())):
        yield event


def saying_what_is_kept(run: Callable[[Namespace], None]) -> Callable[[Namespace], None]:
    """A command that says what is kept of its work if it is interrupted: of its records, or of its output."""

    @wraps(run)
    def saying(options: Namespace) -> None:
        before = _file_at(options.output)
        try:
            run(options)
        except KeyboardInterrupt:
            kept = _describe_kept(options) if hasattr(options, "data") else _describe_output(options.output, before)
            if kept is not None and not options.quiet:
                say(f"stopped; {kept}")
            raise

    return saying


def _file_at(path: str | None) -> tuple[int, int] | None:
    """Device and inode of the file at a path; every write of a file at a path gives it a new inode."""
    try:
        status = os.lstat(path or "")
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _describe_output(path: str | None, before: tuple[int, int] | None) -> str | None:
    """What became of an output, of which `before` was the file at the beginning; None without one."""
    if path is None:
        return None
    if path == "-":
        return "the records on standard output are not complete"
    if _file_at(path) != before:
        return f"{path} is complete"
    return f"{path} is not written" if before is None else f"{path} is unchanged"


def _describe_kept(options: Namespace) -> str:
    checkpoint = getattr(options, "checkpoint", None)
    if checkpoint is not None and Path(checkpoint).exists():
        return f"{checkpoint} holds the state and is confidential; continue with the same command and --resume"
    continued = hasattr(options, "checkpoint") and checkpoint is None
    advice = "; with --checkpoint FILE a run of files can be continued" if continued else ""
    return f"nothing was kept, and no epsilon is spent{advice}"


@contextmanager
def _handled(handlers: Mapping[signal.Signals, Any]) -> Iterator[None]:
    """Handle signals within the block; outside the main thread, which alone gets them, nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number, handler in handlers.items() if handler is not None}
    try:
        yield
    finally:
        for number, own in before.items():
            signal.signal(number, own)

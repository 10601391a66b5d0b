"""Signals that end a command: SIGINT of Ctrl-C, SIGTERM, and SIGHUP of a closed terminal."""

import signal
import threading
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

from privhp.cli.streams import say


@contextmanager
def interrupting() -> Iterator[None]:
    """Handle SIGTERM and SIGHUP like Ctrl-C, so that a command ends in order; a handler of the caller stays."""
    ending = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) == signal.SIG_DFL]
    with _handled(ending, signal.default_int_handler):
        yield


@contextmanager
def noting() -> Iterator[Event]:
    """Event that a signal sets, so that the current batch is counted to its end; an ignored signal stays ignored."""
    event = Event()
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    with _handled([number for number in numbers if signal.getsignal(number) != signal.SIG_IGN], lambda *_: event.set()):
        yield event


@contextmanager
def noting_loss(options: Namespace, *, advice: str = "") -> Iterator[None]:
    """Say that nothing is kept if the block is interrupted, with advice after it."""
    try:
        yield
    except KeyboardInterrupt:
        if not options.quiet:
            say(f"stopped; nothing was kept, and no epsilon is spent{advice}")
        raise


@contextmanager
def _handled(numbers: Iterable[int], handler: Callable[..., Any]) -> Iterator[None]:
    """Handle signals within the block; outside the main thread, which alone gets them, nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, own in before.items():
            signal.signal(number, own)

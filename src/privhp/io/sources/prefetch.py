"""Prefetching: a thread reads the next batch while the current one is counted."""

import contextlib
import queue
import threading
from collections.abc import Generator
from typing import Any, TypeVar

Item = TypeVar("Item")

_AHEAD = 1
_JOIN_TIMEOUT = 2.0  # seconds
_END = object()


def prefetch(items: Generator[Item, None, None]) -> Generator[Item, None, None]:
    """Items of a generator in order, each read by another thread while the item before is used.

    That thread closes the generator. An exception is raised here, unless nobody waits for the next item.
    """
    ready: queue.Queue[tuple[Any, BaseException | None]] = queue.Queue(_AHEAD)
    stopped = threading.Event()

    def put(item: Any, error: BaseException | None = None) -> None:
        while not stopped.is_set():
            with contextlib.suppress(queue.Full):
                ready.put((item, error), timeout=0.1)
                return

    def read() -> None:
        try:
            with contextlib.closing(items):
                for item in items:
                    put(item)
                    if stopped.is_set():
                        return
            put(_END)
        except BaseException as error:  # noqa: BLE001 - raised by the consumer
            put(_END, error)

    # A daemon, so that the program can exit while the thread waits for a pipe.
    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        while True:
            item, error = ready.get()
            if error is not None:
                raise error
            if item is _END:
                return
            yield item
    finally:
        stopped.set()
        # An interpreter that exits while compiled code reads a batch would abort.
        reader.join(_JOIN_TIMEOUT)

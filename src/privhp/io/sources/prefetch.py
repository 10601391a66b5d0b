"""Reading ahead: the next batch is read while this one is counted."""

import contextlib
import queue
import threading
from collections.abc import Generator, Iterator
from typing import Any, TypeVar

Item = TypeVar("Item")

_AHEAD = 1
_PATIENCE = 2.0  # seconds
_END = object()


def prefetch(items: Iterator[Item]) -> Generator[Item, None, None]:
    """The same items in the same order, taken by another thread before they are asked for.

    What that thread raises is raised here, in its place.
    """
    ready: queue.Queue[tuple[Any, BaseException | None]] = queue.Queue(_AHEAD)
    left = threading.Event()

    def put(item: Any, error: BaseException | None = None) -> None:
        while not left.is_set():
            with contextlib.suppress(queue.Full):
                ready.put((item, error), timeout=0.1)
                return

    def read() -> None:
        try:
            for item in items:
                put(item)
                if left.is_set():
                    return
            put(_END)
        except BaseException as error:  # noqa: BLE001 - it is raised where the items are used
            put(_END, error)

    # A daemon: if it waits for a pipe that never ends, the program still can.
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
        left.set()
        # An interpreter that ends while compiled code reads a batch would be aborted.
        reader.join(_PATIENCE)

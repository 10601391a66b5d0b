"""The standard streams of a command, which may be closed or unable to show a file name."""

import io
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any


def open_streams() -> None:
    """Make the standard streams safe to use.

    A closed descriptor is opened on the null device, so that no file of the command
    gets its number. A closed standard error takes any text, since `print` would
    otherwise print to standard output. What a stream cannot encode is escaped.
    Results are buffered, so that a full disk behind standard output fails the
    last flush and not the command.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number: this one
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open to the end
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace", write_through=False)


def print_object(value: Mapping[str, Any]) -> None:
    """Print a JSON object on one line of standard output."""
    print(json.dumps(value, ensure_ascii=False))


def say(text: str) -> None:
    """Print a line to standard error, if it can be written to."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def drop_output() -> None:
    """Drop text that a standard stream does not take, since Python would try again at its end and fail."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())

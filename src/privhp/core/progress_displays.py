"""Displays of progress: a line on a terminal, a bar in a notebook, and the choice between them."""

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO

from privhp.core.progress import IDLE, Display, Progress


class TerminalLine:
    """A line on a terminal, which is rewritten.

    Args:
        stream: The terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._shown = stream, False

    def show(self, text: str, share: float | None) -> None:
        """Rewrite the line; the text has the share."""
        self._shown = True
        self._write(text)

    def remove(self) -> None:
        """Remove the line, if there is one."""
        if self._shown:
            self._write("")

    def _write(self, line: str) -> None:
        with suppress(OSError):  # a terminal may be closed before the task ends
            self._stream.write(f"\r{line}\033[K")
            self._stream.flush()


class NotebookBar:
    """A bar in the output of the cell that runs; at the end it is emptied, so that a notebook file keeps no times.

    Args:
        display: IPython's function of that name.
    """

    def __init__(self, display: Callable[..., Any]) -> None:
        self._display = display
        self._handle: Any = None

    def show(self, text: str, share: float | None) -> None:
        """Update the bar; without a share it has no end."""
        value = "" if share is None else f' value="{share:.3f}"'
        self._show_html(
            text, f'<progress{value} style="width:20rem;max-width:60%;vertical-align:middle"></progress> {text}'
        )

    def remove(self) -> None:
        """Empty the output, if there is one."""
        if self._handle is not None:
            self._show_html("", "")

    def _show_html(self, text: str, html: str) -> None:
        bundle = {"text/plain": text, "text/html": html}
        if self._handle is None:
            self._handle = self._display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)


def session_display() -> Display | None:
    """Display of whoever runs this code: a bar in a notebook, a line in an interactive session, None in a script."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if hasattr(shell, "kernel"):
        return NotebookBar(ipython.display.display)
    interactive = shell is not None or hasattr(sys, "ps1")
    return TerminalLine(sys.stderr) if interactive and sys.stderr is not None and sys.stderr.isatty() else None


def watch_session(*, shown: bool = True) -> Progress:
    """Progress of a call, shown to whoever runs this code once it takes long.

    Args:
        shown: Whether it is shown at all.
    """
    return Progress(session_display() if shown else None, delay=IDLE)

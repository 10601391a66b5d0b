"""The command line: `privhp COMMAND`.

Takes arguments, gives files, text and an exit code: 0 when done, 1 when it
failed, 2 when refused, with one line that says why, 130 when interrupted or
asked to terminate. No output depends on a record, but for what the release
makes public, and for what `compare` and `report --against` are asked for.
"""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from privhp.cli.arguments import build_parser
from privhp.errors import PrivhpError

DONE, FAILED, REFUSED, INTERRUPTED = 0, 1, 2, 130

_WRONG_NAMES = (FileNotFoundError, FileExistsError, PermissionError, IsADirectoryError, NotADirectoryError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        options = build_parser().parse_args(arguments)
        # Only the command that was asked for is imported: help and usage errors come at once.
        with _terminable():
            import_module(f"privhp.cli.commands.{options.command}").run(options)
        sys.stdout.flush()
    except PrivhpError as error:
        return _end(REFUSED, str(error))
    except BrokenPipeError:
        # Files are written before anything is printed; whoever read it has gone, so the rest goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as error:
        where = f"cannot use {error.filename}" if error.filename else "cannot go on"
        if isinstance(error, _WRONG_NAMES):
            return _end(REFUSED, f"{where}: {error.strerror}; check its name and permissions")
        return _end(FAILED, f"{where}: {error.strerror or type(error).__name__}; try again when that is mended")
    except MemoryError:
        return _end(
            FAILED, "this needs more memory than there is; lower --memory, --hot-cells, --exact-depth or --sketch-width"
        )
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - what an unforeseen error says may quote a record
        place = traceback.extract_tb(error.__traceback__)[-1]
        return _end(
            FAILED,
            f"a mistake of privhp's own: {type(error).__name__} in {Path(place.filename).name}, line {place.lineno}; "
            "please report this line and the command; what else it says may quote a record, and is kept back",
        )
    return DONE


@contextmanager
def _terminable() -> Iterator[None]:
    """A request to terminate ends like Ctrl-C, so that what is half-written is removed."""
    usual = signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    if not usual or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _end(code: int, message: str) -> int:
    print(f"privhp: error: {' '.join(message.split())}", file=sys.stderr)
    return code

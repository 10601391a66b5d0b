"""The command line: `privhp COMMAND`.

Exit codes: 0 done; 1 failed; 2 refused, with one line that says why; 130
interrupted or terminated. No output depends on a record, except the contents of
a release and what `compare` and `report --against` compute from real records.
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

from privhp.cli.commands import build_parser
from privhp.cli.messages import speak_options
from privhp.errors import PrivhpError

DONE, FAILED, REFUSED, INTERRUPTED = 0, 1, 2, 130

_WRONG_NAMES = (FileNotFoundError, FileExistsError, PermissionError, IsADirectoryError, NotADirectoryError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        options = build_parser().parse_args(arguments)
        with _terminable():
            import_module(f"privhp.cli.commands.{options.command}").run(options)
        sys.stdout.flush()
    except PrivhpError as error:
        return _end(REFUSED, _describe(error))
    except BrokenPipeError:
        # Files are written before anything is printed, so the command has done its work.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as error:
        code = REFUSED if isinstance(error, _WRONG_NAMES) else FAILED
        return _end(code, _describe_os_error(error))
    except MemoryError:
        return _end(FAILED, "not enough memory; lower --memory, --hot-cells, --exact-depth or --sketch-width")
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the message of an unexpected error may contain a record
        place = traceback.extract_tb(error.__traceback__)[-1]
        return _end(
            FAILED,
            f"internal error: {type(error).__name__} at {Path(place.filename).name}:{place.lineno} "
            "(details withheld: they may contain a record). Please report this line and the command.",
        )
    return DONE


def _describe(error: PrivhpError) -> str:
    """Message of a library error; one of the operating system becomes the usual line about the file."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return _describe_os_error(error)
    return speak_options(str(error))


def _describe_os_error(error: OSError) -> str:
    where = f"cannot use {error.filename}" if error.filename else "input or output failed"
    advice = "check its name and permissions" if isinstance(error, _WRONG_NAMES) else "fix this and retry"
    return f"{where}: {error.strerror or type(error).__name__}; {advice}"


@contextmanager
def _terminable() -> Iterator[None]:
    """Handle SIGTERM like Ctrl-C, so that partial files are removed."""
    default = signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    if not default or threading.current_thread() is not threading.main_thread():
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

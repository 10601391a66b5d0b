"""The command line: `privhp COMMAND`.

Exit codes: 0 done; 1 failed; 2 refused, with one line that says why; 130
interrupted or terminated. No output depends on a record, except the contents of
a release and what `compare` and `report --against` compute from real records.
"""

import errno
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from privhp.cli.commands import build_parser
from privhp.cli.messages import speak_options
from privhp.cli.signals import interrupting
from privhp.cli.streams import drop_output, open_streams, say
from privhp.errors import PrivhpError

DONE, FAILED, REFUSED, INTERRUPTED = 0, 1, 2, 130

_WRONG_NAMES = (FileNotFoundError, FileExistsError, PermissionError, IsADirectoryError, NotADirectoryError)
_WRONG_CODES = (errno.ENAMETOOLONG, errno.ELOOP, errno.EROFS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        return _run(arguments)
    finally:
        drop_output()


def _run(arguments: Sequence[str] | None) -> int:
    written = False
    try:
        open_streams()
        options = build_parser().parse_args(arguments)
        with interrupting():
            import_module(f"privhp.cli.commands.{options.command}").run(options)
            written = True
            if sys.stdout is not None:
                sys.stdout.flush()
    except PrivhpError as error:
        return _end(REFUSED, _describe(error))
    except BrokenPipeError:
        return DONE  # files are written before anything is printed, so the command has done its work
    except OSError as error:
        if written:
            return _end(FAILED, f"cannot print to standard output: {error.strerror}; output files are complete")
        return _end(REFUSED if _is_wrong_name(error) else FAILED, _describe_os_error(error))
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


def _is_wrong_name(error: OSError) -> bool:
    return isinstance(error, _WRONG_NAMES) or error.errno in _WRONG_CODES


def _describe_os_error(error: OSError) -> str:
    where = f"cannot use {error.filename}" if error.filename else "input or output failed"
    advice = "check its name and permissions" if _is_wrong_name(error) else "fix this and retry"
    return f"{where}: {error.strerror or type(error).__name__}; {advice}"


def _end(code: int, message: str) -> int:
    say(f"privhp: error: {' '.join(message.split())}")
    return code

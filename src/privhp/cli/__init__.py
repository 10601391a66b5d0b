"""The command line: `privhp plan`, `fit`, `sample`, `inspect` and `report`.

Takes arguments, gives files, text and an exit code: 0 when done, 2 when
refused, with one line that says why, 130 when interrupted. No output depends
on a record, but for what the release makes public.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from privhp.cli.parser import build_parser
from privhp.errors import PrivhpError

DONE, REFUSED, INTERRUPTED = 0, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        options = build_parser().parse_args(arguments)
        # Only the command that was asked for is imported: help and usage errors come at once.
        import_module(f"privhp.cli.{options.command}").run(options)
        sys.stdout.flush()
    except PrivhpError as error:
        return _refuse(str(error))
    except BrokenPipeError:
        # The work is done before anything is printed; whoever read it has gone, so the rest goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as error:
        if error.filename:
            return _refuse(f"cannot use {error.filename}: {error.strerror}; check its name and permissions")
        return _refuse(f"cannot go on: {error.strerror or error}")
    except MemoryError:
        return _refuse("this needs more memory than there is; lower --hot-cells, --exact-depth or --sketch-width")
    except KeyboardInterrupt:
        return INTERRUPTED
    return DONE


def _refuse(message: str) -> int:
    print(f"privhp: error: {' '.join(message.split())}", file=sys.stderr)
    return REFUSED

"""The command `privhp`, and `python -m privhp`."""

import os
import sys


def main() -> int:
    """Run the command line. An interrupt is silent, also while modules are imported or the process ends."""
    try:
        import signal

        interrupt = signal.getsignal(signal.SIGINT)
        if interrupt is not signal.SIG_IGN:
            # An exception within an import may be wrapped in another one; nothing is begun that could be lost.
            signal.signal(signal.SIGINT, lambda *_: os._exit(130))
        import datetime as dt  # noqa: F401 - NumPy imports it in C, and would wrap an interrupt in an ImportError

        from privhp.cli import main as run_command

        signal.signal(signal.SIGINT, interrupt)
        code = run_command()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # the command is done, and its code is final
    except KeyboardInterrupt:
        return 130
    return code


if __name__ == "__main__":
    sys.exit(main())

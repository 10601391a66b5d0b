"""The command `privhp`, and `python -m privhp`."""

import sys


def main() -> int:
    """Run the command line. An interrupt is silent, also while modules are imported or the process ends."""
    try:
        import signal

        from privhp.cli import main as run_command

        code = run_command()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    except KeyboardInterrupt:
        return 130
    return code


if __name__ == "__main__":
    sys.exit(main())

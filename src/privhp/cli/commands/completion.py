"""`privhp completion`: a script for a shell."""

from argparse import Namespace

from privhp.cli.arguments import build_parser
from privhp.cli.completion import SHELLS, commands_of


def run(options: Namespace) -> None:
    """Print the script."""
    print(SHELLS[options.shell](commands_of(build_parser())), end="")

"""Arguments of `privhp demo`."""

from privhp.cli.arguments.parsers import Commands, command
from privhp.cli.arguments.shared import add_quiet


def add(commands: Commands) -> None:
    """Put the command among the others."""
    parser = command(
        commands,
        "demo",
        "Try everything on a year of flights. The commands are shown as they run, and can be typed again.",
        "example:\n  privhp demo flights\n",
    )
    parser.add_argument("folder", nargs="?", default="privhp-demo", help="where files are written; default privhp-demo")
    parser.add_argument("--force", action="store_true", help="replace files that are there")
    add_quiet(parser)

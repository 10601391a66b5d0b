"""Arguments of `privhp inspect`."""

from privhp.cli.arguments.parsers import Commands, command


def add(commands: Commands) -> None:
    """Put the command among the others."""
    parser = command(
        commands,
        "inspect",
        "Show what a release promises and what it says; of a checkpoint or a summary, which are confidential, "
        "the plan alone.",
        "examples:\n  privhp inspect fares.privhp\n  privhp inspect plan.json\n  privhp inspect --system\n",
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("file", nargs="?", help="a release, a checkpoint, a summary or a plan")
    what.add_argument("--system", action="store_true", help="show the version of privhp and which kernels it runs")

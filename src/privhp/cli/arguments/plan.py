"""Arguments of `privhp plan`."""

from privhp.cli.arguments.parsers import Commands, command
from privhp.cli.arguments.shared import DOMAINS, add_plan


def add(commands: Commands) -> None:
    """Put the command among the others."""
    parser = command(
        commands,
        "plan",
        "Show what a fit would guarantee and cost, without any data.",
        "examples:\n"
        "  privhp plan --domain interval:0:1000 --epsilon 1 --expected-records 1e6\n"
        "  privhp plan --domain fare=interval:0:1000 --epsilon 1 --expected-records 1e8 --mergeable -o plan.json\n\n"
        + DOMAINS,
    )
    add_plan(parser)
    parser.add_argument(
        "--mergeable", action="store_true", help="a plan whose parts can be added up: see privhp merge --help"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the plan there too, for privhp fit --plan")
    parser.add_argument("--force", action="store_true", help="replace the file if it is there")

"""`privhp plan`: guarantee, cost and predicted error of a fit."""

from argparse import Namespace

from privhp.cli.options import DOMAINS, add_json, add_output, add_plan
from privhp.cli.parsers import Commands, add_command
from privhp.cli.signals import saying_what_is_kept

_EXAMPLES = """\
examples:
  privhp plan --domain interval:0:1000 --epsilon 1 --expected-records 1e6
  privhp plan rides.toml
  privhp plan --domain fare=interval:0:1000 --epsilon 1 --expected-records 1e8 --passes 1 -o plan.json

"""


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(
        commands,
        "plan",
        "Show the guarantee, the cost and the predicted error of a fit. No data is needed.",
        _EXAMPLES + DOMAINS,
    )
    add_plan(parser)
    add_output(parser, "also write the plan, for privhp fit --plan", optional=True)
    add_json(parser)


@saying_what_is_kept
def run(options: Namespace) -> None:
    """Print the plan, unless quiet, and, if asked, write it."""
    from privhp.cli.json_objects import content_object
    from privhp.cli.paths import check_output
    from privhp.cli.plan_options import domain_from_options, predict_gain, read_plan, save_plan
    from privhp.cli.streams import print_object
    from privhp.cli.watching import watch
    from privhp.errors import DomainError

    if options.file is not None:
        if not options.file.endswith(".toml"):
            raise DomainError(
                f"{options.file} is no domain file, whose name ends in .toml; a plan reads no data: give --domain"
            )
        options.domain = [options.file]
    output = None if options.output is None else check_output(options)
    with watch(options):
        plan = read_plan(options, domain_from_options(options))
    if output is not None:
        save_plan(plan, output, replace=options.force)
    if options.json:
        print_object({"file": options.output} | content_object(plan))
        return
    if options.quiet:
        return
    print(plan)
    if plan.memory and not plan.has_partition:
        print(f"\n{predict_gain(plan)}")

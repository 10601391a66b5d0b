"""`privhp plan`: what a fit would guarantee and cost."""

from argparse import Namespace

from privhp.cli.output import check_output
from privhp.cli.planning import read_domain, read_plan, save_plan


def run(options: Namespace) -> None:
    """Print the plan, and write it if asked."""
    output = None if options.output is None else check_output(options.output, force=options.force)
    plan = read_plan(options, read_domain(options).domain, mergeable=options.mergeable)
    if output is not None:
        save_plan(plan, output)
    print(plan)

"""`privhp plan`: what a fit would guarantee and cost."""

from argparse import Namespace

from privhp.cli.planning import read_domain, read_plan


def run(options: Namespace) -> None:
    """Print the plan."""
    print(read_plan(options, read_domain(options).domain))

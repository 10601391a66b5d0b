"""`privhp learn`: a plan with a partition that is learned from files."""

from argparse import Namespace

from privhp.cli.options import DOMAINS, add_data, add_output, add_plan
from privhp.cli.parsers import Commands, add_command

_EXAMPLES = """\
examples:
  privhp learn monday.csv --domain fare=interval:0:1000 --epsilon 1 --expected-records 1e6 -o plan.json
  privhp fit monday.csv --plan plan.json -o monday.privhp
  privhp fit - --domain fare=interval:0:1000 --epsilon 1 --expected-records 1e6 --partition plan.json -o t.privhp

"""


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(
        commands,
        "learn",
        "Learn a partition on private samples of files and write the plan that has it. The plan is\n"
        "public. It measures the same data in one pass, also on many machines; learning and measuring\n"
        "together cost its epsilon. For other data of this kind, use it with --partition.",
        _EXAMPLES + DOMAINS,
    )
    add_data(parser)
    add_plan(parser)
    add_output(parser, "plan to write, such as plan.json")


def run(options: Namespace) -> None:
    """Check all arguments, then run the learning passes."""
    from privhp.cli.data_options import open_planned, run_passes
    from privhp.cli.paths import check_output
    from privhp.cli.plan_options import save_plan
    from privhp.collect.ingest import Ingestion
    from privhp.errors import PlanError

    output = check_output(options.output, force=options.force)
    options.plan = None
    plan, source = open_planned(options)
    if plan.learning is None:
        raise PlanError("this plan has nothing to learn; give --passes 2 or 3, or fit the data in one pass")
    ingestion = Ingestion(plan, source)
    run_passes(ingestion, source, quiet=options.quiet, learn_only=True)
    save_plan(ingestion.plan, output)
    if not options.quiet:
        print(
            f"wrote {output}: a plan with a partition, public; learning cost {float(plan.learning.cost):.3g} of "
            f"epsilon {float(plan.epsilon):g}"
        )

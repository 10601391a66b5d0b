"""`privhp learn`: a plan with a partition that is learned from files."""

import shlex
from argparse import Namespace

from privhp.cli.options import DOMAINS, SIZES, add_data, add_learning_plan, add_output, add_persons
from privhp.cli.parsers import Commands, add_command
from privhp.cli.signals import ignore_signals, saying_what_is_kept

_EXAMPLES = """\
examples:
  privhp learn trips.csv --domain t.toml --epsilon 1 --expected-records 1e6 -o t.json
  privhp fit trips.csv --plan t.json -o trips.privhp
  zcat next.csv.gz | privhp fit - --domain t.toml --epsilon 1 --expected-records 1e6 --partition t.json -o next.privhp

The second command measures the same data: learning and measuring together cost epsilon. If the
data is on several machines, each writes a summary: see privhp merge --help. The third command
measures other data of this kind, with its whole epsilon.

"""


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(
        commands,
        "learn",
        "Learn a partition on private samples of files and write the plan that has it. It is public.",
        _EXAMPLES + DOMAINS,
    )
    add_data(parser)
    add_persons(parser)
    add_learning_plan(parser)
    parser.set_defaults(**dict.fromkeys(("plan", "partition", "method", *SIZES)))
    add_output(parser, "plan to write, such as plan.json")


@saying_what_is_kept
def run(options: Namespace) -> None:
    """Check all arguments, then run the learning passes."""
    from privhp.cli.data_options import open_data, plan_data
    from privhp.cli.messages import warn
    from privhp.cli.paths import check_result
    from privhp.cli.plan_options import save_plan, take_domain_file
    from privhp.cli.watching import watch
    from privhp.collect.ingest import Ingestion
    from privhp.errors import PlanError, RecordsError
    from privhp.fitting import run_passes
    from privhp.planning.plan_warnings import plan_warnings

    take_domain_file(options)
    output = check_result(options, example="plan.json")
    plan = plan_data(options)
    source = open_data(options, plan)
    if not source.rereadable:
        raise RecordsError(
            "learn reads the data several times, and standard input or a pipe cannot be read again; "
            "write the data to a file first"
        )
    if plan.learning is None:
        raise PlanError(
            "this plan has nothing to learn: either --passes is 1, or the plan of least predicted error has no "
            "partition; give --passes 2 or 3, or fit the data without learning"
        )
    warn(*plan_warnings(plan).values())
    ingestion = Ingestion(plan, source)
    with watch(options) as progress:
        run_passes(ingestion, plan, source, progress, unit="bytes", learn_only=True)
    ignore_signals()
    save_plan(ingestion.plan, output, replace=options.force)
    if not options.quiet:
        person = "" if options.person is None else f" --person {shlex.quote(options.person)}"  # is not in the plan
        print(
            f"wrote {output}: a plan with a partition, public; learning cost {float(plan.learning_cost):.3g} of "
            f"epsilon = {float(plan.epsilon):g}, and the rest is for measuring the same data: "
            f"privhp fit --plan {output}{person}"
        )

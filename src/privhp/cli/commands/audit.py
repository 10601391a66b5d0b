"""`privhp audit`: the privacy loss of the installed package, measured on this machine."""

from argparse import Namespace

from privhp.cli.options import add_file, add_json, seconds
from privhp.cli.parsers import Commands, add_command

QUICK_SECONDS = 40.0
DEEP_SECONDS = 2 * 60 * 60.0

_EXAMPLES = """\
examples:
  privhp audit
  privhp audit --deep
  privhp audit --plan plan.json --time 10s

Many small runs, on made-up records, of plans of every kind under both neighbouring relations: exact
levels, sketches, known and learned partitions, several records per person, and a stolen summary file
beside the release of a pan-private plan. Each line of the table is one measurement:

  trials      counters in which a person's records are present or absent
  claim       the privacy loss that the plan states
  measured    a lower bound on the true privacy loss; all bounds hold together with 99% confidence
  resolution  the largest bound that so many trials can give

exit codes: 0 no bound exceeds its claim; 1 a claim is refuted
"""


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(
        commands,
        "audit",
        "Measure the privacy loss of this installation, in less than a minute. No data is needed.",
        _EXAMPLES,
    )
    add_file(parser, "--plan", metavar="FILE", help="audit the plan that privhp plan -o or privhp learn wrote")
    time = parser.add_exclusive_group(required=False)
    time.add_argument("--time", type=seconds, metavar="TIME", help="time for all runs, such as 10s or 5m; default 40s")
    time.add_argument("--deep", action="store_true", help="the same as --time 2h, for tighter bounds")
    add_json(parser)


def run(options: Namespace) -> None:
    """Print the findings; exit with code 1 if a claim is refuted."""
    from privhp.audit.example_plans import example_plans
    from privhp.audit.findings import audit, findings_object, format_findings
    from privhp.cli import FAILED
    from privhp.cli.plan_options import load_plan
    from privhp.cli.streams import print_object
    from privhp.cli.watching import watch

    plans = example_plans() if options.plan is None else {options.plan: load_plan(options.plan)}
    time = options.time or (DEEP_SECONDS if options.deep else QUICK_SECONDS)
    with watch(options):
        findings = audit(plans, seconds=time)
    print_object(findings_object(findings)) if options.json else print(format_findings(findings))
    if any(own.refuted for own in findings):
        raise SystemExit(FAILED)

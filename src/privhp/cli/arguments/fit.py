"""Arguments of `privhp fit`."""

from privhp.cli.arguments.parsers import Commands, command
from privhp.cli.arguments.shared import DOMAINS, add_output, add_plan
from privhp.cli.arguments.values import names, seconds

_EXAMPLES = """\
examples:
  privhp fit trips.csv --columns fare --domain interval:0:1000 --epsilon 1 --expected-records 1e6 -o fares.privhp
  privhp fit gb.csv.gz --columns lon,lat --domain box:-9:2,49.8:61 --epsilon 0.5 --expected-records 2e6 -o gb.privhp
  privhp fit 'trips/*.parquet' --domain t.toml --epsilon 1 --expected-records 1e8 --checkpoint t.state -o t.privhp
  zcat log.gz | privhp fit - --no-header --columns 3 --domain ipv4 --epsilon 1 --expected-records 1e7 -o log.privhp
  privhp fit trips.csv --plan plan.json --summary-only -o 1.summary

"""

_END = """
The noisy number of records is told at the end, beside the guess. One near 0 means a
wrong column, text where numbers are declared, or wrong bounds.
"""


def add(commands: Commands) -> None:
    """Put the command among the others."""
    parser = command(
        commands,
        "fit",
        "Read records once and write a private release. A record that makes no sense is left out in silence.",
        _EXAMPLES + DOMAINS + _END,
    )
    parser.add_argument(
        "data",
        nargs="+",
        help="files or globs: .csv and .ndjson, also .gz and .zst, one record a line; .parquet, .arrow, .npy; "
        "- for standard input",
    )
    parser.add_argument(
        "--format",
        choices=["csv", "ndjson", "parquet", "arrow", "npy"],
        help="what the data is, where its name does not say it; csv by default",
    )
    parser.add_argument(
        "--columns", type=names, metavar="NAMES", help="columns of a record, such as lon,lat; by number if no header"
    )
    parser.add_argument(
        "--no-header",
        action="store_true",
        help="the first line is a record; number columns from 1; without --columns the first ones are read",
    )
    keeping = parser.add_argument_group("checkpoints, for files that take long")
    keeping.add_argument(
        "--checkpoint", metavar="FILE", help="save the state there now and then; confidential, removed at the end"
    )
    keeping.add_argument(
        "--every", type=seconds, default=30.0, metavar="TIME", help="how often, such as 30s, 5m or 1h; default 30s"
    )
    keeping.add_argument(
        "--resume", action="store_true", help="go on with the checkpoint; each record still counts exactly once"
    )
    add_plan(parser, plan_file=True)
    parser.add_argument(
        "--summary-only",
        action="store_true",
        help="write the summary instead, confidential, to be added to others: see privhp merge --help",
    )
    add_output(parser, "release to write, such as fares.privhp")

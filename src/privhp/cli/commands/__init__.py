"""One module per command: `add` declares its options, `run` executes it.

`add` needs the standard library only, and `run` imports what it needs: help,
completion and usage errors are fast.
"""

import argparse
from functools import cache

from privhp.cli.commands import (
    audit,
    compare,
    completion,
    demo,
    fit,
    init,
    inspect,
    learn,
    merge,
    plan,
    quantiles,
    query,
    report,
    sample,
)
from privhp.cli.parsers import CommandParser, Parser, Version

COMMANDS = (plan, learn, fit, sample, query, quantiles, report, inspect, merge, compare, init, audit, demo, completion)
"""In the order of the help."""

_EPILOG = """\
examples:
  privhp demo
  privhp init trips.parquet
  privhp fit trips.csv --columns fare --domain interval:0:1000 --epsilon 1 --expected-records 1e6 -o fares.privhp
  privhp sample fares.privhp -n 100000 -o synthetic.csv
  privhp query fares.privhp --where 'fare < 10'

privhp COMMAND --help shows examples of each command.

exit codes:
  0 done; 1 failed: a system error or an internal error, a claim that privhp audit refuted, or fewer
  records than fit --min-records; 2 refused, with one line that says why and what to do; 130 interrupted
"""


@cache
def build_parser() -> argparse.ArgumentParser:
    """Parser of the whole command line."""
    parser = Parser(
        prog="privhp",
        description="Turn sensitive records into a differentially private generator of synthetic records.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="command", required=True, parser_class=CommandParser)
    for command in COMMANDS:
        command.add(commands)
    return parser

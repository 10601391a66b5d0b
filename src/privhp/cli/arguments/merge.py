"""Arguments of `privhp merge`."""

from privhp.cli.arguments.parsers import Commands, command
from privhp.cli.arguments.shared import add_output

_EXAMPLES = """\
example, with a part of the data on each of two machines:
  privhp plan --domain fare=interval:0:1000 --epsilon 1 --expected-records 1e8 --mergeable -o parts.json
  privhp fit 'trips/0.parquet' --plan parts.json --summary-only -o 1.part
  privhp fit 'trips/1.parquet' --plan parts.json --summary-only -o 2.part
  privhp merge 1.part 2.part -o all.privhp

One plan, made once, goes to all machines. The release is as private as the plan says,
if no record is in two parts: one in two would be protected half as well. A summary
that is given twice is refused.

Each part has all the noise of the plan, and noise adds up: that of k parts is
sqrt(k) times as large as if one fit had read everything, so let parts be few.
Standard errors of answers go by it.

A summary is confidential: whoever has it could count more into it and release it
again, and two looks at one state are not private. Remove the parts in the end.
"""


def add(commands: Commands) -> None:
    """Put the command among the others."""
    parser = command(commands, "merge", "Add up summaries of parts of the data, and release the sum.", _EXAMPLES)
    parser.add_argument("summaries", nargs="+", metavar="summary", help="files written by privhp fit --summary-only")
    add_output(parser, "release to write, such as all.privhp")

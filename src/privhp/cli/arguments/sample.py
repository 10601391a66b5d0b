"""Arguments of `privhp sample`."""

from privhp.cli.arguments.parsers import Commands, command
from privhp.cli.arguments.shared import add_output
from privhp.cli.arguments.values import names, whole

_EXAMPLES = """\
examples:
  privhp sample fares.privhp -n 100000 --columns fare -o synthetic.csv
  privhp sample gb.privhp -n 1e6 --seed 1 --columns lon,lat -o synthetic.parquet
  privhp sample gb.privhp -n 1e6 --format ndjson -o - | head

Records are spread evenly over the distribution, so that every cell gets its
expected number to within one. Beyond a million rows this holds for each million
of them. With --independent each is drawn by itself.
"""


def add(commands: Commands) -> None:
    """Put the command among the others."""
    parser = command(
        commands,
        "sample",
        "Write synthetic records. This can be done for ever without further cost to privacy.",
        _EXAMPLES,
    )
    parser.add_argument("release", help="a file written by privhp fit")
    parser.add_argument("-n", type=whole, metavar="ROWS", help="how many; by default the noisy number of records")
    parser.add_argument("--seed", type=whole, help="seed of the sampling, to get the same rows again")
    parser.add_argument("--independent", action="store_true", help="draw each record by itself")
    parser.add_argument(
        "--columns", type=names, metavar="NAMES", help="names for the columns of the file, such as lon,lat"
    )
    parser.add_argument(
        "--format",
        choices=["csv", "ndjson", "parquet", "arrow", "npy"],
        help="what is written, where the name does not say it; csv to standard output by default",
    )
    add_output(
        parser,
        "file to write: .csv and .ndjson, also .gz and .zst; .parquet, .arrow or .npy; - for standard output",
    )

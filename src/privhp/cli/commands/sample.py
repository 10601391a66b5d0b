"""`privhp sample`: synthetic records from a release."""

import sys
from argparse import Namespace

from privhp.cli.options import FORMATS, add_file, add_output, integer, names
from privhp.cli.parsers import Commands, add_command
from privhp.cli.signals import saying_what_is_kept

_EXAMPLES = """\
examples:
  privhp sample fares.privhp -n 100000 -o synthetic.csv
  privhp sample gb.privhp -n 1e6 --seed 1 -o synthetic.parquet
  privhp sample gb.privhp -n 1e6 --format ndjson -o - | head

Sampling is systematic (balanced): each cell gets its expected number of records, to
within one, in every million rows. With --independent the records are drawn independently.
"""


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "sample", "Write synthetic records. Sampling costs no privacy.", _EXAMPLES)
    add_file(parser, "release", help="a release that privhp fit wrote")
    parser.add_argument(
        "-n", type=integer, metavar="ROWS", help="number of records; default: the noisy number of records"
    )
    parser.add_argument("--seed", type=integer, help="random seed, for reproducible rows")
    parser.add_argument(
        "--independent", action="store_true", help="draw records independently, without systematic sampling"
    )
    parser.add_argument("--columns", type=names, metavar="NAMES", help="column names of the output, such as lon,lat")
    parser.add_argument(
        "--format",
        choices=FORMATS,
        help="output format, if the file name does not say; csv for standard output by default",
    )
    add_output(
        parser,
        "file to write: .csv, .tsv and .ndjson, also .gz and .zst; .parquet, .arrow or .npy; - for standard output",
    )


@saying_what_is_kept
def run(options: Namespace) -> None:
    """Write the sample in chunks, in bounded memory."""
    from privhp.api import load
    from privhp.cli.answer_tables import describe_noise
    from privhp.cli.messages import warn
    from privhp.cli.paths import check_output, read_file
    from privhp.cli.watching import watch
    from privhp.errors import FileError
    from privhp.io.sinks import write_sample

    piped = options.output == "-"
    if piped and sys.stdout is None:
        raise FileError("standard output is closed, so the records would be lost; open it, or give a file")
    output = sys.stdout.buffer if piped else check_output(options)
    with watch(options) as progress:
        generator = read_file(load, options.release)
        rows = round(generator.total) if options.n is None else options.n
        progress.begin(size=rows, unit="rows")
        write_sample(
            generator,
            output,
            rows=rows,
            format=options.format,
            method="independent" if options.independent else "balanced",
            seed=options.seed,
            columns=options.columns,
            watch=progress.show,
            replace=options.force,
        )
    warn(describe_noise(generator, options.release))
    if not options.quiet and not piped:
        print(f"wrote {output}: {rows:,} synthetic records")

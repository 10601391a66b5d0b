"""`privhp sample`: a release in, synthetic records out."""

import sys
from argparse import Namespace

from privhp.api import load
from privhp.cli.output import check_output
from privhp.cli.progress import Progress
from privhp.cli.reading import read_file
from privhp.io.sinks import write_sample


def run(options: Namespace) -> None:
    """Sample in chunks, so that any number of rows fits in memory."""
    piped = options.output == "-"
    output = sys.stdout.buffer if piped else check_output(options.output, force=options.force)
    generator = read_file(load, options.release)
    rows = round(generator.total) if options.n is None else options.n
    with Progress(sys.stderr, size=rows, unit="rows", shown=not options.quiet and sys.stderr.isatty()) as progress:
        write_sample(
            generator,
            output,
            rows=rows,
            format=options.format,
            method="independent" if options.independent else "balanced",
            seed=options.seed,
            columns=options.columns,
            watch=progress.show,
        )
    if not options.quiet and not piped:
        print(f"wrote {output}: {rows:,} synthetic records")

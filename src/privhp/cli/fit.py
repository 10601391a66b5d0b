"""`privhp fit`: records in, a release out."""

import sys
from argparse import Namespace

from privhp.cli.output import check_release
from privhp.cli.planning import read_domain, read_plan
from privhp.cli.progress import Progress
from privhp.files import save
from privhp.sources import open_source
from privhp.summary import Summary


def run(options: Namespace) -> None:
    """Check everything that can be checked without data, then read it once."""
    domain, columns = read_domain(options)
    plan = read_plan(options, domain)
    output = check_release(options.output, data=options.data, force=options.force)
    with open_source(
        options.data, domain=domain, columns=options.columns or columns, header=not options.no_header
    ) as source:
        summary = Summary(plan)
        with Progress(sys.stderr, shown=not options.quiet and sys.stderr.isatty()) as progress:
            for batch in source.batches():
                summary.update(batch)
                progress.show(source.share_read())
    generator = summary.release()
    save(generator, output)
    if not options.quiet:
        print(
            f"wrote {output}, {float(plan.epsilon):g}-differentially private: "
            f"about {generator.total:,.0f} records (noisy); see privhp inspect {output}"
        )

"""`privhp merge`: one release from the summaries of several fits."""

from argparse import Namespace
from typing import TYPE_CHECKING

from privhp.cli.options import add_file, add_json, add_output
from privhp.cli.parsers import Commands, add_command
from privhp.cli.signals import ignore_signals, saying_what_is_kept

if TYPE_CHECKING:
    from privhp.collect.summary import Summary

_EXAMPLES = """\
example, with half of the data on each of two machines:
  privhp plan --domain fare=interval:0:1000 --epsilon 1 --expected-records 1e8 --passes 1 -o shared.json
  privhp fit 'trips/0.parquet' --plan shared.json --summary-only -o a.summary
  privhp fit 'trips/1.parquet' --plan shared.json --summary-only -o b.summary
  privhp merge a.summary b.summary -o all.privhp

All machines use one plan file, of one pass or from privhp learn. The release has the guarantee of the plan if no record
is in two summaries; a record in two has twice the epsilon. A summary that is given twice
is refused.

Each summary holds the full noise of the plan, so the noise of k merged summaries is
sqrt(k) times as large as that of a single fit: merge few. Standard errors account for it.
A single summary is released as it is.

A summary is confidential: its holder could add records and release it again, and two
releases of one state are not private. Delete the summaries after the merge.
"""


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "merge", "Merge summaries of disjoint data and release the result.", _EXAMPLES)
    add_file(
        parser, "summaries", nargs="+", metavar="summary", help="summary files or globs, of privhp fit --summary-only"
    )
    add_output(parser, "release to write, such as all.privhp")
    add_json(parser)


@saying_what_is_kept
def run(options: Namespace) -> None:
    """Merge the summaries and write the release; the summary files stay unchanged."""
    from privhp.answers.generator import Reading
    from privhp.answers.high_counts import describe_high_count
    from privhp.answers.low_counts import describe_low_count
    from privhp.api import save
    from privhp.cli.json_objects import content_object
    from privhp.cli.messages import describe_release, warn
    from privhp.cli.paths import check_result, expand_globs, read_file
    from privhp.cli.streams import print_object
    from privhp.cli.watching import watch
    from privhp.core.container import RELEASE
    from privhp.errors import StateError
    from privhp.io.disk import remove_partials

    output = check_result(options)
    remove_partials(output, magic=RELEASE)
    with watch(options):
        first, *others = expand_globs(options.summaries)
        summary = read_file(_read_summary, first)
        for path in others:
            other = read_file(_read_summary, path)
            try:
                summary.merge(other)
            except StateError as error:
                raise StateError(f"{path}: {error}") from None
        generator = summary.release()
        generator.reading = Reading(merged=True)
        ignore_signals()
        save(generator, output, replace=options.force)
    if options.json:
        print_object({"file": options.output, "written": True} | content_object(generator))
    elif not options.quiet:
        merged, most = generator.release.merged, generator.plan.max_records_per_person
        persons = f" and no person has more than {most} in all of them together" if most > 1 else ""
        origin = f", from {merged} merged summaries; the guarantee holds if no record is in two of them{persons}"
        print(describe_release(generator, output, note=origin if merged > 1 else ""))
    warn(describe_low_count(generator), describe_high_count(generator))


def _read_summary(path: str) -> "Summary":
    """Summary of a finished fit."""
    from privhp.collect.checkpoint import Checkpoint
    from privhp.core.regular_files import open_regular
    from privhp.errors import FileError

    with open_regular(path) as file:
        checkpoint = Checkpoint.read(file)
    if checkpoint.position is not None:
        raise FileError(
            "this is the checkpoint of an unfinished fit; finish it with --resume and --summary-only, then merge"
        )
    return checkpoint.summary

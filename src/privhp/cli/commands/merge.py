"""`privhp merge`: summaries of parts in, one release out."""

from argparse import Namespace
from pathlib import Path

from privhp.api import save
from privhp.cli.output import check_release
from privhp.cli.reading import read_file
from privhp.collect.checkpoint import Checkpoint
from privhp.collect.summary import Summary
from privhp.errors import FileError, StateError


def run(options: Namespace) -> None:
    """Add up the parts and release the sum; the parts stay as they are."""
    output = check_release(options.output, data=options.summaries, force=options.force)
    if len(options.summaries) < 2:
        raise FileError("expected two summaries or more to add up, got one; privhp fit releases a single one by itself")
    first, *others = options.summaries
    summary = read_file(_part, first)
    for path in others:
        part = read_file(_part, path)
        try:
            summary.merge(part)
        except StateError as error:
            raise StateError(f"{path}: {error}") from None
    save(generator := summary.release(), output)
    if not options.quiet:
        print(
            f"wrote {output}, {float(summary.plan.epsilon):g}-differentially private if no record is in two parts: "
            f"about {generator.total:,.0f} records (noisy), with the noise of {summary.merged} parts"
        )


def _part(path: str) -> Summary:
    """A summary that has read all of its part."""
    with Path(path).open("rb") as file:
        summary, position = Checkpoint.read(file)
    if position is not None:
        raise FileError(
            "expected the summary of a whole part, got the checkpoint of a fit that is under way; "
            "finish it by --resume with --summary-only"
        )
    return summary

"""Repeated fits: whether an existing output is the result of an earlier run of the same command.

A release holds nothing about its source. So a run that finished is recognised by
its plan, and one that ended before it removed its checkpoint by its bytes.
A pan-private release has fresh noise, so there its user decides.
"""

from argparse import Namespace
from pathlib import Path

from privhp.cli.paths import exists
from privhp.collect.checkpoint import Checkpoint
from privhp.collect.ingest import CheckpointedIngestion
from privhp.collect.learning import continues, is_learning
from privhp.errors import FileError
from privhp.io.sources import Source
from privhp.planning.plan import Plan
from privhp.release import Release


def check_finished(plan: Plan, source: Source, checkpoint: Path, output: Path, options: Namespace) -> str:
    """Refuse an output that an earlier run of this command cannot have written; describe any other. No data is read.

    A checkpoint that is left of a finished run is removed.
    """
    if checkpoint.exists() and plan.pan_private:
        raise FileError(
            f"{output} exists and may be the release of {checkpoint}: if it is, remove {checkpoint}, since a second "
            "pan-private release of one state costs epsilon again; otherwise choose another output"
        )
    if checkpoint.exists():
        ingestion = CheckpointedIngestion(plan, source, checkpoint, resume=True)
        finished = False
        try:
            finished = _is_result(ingestion, output, options)
        finally:
            ingestion.close(remove=finished)
    else:
        finished = _has_plan(output, plan, options)
    if not finished:
        raise exists(output)
    return (
        f"{output} is there already, with this plan: nothing was read and nothing was changed; "
        "for other data choose another output"
    )


def _has_plan(output: Path, plan: Plan, options: Namespace) -> bool:
    """Whether a file is a release of a single fit with a plan, or for --summary-only a summary file."""
    try:
        with output.open("rb") as file:
            if not options.summary_only:
                release = Release.read(file)
                return release.merged == 1 and continues(release.plan, plan)
            found = Checkpoint.read(file)
            return found.position is None and found.summary.merged == 1 and continues(found.plan, plan)
    except OSError:
        return False


def _is_result(ingestion: CheckpointedIngestion, output: Path, options: Namespace) -> bool:
    """Whether a file has the bytes that the summary of a resumed ingestion, as it is, would give."""
    if is_learning(ingestion.plan, ingestion.number):
        return False
    summary = ingestion.summary
    content = b"".join((Checkpoint(summary) if options.summary_only else summary.close()).chunks())
    return output.stat().st_size == len(content) and output.read_bytes() == content

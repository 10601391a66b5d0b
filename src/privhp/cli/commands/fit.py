"""`privhp fit`: a private release from records."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from privhp.cli.options import (
    DOMAINS,
    add_data,
    add_file,
    add_json,
    add_output,
    add_persons,
    add_plan,
    integer,
    seconds,
)
from privhp.cli.parsers import Commands, add_command
from privhp.cli.signals import ignore_signals, noting, saying_what_is_kept

if TYPE_CHECKING:
    from privhp.answers.generator import Generator
    from privhp.collect.ingest import CheckpointedIngestion
    from privhp.collect.summary import Summary
    from privhp.io.sources import Source
    from privhp.planning.plan import Plan

_EXAMPLES = """\
examples:
  privhp fit trips.csv --columns fare --domain interval:0:1000 --epsilon 1 --expected-records 1e6 -o fares.privhp
  privhp fit gb.csv.gz --columns lon,lat --domain box:-9:2,49.8:61 --epsilon 0.5 --expected-records 2e6 -o gb.privhp
  privhp fit 'trips/*.parquet' --domain t.toml --epsilon 1 --expected-records 1e8 --checkpoint t.state -o t.privhp
  zcat log.gz | privhp fit - --csv lines --no-header --domain ipv4 --epsilon 1 --expected-records 1e7 -o log.privhp
  privhp fit trips.csv --plan plan.json --summary-only -o 1.summary
  privhp fit 'trips/*.parquet' rides.toml

The last command has the domain, epsilon and the expected number of records in rides.toml, and writes
rides.privhp.

"""

_END = """
Standard input and pipes are read once. A partition that was learned before from such data, by
privhp learn or an earlier fit of files, may lower their error: --partition FILE.

At the end, fit prints the noisy number of records beside the expected number, and warns if it
is below nine tenths of it, with the causes that are likely for these columns and files, or
at least three times as large. For scripts, --min-records N makes a low number exit code 1.
"""

_HINT = "A stream is read once; --partition, with a release or a learned plan of such data, may lower its error."


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(
        commands,
        "fit",
        "Read records and write a private release. Files are read three times: twice to learn\n"
        "a partition on private samples, and once to measure. Records that are unreadable or outside\n"
        "the domain are skipped without a message, because a message would reveal them.",
        _EXAMPLES + DOMAINS + _END,
    )
    add_data(parser)
    add_persons(parser)
    checkpoints = parser.add_group("checkpoints, for long jobs")
    add_file(
        checkpoints,
        "--checkpoint",
        metavar="FILE",
        help="save the state periodically to FILE; it is confidential and removed at the end",
    )
    checkpoints.add_argument(
        "--every", type=seconds, default=30.0, metavar="TIME", help="interval of checkpoints: 30s, 5m, 1h; default 30s"
    )
    checkpoints.add_argument(
        "--resume",
        action="store_true",
        help="continue from the checkpoint, or start if there is none; each record is counted exactly once. The same "
        "command can be repeated: once the output is written, it changes nothing",
    )
    add_plan(parser, plan_file=True)
    parser.add_argument(
        "--summary-only",
        action="store_true",
        help="write the confidential summary in place of a release: see privhp merge --help",
    )
    parser.add_argument(
        "--min-records",
        type=integer,
        metavar="N",
        help="exit with code 1 if the noisy number of records is below N; the release is written all the same",
    )
    add_output(parser, "release to write, such as fares.privhp; default: named after the domain file", optional=True)
    add_json(parser)


@saying_what_is_kept
def run(options: Namespace) -> None:
    """Check all arguments, then read the data."""
    from privhp.api import load
    from privhp.cli.data_options import open_data, plan_data
    from privhp.cli.finished import check_finished
    from privhp.cli.json_objects import content_object, read_content
    from privhp.cli.messages import warn
    from privhp.cli.paths import check_checkpoint, check_result, is_kept
    from privhp.cli.plan_options import could_learn, take_domain_file
    from privhp.cli.streams import print_object
    from privhp.cli.watching import watch
    from privhp.collect.ingest import CheckpointedIngestion, Ingestion
    from privhp.core.container import CHECKPOINT, RELEASE
    from privhp.fitting import run_passes
    from privhp.io.disk import remove_partials
    from privhp.planning.plan_warnings import plan_warnings

    take_domain_file(options)
    plan = plan_data(options)
    if options.summary_only:
        _check_shared(plan, options)
    output = check_result(options, resumed=options.resume)
    checkpoint = check_checkpoint(options, output)
    remove_partials(output, magic=CHECKPOINT if options.summary_only else RELEASE)
    source = open_data(options, plan)
    warn(*plan_warnings(plan).values())
    kept = checkpoint is not None and is_kept(output, options)
    if checkpoint is None:
        ingestion = Ingestion(plan, source)
        with watch(options) as progress:
            run_passes(ingestion, plan, source, progress, unit="bytes")
            result, generator = _write(ingestion.summary, output, options)
    elif kept:
        with watch(options):
            result = check_finished(plan, source, checkpoint, output, options)
            generator = None if options.summary_only else load(output)
    else:
        resumable = CheckpointedIngestion(plan, source, checkpoint, every=options.every, resume=options.resume)
        result, generator = _run_resumable(resumable, plan, source, output, options)
    if options.json:
        with watch(options):
            content = content_object(read_content(options.output))
        print_object({"file": options.output, "written": not kept} | content)
    elif not options.quiet:
        print(result)
        if not source.rereadable and could_learn(plan):
            print(_HINT)
    elif kept:
        warn(result)
    if generator is not None:
        _check_count(generator, source, options)


def _check_count(generator: "Generator", source: "Source", options: Namespace) -> None:
    """Warn about a low or high noisy count of a written release; exit with code 1 if it is below --min-records."""
    from privhp.answers.generator import Reading
    from privhp.answers.high_counts import describe_high_count
    from privhp.answers.low_counts import check_min_records, describe_low_count
    from privhp.answers.unseen_categories import describe_unseen_categories
    from privhp.answers.unseen_nulls import describe_unseen_nulls
    from privhp.cli import FAILED
    from privhp.cli.messages import speak_options, warn
    from privhp.cli.streams import say
    from privhp.errors import LowCountError

    generator.reading = Reading(source.formats, persons=source.persons is not None, declared=source.declared)
    low = describe_low_count(generator)
    warn(low, describe_high_count(generator), describe_unseen_nulls(generator))
    if low is None:  # otherwise among its causes
        warn(describe_unseen_categories(generator))
    try:
        check_min_records(generator, options.min_records)
    except LowCountError as error:
        say(f"privhp: error: {speak_options(str(error))}; {options.output} is written")
        raise SystemExit(FAILED) from None


def _check_shared(plan: "Plan", options: Namespace) -> None:
    """Refuse a plan whose partition each fit would learn anew, and a check of a count that is not released."""
    from privhp.errors import PlanError

    if options.min_records is not None:
        raise PlanError("--min-records checks the count of a release, and --summary-only writes none; leave out one")
    if plan.learning is not None and plan.partition is None:
        raise PlanError(
            "--summary-only needs a plan that all parties share: write one with privhp plan --passes 1 -o plan.json "
            "or privhp learn -o plan.json, and pass it to each fit with --plan plan.json"
        )


def _write(summary: "Summary", output: Path, options: Namespace) -> tuple[str, "Generator | None"]:
    """Write the release or the summary, and describe it; the generator of a release."""
    from privhp.api import save
    from privhp.cli.messages import describe_release

    if options.summary_only:
        ignore_signals()
        save(summary, output, replace=options.force)
        return f"wrote {output}: a summary, confidential; merge it with others by privhp merge", None
    generator = summary.release()
    ignore_signals()
    save(generator, output, replace=options.force)
    capped = options.person is not None
    return describe_release(generator, output, note=f"; see privhp inspect {output}", capped=capped), generator


def _run_resumable(
    ingestion: "CheckpointedIngestion", plan: "Plan", source: "Source", output: Path, options: Namespace
) -> tuple[str, "Generator | None"]:
    """Run the passes with checkpoints, and write and describe the result.

    The checkpoint stays if this fails, unless the input is refused: mended files
    are other files, which no checkpoint continues. One of an earlier run stays all the same.
    """
    from privhp.cli.watching import watch
    from privhp.errors import PrivhpError
    from privhp.fitting import run_passes

    remove = False
    try:
        with watch(options) as progress:
            try:
                with noting() as stop:
                    done = run_passes(
                        ingestion, plan, source, progress, unit="bytes", resumed=ingestion.resumed, stop=stop
                    )
            except PrivhpError as error:
                missing = getattr(error, "errno", None) is not None  # it may come back as it was
                remove = not ingestion.resumed and not missing
                raise
            if done:
                result = _write(ingestion.summary, output, options)
                remove = True
                return result
        raise KeyboardInterrupt
    finally:
        ingestion.close(remove=remove)

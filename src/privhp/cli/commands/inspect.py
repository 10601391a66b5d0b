"""`privhp inspect`: contents of a release, a plan or a confidential summary."""

from argparse import Namespace
from textwrap import wrap
from typing import TYPE_CHECKING

from privhp.cli.options import add_file
from privhp.cli.parsers import Commands, add_command

if TYPE_CHECKING:
    from privhp.answers.generator import Generator
    from privhp.collect.checkpoint import Checkpoint
    from privhp.planning.plan import Plan

_EXAMPLES = """\
examples:
  privhp inspect fares.privhp
  privhp inspect plan.json
  privhp inspect fares.privhp --json
  privhp inspect fares.privhp --card > card.yaml
  privhp inspect --system

--card prints what a release says about itself in the fields of the public registry of deployments
of differential privacy (github.com/opendp/deployments-registry-data). Fill in the rest.
"""


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(
        commands,
        "inspect",
        "Show the plan and the quantiles of a release. Of a checkpoint or summary file, show the plan.",
        _EXAMPLES,
    )
    subject = parser.add_exclusive_group(required=True)
    add_file(subject, "file", nargs="?", help="a release, a checkpoint, a summary file or a plan")
    subject.add_argument("--system", action="store_true", help="show the version of privhp and its kernels")
    form = parser.add_exclusive_group(required=False)
    form.add_argument("--json", action="store_true", help="print one JSON object in place of text")
    form.add_argument("--card", action="store_true", help="print a card of the release for the registry, in YAML")


def run(options: Namespace) -> None:
    """Print the contents of a file, or versions."""
    from privhp.cli.json_objects import content_object, read_content
    from privhp.cli.streams import print_object
    from privhp.cli.watching import watch

    if options.system:
        system = read_system()
        print_object(system) if options.json else print(describe_system(system))
        return
    with watch(options):
        content = read_content(options.file)
    if options.card:
        print(_card(content, options.file), end="")
    elif options.json:
        print_object({"file": options.file} | content_object(content))
    else:
        print(describe_content(content, options.file))


def describe_content(content: "Generator | Checkpoint | Plan", name: str) -> str:
    """What a file is, and its plan; of a release also its guarantee and quantiles."""
    from privhp.answers.generator import Generator
    from privhp.planning.plan import Plan

    if isinstance(content, Plan):
        return f"{name}: a plan. It is public and contains no data.\n\n{content}"
    if isinstance(content, Generator):
        kind = "a release. It is public, under the guarantee below."
        return f"{name}: {kind}\n\n{content.plan}\n\n{describe(content)}"
    kind = "the checkpoint of a learning pass" if content.learning else "a checkpoint or a summary file"
    return f"{name}: {kind}. It is CONFIDENTIAL: never publish it.\n\n{content.plan}"


def _card(content: "Generator | Checkpoint | Plan", name: str) -> str:
    from privhp.answers.generator import Generator
    from privhp.errors import FileError
    from privhp.reporting.release_card import release_card

    if not isinstance(content, Generator):
        raise FileError(f"--card describes a release, and {name} is none; privhp fit writes one")
    return release_card(content)


def read_system() -> dict[str, str]:
    """Versions and kernels, by name."""
    import platform

    import numpy as np

    import privhp
    from privhp import kernels

    return {
        "privhp": privhp.__version__,
        "kernels": kernels.BACKEND,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
    }


def describe_system(system: dict[str, str]) -> str:
    """Versions and kernels as text."""
    built = {"native": "native, compiled at installation", "plain": "plain NumPy: no compiler at installation"}
    return (
        f"privhp   {system['privhp']}\nkernels  {built[system['kernels']]}\n"
        f"Python   {system['python']}, NumPy {system['numpy']}, {system['machine']}"
    )


def describe(generator: "Generator") -> str:
    """Number of records, leaves and quantiles of a release."""
    from privhp.answers.high_counts import describe_high_count
    from privhp.answers.low_counts import describe_low_count
    from privhp.cli.answer_tables import as_table
    from privhp.cli.column_tables import find_quantiles
    from privhp.cli.json_objects import SHARES
    from privhp.cli.messages import speak_options
    from privhp.core.number_format import format_number

    stderr = float(f"{generator.total_stderr:.2g}")
    lines = [
        f"leaves      {generator.partition.size:,}",
        f"records     about {generator.total:,.0f} (noisy, standard error {format_number(stderr)})",
    ]
    if generator.release.merged > 1:
        lines.append(f"merged      {generator.release.merged:,} summaries, each with the noise of the plan")
    warning = describe_low_count(generator) or describe_high_count(generator)
    if warning is not None:
        wrapped = [
            own for line in speak_options(warning).splitlines() for own in wrap(line, 88, break_on_hyphens=False)
        ]
        lines += [f"{'' if place else 'warning':12}{own}" for place, own in enumerate(wrapped)]
    if generator.domain.ordered:
        quantiles = find_quantiles(generator, SHARES, Namespace(marginal=None, columns=None, by=None), flag="")
        lines += ["", as_table(quantiles.header, quantiles.rows)]
    return "\n".join(lines)

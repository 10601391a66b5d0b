"""`privhp inspect`: contents of a release, a plan or a confidential summary."""

from argparse import Namespace
from typing import TYPE_CHECKING

from privhp.cli.options import add_file
from privhp.cli.parsers import Commands, add_command

if TYPE_CHECKING:
    from privhp.answers.generator import Generator
    from privhp.collect.checkpoint import Checkpoint

SHARES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)

_EXAMPLES = """\
examples:
  privhp inspect fares.privhp
  privhp inspect plan.json
  privhp inspect --system
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


def run(options: Namespace) -> None:
    """Print the contents of a file, or versions."""
    from privhp.api import load
    from privhp.cli.paths import read_file
    from privhp.cli.plan_options import load_plan
    from privhp.core.container import CHECKPOINT
    from privhp.planning.guarantee import state_odds

    if options.system:
        print(describe_system())
        return
    magic = read_file(_read_magic, options.file)
    if magic == CHECKPOINT:
        checkpoint = read_file(_read_checkpoint, options.file)
        kind = "the checkpoint of a learning pass" if checkpoint.learning else "a checkpoint or a summary file"
        print(f"{options.file}: {kind}. It is CONFIDENTIAL: never publish it.\n\n{checkpoint.plan}")
    elif magic.startswith(b"{"):
        print(f"{options.file}: a plan. It is public and contains no data.\n\n{load_plan(options.file)}")
    else:
        generator = read_file(load, options.file)
        print(f"{options.file}: a release. It is public, under the guarantee below.\n")
        print(f"{generator.plan}\n\n{state_odds(generator.plan)}\n\n{describe(generator)}")


def _read_magic(path: str) -> bytes:
    """The bytes that tell the kind of a file."""
    from privhp.core.container import CHECKPOINT
    from privhp.core.regular_files import open_regular

    with open_regular(path) as file:
        return file.read(len(CHECKPOINT))


def _read_checkpoint(path: str) -> "Checkpoint":
    """A checkpoint, which is not resumed."""
    from privhp.collect.checkpoint import Checkpoint
    from privhp.core.regular_files import open_regular

    with open_regular(path) as file:
        return Checkpoint.read(file)


def describe_system() -> str:
    """Versions and kernels."""
    import platform

    import numpy as np

    import privhp
    from privhp import kernels

    built = {"native": "native, compiled at installation", "plain": "plain NumPy: no compiler at installation"}
    return (
        f"privhp   {privhp.__version__}\nkernels  {built[kernels.BACKEND]}\n"
        f"Python   {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}"
    )


def describe(generator: "Generator") -> str:
    """Number of records, leaves and quantiles of a release."""
    from privhp.io.sinks import format_values

    lines = [
        f"leaves      {generator.leaves().codes.size:,}",
        f"records     about {generator.total:,.0f} (noisy)",
    ]
    if generator.release.merged > 1:
        lines.append(f"merged      {generator.release.merged:,} summaries, each with the noise of the plan")
    domain = generator.plan.domain
    if domain.ordered:
        values = format_values(domain, generator.quantile(SHARES).value)
        texts = [f"{value:.6g}" if isinstance(value, float) else str(value) for value in values]
        lines += ["", "quantile   value"]
        lines += [f"{share:8.0%}   {text}" for share, text in zip(SHARES, texts, strict=True)]
    return "\n".join(lines)

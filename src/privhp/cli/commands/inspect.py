"""`privhp inspect`: what a file promises and says."""

import os
import platform
from argparse import Namespace
from pathlib import Path

import numpy as np

import privhp
from privhp import kernels
from privhp.answers.generator import Generator
from privhp.api import load
from privhp.cli.planning import load_plan
from privhp.cli.reading import read_file
from privhp.collect.checkpoint import Checkpoint
from privhp.core.container import CHECKPOINT
from privhp.io.sinks import format_values
from privhp.planning.plan import Plan

SHARES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


def run(options: Namespace) -> None:
    """Print a release in full; of a checkpoint the plan alone; a plan; or what runs here."""
    if options.system:
        print(describe_system())
        return
    with Path(options.file).open("rb") as file:
        magic = file.read(len(CHECKPOINT))
    if magic == CHECKPOINT:
        plan = read_file(_plan_of_checkpoint, options.file)
        print(
            f"{options.file}: a checkpoint or a summary. It is CONFIDENTIAL: keep it to yourself, "
            "and never publish it.\n"
        )
        print(plan)
    elif magic.startswith(b"{"):
        print(f"{options.file}: a plan. It is public, and knows nothing of any data.\n\n{load_plan(options.file)}")
    else:
        generator = read_file(load, options.file)
        print(f"{options.file}: a release. It is public, and as private as the guarantee says.\n")
        print(generator.plan)
        print("\n" + describe(generator))


def _plan_of_checkpoint(path: str | os.PathLike[str]) -> Plan:
    """The plan alone, without resuming anything."""
    with Path(path).open("rb") as file:
        return Checkpoint.read(file).summary.plan


def describe_system() -> str:
    """Versions, and which kernels run."""
    built = {"native": "native, compiled at installation", "plain": "plain NumPy, since no compiler was found"}
    return (
        f"privhp   {privhp.__version__}\nkernels  {built[kernels.BACKEND]}\n"
        f"Python   {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}"
    )


def describe(generator: Generator) -> str:
    """What a release says of the records, for people."""
    lines = [
        f"leaves      {generator.leaves().codes.size:,}",
        f"records     about {generator.total:,.0f} (noisy)",
    ]
    if generator.release.merged > 1:
        lines.append(f"parts       {generator.release.merged:,}, each with the noise of the plan")
    domain = generator.plan.domain
    if domain.ordered:
        values = format_values(domain, generator.quantile(SHARES).value)
        texts = [f"{value:.6g}" if isinstance(value, float) else str(value) for value in values]
        lines += ["", "share at or below   value"]
        lines += [f"{share:17.0%}   {text}" for share, text in zip(SHARES, texts, strict=True)]
    return "\n".join(lines)

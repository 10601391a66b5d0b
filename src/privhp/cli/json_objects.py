"""The JSON objects that --json prints; docs/json.md has their schema. All are computed from public values."""

from typing import Any

from privhp.answers.generator import Generator
from privhp.api import load
from privhp.cli.paths import read_file
from privhp.cli.plan_options import load_plan
from privhp.collect.checkpoint import Checkpoint
from privhp.core.container import CHECKPOINT
from privhp.core.regular_files import open_regular
from privhp.io.sinks import format_values
from privhp.planning.guarantee import state_definition
from privhp.planning.plan import Plan

SHARES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
"""Shares of the quantiles that describe an ordered domain."""


def read_content(path: str) -> Generator | Checkpoint | Plan:
    """The content of a file that privhp wrote; a checkpoint is not resumed."""
    magic = read_file(_read_magic, path)
    if magic == CHECKPOINT:
        return read_file(_read_checkpoint, path)
    return load_plan(path) if magic.startswith(b"{") else read_file(load, path)


def content_object(content: Generator | Checkpoint | Plan) -> dict[str, Any]:
    """Object of a release, a confidential summary or a plan."""
    if isinstance(content, Plan):
        return {"kind": "plan", "public": True, "plan": plan_object(content)}
    if isinstance(content, Checkpoint):
        kind = "summary" if content.position is None and not content.learning else "checkpoint"
        return {"kind": kind, "public": False, "plan": plan_object(content.plan)}
    return {
        "kind": "release",
        "public": True,
        "records": content.total,
        "records_stderr": content.total_stderr,
        "leaves": content.partition.size,
        "merged": content.release.merged,
        "quantiles": _quantiles(content),
        "plan": plan_object(content.plan),
    }


def plan_object(plan: Plan) -> dict[str, Any]:
    """Object of a plan: guarantee, sizes, measured levels and predicted errors."""
    predictions = plan.predictions() if plan.expected_records else {}
    return {
        "domain": plan.domain.spec(),
        "guarantee": {
            "epsilon": float(plan.epsilon),
            "delta": 0,
            "neighbours": plan.neighbours,
            "max_records_per_person": plan.max_records_per_person,
            "pan_private": plan.pan_private,
            "statement": state_definition(plan),
        },
        "expected_records": plan.expected_records or None,
        "memory": plan.memory or None,
        "counters": plan.counters,
        "bytes": plan.nbytes,
        "passes": plan.passes,
        "learning_cost": float(plan.learning_cost),
        "partition": _partition(plan),
        "inference": plan.inference,
        "levels": _levels(plan),
        "columns": [
            {"column": label, "partition": _partition(own), "levels": _levels(own)}
            for label, own in plan.column_plans.items()
        ],
        "predictions": [
            {
                "stream": stream,
                "error": error.total,
                "noise": error.noise,
                "collisions": error.collisions,
                "resolution": error.resolution,
            }
            for stream, error in predictions.items()
        ],
    }


def _partition(plan: Plan) -> dict[str, int] | None:
    """Object of the partition of a plan; None without one."""
    own = plan.partition
    return None if own is None else {"leaves": own.size, "min_level": own.min_level, "max_level": own.max_level}


def _levels(plan: Plan) -> list[dict[str, Any]]:
    """Objects of the measured levels of a plan."""
    return [
        {
            "level": level,
            "measured": plan.measurement(level),
            "counters": list(plan.shapes[level]),
            "budget": float(budget),
            "noise_scale": float(plan.scale(level)),
            "cell_diameter": float(plan.domain.diameter(level)),
        }
        for level, budget in plan.budgets.items()
    ]


def _quantiles(generator: Generator) -> list[dict[str, Any]]:
    """Quantiles of an ordered domain; none for others."""
    if not generator.domain.ordered:
        return []
    values = format_values(generator.domain, generator.quantile(SHARES).value)
    return [{"quantile": share, "value": value} for share, value in zip(SHARES, values, strict=True)]


def _read_magic(path: str) -> bytes:
    """The bytes that tell the kind of a file."""
    with open_regular(path) as file:
        return file.read(len(CHECKPOINT))


def _read_checkpoint(path: str) -> Checkpoint:
    with open_regular(path) as file:
        return Checkpoint.read(file)

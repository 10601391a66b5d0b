"""Makes the golden files of the current format version: python tests/golden/make.py.

For each domain a checkpoint, the release that its summary ended in, and a JSON
file with what both must give: their cells, the records that came between them,
and the answers of the generator. Files that exist are never written again,
since reading old files is what they are for; to renew answers after the tree
has changed on purpose, delete the JSON files alone.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import privhp as hp
from privhp.core.container import VERSION
from privhp.planning.refinement_schedule import RefinementSchedule

FOLDER = Path(__file__).parent / f"v{VERSION}"

PLANS: dict[str, dict[str, Any]] = {
    "interval": {"domain": hp.Interval(-1, 3), "epsilon": 1},
    "interval-log": {"domain": hp.Interval(0.5, 1000, scale="log", outside="clamp"), "epsilon": "0.3"},
    "integers": {"domain": hp.Integers(-3, 9, outside="clamp"), "epsilon": 2, "neighbours": "replace-one"},
    "box": {"domain": hp.Box([(0, 1), (-2, 2)]), "epsilon": 1.5, "expand": "all", "hash_group": 0},
    "ipv4": {"domain": hp.IPv4(), "epsilon": "1/3", "max_records_per_person": 2, "depth": 9},
}
GROWING = "growing"
RECORDS, REST = 400, 100
SHARES = [0.0, 0.1, 0.25, 0.5, 0.9, 1.0]


def plan_of(kind: str) -> hp.Plan:
    if kind == GROWING:
        return hp.Plan(
            hp.Integers(0, 4000),
            epsilon=2,
            budgets={1: "1/4", 3: "1/4", 5: "3/2"},
            exact_depth=3,
            # Both rows are before the checkpoint, since the noise of a refinement is fresh.
            learned=RefinementSchedule(slots=200, refinement_rows=(50, 150), min_child_records=2),
            inference="least-squares",
            expected_records=500,
            memory=4096,
            neighbours="zero-out",
        )
    settings = {
        "expected_records": 500,
        "hot_cells": 3,
        "exact_depth": 2,
        "sketch_rows": 2,
        "sketch_width": 8,
        "depth": 4,
    }
    return hp.Plan.paper(**(settings | PLANS[kind]))


def rest_of(domain: hp.Domain) -> np.ndarray:
    """The records that come after the checkpoint, the same at every call."""
    rng = np.random.default_rng(1)
    cells = rng.integers(0, 2**domain.depth, REST, dtype=np.uint64) >> np.uint64(1)  # the lower half of the domain
    return domain.decode(cells, level=domain.depth, rng=rng)


def write_pair(checkpoint: Path, release: Path, plan: hp.Plan) -> None:
    rng = np.random.default_rng(0)
    summary = hp.Summary(plan)
    records = plan.domain.decode(rng.integers(0, 2, RECORDS, dtype=np.uint64), level=1, rng=rng)
    if plan.learned is None:
        tally = hp.Tally(plan)
        tally.add(records)
        summary.absorb(tally)
    else:
        summary.update(records)
    hp.save(summary, checkpoint)
    summary.update(rest_of(plan.domain))
    hp.save(summary.release(), release)


def expected(checkpoint: Path, release: Path) -> dict[str, Any]:
    summary, generator = hp.resume(checkpoint), hp.load(release)
    leaves = generator.leaves()
    return {
        "checkpoint cells": summary.state().tolist(),
        "lineage": sorted(name.hex() for name in summary.merged_ids),
        "rest": rest_of(summary.plan.domain).tolist(),
        "release cells": generator.release.cells().tolist(),
        "leaves": {"codes": leaves.codes.tolist(), "levels": leaves.levels.tolist(), "counts": leaves.counts.tolist()},
        "shares": SHARES if generator.plan.domain.ordered else [],
        "quantiles": generator.quantile(SHARES).value.tolist() if generator.plan.domain.ordered else [],
    }


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    made = []
    for kind in [*PLANS, GROWING]:
        checkpoint, release, answers = (FOLDER / f"{kind}.{end}" for end in ("checkpoint", "release", "json"))
        if not checkpoint.exists() and not release.exists():
            write_pair(checkpoint, release, plan_of(kind))
            made += [checkpoint, release]
        if not answers.exists():
            answers.write_text(json.dumps(expected(checkpoint, release)) + "\n")
            made.append(answers)
    if not made:
        sys.exit(f"nothing made: {FOLDER.name} is complete, and golden files are never overwritten")
    sys.stdout.writelines(f"made {path.name}\n" for path in made)


if __name__ == "__main__":
    main()

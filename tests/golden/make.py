"""Makes the golden files of the current format version: python tests/golden/make.py.

For each domain a checkpoint, the release that its summary ended in, and a JSON
file with what both must give: their cells, the records that came between them,
and the answers of the generator. The plan "learned" has a partition that was
learned from records; it has a plan file and the checkpoint of a learning pass, too.
Files that exist are never written again, since reading old files is what they
are for; to renew answers after the tree has changed on purpose, delete the
JSON files of answers alone.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import privhp as hp
from privhp.collect.checkpoint import Checkpoint
from privhp.collect.ingest import Ingestion
from privhp.core.container import VERSION
from privhp.io.sources import open_source
from privhp.planning.learning import Learning, LearningPass

FOLDER = Path(__file__).parent / f"v{VERSION}"

PLANS: dict[str, dict[str, Any]] = {
    "interval": {"domain": hp.Interval(-1, 3), "epsilon": 1},
    "interval-log": {"domain": hp.Interval(0.5, 1000, scale="log", outside="clamp"), "epsilon": "0.3"},
    "integers": {"domain": hp.Integers(-3, 9, outside="clamp"), "epsilon": 2, "neighbours": "replace-one"},
    "box": {"domain": hp.Box([(0, 1), (-2, 2)]), "epsilon": 1.5, "expand": "all", "hash_group": 0},
    "ipv4": {"domain": hp.IPv4(), "epsilon": "1/3", "max_records_per_person": 2, "depth": 9},
}
LEARNED = hp.Plan(
    hp.Integers(0, 4000),
    epsilon=4,
    budgets={1: "1/4", 3: "1/4", 4: "3/2"},
    exact_depth=3,
    learning=Learning(nbytes=2000, passes=(LearningPass("1/2", 1), LearningPass("3/4", 1))),
    inference="least-squares",
    expected_records=500,
    memory=4096,
)
POSITION = {"file": 0, "identity": "an example", "place": 300}
RECORDS, REST = 400, 100
SHARES = [0.0, 0.1, 0.25, 0.5, 0.9, 1.0]


def plan_of(kind: str) -> hp.Plan:
    settings = {
        "expected_records": 500,
        "hot_cells": 3,
        "exact_depth": 2,
        "sketch_rows": 2,
        "sketch_width": 8,
        "depth": 4,
    }
    return hp.Plan.paper(**(settings | PLANS[kind]))


def write_learned(plan_file: Path, checkpoint: Path) -> None:
    """The plan with the partition that 400 records teach, and the checkpoint of its second learning pass."""
    records = np.random.default_rng(2).lognormal(3, 1, RECORDS).astype(np.int64)
    ingestion = Ingestion(LEARNED, open_source(records, domain=LEARNED.domain))
    ingestion.learn(should_stop=lambda batch: ingestion.number == 1)
    Checkpoint(ingestion.summary, POSITION, plan=ingestion.plan, number=1).save(checkpoint)
    ingestion.learn()
    plan_file.write_text(json.dumps(ingestion.plan.spec(), indent=2) + "\n")


def rest_of(domain: hp.Domain) -> np.ndarray:
    """The records that come after the checkpoint, the same at every call."""
    rng = np.random.default_rng(1)
    cells = rng.integers(0, 2**domain.depth, REST, dtype=np.uint64) >> np.uint64(1)  # the lower half of the domain
    return domain.decode(cells, level=domain.depth, rng=rng)


def write_pair(checkpoint: Path, release: Path, plan: hp.Plan) -> None:
    rng = np.random.default_rng(0)
    summary = hp.Summary(plan)
    records = plan.domain.decode(rng.integers(0, 2, RECORDS, dtype=np.uint64), level=1, rng=rng)
    tally = hp.Tally(plan)
    tally.add(records)
    summary.absorb(tally)
    hp.save(summary, checkpoint)
    summary.update(rest_of(plan.domain))
    hp.save(summary.release(), release)


def expected(checkpoint: Path, release: Path) -> dict[str, Any]:
    summary, generator = hp.resume(checkpoint), hp.load(release)
    leaves = generator.leaves()
    return {
        "checkpoint cells": summary.state().tolist(),
        "merged ids": sorted(name.hex() for name in summary.merged_ids),
        "rest": rest_of(summary.plan.domain).tolist(),
        "release cells": generator.release.cells().tolist(),
        "leaves": {"codes": leaves.codes.tolist(), "levels": leaves.levels.tolist(), "counts": leaves.counts.tolist()},
        "shares": SHARES if generator.plan.domain.ordered else [],
        "quantiles": generator.quantile(SHARES).value.tolist() if generator.plan.domain.ordered else [],
    }


def read_learned(plan_file: Path) -> hp.Plan:
    return hp.Plan.from_spec(json.loads(plan_file.read_text()))


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    made = []
    plan_file, learning = FOLDER / "learned.plan", FOLDER / "learning.checkpoint"
    if not plan_file.exists() and not learning.exists():
        write_learned(plan_file, learning)
        made += [plan_file, learning]
    for kind in [*PLANS, "learned"]:
        checkpoint, release, answers = (FOLDER / f"{kind}.{end}" for end in ("checkpoint", "release", "json"))
        if not checkpoint.exists() and not release.exists():
            write_pair(checkpoint, release, read_learned(plan_file) if kind == "learned" else plan_of(kind))
            made += [checkpoint, release]
        if not answers.exists():
            answers.write_text(json.dumps(expected(checkpoint, release)) + "\n")
            made.append(answers)
    if not made:
        sys.exit(f"nothing made: {FOLDER.name} is complete, and golden files are never overwritten")
    sys.stdout.writelines(f"made {path.name}\n" for path in made)


if __name__ == "__main__":
    main()

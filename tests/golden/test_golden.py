"""Files of every released format version load and give the answers that were stored with them."""

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privhp as hp
from privhp.collect.checkpoint import Checkpoint
from privhp.core.container import VERSION

FOLDER = Path(__file__).parent
RELEASES = sorted(FOLDER.glob("v*/*.release"))


def name(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


@pytest.fixture(params=RELEASES, ids=name)
def release(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture
def expected(release: Path) -> dict[str, Any]:
    return json.loads(release.with_suffix(".json").read_text())


def resumed(release: Path) -> hp.Summary:
    return hp.resume(release.with_suffix(".checkpoint"))


def test_golden_file_for_each_kind_of_domain() -> None:
    specs = [hp.load(path).plan.domain.spec() for path in RELEASES if path.parent.name == f"v{VERSION}"]
    kinds = {(spec["kind"], spec.get("scale")) for spec in specs}
    assert kinds >= {("interval", "linear"), ("interval", "log"), ("integers", None), ("box", None), ("ipv4", None)}


def test_cells_of_golden_release(release: Path, expected: dict[str, Any]) -> None:
    assert hp.load(release).release.cells().tolist() == expected["release cells"]


def test_answers_of_golden_release(release: Path, expected: dict[str, Any]) -> None:
    generator = hp.load(release)
    leaves = generator.leaves()
    assert leaves.codes.tolist() == expected["leaves"]["codes"]
    assert leaves.levels.tolist() == expected["leaves"]["levels"]
    assert leaves.counts.tolist() == expected["leaves"]["counts"]
    if expected["shares"]:
        assert generator.quantile(expected["shares"]).value.tolist() == expected["quantiles"]


def test_cells_and_ids_of_golden_checkpoint(release: Path, expected: dict[str, Any]) -> None:
    summary = resumed(release)
    assert summary.state().tolist() == expected["checkpoint cells"]
    assert sorted(part.hex() for part in summary.merged_ids) == expected["merged ids"]


def test_golden_checkpoint_resumes_to_golden_release(release: Path, expected: dict[str, Any]) -> None:
    summary = resumed(release)
    summary.update(np.array(expected["rest"]))
    assert summary.release().release == hp.load(release).release


def test_golden_files_round_trip(release: Path, tmp_path: Path) -> None:
    checkpoint = release.with_suffix(".checkpoint")
    hp.save(hp.load(release), tmp_path / "release")
    hp.save(hp.resume(checkpoint), tmp_path / "checkpoint")
    assert (tmp_path / "release").read_bytes() == release.read_bytes()
    assert (tmp_path / "checkpoint").read_bytes() == checkpoint.read_bytes()


def test_golden_plan() -> None:
    spec = json.loads((FOLDER / "v2" / "learned.plan").read_text())
    plan = hp.Plan.from_spec(spec)
    assert plan.spec() == spec
    assert plan == hp.load(FOLDER / "v2" / "learned.release").plan
    assert plan.learning is not None
    assert plan.partition is not None
    assert plan.partition.max_level - plan.partition.min_level > 4


def test_golden_checkpoint_of_learning_pass(tmp_path: Path) -> None:
    path = FOLDER / "v2" / "learning.checkpoint"
    with path.open("rb") as file:
        checkpoint = Checkpoint.read(file)
    assert checkpoint.learning
    assert checkpoint.number == 1
    assert checkpoint.position == {"file": 0, "identity": "an example", "place": 300}
    assert checkpoint.plan.partition is not None
    assert checkpoint.summary.state().size == checkpoint.plan.partition.size == 79
    assert checkpoint.summary.state().sum() == 316
    checkpoint.save(tmp_path / "checkpoint")
    assert (tmp_path / "checkpoint").read_bytes() == path.read_bytes()
    with pytest.raises(hp.StateError, match="learning pass"):
        hp.resume(path)


def test_golden_files_are_never_overwritten() -> None:
    before = {path: path.read_bytes() for path in FOLDER.glob("v*/*")}
    with pytest.raises(SystemExit, match="never overwritten"):
        runpy.run_path(str(FOLDER / "make.py"), run_name="__main__")
    assert {path: path.read_bytes() for path in FOLDER.glob("v*/*")} == before

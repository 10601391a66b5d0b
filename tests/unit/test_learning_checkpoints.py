"""Checkpoints of each pass: resumed fits, their headers, and what is refused."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privhp as hp
from forgery import forge, refusal
from privhp.collect.checkpoint import Checkpoint
from privhp.collect.ingest import CheckpointedIngestion
from privhp.core.container import CHECKPOINT
from privhp.io.sources import open_source

DOMAIN = hp.Integers(0, 2**20 - 1)
ROWS, BATCH = 3000, 250
PLAN = hp.Plan.auto(DOMAIN, epsilon=100, expected_records=ROWS, memory="8 KiB", passes=3)
BATCHES = ROWS // BATCH


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of twelve batches."""
    monkeypatch.setattr("os.fsync", lambda descriptor: None)
    monkeypatch.setattr("privhp.io.sources.selection.MAX_ROWS", BATCH)
    monkeypatch.setattr("privhp.io.sources.selection.MIN_ROWS", BATCH)
    path = tmp_path / "data.npy"
    np.save(path, np.random.default_rng(0).integers(0, 2**14, ROWS))
    return path


def begin(data: Path, plan: hp.Plan = PLAN, **details: Any) -> CheckpointedIngestion:
    return CheckpointedIngestion(plan, open_source(data, domain=DOMAIN), data.parent / "state", **details)


def stop_after(batches: int) -> Any:
    left = iter(range(batches - 1))
    return lambda _: next(left, None) is None


def header_of(path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    header: dict[str, Any] = json.loads(content[16 : 16 + int.from_bytes(content[12:16], "little")])
    return header


@pytest.mark.parametrize("stop", [1, 5, BATCHES, BATCHES + 1, 2 * BATCHES, 2 * BATCHES + 1, 3 * BATCHES - 1])
def test_resume_in_each_pass(stop: int, data: Path) -> None:
    """Stopped after any batch, the fit goes on in its pass with its partition, and ends with a plan of its own."""
    state = data.parent / "state"
    first = begin(data)
    assert not first.run(stop_after(stop))
    number = (stop - 1) // BATCHES
    assert first.number == number
    counters, plan = first.summary.state(), first.plan
    first.close(remove=False)
    again = begin(data, resume=True)
    assert (again.number, again.plan) == (number, plan)
    assert np.array_equal(again.summary.state(), counters)
    assert again.run()
    generator = again.summary.release()
    again.close(remove=True)
    assert not state.exists()
    assert generator.plan.learning == PLAN.learning
    assert hp.Plan.from_spec(generator.plan.spec() | {"partition": None}) == PLAN
    if plan.partition is not None and number == 2:
        assert generator.plan == plan
    assert generator.total == pytest.approx(ROWS, abs=20)


def test_fits_resumed_after_every_batch(data: Path) -> None:
    """Each batch in a process of its own: all rows are measured once, and all passes happen."""
    run, numbers = begin(data), []
    for _ in range(3 * BATCHES + 5):
        numbers.append(run.number)
        if run.run(stop_after(1)):
            break
        run.close(remove=False)
        run = begin(data, resume=True)
    assert sorted(numbers) == numbers
    assert set(numbers) == {0, 1, 2}
    assert run.summary.release().total == pytest.approx(ROWS, abs=20)
    run.close(remove=True)


def test_header_of_each_pass(data: Path) -> None:
    """A learning pass has its number and the partition so far; the measuring pass has no number."""
    state = data.parent / "state"
    seen = []
    for stop in (1, BATCHES + 1, 2 * BATCHES + 1):
        run = begin(data)
        run.run(stop_after(stop))
        seen.append(header_of(state))
        with state.open("rb") as file:
            checkpoint = Checkpoint.read(file)
        assert checkpoint.learning == ("pass" in seen[-1])
        assert checkpoint.plan == run.plan
        run.close(remove=True)
    assert [header.get("pass") for header in seen] == [0, 1, None]
    partitions = [header["plan"]["partition"] for header in seen]
    assert partitions[0] is None
    assert None not in partitions[1:]
    assert all(header["plan"]["learning"] == PLAN.spec()["learning"] for header in seen)


def test_checkpoint_after_a_refinement(data: Path) -> None:
    """The counts of a learning pass are gone once its partition is refined; the next pass starts at the first row."""
    run = begin(data)
    run.run(stop_after(BATCHES + 1))
    position = header_of(data.parent / "state")["source"]
    assert (position["file"], position["place"]) == (0, BATCH)
    assert run.summary.plan.partition == run.plan.partition
    run.close(remove=True)


def test_learning_checkpoint_is_no_summary(data: Path) -> None:
    run = begin(data)
    run.run(stop_after(1))
    state = data.parent / "state"
    for file in (state, io.BytesIO(state.read_bytes())):
        with pytest.raises(hp.StateError, match="that of a learning pass"):
            hp.resume(file)
    run.close(remove=True)


def test_checkpoint_of_the_measuring_pass_is_a_summary(data: Path) -> None:
    run = begin(data)
    run.run()
    run.close(remove=False)
    assert hp.resume(data.parent / "state").release().total == pytest.approx(ROWS, abs=20)


def test_resume_with_another_plan(data: Path) -> None:
    run = begin(data)
    run.run(stop_after(BATCHES + 1))
    learned = run.plan
    run.close(remove=False)
    others = [
        hp.Plan.auto(DOMAIN, epsilon=99, expected_records=ROWS, memory="8 KiB", passes=3),
        hp.Plan.auto(DOMAIN, epsilon=100, expected_records=ROWS, memory="8 KiB", passes=2),
        hp.Plan.auto(DOMAIN, epsilon=100, expected_records=ROWS, memory="8 KiB"),
        hp.Plan.from_spec(PLAN.spec() | {"partition": hp.Partition.complete(PLAN.learned_level).spec()}),
    ]
    for plan in others:
        assert plan != learned
        with pytest.raises(hp.StateError, match="another plan"):
            begin(data, plan, resume=True)
    begin(data, learned, resume=True).close(remove=True)


@pytest.mark.parametrize("number", [-1, 3, 2**40, True, 1.0, "1", None])
def test_forged_number_of_a_pass(number: Any) -> None:
    plan = hp.Plan.from_spec(PLAN.spec() | {"partition": hp.Partition.complete(PLAN.learned_level).spec()})
    header = {"plan": plan.spec(), "ids": 1, "pass": number, "source": {"file": 0, "place": 0, "identity": "x"}}
    refusal(forge(header, magic=CHECKPOINT, body=bytes(8 * plan.counters + 16)), CHECKPOINT)


def test_number_of_a_pass_without_learning() -> None:
    plan = hp.Plan(hp.Integers(0, 3), epsilon=1, budgets={2: 1}, exact_depth=2)
    for number in (0, 1):
        header = {"plan": plan.spec(), "ids": 1, "pass": number}
        refusal(forge(header, magic=CHECKPOINT, body=bytes(8 * 4 + 16)), CHECKPOINT)
    hp.resume(io.BytesIO(forge({"plan": plan.spec(), "ids": 1}, magic=CHECKPOINT, body=bytes(8 * 4 + 16))))


def test_iterators_have_no_checkpoints(tmp_path: Path) -> None:
    for source in (open_source(iter([]), domain=DOMAIN), open_source(np.zeros(3), domain=DOMAIN)):
        with pytest.raises((hp.FileError, hp.RecordsError), match="file"):
            CheckpointedIngestion(PLAN, source, tmp_path / "state")
    assert not list(tmp_path.iterdir())

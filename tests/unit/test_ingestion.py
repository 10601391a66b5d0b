"""Passes over a source: counters and position change together."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privhp as hp
from privhp.collect import noisy_counters
from privhp.collect.ingest import CheckpointedIngestion, Ingestion
from privhp.io.sources import open_source, text_records

DOMAIN = hp.Integers(0, 255)
PLAN = hp.Plan(DOMAIN, epsilon=1, budgets={8: 1}, exact_depth=8)
ROWS = 4000


@pytest.fixture(autouse=True)
def noise_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counters without noise, and batches of a thousand rows."""
    monkeypatch.setattr(noisy_counters, "discrete_laplace", lambda size, *, scale: np.zeros(size, dtype=np.int64))
    monkeypatch.setattr(text_records, "_BLOCK", 4000)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    values = np.random.default_rng(0).integers(0, 256, ROWS)
    (tmp_path / "data.csv").write_text("n\n" + "".join(f"{value}\n" for value in values))
    return tmp_path / "data.csv"


def interrupted_at(number: int, update: Callable[..., None], *, counted: bool) -> Callable[..., None]:
    """An update that is interrupted at a batch: before it, or after it is counted and before it returns."""
    calls = 0

    def interrupt(self: hp.Summary, records: Any, **options: Any) -> None:
        nonlocal calls
        calls += 1
        if calls != number or counted:
            update(self, records, **options)
        if calls == number:
            raise KeyboardInterrupt

    return interrupt


@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("number", [1, 2, 4])
def test_no_save_after_interrupted_update(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch, number: int, counted: bool
) -> None:
    """A batch may be counted whose position is not yet known."""
    source, state = open_source(path, domain=DOMAIN), tmp_path / "state"
    ingestion = CheckpointedIngestion(PLAN, source, state, every=0)
    with monkeypatch.context() as patch:
        patch.setattr(hp.Summary, "update", interrupted_at(number, hp.Summary.update, counted=counted))
        with pytest.raises(KeyboardInterrupt):
            ingestion.run()
    before = state.read_bytes()
    with pytest.raises(hp.StateError, match="the position is unknown"):
        ingestion.save()
    with pytest.raises(hp.StateError, match="the position is unknown"):
        ingestion.run()
    assert state.read_bytes() == before
    ingestion.close(remove=False)
    resumed = CheckpointedIngestion(PLAN, source, state, resume=True)
    assert resumed.resumed
    assert resumed.run()
    values = np.loadtxt(path, skiprows=1, dtype=int)
    assert np.array_equal(resumed.summary.state(), np.bincount(values, minlength=256))
    resumed.close(remove=True)
    assert not state.exists()


def test_source_without_positions_is_read_once() -> None:
    source = open_source([np.arange(10), np.arange(10)], domain=DOMAIN)
    ingestion = Ingestion(PLAN, source)
    assert not ingestion.run(lambda batch: True)
    with pytest.raises(hp.StateError, match="the position is unknown"):
        ingestion.run()


def test_stopped_ingestion_continues(path: Path) -> None:
    ingestion = Ingestion(PLAN, open_source(path, domain=DOMAIN))
    stops = 0
    while not ingestion.run(lambda batch: True):
        stops += 1
    assert stops >= 4
    assert ingestion.summary.state().sum() == ROWS


def test_resume_starts_without_checkpoint(tmp_path: Path, path: Path) -> None:
    ingestion = CheckpointedIngestion(PLAN, open_source(path, domain=DOMAIN), tmp_path / "state", resume=True)
    assert not ingestion.resumed
    assert (tmp_path / "state").exists()
    ingestion.close(remove=False)
    with pytest.raises(hp.FileError, match="resume=True"):
        CheckpointedIngestion(PLAN, open_source(path, domain=DOMAIN), tmp_path / "state")

"""Measured privacy loss of learned partitions under add-remove and replace-one, and arms that must be rejected."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

import learning_audits
import privhp.collect.ingest
import privhp.collect.noisy_counters
from audits import SAMPLES
from learning_audits import stream_pairs
from mutants import learning_defects


def test_privacy_loss_of_learned_partition(offline: bool) -> None:
    learning_audits.learned_partition_spends_at_most_its_cost(3_000_000 if offline else SAMPLES // 3)


def test_privacy_loss_of_resumed_run(offline: bool) -> None:
    learning_audits.resumed_run_spends_at_most_its_cost(300_000 if offline else SAMPLES // 10)


@pytest.mark.slow
def test_privacy_loss_of_many_cells() -> None:
    learning_audits.learned_partition_spends_at_most_its_cost(10 * SAMPLES)
    learning_audits.resumed_run_spends_at_most_its_cost(SAMPLES)


def test_audit_rejects_small_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    sampler = privhp.collect.noisy_counters.discrete_laplace
    monkeypatch.setattr(
        privhp.collect.noisy_counters,
        "discrete_laplace",
        lambda size, *, scale: sampler(size, scale=Fraction(4, 5) * scale),
    )
    with pytest.raises(AssertionError, match="is measured where"):
        learning_audits.learned_partition_spends_at_most_its_cost()


def test_audit_rejects_larger_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = privhp.collect.ingest.poisson_sample

    def three_quarters(rows: int, *, rate: Fraction) -> NDArray[np.intp]:
        return sample(rows, Fraction(3, 4))

    monkeypatch.setattr(privhp.collect.ingest, "poisson_sample", three_quarters)
    with pytest.raises(AssertionError, match="is measured where"):
        learning_audits.learned_partition_spends_at_most_its_cost()


# Streams that were told apart when refinements followed row numbers


@pytest.mark.parametrize("name", stream_pairs())
def test_privacy_loss_of_streams(name: str) -> None:
    learning_audits.streams_spend_at_most_epsilon(names=[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", stream_pairs())
def test_privacy_loss_of_many_runs(name: str, offline: bool) -> None:
    learning_audits.streams_spend_at_most_epsilon(30_000 if offline else 3_000, names=[name])


@pytest.mark.parametrize("name", ["156 against 155 rows", "a record that a filter drops"])
def test_audit_rejects_refinements_by_number_of_rows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    learning_defects.refinement_reads_number_of_rows(monkeypatch)
    with pytest.raises(AssertionError, match="is measured"):
        learning_audits.streams_spend_at_most_epsilon(names=[name])

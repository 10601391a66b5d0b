"""Merged summaries: their number in files and releases, and its effect on standard errors."""

import io
import json
import math
from pathlib import Path

import numpy as np
import pytest

import privhp as hp
from forgery import PLAN, READERS, bytes_of, forge, refusal
from privhp.answers.hierarchy import Hierarchy
from privhp.core.container import CHECKPOINT, RELEASE
from privhp.release import Release

LEAST_SQUARES = hp.Plan(
    hp.Integers(0, 255), epsilon=1, budgets={2: "1/2", 6: "1/2"}, exact_depth=6, inference="least-squares"
)


def summaries(count: int) -> list[hp.Summary]:
    return [hp.Summary(LEAST_SQUARES) for _ in range(count)]


def test_number_of_merged_summaries(tmp_path: Path) -> None:
    one, two, three, four = summaries(4)
    one.merge(two)
    three.merge(four)
    hp.save(three, tmp_path / "checkpoint")
    one.merge(hp.resume(tmp_path / "checkpoint"))
    assert one.merged == 4
    generator = one.release()
    assert generator.release.merged == 4
    hp.save(generator, tmp_path / "release")
    assert hp.load(tmp_path / "release").release == generator.release


def test_absorbed_tally_is_not_counted() -> None:
    (summary,) = summaries(1)
    tally = hp.Tally(LEAST_SQUARES)
    tally.add([5])
    summary.absorb(tally)
    assert summary.merged == 1
    assert len(summary.merged_ids) == 2


def test_single_summary_has_no_header_key(tmp_path: Path) -> None:
    assert b'"merged"' not in bytes_of(hp.Summary(PLAN), tmp_path / "one")
    assert b'"merged"' not in bytes_of(hp.Summary(PLAN).release(), tmp_path / "one")


def test_equality_depends_on_merged() -> None:
    counts = {2: np.full(4, 5), 6: np.full(64, 5)}
    assert Release(LEAST_SQUARES, counts) != Release(LEAST_SQUARES, counts, merged=2)


def test_variance_grows_with_merged() -> None:
    counts = {2: np.full(4, 16_000), 6: np.full(64, 1000)}
    one, five = (Hierarchy(Release(LEAST_SQUARES, counts, merged=merged)) for merged in (1, 5))
    for own, others in zip(one.layers, five.layers, strict=True):
        assert np.allclose(others.measured_variance, 5 * own.measured_variance, rtol=1e-12)


@pytest.mark.parametrize("merged", [2, 9])
def test_standard_errors_grow_with_root_of_merged(merged: int) -> None:
    """The region is a union of cells, so its only error is noise."""
    counts = {2: np.full(4, 16_000), 6: np.full(64, 1000)}
    one, many = (hp.Generator(Release(LEAST_SQUARES, counts, merged=own)) for own in (1, merged))
    before, after = (generator.mass((0, 99)) for generator in (one, many))
    assert after.value == pytest.approx(before.value)
    assert after.stderr == pytest.approx(math.sqrt(merged) * before.stderr)


def test_noise_of_merged_summaries_is_the_one_that_the_generator_knows() -> None:
    """Four summaries have the variance of four: that of three and of five is rejected."""
    noise = []
    for _ in range(200):
        first, *others = summaries(4)
        for other in others:
            first.merge(other)
        release = first.close()
        noise.append(release.counts[6])
    found = float(np.mean(np.square(np.concatenate(noise), dtype=float)))
    known = {merged: LEAST_SQUARES.noise_variance(6, merged=merged) for merged in (3, 4, 5)}
    # 12,800 counters: a standard error of 1.5% of the variance.
    assert abs(found / known[release.merged] - 1) < 0.1
    assert all(abs(found / known[other] - 1) > 0.1 for other in (3, 5))


@pytest.mark.parametrize("merged", [0, -1, 1.0, True, "2", 2**63])
def test_invalid_merged_is_refused(merged: object) -> None:
    with pytest.raises(hp.PlanError, match="number of merged summaries"):
        Release(LEAST_SQUARES, {2: np.zeros(4, np.int64), 6: np.zeros(64, np.int64)}, merged=merged)  # type: ignore[arg-type]  # tested


def test_summaries_with_a_partition_are_merged() -> None:
    plan = hp.Plan(
        hp.Interval(0, 1),
        epsilon=1,
        budgets={1: 1},
        exact_depth=0,
        partition=hp.Partition([1, 2, 2]),
        inference="least-squares",
    )
    one, two = hp.Summary(plan), hp.Summary(plan)
    one.update([0.1] * 10_000)
    two.update([0.9] * 10_000)
    one.merge(two)
    generator = one.release()
    assert generator.release.merged == 2
    assert generator.mass((0, 0.5)).value == pytest.approx(0.5, abs=0.02)


def test_fewer_ids_than_merged_summaries() -> None:
    body = np.zeros(PLAN.counters, dtype="<i8").tobytes() + bytes(16) + bytes(15) + b"1"
    forged = {
        merged: forge({"plan": PLAN.spec(), "merged": merged, "ids": 2}, magic=CHECKPOINT, body=body)
        for merged in (2, 3)
    }
    assert READERS[CHECKPOINT](io.BytesIO(forged[2])).merged == 2
    assert "fewer ids than merged summaries" in refusal(forged[3], CHECKPOINT)


@pytest.mark.parametrize("magic", [RELEASE, CHECKPOINT])
@pytest.mark.parametrize("merged", [0, 1, -3, 2.0, "2", None, True])
def test_forged_merged_is_refused(magic: bytes, merged: object) -> None:
    header = {"plan": PLAN.spec(), "merged": merged} | ({"ids": 1} if magic == CHECKPOINT else {})
    body = np.zeros(PLAN.counters, dtype="<i8").tobytes() + (bytes(16) if magic == CHECKPOINT else b"")
    assert refusal(forge(json.loads(json.dumps(header)), magic=magic, body=body), magic)

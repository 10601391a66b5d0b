"""Laws of tallies, summaries and generators, compared bit for bit."""

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import DataObject

import privhp
from datasets import lognormal
from privhp import Box, Generator, Integers, Interval, IPv4, Plan, Summary, Table, Tally
from privhp.core.cells import OUTSIDE, Counts, fold
from privhp.domains.to_column import to_column
from privhp.release import Release
from strategies import (
    as_batch,
    batches,
    measured_plans,
    noise,
    partition_plans,
    plans,
    records,
    releases,
    tables,
    untidy_batches,
)

PLANS = st.one_of(plans(), measured_plans())


def same_noise(size: int, *, scale: Fraction) -> Counts:
    """Noise that is the same for every summary of a plan, and large enough that a missing draw is detected."""
    return np.arange(size, dtype=np.int64) % 11 * 1000 - int(scale)


@pytest.fixture(autouse=True, scope="module")
def fixed_noise() -> Iterator[None]:
    with patch("privhp.collect.noisy_counters.discrete_laplace", same_noise):
        yield


def summary_of(plan: Plan, *parts: object) -> Summary:
    summary = Summary(plan)
    for part in parts:
        summary.update(part)
    return summary


def tally_of(plan: Plan, *parts: object) -> Tally:
    tally = Tally(plan)
    for part in parts:
        tally.add(part)
    return tally


def cells_of(tally: Tally) -> list[int]:
    return np.concatenate([counts.ravel() for counts in tally.arrays()]).tolist()


@st.composite
def plans_and_two_batches(draw: st.DrawFn) -> tuple[Plan, list[object], list[object]]:
    plan = draw(PLANS)
    return plan, draw(untidy_batches(plan.domain)), draw(untidy_batches(plan.domain))


@given(case=plans_and_two_batches())
def test_split_of_a_summary(case: tuple[Plan, list[object], list[object]]) -> None:
    plan, first, second = case
    merged, other = summary_of(plan, first), summary_of(plan, second)
    merged.merge(other)
    assert np.array_equal(merged.state(), summary_of(plan, first + second).state() + Summary(plan).state())


@given(case=plans_and_two_batches())
def test_split_of_a_tally(case: tuple[Plan, list[object], list[object]]) -> None:
    plan, first, second = case
    merged = tally_of(plan, first)
    merged.merge(tally_of(plan, second))
    assert cells_of(merged) == cells_of(tally_of(plan, first + second))


@given(case=plans_and_two_batches())
def test_merging_is_symmetric(case: tuple[Plan, list[object], list[object]]) -> None:
    plan, first, second = case
    one, two = summary_of(plan, first), summary_of(plan, second)
    one.merge(summary_of(plan, second))
    two.merge(summary_of(plan, first))
    assert np.array_equal(one.state(), two.state())


@given(data=st.data(), case=plans_and_two_batches())
def test_order(data: DataObject, case: tuple[Plan, list[object], list[object]]) -> None:
    plan, batch, _ = case
    shuffled = data.draw(st.permutations(batch))
    assert np.array_equal(summary_of(plan, batch).state(), summary_of(plan, shuffled).state())


@given(case=plans_and_two_batches())
def test_batch(case: tuple[Plan, list[object], list[object]]) -> None:
    plan, batch, _ = case
    one_by_one = [[record] for record in batch]
    assert np.array_equal(summary_of(plan, batch).state(), summary_of(plan, *one_by_one).state())


@given(data=st.data(), plan=plans())
def test_array_equals_list_of_records(data: DataObject, plan: Plan) -> None:
    batch = data.draw(batches(plan.domain))
    assert np.array_equal(summary_of(plan, batch).state(), summary_of(plan, list(batch)).state())


@given(data=st.data(), plan=PLANS, threads=st.integers(1, 4))
def test_threads(data: DataObject, plan: Plan, threads: int) -> None:
    batch = data.draw(batches(plan.domain))
    counts = data.draw(st.none() | hnp.arrays(np.int64, len(batch), elements=st.integers(-1, 5)))
    alone, together = Tally(plan), Tally(plan)
    alone.add(batch, counts=counts)
    together.add(batch, counts=counts, threads=threads)
    assert cells_of(alone) == cells_of(together)


@given(data=st.data(), plan=PLANS)
def test_mass(data: DataObject, plan: Plan) -> None:
    batch = data.draw(batches(plan.domain))
    inside = int((plan.domain.encode(batch, level=plan.depth) != OUTSIDE).sum())
    tally = tally_of(plan, batch)
    for counts in tally.arrays():
        assert set(np.atleast_1d(counts.sum(axis=-1)).tolist()) == {inside}
    assert len(tally.arrays()) == sum(len(own.by_level()) for own in (tally, *tally.columns.values()))


@given(data=st.data(), plan=measured_plans())
def test_columns_count_as_their_domains(data: DataObject, plan: Plan) -> None:
    """A measured column has the counts of a tally of its values alone, of the records with a cell in the table."""
    batch = data.draw(batches(plan.domain))
    inside = plan.domain.encode(batch, level=plan.depth) != OUTSIDE
    tally = tally_of(plan, batch)
    for column in plan.domain.columns:
        if column.label not in plan.columns:
            continue
        values = [batch[name] for name in column.names]
        kept = [[value for value, own in zip(each, inside, strict=True) if own] for each in values]
        alone = tally_of(plan.column_plans[column.label], kept[0] if len(kept) == 1 else list(zip(*kept, strict=True)))
        assert cells_of(tally.columns[column.label]) == cells_of(alone)


@given(data=st.data(), table=tables(), level=st.integers(0, 12), deep=st.integers(0, 12))
def test_codes_of_columns(data: DataObject, table: Table, level: int, deep: int) -> None:
    batch = data.draw(batches(table))
    level = min(level, table.depth)
    columns = {own.label: min(deep, own.domain.depth) for own in table.columns}
    codes, found = table.encode_columns(batch, level=level, columns=columns)
    assert np.array_equal(codes, table.encode(batch, level=level))
    assert list(found) == [own.label for own in table.columns]
    inside = codes != OUTSIDE
    for own in table.columns:
        alone = own.encode([to_column(batch[name]) for name in own.names], level=columns[own.label])
        assert np.array_equal(found[own.label][inside], alone[inside])
        assert (alone[inside] != OUTSIDE).all()
        assert (found[own.label][~inside] == OUTSIDE).all()


@given(data=st.data(), plan=PLANS)
def test_nesting(data: DataObject, plan: Plan) -> None:
    batch = data.draw(batches(plan.domain))
    counters = tally_of(plan, batch).counters
    for level in range(plan.exact_depth + 1) if plan.exact_levels else ():
        cells = plan.domain.encode(batch, level=level)
        direct = np.bincount(cells[cells != OUTSIDE].view(np.int64), minlength=2**level)
        assert np.array_equal(fold(counters, levels=plan.exact_depth - level), direct)


@given(data=st.data(), plan=plans().filter(lambda plan: plan.inference == "top-down"))
def test_consistency(data: DataObject, plan: Plan) -> None:
    amounts = data.draw(noise(plan))
    leaves = Generator(Release(plan, amounts)).leaves()
    coarsest = min(plan.budgets)
    counts = np.zeros(2**coarsest)
    np.add.at(counts, (leaves.codes >> (leaves.levels - coarsest).astype(np.uint64)).view(np.int64), leaves.counts)
    alive = plan.domain.measure(np.arange(2**coarsest, dtype=np.uint64), level=coarsest) > 0
    assert (leaves.counts >= 0).all()
    np.testing.assert_allclose(counts, np.where(alive, np.maximum(amounts[coarsest], 0), 0), rtol=1e-12, atol=1e-12)


@given(data=st.data(), plan=partition_plans())
def test_leaves_of_a_partition(data: DataObject, plan: Plan) -> None:
    """The release has the leaves of the partition, with non-negative counts; every record is in one of them."""
    assert plan.partition is not None
    leaves = Generator(Release(plan, data.draw(noise(plan)))).leaves()
    assert np.array_equal(leaves.levels, plan.partition.levels)
    assert np.array_equal(leaves.codes, plan.partition.codes())
    assert np.isfinite(leaves.counts).all()
    assert (leaves.counts >= 0).all()
    batch = data.draw(batches(plan.domain))
    codes = plan.domain.encode(batch, level=plan.domain.depth)
    inside = codes[codes != OUTSIDE]
    shifts = (plan.domain.depth - leaves.levels).astype(np.uint64)
    held = [int((inside >> shift == code).sum()) for code, shift in zip(leaves.codes, shifts, strict=True)]
    assert tally_of(plan, batch).leaves.tolist() == held


@given(data=st.data(), plan=PLANS, parts=st.integers(1, 5))
def test_merging_tallies_in_any_split_and_order(data: DataObject, plan: Plan, parts: int) -> None:
    """Bit for bit, also as bytes in between."""
    batch = data.draw(untidy_batches(plan.domain))
    where = data.draw(st.lists(st.integers(0, parts - 1), min_size=len(batch), max_size=len(batch)))
    tallies = [
        tally_of(plan, [record for record, own in zip(batch, where, strict=True) if own == part])
        for part in range(parts)
    ]
    absorbing = Summary(plan)
    for index in data.draw(st.permutations(range(parts))):
        sent = data.draw(st.booleans())
        absorbing.absorb(Tally.from_bytes(tallies[index].to_bytes()) if sent else tallies[index])
    assert np.array_equal(absorbing.state(), summary_of(plan, batch).state())


@given(data=st.data(), plan=PLANS)
def test_weights_equal_repetitions(data: DataObject, plan: Plan) -> None:
    pool = data.draw(st.lists(records(plan.domain), max_size=8))
    counts = data.draw(st.lists(st.integers(-2, 5), min_size=len(pool), max_size=len(pool)))
    repeated = [record for record, count in zip(pool, counts, strict=True) for _ in range(count)]
    weighted = Summary(plan)
    weighted.update(as_batch(plan.domain, pool), counts=np.array(counts, dtype=np.int64))
    assert np.array_equal(weighted.state(), summary_of(plan, as_batch(plan.domain, repeated)).state())


@given(case=plans_and_two_batches())
def test_absorb_equals_update(case: tuple[Plan, list[object], list[object]]) -> None:
    plan, first, second = case
    absorbing = summary_of(plan, first)
    absorbing.absorb(tally_of(plan, second))
    assert np.array_equal(absorbing.state(), summary_of(plan, first, second).state())


@given(data=st.data(), plan=PLANS)
def test_equal_releases_give_equal_generators(data: DataObject, plan: Plan) -> None:
    release = data.draw(releases(plan))
    again = Release.from_bytes(release.to_bytes())
    assert release == again
    assert Plan.from_spec(plan.spec()) == plan
    one, two = Generator(release), Generator(again)
    for mine, yours in zip(vars(one.leaves()).values(), vars(two.leaves()).values(), strict=True):
        assert np.array_equal(mine, yours)
    mine, yours = (own.sample(20, rng=1) for own in (one, two))
    for name in mine if isinstance(mine, dict) else [...]:
        assert mine[name].tolist() == yours[name].tolist()


def fingerprint(generator: Generator) -> str:
    """Digest of the leaves and of seeded samples."""
    digest = hashlib.sha256()
    arrays = [*vars(generator.leaves()).values(), generator.sample(100, rng=5)]
    arrays.append(generator.sample(100, method="independent", rng=5))
    for array in arrays:
        digest.update(array.tobytes())
    return digest.hexdigest()


def test_generator_in_new_process(tmp_path: Path) -> None:
    real = lognormal(2000, seed=3)
    cases = [
        (Interval(0, 1), real),
        (Integers(0, 1000), (real * 1000).astype(np.int64)),
        (Box([(0, 1), (0, 1)]), np.stack([real, real[::-1]], axis=1)),
        (IPv4(), (real * 2**31).astype(np.int64)),
    ]
    expected = []
    for number, (domain, batch) in enumerate(cases):
        plan = Plan.paper(domain, epsilon=1, expected_records=2000, hot_cells=8)
        generator = summary_of(plan, batch).release()
        privhp.save(generator, tmp_path / f"{number}.privhp")
        expected.append(fingerprint(generator))
    script = (
        "import sys; from pathlib import Path; import privhp; from test_laws import fingerprint\n"
        "for path in sorted(Path(sys.argv[1]).glob('*.privhp')): print(fingerprint(privhp.load(path)))"
    )
    folders = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = {folders!r}\n{script}", str(tmp_path)]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.split() == expected

"""docs/format.md: its reader reads golden files, and its example equals the bytes of a release."""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privhp as hp
from privhp.release import Release

DOCUMENT = (Path(__file__).parents[2] / "docs" / "format.md").read_text()
RELEASES = sorted(Path(__file__).parent.glob("v2/*.release"))


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", DOCUMENT, re.DOTALL | re.MULTILINE)


def hex_dump(data: bytes) -> str:
    lines = []
    for start in range(0, len(data), 16):
        row = data[start : start + 16]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        lines.append(f"{start:04x}  {row.hex(' '):47}  {text}".rstrip() + "\n")
    return "".join(lines)


def example() -> hp.Generator:
    plan = hp.Plan(
        hp.Integers(0, 7),
        epsilon=1,
        budgets={0: Fraction(1, 4), 1: Fraction(1, 4), 3: Fraction(1, 2)},
        exact_depth=1,
        sketch_rows=2,
        sketch_width=4,
        hot_cells=1,
        hash_group=1,
        hash_seed=7,
    )
    counts = {0: np.array([19]), 1: np.array([14, 6]), 3: np.array([[3, 11, -2, 5], [4, 2, 9, 1]])}
    return hp.Generator(Release(plan, counts))


@pytest.fixture(scope="module")
def reader() -> dict[str, Any]:
    """The names that the documented reader defines."""
    names: dict[str, Any] = {}
    exec(blocks("python")[0], names)
    return names


def test_example_bytes(tmp_path: Path) -> None:
    hp.save(example(), tmp_path / "file")
    assert blocks("hex") == [hex_dump((tmp_path / "file").read_bytes())]


def test_values_of_example(reader: dict[str, Any]) -> None:
    (dump,) = blocks("hex")
    data = b"".join(bytes.fromhex(line[6:53]) for line in dump.splitlines())
    for claims in blocks("python")[1:]:
        exec(claims, reader | {"data": data})


@pytest.mark.parametrize("path", RELEASES, ids=lambda path: path.stem)
def test_documented_reader_on_golden_releases(reader: dict[str, Any], path: Path) -> None:
    plan, counts = reader["read_release"](path.read_bytes())
    release = hp.load(path).release
    assert plan == release.plan.spec()
    assert list(counts) == list(release.counts)
    for level, noisy in release.counts.items():
        assert np.array_equal(np.array(counts[level]).reshape(noisy.shape), noisy)


def deep_plan() -> hp.Plan:
    """A plan with unmeasured levels, and cells above 32 bits."""
    return hp.Plan(
        hp.Integers(0, 2**60 - 1),
        epsilon=1,
        budgets={level: Fraction(1, 20) for level in (2, 3, 4, 6, 7, 8, 9, 12, 24, 36, 48, 59, 60)},
        exact_depth=2,
        sketch_rows=3,
        sketch_width=24,
        hot_cells=1,
        hash_group=3,
        hash_seed=2**128 - 3,
    )


def test_documented_reader_on_sketches(reader: dict[str, Any]) -> None:
    golden = [hp.load(path).plan for path in RELEASES]
    for plan in [deep_plan(), *(plan for plan in golden if plan.partition is None)]:
        rng = np.random.default_rng(0)
        records = plan.domain.decode(rng.integers(0, 2**plan.depth, 20, dtype=np.uint64), level=plan.depth, rng=rng)
        for record, code in zip(records, plan.domain.encode(records, level=plan.depth).tolist(), strict=True):
            tally = hp.Tally(plan)
            tally.add(np.array([record]))
            for level, table in tally.sketches.items():
                cell = code >> (plan.depth - level)
                assert list(reader["buckets"](plan.spec(), level, cell)) == table.argmax(axis=1).tolist()
                assert reader["estimate"](plan.spec(), {level: table}, level, cell) == 1


def test_documented_reader_on_partitions(reader: dict[str, Any]) -> None:
    levels = {1, 3}
    for plan in (hp.load(path).plan for path in RELEASES):
        if plan.partition is not None:
            codes = zip(plan.partition.levels.tolist(), plan.partition.codes().tolist(), strict=True)
            assert reader["leaves"](plan.spec()["partition"]) == list(codes)
            levels |= set(plan.partition.levels.tolist())
    assert len(levels) > 4, "no golden release has an uneven partition"


def test_documented_reader_on_example_partition(reader: dict[str, Any]) -> None:
    assert reader["leaves"](hp.Partition([2, 3, 3, 1]).spec()) == [(2, 0), (3, 2), (3, 3), (1, 1)]

"""`privhp merge`: sums of summaries with one plan, and refused merges."""

import json
from unittest import mock

import numpy as np
import pytest

import privhp as hp
from cli.running import PLAN, stated
from privhp.core.container import RELEASE
from privhp.io.disk import _partial_prefix

MERGEABLE = ["--domain", "integers:0:255", "--epsilon", "1", "--expected-records", "1e4", "--passes", "1"]
MERGED = ", from {} merged summaries; the guarantee holds if no record is in two of them\n"


def no_noise(size, *, scale):
    return np.zeros(size, dtype=np.int64)


@pytest.fixture
def plan(run):
    assert run("plan", *MERGEABLE, "-o", "plan.json").code == 0
    return "plan.json"


@pytest.fixture
def summaries(run, plan, tmp_path):
    """Summary files of two halves of the data, and the frequency of each number."""
    values = np.random.default_rng(0).integers(0, 256, 10_000)
    for place, half in enumerate(np.array_split(values, 2)):
        (tmp_path / f"{place}.csv").write_text("n\n" + "\n".join(map(str, half)))
        outcome = run("fit", f"{place}.csv", "--plan", plan, "--summary-only", "-o", f"{place}.summary")
        assert outcome == (
            0,
            f"wrote {place}.summary: a summary, confidential; merge it with others by privhp merge\n",
            "",
        )
    return ["0.summary", "1.summary"], np.bincount(values, minlength=256)


def test_plan_file(run, plan, tmp_path):
    code, out, err = run("inspect", plan)
    again = run("plan", *MERGEABLE).out
    assert (code, err) == (0, "")
    plan_text, _, gain = again.rpartition("\n\n")
    assert out == f"plan.json: a plan. It is public and contains no data.\n\n{plan_text}\n"
    assert gain.startswith("Learning would gain nothing")
    spec = json.loads((tmp_path / plan).read_text())
    assert hp.Plan.from_spec(spec).spec() == spec
    assert not hp.Plan.from_spec(spec).has_partition
    assert hp.Plan.from_spec(spec).neighbours == "add-remove"


def test_exact_sum_without_noise(run, plan, tmp_path):
    with mock.patch("privhp.collect.noisy_counters.discrete_laplace", no_noise):
        values = np.arange(1000) % 256
        for place in range(3):
            (tmp_path / f"{place}.csv").write_text("n\n" + "\n".join(map(str, values[place::3])))
            assert run("fit", f"{place}.csv", "--plan", plan, "--summary-only", "-o", f"{place}.summary").code == 0
    assert run("merge", "0.summary", "1.summary", "2.summary", "-o", "all.privhp").code == 0
    release = hp.load("all.privhp").release
    deepest = release.plan.exact_depth
    expected = np.bincount(values >> (8 - deepest), minlength=2**deepest)
    assert np.array_equal(release.counts[deepest], expected)


def test_merge_of_merged_summary(run, summaries, plan):
    names, _ = summaries
    both = hp.resume(names[0])
    both.merge(hp.resume(names[1]))
    hp.save(both, "both.summary")
    assert run("fit", "0.csv", "--plan", plan, "--summary-only", "-o", "2.summary").code == 0
    assert run("merge", "both.summary", "2.summary", "-o", "all.privhp").out.endswith(
        MERGED.format(3) + stated(both.plan, capped=None)
    )


def test_merged_release_is_sum_of_summaries(run, summaries):
    """Bit for bit: the summaries hold the noise, and a merge adds none."""
    names, expected = summaries
    code, out, err = run("merge", *names, "-o", "all.privhp")
    assert (code, err) == (0, "")
    assert out.startswith("wrote all.privhp: epsilon = 1 (pure differential privacy), about ")
    assert " records (noisy), 10,000 expected, from 2 merged" in out
    assert out.endswith(MERGED.format(2) + stated(hp.load("all.privhp").plan, capped=None))
    total = sum(hp.resume(name).release().release.cells() for name in names)
    merged = hp.load("all.privhp")
    assert np.array_equal(merged.release.cells(), total)
    assert merged.release.merged == 2  # standard errors depend on it
    assert "merged      2 summaries, each with the noise of the plan\n" in run("inspect", "all.privhp").out
    assert abs(merged.total - expected.sum()) < 500


def test_glob(run, refused, summaries):
    """A glob in quotes, which a script or another shell does not expand."""
    assert MERGED.format(2) in run("merge", "*.summary", "-o", "all.privhp").out
    assert "no file matches *.sumary; check the pattern" in refused("merge", "*.sumary", "-o", "b.privhp")


def test_permissions_of_summaries(run, summaries, tmp_path):
    (name, _), _ = summaries
    assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    assert "CONFIDENTIAL" in run("inspect", name).out
    assert hp.resume(name).plan == hp.Plan.from_spec(json.loads((tmp_path / "plan.json").read_text()))


def test_same_summary_twice(refused, summaries, tmp_path):
    (one, other), _ = summaries
    (tmp_path / "copy.summary").write_bytes((tmp_path / one).read_bytes())
    for again in (one, "copy.summary"):
        line = refused("merge", one, other, again, "-o", "all.privhp")
        assert f"{again}: the two share counts already, and merging them would count records twice" in line
    assert not (tmp_path / "all.privhp").exists()


def test_single_summary(run, summaries):
    (one, _), _ = summaries
    code, out, _ = run("merge", one, "-o", "one.privhp")
    assert code == 0
    assert "merged summaries" not in out
    assert hp.load("one.privhp").release == hp.resume(one).release().release


def test_summaries_of_other_plans(run, refused, summaries, tmp_path):
    (one, _), _ = summaries
    assert run("plan", *MERGEABLE, "--max-records-per-person", "2", "-o", "other.json").code == 0
    assert run("fit", "1.csv", "--plan", "other.json", "--summary-only", "-o", "x.summary").code == 0
    assert "x.summary: the plans differ; build both sides from one plan" in refused(
        "merge", one, "x.summary", "-o", "a"
    )


def test_unfinished_summaries_and_other_files(run, refused, summaries, tmp_path):
    (one, other), _ = summaries
    assert run("merge", one, other, "-o", "all.privhp").code == 0
    assert "all.privhp: this is a release" in refused("merge", one, "all.privhp", "-o", "more.privhp")
    assert "0.csv: this is not a privhp file" in refused("merge", one, "0.csv", "-o", "more.privhp")
    assert "exists; choose another name" in refused("merge", one, other, "-o", "all.privhp")
    assert "0.summary is an input file" in refused("merge", one, other, "-o", one, "--force")
    hp.save(hp.resume(one), "under-way", position={"file": 0})
    assert "under-way: this is the checkpoint of an unfinished fit" in refused(
        "merge", "under-way", other, "-o", "b.privhp"
    )


def test_summary_of_checkpointed_fit(run, plan, summaries, tmp_path):
    options = ["--plan", plan, "--summary-only", "--checkpoint", "state"]
    assert run("fit", "0.csv", *options, "-o", "kept.summary").code == 0
    assert not (tmp_path / "state").exists()
    assert run("merge", "kept.summary", "1.summary", "-o", "all.privhp", "--quiet") == (0, "", "")


def test_learned_partition_before_data(refused, tmp_path):
    learned = ["--domain", "interval:-120:1440", "--epsilon", "1", "--expected-records", "3e5"]
    line = refused("fit", "no.csv", *learned, "--summary-only", "-o", "0.summary")
    assert "write one with privhp plan --passes 1 -o plan.json or privhp learn -o plan.json" in line


def test_plan_file_with_other_options(refused, plan, tmp_path):
    fit = ["fit", "no.csv", "-o", "out.privhp"]
    assert "leave out --epsilon, --depth" in refused(*fit, "--plan", plan, "--epsilon", "1", "--depth", "3")
    assert "not allowed with argument" in refused(*fit, "--plan", plan, "--domain", "ipv4")
    assert "--epsilon is missing" in refused(*fit, "--domain", "ipv4", "--expected-records", "1")
    assert "--expected-records is missing" in refused(*fit, "--domain", "ipv4", "--epsilon", "1")
    (tmp_path / "a.json").write_text("{}")
    (tmp_path / "b.json").write_bytes(b"\xff{")
    spec = json.loads((tmp_path / plan).read_text())
    (tmp_path / "c.json").write_text(json.dumps(spec | {"domain": {"kind": "x"}}))
    assert "a.json: expected a plan with exactly the keys" in refused(*fit, "--plan", "a.json")
    assert "b.json: this is not a plan file" in refused(*fit, "--plan", "b.json")
    assert "c.json: the plan has an unreadable domain" in refused(*fit, "--plan", "c.json")
    assert "cannot use no.json: No such file" in refused(*fit, "--plan", "no.json")
    assert "plan.json exists" in refused("plan", *MERGEABLE, "-o", plan)


def test_plan_of_the_paper(run, tmp_path):
    (tmp_path / "d.csv").write_text("fare\n5\n")
    assert run("plan", *PLAN, "-o", "p.json").code == 0
    for name in ("a", "b"):
        assert run("fit", "d.csv", "--plan", "p.json", "--summary-only", "-o", name).code == 0
    assert run("merge", "a", "b", "-o", "all.privhp").code == 0


def test_partial_release_of_a_crash_is_removed(run, summaries, tmp_path):
    partial = tmp_path / f"{_partial_prefix(tmp_path / 'out')}0.partial"
    partial.write_bytes(RELEASE)
    assert run("merge", *summaries[0], "-o", "out").code == 0
    assert not partial.exists()

"""`privhp merge`: parts of one plan add up, and nothing counts twice."""

import json
from unittest import mock

import numpy as np
import pytest

import privhp as hp
from cli.running import PLAN

MERGEABLE = ["--domain", "integers:0:255", "--epsilon", "1", "--expected-records", "1e4", "--mergeable"]
MERGED = ", from {} merged summaries; the guarantee holds if no record is in two of them\n"


def no_noise(size, *, scale):
    return np.zeros(size, dtype=np.int64)


@pytest.fixture
def plan(run):
    assert run("plan", *MERGEABLE, "-o", "plan.json").code == 0
    return "plan.json"


@pytest.fixture
def parts(run, plan, tmp_path):
    """Summaries of two halves of some numbers, and how often each number is in both."""
    values = np.random.default_rng(0).integers(0, 256, 10_000)
    for place, half in enumerate(np.array_split(values, 2)):
        (tmp_path / f"{place}.csv").write_text("n\n" + "\n".join(map(str, half)))
        outcome = run("fit", f"{place}.csv", "--plan", plan, "--summary-only", "-o", f"{place}.part")
        assert outcome == (
            0,
            f"wrote {place}.part: a summary, confidential; merge it with others by privhp merge\n",
            "",
        )
    return ["0.part", "1.part"], np.bincount(values, minlength=256)


def test_a_plan_is_written_and_read_back(run, plan, tmp_path):
    code, out, err = run("inspect", plan)
    again = run("plan", *MERGEABLE).out
    assert (code, err) == (0, "")
    assert out == f"plan.json: a plan. It is public and contains no data.\n\n{again}"
    spec = json.loads((tmp_path / plan).read_text())
    assert hp.Plan.from_spec(spec).spec() == spec
    assert hp.Plan.from_spec(spec).growth is None
    assert hp.Plan.from_spec(spec).neighbours == "add-remove"


def test_parts_without_noise_add_up_to_the_counts_of_all(run, plan, tmp_path):
    with mock.patch("privhp.collect.summary.discrete_laplace", no_noise):
        values = np.arange(1000) % 256
        for place in range(3):
            (tmp_path / f"{place}.csv").write_text("n\n" + "\n".join(map(str, values[place::3])))
            assert run("fit", f"{place}.csv", "--plan", plan, "--summary-only", "-o", f"{place}.part").code == 0
    assert run("merge", "0.part", "1.part", "2.part", "-o", "all.privhp").code == 0
    release = hp.load("all.privhp").release
    deepest = release.plan.exact_depth
    expected = np.bincount(values >> (8 - deepest), minlength=2**deepest)
    assert np.array_equal(release.counts[deepest], expected)


def test_a_part_that_was_added_up_before_has_the_noise_of_its_own_parts(run, parts, plan):
    names, _ = parts
    both = hp.resume(names[0])
    both.merge(hp.resume(names[1]))
    hp.save(both, "both.part")
    assert run("fit", "0.csv", "--plan", plan, "--summary-only", "-o", "2.part").code == 0
    assert run("merge", "both.part", "2.part", "-o", "all.privhp").out.endswith(MERGED.format(3))


def test_the_merged_release_is_the_sum_of_the_released_parts(run, parts):
    """Bit for bit: noise is in the parts already, and none is added or lost."""
    names, expected = parts
    code, out, err = run("merge", *names, "-o", "all.privhp")
    assert (code, err) == (0, "")
    assert out.startswith("wrote all.privhp: epsilon = 1 (pure differential privacy), about ")
    assert out.endswith(MERGED.format(2))
    total = sum(hp.resume(name).release().release.cells() for name in names)
    merged = hp.load("all.privhp")
    assert np.array_equal(merged.release.cells(), total)
    assert merged.release.merged == 2  # standard errors go by it
    assert "merged      2 summaries, each with the noise of the plan\n" in run("inspect", "all.privhp").out
    assert abs(merged.total - expected.sum()) < 500


def test_summaries_are_for_their_owner_alone(run, parts, tmp_path):
    (name, _), _ = parts
    assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    assert "CONFIDENTIAL" in run("inspect", name).out
    assert hp.resume(name).plan == hp.Plan.from_spec(json.loads((tmp_path / "plan.json").read_text()))


def test_a_summary_that_is_given_twice_is_refused(refused, parts, tmp_path):
    (one, other), _ = parts
    (tmp_path / "copy.part").write_bytes((tmp_path / one).read_bytes())
    for again in (one, "copy.part"):
        line = refused("merge", one, other, again, "-o", "all.privhp")
        assert f"{again}: the two share counts already, and merging them would count records twice" in line
    assert not (tmp_path / "all.privhp").exists()


def test_parts_of_other_plans_are_refused(run, refused, parts, tmp_path):
    (one, _), _ = parts
    assert run("plan", *MERGEABLE, "--max-records-per-person", "2", "-o", "other.json").code == 0
    assert run("fit", "1.csv", "--plan", "other.json", "--summary-only", "-o", "x.part").code == 0
    assert "x.part: the plans differ; build both sides from one plan" in refused("merge", one, "x.part", "-o", "a")


def test_what_is_no_finished_summary_is_refused(run, refused, parts, tmp_path):
    (one, other), _ = parts
    assert "at least two summaries" in refused("merge", one, "-o", "all.privhp")
    assert run("merge", one, other, "-o", "all.privhp").code == 0
    assert "all.privhp: this is a release" in refused("merge", one, "all.privhp", "-o", "more.privhp")
    assert "0.csv: this is not a privhp file" in refused("merge", one, "0.csv", "-o", "more.privhp")
    assert "exists; choose another name" in refused("merge", one, other, "-o", "all.privhp")
    assert "0.part is an input file" in refused("merge", one, other, "-o", one, "--force")
    hp.save(hp.resume(one), "under-way", position={"file": 0})
    assert "under-way: this is the checkpoint of an unfinished fit" in refused(
        "merge", "under-way", other, "-o", "b.privhp"
    )


def test_a_part_with_checkpoints_leaves_its_summary_alone(run, plan, parts, tmp_path):
    options = ["--plan", plan, "--summary-only", "--checkpoint", "state"]
    assert run("fit", "0.csv", *options, "-o", "kept.part").code == 0
    assert not (tmp_path / "state").exists()
    assert run("merge", "kept.part", "1.part", "-o", "all.privhp", "--quiet") == (0, "", "")


def test_a_plan_that_grows_is_refused_before_anything_is_read(refused, tmp_path):
    growing = ["--domain", "interval:-120:1440", "--epsilon", "1", "--expected-records", "3e5"]
    line = refused("fit", "no.csv", *growing, "--summary-only", "-o", "0.part")
    assert "write one with privhp plan --mergeable -o plan.json, and pass it to each fit with --plan plan.json" in line


def test_a_plan_file_says_everything(refused, plan, tmp_path):
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


def test_the_paper_s_plans_can_be_merged_too(run, tmp_path):
    (tmp_path / "d.csv").write_text("fare\n5\n")
    assert run("plan", *PLAN, "-o", "p.json").code == 0
    for name in ("a", "b"):
        assert run("fit", "d.csv", "--plan", "p.json", "--summary-only", "-o", name).code == 0
    assert run("merge", "a", "b", "-o", "all.privhp").code == 0

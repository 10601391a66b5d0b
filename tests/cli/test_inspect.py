"""`privhp inspect`: contents of a release, plan of a checkpoint."""

from pathlib import Path

import numpy as np
import pytest

import privhp
from privhp.core.number_format import format_number
from privhp.planning.guarantee import state_odds


def test_release(run, release):
    code, out, err = run("inspect", release)
    generator = privhp.load(release)
    assert (code, err) == (0, "")
    assert out.startswith(f"{release}: a release. It is public")
    assert f"{generator.plan}\n\n" in out
    assert state_odds(generator.plan) in " ".join(out.split())
    assert f"leaves      {generator.leaves().codes.size:,}\n" in out
    stderr = format_number(float(f"{generator.total_stderr:.2g}"))
    assert f"records     about {generator.total:,.0f} (noisy, standard error {stderr})\n" in out
    assert f"     0.5   {generator.quantile(0.5).value:.6g}\n" in out


def test_quantiles_have_intervals(run, tmp_path):
    np.save(tmp_path / "fares.npy", np.random.default_rng(0).uniform(0, 50, 20_000))
    options = ["--domain", "interval:0:100", "--epsilon", "1", "--expected-records", "2e4", "-o", "fares.privhp"]
    assert run("fit", "fares.npy", *options).code == 0
    shares = "0.01,0.05,0.25,0.5,0.75,0.95,0.99"
    assert run("inspect", "fares.privhp").out.endswith("\n" + run("query", "fares.privhp", "--quantile", shares).out)


@pytest.mark.parametrize(
    ("domain", "shows"), [("ipv4", "0.99   255."), ("integers:5:6", "0.99       6 "), ("box:0:1,0:1", None)]
)
def test_quantiles_of_ordered_domains(run, tmp_path, domain, shows):
    np.save(tmp_path / "data.npy", np.full((3000, 2), {"ipv4": 2**32 - 1, "integers:5:6": 6}.get(domain, 1)))
    columns = [] if domain.startswith("box") else ["--columns", "1"]
    options = ["--domain", domain, *columns, "--epsilon", "1", "--expected-records", "1e3", "-o", "out"]
    assert run("fit", "data.npy", *options).code == 0
    out = run("inspect", "out").out
    assert shows in out if shows else "quantile" not in out


def test_checkpoint(run, release):
    plan = privhp.load(release).plan
    summary = privhp.Summary(plan)
    summary.update(np.full(5000, 7.0))
    privhp.save(summary, "checkpoint")
    code, out, err = run("inspect", "checkpoint")
    assert (code, err) == (0, "")
    warning, rest = out.split("\n\n", 1)
    assert "CONFIDENTIAL" in warning
    assert rest == f"{plan}\n"


def test_partition(run, tmp_path):
    """Of a learned partition its leaves and its cost, and of one that was known before that it is free."""
    np.save(tmp_path / "data.npy", np.random.default_rng(0).lognormal(2.5, 0.7, 20_000))
    given = ["--domain", "interval:0:1000", "--epsilon", "1", "--expected-records", "2e4", "--memory", "16KiB"]
    assert run("fit", "data.npy", *given, "-o", "learned.privhp").code == 0
    assert run("fit", "data.npy", *given, "--partition", "learned.privhp", "-o", "known.privhp").code == 0
    plan = privhp.load("learned.privhp").plan
    leaves = f"{plan.partition.size:,} leaves of levels {plan.partition.min_level} to {plan.partition.max_level}"
    learned, known = run("inspect", "learned.privhp").out, run("inspect", "known.privhp").out
    assert f"\npartition   {leaves}; learned\n" in learned
    assert f"of the rows; this costs {float(plan.learning.cost):.3g} of epsilon\n" in learned
    assert "reads       the data 3 times, 2 of them to learn" in learned
    assert f"\npartition   {leaves}; known before, so it costs nothing\n" in known
    assert "reads       the data once" in known
    assert "learning" not in known


def test_checkpoint_of_learning_pass(run):
    path = Path(__file__).parents[1] / "golden" / "v2" / "learning.checkpoint"
    code, out, err = run("inspect", str(path))
    assert (code, err) == (0, "")
    warning, rest = out.split("\n\n", 1)
    assert "the checkpoint of a learning pass. It is CONFIDENTIAL" in warning
    assert "epsilon = 4" in rest  # that of the whole fit
    assert "\npartition   79 leaves of levels 4 to 10; learned\n" in rest


def test_other_files(refused, release, tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "damaged").write_bytes((tmp_path / release).read_bytes()[:-1])
    privhp.save(privhp.Summary(privhp.load(release).plan), "checkpoint")
    (tmp_path / "cut").write_bytes((tmp_path / "checkpoint").read_bytes()[:-1])
    assert "empty: this is not a privhp file" in refused("inspect", "empty")
    assert "damaged: this file is damaged" in refused("inspect", "damaged")
    assert "cut: this file is damaged" in refused("inspect", "cut")
    assert "cannot use no: No such file" in refused("inspect", "no")


@pytest.mark.parametrize("native", [True, False])
def test_system(run, monkeypatch, native):
    monkeypatch.setattr(privhp.kernels, "BACKEND", "native" if native else "plain")
    code, out, err = run("inspect", "--system")
    assert (code, err) == (0, "")
    assert f"privhp   {privhp.__version__}\nkernels  {'native' if native else 'plain'}" in out


def test_missing_argument(refused):
    assert "file --system is required" in refused("inspect")

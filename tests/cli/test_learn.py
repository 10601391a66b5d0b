"""Learned partitions on the command line: `privhp learn`, `--plan`, `--partition` and `--passes`."""

import json
import os
import re
import sys
import threading

import numpy as np
import pytest

import privhp as hp
from cli.running import spawn
from cli.test_fit import Terminal
from privhp.cli import plan_options
from privhp.collect.ingest import Ingestion
from privhp.core import progress

PLAN = ["--domain", "fare=interval:0:1000", "--epsilon", "1", "--expected-records", "2e4", "--memory", "16KiB"]
HINT = "A stream is read once; --partition, with a release or a learned plan of such data, may lower its error.\n"


@pytest.fixture
def fares(tmp_path):
    """A CSV file of 20,000 fares."""
    values = np.random.default_rng(0).lognormal(2.5, 0.7, 20_000)
    (tmp_path / "fares.csv").write_text("fare\n" + "".join(f"{value:.2f}\n" for value in values))
    return "fares.csv"


@pytest.fixture
def learned(run, fares):
    """A plan file with a partition."""
    assert run("learn", fares, *PLAN, "-o", "plan.json", "--quiet") == (0, "", "")
    return "plan.json"


@pytest.fixture
def passes(monkeypatch):
    """Numbers of the passes that were run."""
    run_pass, numbers = Ingestion._run_pass, []

    def noted(self, should_stop):
        numbers.append(self.number)
        return run_pass(self, should_stop)

    monkeypatch.setattr(Ingestion, "_run_pass", noted)
    return numbers


def test_default_of_files(run, fares, passes):
    assert run("fit", fares, *PLAN, "-o", "out.privhp", "--quiet") == (0, "", "")
    assert passes == [0, 1, 2]
    plan = hp.load("out.privhp").plan
    assert plan.neighbours == "add-remove"
    assert plan.passes == 3
    assert plan.partition.size > 40


@pytest.mark.parametrize("number", [1, 2, 3])
def test_passes(run, fares, passes, number):
    assert run("fit", fares, *PLAN, "--passes", str(number), "-o", "out.privhp").code == 0
    assert passes == list(range(number))
    assert hp.load("out.privhp").plan.passes == number


def test_learn_and_measure(run, fares, passes):
    code, out, err = run("learn", fares, *PLAN, "-o", "plan.json")
    assert (code, err) == (0, "")
    assert passes == [0, 1]
    plan = plan_options.load_plan("plan.json")
    assert plan.partition is not None
    assert out == (
        f"wrote plan.json: a plan with a partition, public; learning cost {float(plan.learning.cost):.3g} of "
        "epsilon = 1, and the rest is for measuring the same data: privhp fit --plan plan.json\n"
    )
    passes.clear()
    assert run("fit", fares, "--plan", "plan.json", "-o", "out.privhp").code == 0
    assert passes == [2]
    assert hp.load("out.privhp").plan == plan


def test_learned_plan_with_all_options(run, fares):
    options = ["--passes", "2", "--neighbours", "replace-one", "--max-records-per-person", "2", "--pan-private"]
    options += ["--epsilon", "8"]
    assert run("learn", fares, *PLAN[:2], *PLAN[4:], *options, "-o", "plan.json").code == 0
    plan = plan_options.load_plan("plan.json")
    assert (plan.passes, plan.neighbours, plan.max_records_per_person) == (2, "replace-one", 2)
    assert plan.pan_private
    assert run("fit", fares, "--plan", "plan.json", "-o", "out.privhp").code == 0


def test_learned_plan_on_two_machines(run, fares, learned, tmp_path):
    header, *lines = (tmp_path / fares).read_text().splitlines(keepends=True)
    for place in range(2):
        (tmp_path / f"{place}.csv").write_text(header + "".join(lines[place::2]))
        command = ["fit", f"{place}.csv", "--plan", learned, "--summary-only", "-o", f"{place}.summary"]
        assert run(*command, "--quiet") == (0, "", "")
    assert run("merge", "0.summary", "1.summary", "-o", "out.privhp").code == 0
    generator = hp.load("out.privhp")
    assert generator.plan == plan_options.load_plan(learned)
    assert abs(generator.total - 20_000) < 500


@pytest.mark.parametrize("name", ["plan.json", "earlier.privhp"])
def test_stream_with_partition(run, fares, learned, passes, tmp_path, name):
    assert run("fit", fares, "--plan", learned, "-o", "earlier.privhp").code == 0
    passes.clear()
    outcome = fit_pipe(run, tmp_path, "--partition", name)
    assert outcome.code == 0
    assert HINT not in outcome.out
    assert passes == [0]
    plan = hp.load("out.privhp").plan
    assert plan.partition == hp.load("earlier.privhp").plan.partition
    assert plan.learning is None
    assert sum(plan.budgets.values()) > 0.999


def test_stream_without_partition(run, fares, passes, tmp_path):
    outcome = fit_pipe(run, tmp_path)
    assert outcome.code == 0
    assert outcome.out.endswith(HINT)
    assert passes == [0]
    plan = hp.load("out.privhp").plan
    assert not plan.has_partition
    assert plan.neighbours == "add-remove"
    done = spawn("fit", "-", *PLAN, "-o", "two.privhp", folder=tmp_path, input=b"fare\n5\n")
    assert done.stdout.decode().endswith(HINT)
    assert fit_pipe(run, tmp_path, "--force", "--quiet") == (0, "", "")


def test_no_hint_where_nothing_can_be_learned(tmp_path):
    given = ["--domain", "fare=integers:0:7", "--epsilon", "1", "--expected-records", "2e4"]
    done = spawn("fit", "-", *given, "-o", "a.privhp", folder=tmp_path, input=b"fare\n5\n")
    assert done.returncode == 0
    assert HINT not in done.stdout.decode()


def fit_pipe(run, folder, *options):
    if not (folder / "pipe").exists():
        os.mkfifo(folder / "pipe")
    writer = threading.Thread(target=lambda: (folder / "pipe").write_bytes((folder / "fares.csv").read_bytes()))
    writer.start()
    outcome = run("fit", "pipe", *PLAN, "-o", "out.privhp", *options)
    writer.join()
    return outcome


def test_learning_from_a_pipe(refused, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "-"):
        assert "cannot be read again; write the data to a file first" in refused("learn", name, *PLAN, "-o", "p.json")
        line = refused("fit", name, *PLAN, "--passes", "3", "-o", "out.privhp")
        assert "write the data to a file first, or use --passes 1" in line


def test_nothing_to_learn(refused, fares):
    assert "nothing to learn" in refused("learn", fares, *PLAN, "--passes", "1", "-o", "plan.json")
    small = ["--domain", "fare=integers:0:7", *PLAN[2:]]
    assert "nothing to learn" in refused("learn", fares, *small, "-o", "plan.json")


@pytest.mark.parametrize("name", ["-", "fares.csv", "new.parquet"])
def test_plan_in_place_of_data(refused, fares, tmp_path, name):
    before = (tmp_path / fares).read_bytes()
    assert "a name such as plan.json" in refused("learn", fares, *PLAN, "-o", name, "--force")
    assert (tmp_path / fares).read_bytes() == before


def test_unsuitable_partitions(run, refused, fares, learned, tmp_path):
    fit = ["fit", fares, *PLAN, "-o", "out.privhp", "--partition"]
    assert run("plan", *PLAN, "-o", "unlearned.json").code == 0
    assert "unlearned.json: this plan has no partition; give a release, or a plan that privhp learn wrote" in refused(
        *fit, "unlearned.json"
    )
    assert "fares.csv: this is not a plan file" in refused(*fit, fares)
    assert "cannot use no.json: No such file" in refused(*fit, "no.json")
    assert "expected --passes from 1 to 3, and 1 with --partition" in refused(*fit, learned, "--passes", "2")
    other = ["fit", fares, "--domain", "fare=interval:0:500", *PLAN[2:], "-o", "out.privhp"]
    assert "the partition belongs to another domain; --partition needs" in refused(*other, "--partition", learned)
    (tmp_path / "cut.privhp").write_bytes(b"PRIVHP-R" + bytes(99))
    assert "cut.privhp: expected format version" in refused(*fit, "cut.privhp")
    assert "leave out --partition" in refused("fit", fares, "--plan", learned, "--partition", learned, "-o", "out")


def test_partition_beyond_memory(run, refused, fares, learned):
    """The message says how much memory is needed, to the byte."""
    given = [*PLAN[:-1], "1KiB", "--partition", learned]
    found = re.search(r"leaves needs --memory of at least (\d+) bytes, got 1024; give more", refused("plan", *given))
    least = int(found[1])
    given[given.index("1KiB")] = str(least - 1)
    assert f"at least {least} bytes" in refused("plan", *given)
    given[given.index(str(least - 1))] = str(least)
    assert run("plan", *given).code == 0


def test_size_of_plan_file_is_limited(refused, learned, tmp_path, monkeypatch):
    """A file is refused before it is parsed, and a device is never read to its end."""
    text = (tmp_path / learned).read_bytes()
    monkeypatch.setattr(plan_options, "MAX_PLAN_FILE", len(text))
    assert plan_options.load_plan(tmp_path / learned).partition is not None
    monkeypatch.setattr(plan_options, "MAX_PLAN_FILE", len(text) - 1)
    for name, reason in ((learned, "this file has more than"), ("/dev/zero", "this is a pipe or a device")):
        assert f"{name}: {reason}" in refused("fit", "no.csv", "--plan", name, "-o", "out.privhp")
    (tmp_path / "deep.json").write_bytes(b"[" * 100_000)
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert "deep.json: this is not a plan file" in refused("fit", "no.csv", "--plan", "deep.json", "-o", "out.privhp")


def test_plan_with_changed_partition(refused, learned, tmp_path):
    spec = json.loads((tmp_path / learned).read_text())
    fit = ["fit", "no.csv", "-o", "out.privhp", "--plan", "b.json"]
    for partition in ("", "yA==yA==", "////", "A", 7, spec["partition"] * 2):
        (tmp_path / "b.json").write_text(json.dumps(spec | {"partition": partition}))
        assert "b.json: " in refused(*fit)
    spec["learning"]["passes"][0]["budget"] = "1"
    (tmp_path / "b.json").write_text(json.dumps(spec))
    assert "expected budgets and learning passes that cost at most epsilon" in refused(*fit)


@pytest.mark.parametrize(
    ("command", "expected"),
    [(["learn"], 2), (["fit"], 3), (["fit", "--plan", "plan.json"], 1)],
    ids=["learn", "fit", "fit with a learned plan"],
)
def test_progress_is_one_bar(run, fares, learned, monkeypatch, command, expected):
    """All passes together go once from 0% to 100%."""
    monkeypatch.setattr("privhp.io.sources.text_records._BLOCK", 4000)
    terminal = Terminal()
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr(sys, "stderr", terminal)
    name, *options = command
    plan = [] if "--plan" in options else PLAN
    assert run(name, fares, *plan, *options, "-o", "out", "--force").code == 0
    shares = [int(share) for share in re.findall(r"\r *(\d+)%  ", terminal.getvalue())]
    assert shares == sorted(shares)
    assert shares[0] < 15
    assert shares[-1] == 100
    steps = np.diff(np.unique(shares))
    assert steps.max() < 100 / expected


def test_interrupted_learning_says_that_nothing_is_kept(run, fares, tmp_path, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("privhp.fitting.run_passes", interrupt)
    stopped = "stopped; nothing was kept, and no epsilon is spent\n"
    assert run("learn", fares, *PLAN, "-o", "plan.json") == (130, "", stopped)
    assert run("learn", fares, *PLAN, "-o", "plan.json", "--quiet") == (130, "", "")
    assert not (tmp_path / "plan.json").exists()

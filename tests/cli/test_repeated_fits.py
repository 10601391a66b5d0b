"""`privhp fit --checkpoint STATE --resume`, repeated as by cron: it starts, goes on, and ends once."""

import gzip
from pathlib import Path

import pytest

from cli.running import PLAN
from commands import SMALL_DATA
from privhp.collect.ingest import CheckpointedIngestion
from privhp.io.sources import text_records

RESUME = ["--checkpoint", "state", "--every", "0s", "--resume", "-o", "out"]
FIT = ["fit", "data.csv", *PLAN, *RESUME]
LEARNED = ["--domain", "interval:0:1000", "--epsilon", "1", "--expected-records", "1e6"]
DONE = "out is there already, with this plan: nothing was read and nothing was changed"


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.setattr(text_records, "_BLOCK", 1000)
    (tmp_path / "data.csv").write_text("fare\n" + "".join(f"{value}\n" for value in range(1000)))


def contents(folder):
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def interrupt_run(run, monkeypatch, command):
    """Interrupt a fit after its first batch."""
    run_pass = CheckpointedIngestion._run_pass
    with monkeypatch.context() as patch:
        patch.setattr(CheckpointedIngestion, "_run_pass", lambda self, _: run_pass(self, lambda batch: True))
        assert run(*command).code == 130


def fail_to_remove(run, monkeypatch, command):
    """End a fit after the output is written and before the checkpoint is removed."""

    def fails(self, *, remove):
        self._file.close()
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(CheckpointedIngestion, "close", fails)
        assert run(*command).code == 1


@pytest.mark.parametrize("options", [[], ["--summary-only"], ["--quiet"]])
@pytest.mark.parametrize("plan", [PLAN, LEARNED], ids=["one pass", "three passes"])
def test_one_command_from_start_to_end(run, tmp_path, monkeypatch, options, plan):
    command = ["fit", "data.csv", *plan, *RESUME, *options]
    if plan is LEARNED and "--summary-only" in options:
        assert run("learn", "data.csv", *plan, "-o", "plan.json").code == 0
        command = ["fit", "data.csv", "--plan", "plan.json", *RESUME, *options]
    interrupt_run(run, monkeypatch, command)
    assert (tmp_path / "state").exists()
    assert run(*command).code == 0
    assert not (tmp_path / "state").exists()
    before = contents(tmp_path)
    for _ in range(2):
        code, out, err = run(*command)
        assert code == 0
        warnings = SMALL_DATA.sub("", err)
        said, unsaid = (warnings, out) if "--quiet" in options else (out, warnings)
        assert said.removeprefix("privhp: warning: ").startswith(DONE)
        assert unsaid == ""
    assert contents(tmp_path) == before


@pytest.mark.parametrize("options", [[], ["--summary-only"]])
def test_end_between_output_and_checkpoint(run, tmp_path, monkeypatch, options):
    """The output of the checkpoint is there, so only the checkpoint is removed."""
    fail_to_remove(run, monkeypatch, [*FIT, *options])
    before = contents(tmp_path)
    assert run(*FIT, *options).out.startswith(DONE)
    after = contents(tmp_path)
    assert set(before) - set(after) == {"state"}
    assert after == {name: content for name, content in before.items() if name != "state"}


def test_pan_private_release_is_left_to_the_user(run, refused, tmp_path, monkeypatch):
    """Its noise is drawn at release, so a second release of the checkpoint would differ."""
    command = ["fit", "data.csv", *LEARNED, "--pan-private", *RESUME]
    fail_to_remove(run, monkeypatch, command)
    before = contents(tmp_path)
    assert "out exists and may be the release of state: if it is, remove state" in refused(*command)
    assert contents(tmp_path) == before
    (tmp_path / "state").unlink()
    assert run(*command).out.startswith(DONE)


def test_force_starts_again(run, tmp_path):
    assert run(*FIT).code == 0
    before = (tmp_path / "out").read_bytes()
    assert run(*FIT, "--force").out.startswith("wrote out")
    assert (tmp_path / "out").read_bytes() != before


def test_output_of_other_run_is_refused(run, refused, tmp_path, monkeypatch):
    """An unfinished run does not replace an output that it has not written, and stays."""
    assert run(*FIT).code == 0
    (tmp_path / "out").rename(tmp_path / "earlier")
    interrupt_run(run, monkeypatch, FIT)
    (tmp_path / "earlier").rename(tmp_path / "out")
    before = contents(tmp_path)
    assert "out exists; choose another name, or replace it with --force" in refused(*FIT)
    assert contents(tmp_path) == before
    assert run(*FIT, "--force").code == 0


@pytest.mark.parametrize("content", ["other plan", "plan file", "summary", "merged", "link", "text"])
def test_other_output_is_refused(run, refused, tmp_path, content):
    assert run("plan", *PLAN, "-o", "plan.json").code == 0
    for name in "ab":
        assert run("fit", "data.csv", "--plan", "plan.json", "--summary-only", "-o", name).code == 0
    assert run("merge", "a", "b", "-o", "all").code == 0
    files = {"plan file": "plan.json", "summary": "a", "merged": "all"}
    if content == "link":
        (tmp_path / "out").symlink_to("nowhere")
    elif content == "other plan":
        assert run(*FIT, "--max-records-per-person", "2").code == 0
    else:
        text = Path(files[content]).read_bytes() if content in files else b"precious"
        (tmp_path / "out").write_bytes(text)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert "out exists; choose another name" in refused("fit", "data.csv", "--plan", "plan.json", *RESUME)
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_output_without_resume_is_refused(run, refused):
    assert run(*FIT).code == 0
    assert "out exists" in refused(*(one for one in FIT if one != "--resume"))


def test_refused_input_leaves_no_checkpoint(run, refused, tmp_path):
    """After the file is mended, the same command runs."""
    content = gzip.compress((tmp_path / "data.csv").read_bytes())
    command = ["fit", "data.csv.gz", *PLAN, *RESUME]
    for text in (content[:-30], content[:-30]):
        (tmp_path / "data.csv.gz").write_bytes(text)
        assert "damaged or truncated" in refused(*command)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "data.csv.gz"]
    (tmp_path / "data.csv.gz").write_bytes(content)
    assert run(*command).code == 0


def test_unsorted_persons_leave_no_checkpoint(refused, tmp_path):
    (tmp_path / "data.csv").write_text("fare,person\n1,2\n5,1\n")
    assert "sorted" in refused(*FIT, "--columns", "fare", "--person", "person")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv"]


def test_refused_input_keeps_an_earlier_checkpoint(run, refused, tmp_path, monkeypatch):
    """It may be of use to its owner; the message says how to start again."""
    content = gzip.compress((tmp_path / "data.csv").read_bytes())
    (tmp_path / "data.csv.gz").write_bytes(content[:-30])
    command = ["fit", "data.csv.gz", *PLAN, *RESUME]
    interrupt_run(run, monkeypatch, command)
    assert "damaged or truncated" in refused(*command)
    assert (tmp_path / "state").exists()
    (tmp_path / "data.csv.gz").write_bytes(content)
    assert "remove the checkpoint to start again" in refused(*command)
    (tmp_path / "state").write_bytes(b"precious")
    assert "the checkpoint state: " in refused(*command)
    assert (tmp_path / "state").read_bytes() == b"precious"


def test_missing_input_keeps_the_checkpoint(run, refused, tmp_path, monkeypatch):
    """A file that is away for a while, as on a disk that is not mounted, is the same file when it is back."""
    command = ["fit", "data.csv", *LEARNED, *RESUME]
    refine = CheckpointedIngestion._refine

    def lose_file(self):
        refine(self)
        (tmp_path / "data.csv").rename(tmp_path / "away")

    with monkeypatch.context() as patch:
        patch.setattr(CheckpointedIngestion, "_refine", lose_file)
        refused(*command)
    assert (tmp_path / "state").exists()
    (tmp_path / "away").rename(tmp_path / "data.csv")
    assert run(*command).code == 0

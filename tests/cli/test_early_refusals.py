"""Everything that can be refused before the first record is: the data is a pipe that nobody writes to."""

import os
import signal

import pytest

from cli.running import PLAN

NUMBERS = ["--epsilon", "1", "--expected-records", "1e3"]
INTERVAL = ["--domain", "interval:0:1000", *NUMBERS]
OUT = ["-o", "out"]


@pytest.fixture(autouse=True)
def pipe(tmp_path):
    """Pipes that nobody writes to; a command that opens one fails after ten seconds."""
    for name in ("pipe", "pipe.csv", "pipe.parquet", "pipe.html", "pipe.toml"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "kept").write_text("precious")
    (tmp_path / "kept.html").write_text("precious")
    values = ", ".join(f'"{number:0100}"' for number in range(15_000))
    (tmp_path / "huge.toml").write_text(f'kind = "categories"\nvalues = [{values}]\n')

    def expire(*_):
        raise AssertionError("the data was opened")

    before = signal.signal(signal.SIGALRM, expire)
    signal.alarm(10)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        # output
        (["fit", "pipe", *PLAN, "-o", "kept"], "kept exists"),
        (["fit", "pipe", *PLAN, "-o", "."], "exists and is not a file"),
        (["fit", "pipe", *PLAN, "-o", "pipe", "--force"], "exists and is not a file"),
        (["fit", "pipe", *PLAN, "-o", "no/out"], "there is no folder no"),
        (["fit", "pipe", *PLAN, "-o", "n" * 256], "File name too long"),
        (["fit", "pipe", *PLAN, "-o", "n" * 300 + "/out"], "File name too long"),
        (["fit", "pipe", *PLAN, "-o", "out.csv"], "looks like a data file"),
        (["fit", "pipe", *PLAN, "-o", "-"], "cannot go to standard output"),
        (["fit", "pipe", *PLAN, "-o", "kept/out"], "there is no folder kept"),
        # domain and plan
        (["fit", "pipe", "--domain", "interval", *NUMBERS, *OUT], "expected interval:LOW:HIGH"),
        (["fit", "pipe", "--domain", "no.toml", *NUMBERS, *OUT], "cannot use no.toml"),
        (["fit", "pipe", "--domain", "huge.toml", *NUMBERS, *OUT], "declare fewer or shorter values"),
        (["fit", "pipe", *NUMBERS, *OUT], "--domain"),
        (["fit", "pipe", "--domain", "interval:0:1", "--expected-records", "1e3", *OUT], "--epsilon"),
        (["fit", "pipe", "--domain", "interval:0:1", "--epsilon", "1", *OUT], "--expected-records"),
        (["fit", "pipe", *INTERVAL[:2], "--epsilon", "0", *NUMBERS[2:], *OUT], "expected --epsilon between"),
        (["fit", "pipe", *PLAN, "--depth", "99", *OUT], "--depth"),
        (["fit", "pipe", *INTERVAL, "--memory", "1", *OUT], "memory"),
        (["fit", "pipe", *INTERVAL, "--hot-cells", "4", *OUT], "--method paper"),
        (["fit", "pipe", *INTERVAL, "--columns", "a,b", *OUT], "a, b"),
        (["fit", "pipe", *INTERVAL, "--partition", "no.json", *OUT], "cannot use no.json"),
        (["fit", "pipe", *INTERVAL, "--partition", "kept", *OUT], "kept: this is not a plan file"),
        (["fit", "pipe", "--plan", "no.json", *OUT], "cannot use no.json"),
        (["fit", "pipe", "--plan", "kept", *OUT], "kept: this is not a plan file"),
        (["fit", "pipe", *INTERVAL[:4], "--expected-records", "1e6", "--passes", "3", *OUT], "read again"),
        # files
        (["fit", "pipe", "no.csv", *PLAN, *OUT], "cannot use no.csv"),
        (["fit", "pipe", "pipe", *PLAN, *OUT], "is given twice"),
        (["fit", "pipe", "no*.csv", *PLAN, *OUT], "no file matches"),
        # checkpoints
        (["fit", "pipe", *PLAN, *OUT, "--checkpoint", "state"], "cannot be read again from a position"),
        (["fit", "pipe", *PLAN, *OUT, "--checkpoint", "out"], "is an input or the release"),
        (["fit", "pipe", *PLAN, *OUT, "--checkpoint", "pipe"], "is an input or the release"),
        (["fit", "pipe", *PLAN, *OUT, "--resume"], "--resume needs --checkpoint"),
        (["fit", "kept", *PLAN, *OUT, "--checkpoint", "no/state"], "there is no folder no"),
        (["fit", "kept", *PLAN, *OUT, "--checkpoint", "n" * 256], "File name too long"),
        # a pipe in place of a small file
        (["fit", "pipe", "--plan", "pipe", *OUT], "pipe: this is a pipe or a device"),
        (["fit", "pipe", *INTERVAL, "--partition", "pipe", *OUT], "pipe: this is a pipe or a device"),
        (["plan", "--domain", "pipe.toml", *NUMBERS], "pipe.toml: this is a pipe or a device"),
        (["merge", "pipe", "pipe", *OUT], "pipe: this is a pipe or a device"),
        (["inspect", "pipe"], "pipe: this is a pipe or a device"),
        (["sample", "pipe", "-n", "3", "-o", "s.csv"], "pipe: this is a pipe or a device"),
        (["query", "pipe", "--quantile", "0.5"], "pipe: this is a pipe or a device"),
        (["report", "pipe", "-o", "r.html"], "pipe: this is a pipe or a device"),
        (["audit", "--plan", "pipe"], "pipe: this is a pipe or a device"),
        # other commands
        (["learn", "pipe", *INTERVAL[:4], "--expected-records", "1e6", *OUT], "read again"),
        (["learn", "pipe", *INTERVAL, "-o", "kept"], "kept exists"),
        (["report", "kept", "--against", "pipe", "-o", "kept.html"], "kept.html exists"),
        (["report", "kept", "--against", "pipe", "-o", "kept.pdf"], "a report is an HTML page"),
        (["report", "kept", "--against", "pipe", "-o", "r.html"], "kept: this is not a privhp file"),
        (["compare", "pipe", "kept"], "the domain is unknown"),
        (["compare", "pipe", "no.csv"], "cannot use no.csv"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_refused_before_the_data(refused, tmp_path, arguments, says):
    before = sorted(tmp_path.iterdir())
    assert says in refused(*arguments)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("command", ["fit", "learn", "report"])
def test_read_only_folder(run, refused, release, monkeypatch, command):
    """As on a read-only mount."""
    real = os.open

    def denied(name, flags, *arguments, **options):
        if flags & (os.O_RDWR | os.O_WRONLY) and os.fspath(name) == ".":
            raise OSError(30, "Read-only file system", name)
        return real(name, flags, *arguments, **options)

    monkeypatch.setattr(os, "open", denied)
    arguments = {
        "fit": ["fit", "pipe", *PLAN, "-o", "out"],
        "learn": ["learn", "data.csv", *INTERVAL, "-o", "out"],
        "report": ["report", release, "--against", "pipe", "-o", "out.html"],
    }
    assert "cannot write out" in (line := refused(*arguments[command]))
    assert "Read-only file system" in line

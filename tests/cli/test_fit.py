"""`privhp fit`: inputs, outputs, errors and progress. No output depends on a record."""

import gzip
import io
import os
import re
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import privhp
from cli.running import PLAN, STOPPED, noisy_count, stated
from privhp.answers.generator import Reading
from privhp.answers.low_counts import describe_low_count
from privhp.cli.messages import speak_options
from privhp.core import progress
from privhp.io.sources.files import format_of

EXPECTED = PLAN.index("--expected-records") + 1
MANY = [*PLAN[:EXPECTED], "5000", *PLAN[EXPECTED + 1 :]]
"""The plan for 5,000 records."""
INVALID = [
    b"",
    b",,",
    b"text",
    b"-5",
    b"1e9",
    b"nan",
    b"inf",
    b'"',
    b'"open',
    b"1,2",
    b"\xff\xfe",
    b"3\x00",
    b"7" * 2000,
]


def test_fit_and_load(run, tmp_path):
    (tmp_path / "data.csv").write_text("id,fare\n" + "".join(f"{i},{i % 100}\n" for i in range(5000)))
    code, out, err = run("fit", "data.csv", "--columns", "fare", *MANY, "-o", "fares.privhp")
    assert (code, err) == (0, "")
    generator = privhp.load(tmp_path / "fares.privhp")
    assert out == (
        f"wrote fares.privhp: epsilon = 2 (pure differential privacy), {noisy_count(generator)}, "
        f"5,000 expected; see privhp inspect fares.privhp\n{stated(generator.plan)}"
    )
    assert generator.plan.domain == privhp.Interval(0, 1000)
    # The scale of the noise of the total is below 20.
    assert abs(generator.total - 5000) < 2500
    assert generator.mass((0, 125)).value > 0.5
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "fares.privhp"]


def test_columns_of_domain_file(run, tmp_path):
    (tmp_path / "data.csv").write_text("id,fare\n" + "900,100\n" * 5000)
    (tmp_path / "d.toml").write_text('kind = "interval"\nlow = 0\nhigh = 1000\ncolumns = ["fare"]')
    assert run("fit", "data.csv", "--domain", "d.toml", *PLAN[2:], "-o", "a.privhp").code == 0
    assert run("fit", "data.csv", "--domain", "d.toml", *PLAN[2:], "--columns", "id", "-o", "b.privhp").code == 0
    assert privhp.load("a.privhp").mass((0, 500)).value > 0.5
    assert privhp.load("b.privhp").mass((0, 500)).value < 0.5


def test_input_files(run, tmp_path, monkeypatch):
    lines = b"".join(b"%d,1\n" % (i % 100) for i in range(5000))
    (tmp_path / "data.csv").write_bytes(lines)
    (tmp_path / "data.csv.gz").write_bytes(gzip.compress(lines))
    np.save(tmp_path / "data.npy", np.arange(5000) % 100)
    with (tmp_path / "data.csv").open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        for name in ("data.csv", "data.csv.gz", "data.npy", "-"):
            assert run("fit", name, "--no-header", *MANY, "-o", "out.privhp", "--force", "--quiet") == (0, "", "")
            assert privhp.load("out.privhp").mass((0, 125)).value > 0.5


def test_large_integers_and_addresses(run, tmp_path):
    plan = ["--epsilon", "1000", "--expected-records", "1e6", "--method", "paper", "--hot-cells", "4", "--no-header"]
    (tmp_path / "whole.csv").write_text(f"{2**60 + 1}\n" * 10_000)
    whole = ["--domain", f"integers:{2**60}:{2**60 + 3}"]
    assert run("fit", "whole.csv", *whole, *plan, "-o", "whole.privhp").code == 0
    assert privhp.load("whole.privhp").mass((2**60 + 1, 2**60 + 1)).value == pytest.approx(1, abs=0.01)
    (tmp_path / "ip.csv").write_text("10.1.2.3\n" * 10_000)
    assert run("fit", "ip.csv", "--domain", "ipv4", *plan, "-o", "ip.privhp").code == 0
    assert privhp.load("ip.privhp").mass("10.0.0.0/8").value == pytest.approx(1, abs=0.01)


def test_output_with_invalid_records(run, tmp_path, monkeypatch):
    good = [b"%d" % (i % 1000) for i in range(1000)]
    bad = [INVALID[i % len(INVALID)] for i in range(300)]
    mixed = [line for i, line in enumerate(good) for line in ([line, bad[i]] if i < 300 else [line])]
    outcomes = []
    for name, lines in (("good", good), ("bad", bad), ("mixed", mixed)):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        (folder / "data.csv").write_bytes(b"\n".join([b"fare", *lines]) + b"\n")
        numbers = np.array([np.nan, np.inf, -1.0, 1e300] * 75) if name != "good" else np.arange(1000.0)
        np.save(folder / "data.npy", numbers)
        for data in ("data.csv", "data.npy"):
            code, out, err = run("fit", data, *PLAN, "-o", f"{data}.privhp")
            generator = privhp.load(folder / f"{data}.privhp")
            public = noisy_count(generator)
            assert out.count(public) == 1
            # the release, and the kind of file, decide about this warning
            generator.reading = Reading(formats=[format_of(data)], persons=False)
            low = describe_low_count(generator)
            assert err == ("" if low is None else f"privhp: warning: {speak_options(low)}\n")
            outcomes.append((data, code, out.replace(public, "")))
    assert [code for _, code, _ in outcomes] == [0] * 6
    assert len(set(outcomes)) == 2  # one per file name


def test_release_has_declared_names_alone(run, tmp_path):
    (tmp_path / "SECRETFILE.csv").write_text("fare,SECRETCOLUMN\n5,6\n")
    (tmp_path / "other.csv").write_text("SECRETCOLUMN\n5\n")
    assert run("fit", "SECRETFILE.csv", "--columns", "fare", *PLAN, "-o", "out.privhp").code == 0
    assert run("fit", "other.csv", *PLAN, "-o", "unnamed.privhp").code == 0
    assert b"fare" in (tmp_path / "out.privhp").read_bytes()
    assert b"SECRET" not in (tmp_path / "out.privhp").read_bytes() + (tmp_path / "unnamed.privhp").read_bytes()


def test_pipe(run, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[b"fare\n5\n"])
    writer.start()
    assert run("fit", "pipe", *PLAN, "-o", "out.privhp").code == 0
    writer.join()


@pytest.mark.parametrize(
    ("name", "content", "columns", "says"),
    [
        ("data.csv", b"a,b\n1,2\n", ["--columns", "c"], "'c'"),
        ("data.csv", b"a,b\n1,2\n", [], "--columns NAME"),
        ("data.csv", gzip.compress(b"a\n1\n", mtime=0), [], "got a gzip file; give it a name that ends in .gz"),
        ("data.csv", b"", ["--columns", "a"], "the file is empty"),
        ("data.csv", b"1,2\n", ["--columns", "a", "--no-header"], "column numbers"),
        ("data.csv.gz", b"a\n1\n", [], "gzip"),
        ("data.npy", b"a\n1\n", [], ".npy"),
    ],
)
def test_unsuitable_files(refused, tmp_path, name, content, columns, says):
    (tmp_path / name).write_bytes(content)
    assert says in refused("fit", name, *columns, *PLAN, "-o", "out.privhp")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_missing_files(refused):
    for name in ("no.csv", "no.npy", "no.csv.gz"):
        assert f"cannot use {name}: " in refused("fit", name, *PLAN, "-o", "out.privhp")
    assert "cannot use no.toml: " in refused("fit", "-", "--domain", "no.toml", *PLAN[2:], "-o", "out.privhp")


def test_output_is_input(refused, tmp_path, monkeypatch):
    (tmp_path / "data").write_text("fare\n5\n")
    (tmp_path / "link").symlink_to("data")
    (tmp_path / "hard").hardlink_to(tmp_path / "data")
    for output in ("data", "./data", "link", "hard"):
        assert "choose another output" in refused("fit", "data", *PLAN, "-o", output, "--force")
    with (tmp_path / "data").open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert "choose another output" in refused("fit", "-", *PLAN, "-o", "data", "--force")
    assert (tmp_path / "data").read_text() == "fare\n5\n"


@pytest.mark.parametrize("name", ["-", "data.csv", "new.csv", "new.CSV", "new.npy", "new.csv.gz", "new.toml"])
def test_output_with_name_of_data(refused, tmp_path, name):
    (tmp_path / "data.csv").write_text("fare\n5\n")
    assert "fares.privhp" in refused("fit", "data.csv", *PLAN, "-o", name, "--force")
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]
    assert (tmp_path / "data.csv").read_text() == "fare\n5\n"


def test_message_without_valid_records(run, tmp_path):
    (tmp_path / "data.csv").write_text("fare\n" + "text\n" * 5000)
    out = run("fit", "data.csv", *PLAN, "-o", "out.privhp").out
    generator = privhp.load("out.privhp")
    assert out == (
        f"wrote out.privhp: epsilon = 2 (pure differential privacy), {noisy_count(generator)}, "
        f"1,000 expected; see privhp inspect out.privhp\n{stated(generator.plan)}"
    )


def test_output_path(run, refused, release, tmp_path):
    before = (tmp_path / release).read_bytes()
    assert "--force" in refused("fit", "data.csv", *PLAN, "-o", release)
    assert "create it first" in refused("fit", "data.csv", *PLAN, "-o", "no/folder/out.privhp")
    assert "exists and is not a file" in refused("fit", "data.csv", *PLAN, "-o", ".", "--force")
    for device in ("/dev/null", "/dev/stdout"):  # which may lead to a file
        assert "exists and is not a file" in refused("fit", "data.csv", *PLAN, "-o", device, "--force")
    assert (tmp_path / release).read_bytes() == before
    assert run("fit", "data.csv", *PLAN, "-o", release, "--force").code == 0
    assert (tmp_path / release).read_bytes() != before


def test_interrupt_while_reading(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    # A shell that runs the tests in the background ignores interrupts.
    script = (
        "import signal, sys; from privhp.cli import main;"
        "signal.signal(signal.SIGINT, signal.default_int_handler); sys.exit(main())"
    )
    command = [sys.executable, "-c", script, "fit", "pipe", *PLAN, "-o", "out.privhp"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with (tmp_path / "pipe").open("wb", buffering=0) as pipe:  # blocks until the other side reads
        pipe.write(b"fare\n" + b"5\n" * 1000)
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert err == STOPPED.encode()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_interrupt_of_files_names_checkpoints(run, tmp_path, monkeypatch):
    (tmp_path / "data.csv").write_text("fare\n5\n")

    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("privhp.fitting.run_passes", interrupt)
    code, _, err = run("fit", "data.csv", *PLAN, "-o", "out.privhp")
    assert (code, err) == (130, STOPPED)
    assert run("fit", "data.csv", *PLAN, "-o", "out.privhp", "--quiet") == (130, "", "")


def test_interrupt_while_writing(run, tmp_path, monkeypatch):
    (tmp_path / "data.csv").write_text("fare\n5\n")

    def interrupt(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupt)
        assert run("fit", "data.csv", *PLAN, "-o", "out.privhp") == (130, "", STOPPED)
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_on_terminal(run, tmp_path, monkeypatch):
    (tmp_path / "data.csv").write_bytes(b"fare\n" + b"123.4567\n" * 200_000)
    terminal, plan = Terminal(), [*PLAN[:EXPECTED], "200000", *PLAN[EXPECTED + 1 :]]
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr(sys, "stderr", terminal)
    assert run("fit", "data.csv", *plan, "-o", "out.privhp").code == 0
    *shown, last = terminal.getvalue().split("\033[K")
    assert len(shown) > 2
    assert last == ""
    for line in shown[:-1]:
        assert re.fullmatch(r"\r *\d+%  \d+:\d\d elapsed, \d+\.\d MB/s, \d+:\d\d left", line)
    assert shown[-1] == "\r"
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert run("fit", "data.csv", *plan, "-o", "out.privhp", "--force", "--quiet").out == ""
    assert sys.stderr.getvalue() == ""

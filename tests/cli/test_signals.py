"""Signals end a command in order, from its first import to its end."""

import os
import signal
import subprocess
import sys
import time

import pytest

import privhp as hp
from cli.running import PLAN, STOPPED
from privhp.cli.signals import ignore_signals, interrupting, noting

ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

# The tests may run in a shell that ignores interrupts.
FIT = """
import signal, sys
from privhp.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.argv[1] == "nohup":
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
sys.exit(main(sys.argv[2:]))
"""


def start(folder, *options, ignored="none"):
    """A fit of a pipe, which begins to read."""
    os.mkfifo(folder / "pipe")
    command = [sys.executable, "-c", FIT, ignored, "fit", "pipe", *PLAN, "-o", "out.privhp", *options]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return process, (folder / "pipe").open("wb", buffering=0)  # blocks until the other side reads


@pytest.mark.parametrize("number", ENDING)
def test_fit_leaves_nothing(tmp_path, number):
    process, pipe = start(tmp_path)
    with pipe:
        pipe.write(b"fare\n" + b"5\n" * 1000)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", STOPPED.encode())
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_ignored_hangup(tmp_path):
    """A command under nohup goes on when its terminal is closed."""
    process, pipe = start(tmp_path, ignored="nohup")
    with pipe:
        pipe.write(b"fare\n" + b"5\n" * 1000)
        process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
    process.communicate(timeout=60)
    assert process.returncode == 0


@pytest.mark.parametrize("number", ENDING)
def test_handlers(number):
    before = [signal.getsignal(one) for one in ENDING]
    with noting() as event:
        assert not event.is_set()
        signal.raise_signal(number)
        assert event.is_set()
    if number != signal.SIGINT:
        with interrupting(), pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert [signal.getsignal(one) for one in ENDING] == before


@pytest.mark.parametrize("number", ENDING)
def test_handlers_return_after_signals_were_ignored(number):
    before = [signal.getsignal(one) for one in ENDING]
    with interrupting():
        ignore_signals()
        signal.raise_signal(number)
    assert [signal.getsignal(one) for one in ENDING] == before


def test_ignored_signals_stay_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interrupting(), noting() as event:
            signal.raise_signal(signal.SIGHUP)
            assert not event.is_set()
    finally:
        signal.signal(signal.SIGHUP, before)


# Each child is interrupted at its n-th import, for every n of a step until a child ends before.
IMPORTS = """
import os, signal, sys

class Interrupt:
    def __init__(self, left):
        self.left = left

    def find_spec(self, name, path=None, target=None):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGINT)

step, codes, left = int(sys.argv.pop(1)), [], 1
from privhp.__main__ import main
while 0 not in codes and len(codes) < 200:
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.meta_path.insert(0, Interrupt(left))
        sys.argv[0] = "privhp"
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(main())
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    left += step
print(codes)
"""


@pytest.mark.parametrize("step", [23, pytest.param(5, marks=pytest.mark.slow)])
def test_interrupt_while_modules_are_imported(tmp_path, step):
    command = [sys.executable, "-c", IMPORTS, str(step), "plan", *PLAN]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300)
    assert done.stderr == ""
    *codes, last = map(int, done.stdout.strip("[]\n").split(","))
    assert set(codes) == {130}
    assert len(codes) > 5
    assert last == 0


BEFORE = """
import os, signal, sys

class Ending:
    def find_spec(self, name, path=None, target=None):
        if name == "privhp.cli":
            os.kill(os.getpid(), int(sys.argv[1]))

from privhp.__main__ import main
signal.signal(int(sys.argv[1]), signal.SIG_DFL)
sys.meta_path.insert(0, Ending())
sys.exit(main())
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signal_before_the_command_has_begun(tmp_path, number):
    """Shells show it as 128 and the number of the signal: 143 and 129."""
    command = [sys.executable, "-c", BEFORE, str(number.value)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (-number, "", "")


# A signal comes while a module is imported, when the release has got its name, or while Python ends.
MOMENTS = """
import atexit, os, signal, sys

moment, number = sys.argv.pop(1), int(sys.argv.pop(1))
end = lambda: os.kill(os.getpid(), number)

class Ending:
    def find_spec(self, name, path=None, target=None):
        if name == moment:
            end()

from privhp.__main__ import main
signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
sys.meta_path.insert(0, Ending())
if moment == "written":
    import privhp.io.disk
    publish = privhp.io.disk._NewFile.publish
    privhp.io.disk._NewFile.publish = lambda *own, **options: (publish(*own, **options), end())
if moment == "end":
    atexit.register(end)
sys.exit(main())
"""


def run_until(folder, moment, number, *options):
    """A command that gets a signal at a moment."""
    command = [sys.executable, "-c", MOMENTS, moment, str(number.value), *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)


def fit_until(folder, moment, number, *options):
    """A fit that gets a signal at a moment."""
    (folder / "data.csv").write_text("fare\n" + "5\n" * 1000)
    return run_until(folder, moment, number, "fit", "data.csv", *PLAN, "-o", "out.privhp", *options)


@pytest.mark.parametrize("number", ENDING)
@pytest.mark.parametrize("moment", ["privhp.cli.data_options", "privhp.answers.generator"])
def test_signal_before_the_first_record(tmp_path, moment, number):
    done = fit_until(tmp_path, moment, number)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", STOPPED)
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


@pytest.mark.parametrize("number", ENDING)
@pytest.mark.parametrize("moment", ["written", "end"])
def test_signal_after_the_release_is_written(tmp_path, moment, number):
    """The code says that the release is there, so that a script does not fit the data again."""
    done = fit_until(tmp_path, moment, number)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("wrote out.privhp")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "out.privhp"]


def test_signal_before_the_first_record_of_a_checkpoint(tmp_path):
    done = fit_until(tmp_path, "privhp.cli.data_options", signal.SIGTERM, "--checkpoint", "state")
    assert (done.returncode, done.stderr) == (130, "stopped; nothing was kept, and no epsilon is spent\n")
    (tmp_path / "state").write_bytes(b"of an earlier run")
    done = fit_until(tmp_path, "privhp.cli.data_options", signal.SIGTERM, "--checkpoint", "state", "--resume")
    assert done.returncode == 130
    assert done.stderr.startswith("stopped; state holds the state and is confidential; continue with")


@pytest.mark.parametrize(
    ("moment", "command"),
    [
        ("privhp.io.sinks", ["sample", "a.privhp", "-n", "9", "-o", "out.csv"]),
        ("privhp.reporting", ["report", "a.privhp", "-o", "out.html"]),
        ("privhp.cli.plan_options", ["plan", *PLAN, "-o", "out.json"]),
    ],
    ids=["sample", "report", "plan"],
)
def test_what_became_of_the_output(tmp_path, release, moment, command):
    """It is not written, complete or, with --force, unchanged."""
    (tmp_path / "a.privhp").write_bytes(release)
    name = command[-1]
    done = run_until(tmp_path, moment, signal.SIGTERM, *command)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", f"stopped; {name} is not written\n")
    assert not (tmp_path / name).exists()
    done = run_until(tmp_path, "written", signal.SIGTERM, *command)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", f"stopped; {name} is complete\n")
    before = (tmp_path / name).read_bytes()
    done = run_until(tmp_path, moment, signal.SIGTERM, *command, "--force")
    assert (done.returncode, done.stderr) == (130, f"stopped; {name} is unchanged\n")
    assert (tmp_path / name).read_bytes() == before


def test_interrupted_sample_on_standard_output(tmp_path, release):
    (tmp_path / "a.privhp").write_bytes(release)
    done = run_until(tmp_path, "privhp.io.sinks", signal.SIGTERM, "sample", "a.privhp", "-n", "9", "-o", "-")
    assert (done.returncode, done.stderr) == (130, "stopped; the records on standard output are not complete\n")
    quiet = ["sample", "a.privhp", "-n", "9", "-o", "-", "--quiet"]
    assert run_until(tmp_path, "privhp.io.sinks", signal.SIGTERM, *quiet).stderr == ""


@pytest.fixture(scope="module")
def release():
    """Bytes of a release."""
    return hp.fit([5.0] * 100, hp.Interval(0, 10), epsilon=1, expected_records=100).to_bytes()

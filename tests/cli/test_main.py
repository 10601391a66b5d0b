"""Help, usage errors, exit codes and signals of the command line."""

import re
import signal
import subprocess
import sys

import pytest

import privhp
from cli.running import spawn
from privhp.cli import commands
from privhp.cli.commands import plan as plan_command

COMMANDS = [command.__name__.rpartition(".")[2] for command in commands.COMMANDS]


def test_commands():
    asked = "fit learn sample query quantiles report plan inspect merge compare audit demo init completion"
    assert sorted(COMMANDS) == sorted(asked.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(run, command):
    code, out, err = run(command, "--help")
    assert (code, err) == (0, "")
    assert f"\n  privhp {command} " in out


def test_help_lists_commands(run):
    out = run("--help").out
    for command in COMMANDS:
        assert f"\n    {command}" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "command"),
        (["dance"], "'dance'"),
        (["plan"], "--domain"),
        (["plan", "--epsilon", "1", "--expected-records", "1"], "--domain"),
        (["plan", "--dom", "ipv4", "--epsilon", "1", "--expected-records", "1"], "--domain"),
        (["sample", "a", "b", "-o", "c"], "unrecognized arguments: b"),
        (["fit", "a.csv", "--null", "-,NA"], "expected one argument; write a value that begins with - as --null=-,NA;"),
        (["fit", "a.csv", "--null", "--quiet"], "argument --null: expected one argument; see"),
        (["fit", "a.csv", "--null"], "argument --null: expected one argument; see"),
    ],
)
def test_usage_errors(refused, arguments, says):
    line = refused(*arguments)
    assert says in line
    assert line.endswith("--help\n")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["fit", "d.csv", "--colums", "x"], "--colums; did you mean --columns? see privhp fit --help"),
        (
            ["fit", "d.csv", "--date-format", "%d"],
            "--date-format; declare the format of a time column in its domain: --domain day=time:LOW:HIGH:format="
            "%d/%m/%Y; see privhp fit --help",
        ),
        (["plan", "--epsilom=1"], "--epsilom; did you mean --epsilon? see privhp plan --help"),
        (["plan", "--eps", "1"], "--eps; did you mean --epsilon? see privhp plan --help"),
        (
            ["fit", "d.csv", "--expected-record", "6e4", "--bogus", "--delimeter=;", "--bogus"],
            "--expected-record; did you mean --expected-records? --bogus; --delimeter; did you mean --delimiter? "
            "see privhp fit --help",
        ),
        (["fit", "d.csv", "--colu=x"], "--colu; did you mean --columns? see privhp fit --help"),
        (["sample", "r", "--qqqqqqq", "-o", "c.csv"], "--qqqqqqq; see privhp sample --help"),
        (["inspect", "r", "extra"], "extra; see privhp inspect --help"),
        (["sample", "r", "1000", "-o", "c.csv"], "1000; did you mean -n 1000? see privhp sample --help"),
        (
            ["quantiles", "r", "-n", "9"],
            "-n; write the number alone: privhp quantiles FILE 9; see privhp quantiles --help",
        ),
    ],
)
def test_unknown_options(refused, arguments, line):
    assert refused(*arguments) == f"privhp: error: unrecognized arguments: {line}\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["fit", "d.csv", "--epsilon", "0.1", "--epsilon", "10"],
            "argument --epsilon: given more than once; give it once",
        ),
        (["fit", "d.csv", "--currency", "£", "--currency", "GBP"], "argument --currency: given more than once"),
        (["fit", "d.csv", "-o", "a", "--output=b"], "argument -o/--output: given more than once; give it once"),
        (["query", "r", "--quantile", "0.1", "--quantile", "0.9"], "give it once, with commas between its values"),
    ],
)
def test_repeated_options(refused, arguments, says):
    """The last of two values would win in silence."""
    assert says in refused(*arguments)
    assert says in refused(*arguments)  # one command after the other


def test_options_that_may_be_repeated(refused):
    """A list of conditions or columns, and flags."""
    options = ["--where", "a < 1", "--where", "a < 2", "--mean", "--mean"]
    assert "cannot use no.privhp" in refused("query", "no.privhp", *options)


def test_file_named_like_an_option(refused):
    options = ["--domain", "ipv4", "--epsilon", "1", "--expected-records", "9", "-o", "out.privhp"]
    assert "cannot use --data: " in refused("fit", *options, "--", "--data")


def test_version(run):
    assert run("--version") == (0, f"privhp {privhp.__version__}\n", "")


def test_help_of_fit(run):
    text = " ".join(run("fit", "--help").out.split())
    for part in (
        "below nine tenths of it, with the causes that are likely for these columns and files",
        "without --columns, the first columns are read",
        "the guarantee covers all of them",
        "fewer mean less noise and more collisions",
        "each record is counted exactly once",
    ):
        assert part in text


def test_module(tmp_path):
    done = spawn("plan", "--domain", "ipv4", "--epsilon", "1", "--expected-records", "10", folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith(b"domain      IPv4()\n")
    assert spawn("plan", folder=tmp_path).returncode == 2


def test_closed_pipe(tmp_path):
    command = [
        sys.executable,
        "-m",
        "privhp",
        "plan",
        "--domain",
        "ipv4",
        "--epsilon",
        "1",
        "--expected-records",
        "1e9",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 0


def test_imports_of_help():
    """Commands import what they need when they run."""
    script = "import sys; from privhp.cli import main\ntry: main(sys.argv[1:])\nexcept SystemExit: pass\n"
    script += "print([name for name in sys.modules if name.split('.')[0] in ('numpy', 'pyarrow')])"
    for arguments_given in (["--help"], ["fit", "--help"], ["fit"], ["--version"]):
        done = subprocess.run(
            [sys.executable, "-c", script, *arguments_given], capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines()[-1] == "[]"


def test_exit_codes_in_help(run):
    text = " ".join(run("--help").out.split())
    assert "0 done; 1 failed" in text
    assert "fewer records than fit --min-records" in " ".join(text.split())
    assert "2 refused" in text
    assert "130 interrupted" in text


PLAN = ["plan", "--domain", "ipv4", "--epsilon", "1", "--expected-records", "10"]


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (
            OSError(28, "No space left on device", "out"),
            1,
            "cannot use out: No space left on device; fix this and retry",
        ),
        (OSError(5, "Input/output error"), 1, "input or output failed: Input/output error; fix this and retry"),
        (MemoryError(), 1, "not enough memory"),
        (PermissionError(13, "Permission denied", "out"), 2, "cannot use out: Permission denied; check its name"),
        (privhp.PlanError("expected much,\ngot little"), 2, "expected much, got little"),
        (KeyboardInterrupt(), 130, None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else str(value),
)
def test_exit_codes(run, monkeypatch, error, code, says):
    def fails(options):
        raise error

    monkeypatch.setattr(plan_command, "run", fails)
    outcome = run(*PLAN)
    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.err.count("\n") == (says is not None)
    assert says is None or says in outcome.err


def test_sigterm(run, monkeypatch):
    monkeypatch.setattr(plan_command, "run", lambda options: signal.raise_signal(signal.SIGTERM))
    assert run(*PLAN) == (130, "", "")
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_existing_sigterm_handler(run, monkeypatch):
    seen = []
    monkeypatch.setattr(plan_command, "run", lambda options: signal.raise_signal(signal.SIGTERM))
    before = signal.signal(signal.SIGTERM, lambda *_: seen.append("here"))
    try:
        assert run(*PLAN).code == 0
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen == ["here"]


def test_internal_error(run, monkeypatch):
    monkeypatch.setattr(plan_command, "run", lambda options: float("the record of Jane Doe"))
    code, out, err = run(*PLAN)
    assert (code, out) == (1, "")
    assert "Jane" not in err
    assert re.search(r"internal error: ValueError at test_main\.py:\d+ \(details withheld: ", err)
    assert err.count("\n") == 1

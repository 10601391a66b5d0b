"""The command line as a whole."""

import subprocess
import sys

import pytest

import privhp
from cli.running import spawn
from privhp.cli import parser


@pytest.mark.parametrize("command", ["plan", "fit", "sample", "inspect"])
def test_help_teaches_by_example(run, command):
    code, out, err = run(command, "--help")
    assert (code, err) == (0, "")
    assert f"\n  privhp {command} " in out


def test_help_of_all_names_every_command(run):
    out = run("--help").out
    for command in ("plan", "fit", "sample", "inspect"):
        assert f"\n    {command} " in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "command"),
        (["dance"], "'dance'"),
        (["plan"], "--epsilon"),
        (["plan", "--epsilon", "1", "--records", "1"], "--domain"),
        (["plan", "--dom", "ipv4", "--epsilon", "1", "--records", "1"], "--domain"),
        (["sample", "a", "b", "-o", "c"], "unrecognized arguments: b"),
    ],
)
def test_usage_errors_are_one_line_that_points_to_help(refused, arguments, says):
    line = refused(*arguments)
    assert says in line
    assert line.endswith("--help\n")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["fit", "d.csv", "--colums", "x"], "--colums; did you mean --columns? see privhp fit --help"),
        (["plan", "--epsilom=1"], "--epsilom; did you mean --epsilon? see privhp plan --help"),
        (["sample", "r", "--qqqqqqq", "-o", "c.csv"], "--qqqqqqq; see privhp sample --help"),
        (["inspect", "r", "extra"], "extra; see privhp inspect --help"),
    ],
)
def test_what_is_unknown_points_to_its_command_and_to_the_nearest_option(refused, arguments, line):
    assert refused(*arguments) == f"privhp: error: unrecognized arguments: {line}\n"


def test_a_file_may_be_named_like_an_option(refused):
    options = ["--domain", "ipv4", "--epsilon", "1", "--records", "9", "-o", "out.privhp"]
    assert "cannot use --data: " in refused("fit", *options, "--", "--data")


def test_the_version_is_shown(run):
    assert run("--version") == (0, f"privhp {privhp.__version__}\n", "")


def test_the_help_of_fit_explains_what_newcomers_ask(run):
    text = " ".join(run("fit", "--help").out.split())
    for part in (
        "One near 0 means a wrong column or wrong bounds",
        "without --columns the first ones are read",
        "the guarantee covers a person with up to that many",
        "fewer mean less noise and more collisions",
        "each record still counts exactly once",
    ):
        assert part in text


def test_the_module_runs_as_a_program(tmp_path):
    done = spawn("plan", "--domain", "ipv4", "--epsilon", "1", "--records", "10", folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith(b"domain      IPv4()\n")
    assert spawn("plan", folder=tmp_path).returncode == 2


def test_a_reader_that_leaves_early_is_no_error(tmp_path):
    command = [sys.executable, "-m", "privhp", "plan", "--domain", "ipv4", "--epsilon", "1", "--records", "1e9"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 0


def test_the_parser_needs_the_standard_library_alone():
    """So that help is quick: what a command needs is imported when it runs."""
    script = "import runpy, sys; runpy.run_path(sys.argv[1])['build_parser'](); sys.exit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", script, parser.__file__], check=True)

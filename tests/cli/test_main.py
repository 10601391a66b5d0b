"""The command line as a whole."""

import subprocess
import sys

import pytest

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
        (["plan"], "--domain"),
        (["plan", "--dom", "ipv4", "--epsilon", "1", "--records", "1"], "--domain"),
        (["sample", "a", "b", "-o", "c"], "unrecognized arguments: b"),
    ],
)
def test_usage_errors_are_one_line_that_points_to_help(refused, arguments, says):
    line = refused(*arguments)
    assert says in line
    assert line.endswith("--help\n")


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

"""`privhp completion`: made from the parser, tried in real shells."""

import os
import shutil
import subprocess

import pytest

from privhp.cli.arguments import COMMANDS, build_parser
from privhp.cli.completion import commands_of

NAMES = [command.__name__.rpartition(".")[2] for command in COMMANDS]

# Completes the words it is given, as bash does when a tab is pressed after the last.
TAB = """
source ./script
complete -p privhp
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_privhp
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def completed(run, tmp_path):
    """What bash offers after some words, the last of which may be begun."""
    if shutil.which("bash") is None:
        pytest.skip("needs bash")
    (tmp_path / "script").write_text(run("completion", "bash").out)

    def complete(*words):
        command = ["bash", "--norc", "-c", TAB, "bash", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        declared, *found = done.stdout.splitlines()
        assert declared == "complete -o default -F _privhp privhp"
        return [word for word in found if word]

    return complete


def test_bash_completes_commands(completed):
    assert completed("privhp", "") == [*NAMES, "--help", "--version"]
    assert completed("privhp", "in") == ["inspect", "init"]
    assert completed("privhp", "x") == []


@pytest.mark.parametrize("command", commands_of(build_parser()), ids=lambda command: command.name)
def test_bash_completes_all_options_of_a_command(completed, command):
    assert completed("privhp", command.name, "-") == [name for option in command.options for name in option.names]


def test_bash_completes_choices_and_leaves_files_to_itself(completed):
    assert completed("privhp", "fit", "data.csv", "--col") == ["--columns"]
    assert completed("privhp", "fit", "data.csv", "--format", "") == ["csv", "ndjson", "parquet", "arrow", "npy"]
    assert completed("privhp", "plan", "--neighbours", "z") == ["zero-out"]
    assert completed("privhp", "completion", "") == ["bash", "zsh", "fish"]
    assert completed("privhp", "sample", "") == []
    assert completed("privhp", "fit", "--format", "csv", "da") == []


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
def test_fish_completes_commands_options_and_choices(run, tmp_path):
    (tmp_path / "script").write_text(run("completion", "fish").out)

    def completed(line):
        script = f"source script; complete -C '{line}'"
        options = {"cwd": tmp_path, "env": {"PATH": os.defpath, "HOME": str(tmp_path)}}
        done = subprocess.run(["fish", "-N", "-c", script], capture_output=True, text=True, check=True, **options)
        return [found.split("\t")[0] for found in done.stdout.splitlines()]

    assert completed("privhp ") == sorted(NAMES)
    assert completed("privhp plan --neigh") == ["--neighbours"]
    assert completed("privhp fit --format ") == ["arrow", "csv", "ndjson", "npy", "parquet"]
    assert completed("privhp completion z") == ["zsh"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_and_option_is_in_every_script(run, shell):
    code, out, err = run("completion", shell)
    assert (code, err) == (0, "")
    for command in commands_of(build_parser()):
        assert command.name in out
        for option in command.options:
            for name in option.names:
                assert (name if shell != "fish" else f"-{'l' * name.startswith('--') or 's'} {name.strip('-')}") in out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_script_is_one_for_its_shell(run, tmp_path, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    (tmp_path / "script").write_text(run("completion", shell).out)
    subprocess.run([shell, "-n", "script"], cwd=tmp_path, check=True)


def test_other_shells_are_refused(refused):
    assert "invalid choice: 'tcsh'" in refused("completion", "tcsh")

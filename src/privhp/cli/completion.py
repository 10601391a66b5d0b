"""Scripts that let shells complete commands, options and their values, made from the parser itself."""

import argparse
import re
import shlex
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Option(NamedTuple):
    """An option of a command.

    Args:
        names: How it is written.
        help: What it is for.
        takes: Whether a value follows it.
        choices: The values that can follow it; none for files and anything else.
    """

    names: tuple[str, ...]
    help: str
    takes: bool
    choices: tuple[str, ...]


class Command(NamedTuple):
    """A command with its options and the words that it takes first."""

    name: str
    help: str
    options: list[Option]
    words: tuple[str, ...]


def commands_of(parser: argparse.ArgumentParser) -> list[Command]:
    """All commands of a parser that has commands, with what can be completed."""
    (subparsers,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    told = {action.dest: action.help or "" for action in subparsers._choices_actions}
    return [Command(name, told[name], list(_options(own)), _words(own)) for name, own in subparsers.choices.items()]


def _options(parser: argparse.ArgumentParser) -> Iterator[Option]:
    for action in parser._actions:
        if action.option_strings:
            choices = tuple(map(str, action.choices or ()))
            yield Option(tuple(action.option_strings), action.help or "", action.nargs != 0, choices)


def _words(parser: argparse.ArgumentParser) -> tuple[str, ...]:
    return tuple(
        str(choice) for action in parser._actions if not action.option_strings for choice in action.choices or ()
    )


def bash(commands: list[Command]) -> str:
    """A script for bash. Where there is nothing to choose from, bash completes files."""
    words = "".join(_bash_case(own.name, own.words) for own in commands if own.words)
    options = "".join(
        _bash_case(own.name, (name for option in own.options for name in option.names)) for own in commands
    )
    values = "".join(
        _bash_case(f"{command.name} {name}", option.choices)
        for command in commands
        for option in command.options
        for name in option.names
        if option.choices
    )
    names = " ".join(command.name for command in commands)
    return f"""\
# Completion of privhp for bash: source this file, or keep it where bash-completion looks.
_privhp() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} words=
    COMPREPLY=()
    if (( COMP_CWORD == 1 )); then
        COMPREPLY=( $(compgen -W '{names} --help --version' -- "$word") )
        return
    fi
    if [[ $word == -* ]]; then
        case ${{COMP_WORDS[1]}} in
{options}        esac
    else
        case ${{COMP_WORDS[1]}} in
{words}        esac
        case "${{COMP_WORDS[1]}} $before" in
{values}        esac
    fi
    COMPREPLY=( $(compgen -W "$words" -- "$word") )
}}
complete -o default -F _privhp privhp
"""


def _bash_case(pattern: str, words: Iterable[str]) -> str:
    return f"            {shlex.quote(pattern)}) words={shlex.quote(' '.join(words))} ;;\n"


def zsh(commands: list[Command]) -> str:
    """A script for zsh."""
    listed = "\n".join(f"        {shlex.quote(f'{own.name}:{own.help}')}" for own in commands)
    cases = "\n".join(f"        {command.name}) _arguments {' '.join(_zsh_specs(command))} ;;" for command in commands)
    return f"""\
#compdef privhp
# Completion of privhp for zsh: keep this file as _privhp in a folder of $fpath.
_privhp() {{
    local -a commands=(
{listed}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
{cases}
    esac
}}
_privhp "$@"
"""


def _zsh_specs(command: Command) -> Iterator[str]:
    for option in command.options:
        told = re.sub(r"([\[\]:\\])", r"\\\1", option.help)
        value = f":value:({' '.join(option.choices)})" if option.choices else ":value:_files" if option.takes else ""
        for name in option.names:
            yield shlex.quote(f"*{name}[{told}]{value}")
    yield shlex.quote(f"1:word:({' '.join(command.words)})" if command.words else "*:file:_files")


def fish(commands: list[Command]) -> str:
    """A script for fish."""
    lines = ["# Completion of privhp for fish: keep this file in ~/.config/fish/completions."]
    for command in commands:
        own, seen = _fish_quoted(command.name), f"-n '__fish_seen_subcommand_from {command.name}'"
        lines.append(f"complete -c privhp -n __fish_use_subcommand -f -a {own} -d {_fish_quoted(command.help)}")
        if command.words:
            lines.append(f"complete -c privhp {seen} -f -a {_fish_quoted(' '.join(command.words))}")
        for option in command.options:
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
            value = f" -x -a {_fish_quoted(' '.join(option.choices))}" if option.choices else " -r" * option.takes
            lines.append(f"complete -c privhp {seen} {names}{value} -d {_fish_quoted(option.help)}")
    return "\n".join(lines) + "\n"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SHELLS = {"bash": bash, "zsh": zsh, "fish": fish}

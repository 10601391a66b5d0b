"""Parsers of the command line, which report an error in one line."""

import argparse
import difflib
import itertools
from typing import Any, NoReturn, TypeAlias


class Parser(argparse.ArgumentParser):
    """A parser that reports an error in one line."""

    def error(self, message: str) -> NoReturn:
        """Print the error and where to find help, and exit."""
        end = "" if message.endswith("?") else ";"
        self.exit(2, f"privhp: error: {message}{end} see {self.prog} --help\n")


class CommandParser(Parser):
    """The parser of one command; it suggests an option for an unknown one."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; an unknown option is reported before a missing one."""
        for argument in itertools.takewhile("--".__ne__, args):
            option = argument.partition("=")[0]
            if option.startswith("--") and option not in self._option_string_actions:
                self.error(f"unrecognized arguments: {option}{self._suggestion(option)}")
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return options, unknown

    def _suggestion(self, option: str) -> str:
        """Options with this prefix, or else the most similar one."""
        known = [name for name in self._option_string_actions if name.startswith("--")]
        completed = [name for name in known if name.startswith(option)]
        similar = completed or difflib.get_close_matches(option, known, n=1)
        return f"; did you mean {' or '.join(similar)}?" if similar else ""


Commands: TypeAlias = "argparse._SubParsersAction[CommandParser]"
"""The subparsers to which a command adds its own."""


class Version(argparse.Action):
    """Print the version and exit."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> NoReturn:
        """Print the version and exit."""
        from privhp import __version__

        print(f"privhp {__version__}")
        parser.exit()


def add_command(commands: Commands, name: str, description: str, epilog: str) -> CommandParser:
    """Parser of a new command; its help starts with the description and ends with the epilog."""
    return commands.add_parser(
        name,
        help=description.split(". ")[0].rstrip("."),
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )

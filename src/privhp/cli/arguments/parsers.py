"""Parsers whose complaints are one line that says where to look."""

import argparse
import difflib
import itertools
from typing import Any, NoReturn, TypeAlias


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where to look."""
        end = "" if message.endswith("?") else ";"
        self.exit(2, f"privhp: error: {message}{end} see {self.prog} --help\n")


class CommandParser(Parser):
    """The parser of one command, which knows best what a misspelt option of it was meant to be."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse at once what is unknown, before anything that is missing."""
        for argument in itertools.takewhile("--".__ne__, args):
            option = argument.partition("=")[0]
            if option.startswith("--") and option not in self._option_string_actions:
                self.error(f"unrecognized arguments: {option}{self._meant(option)}")
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return options, unknown

    def _meant(self, option: str) -> str:
        """The options that it begins, or else the one that looks most like it."""
        known = [name for name in self._option_string_actions if name.startswith("--")]
        begun = [name for name in known if name.startswith(option)]
        near = begun or difflib.get_close_matches(option, known, n=1)
        return f"; did you mean {' or '.join(near)}?" if near else ""


Commands: TypeAlias = "argparse._SubParsersAction[CommandParser]"
"""Where the parsers of commands are put."""


class Version(argparse.Action):
    """Print the version and leave."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> NoReturn:
        """Import it only now."""
        from privhp import __version__

        print(f"privhp {__version__}")
        parser.exit()


def command(commands: Commands, name: str, description: str, epilog: str) -> CommandParser:
    """The parser of one command, its help beginning with a sentence and ending with examples."""
    return commands.add_parser(
        name,
        help=description.split(".")[0],
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )

"""Parsers of the command line: options by name, and errors in one line."""

import argparse
import difflib
import itertools
from collections.abc import Iterable
from typing import Any, NoReturn, Protocol, TypeAlias


class Parser(argparse.ArgumentParser):
    """A parser that reports an error in one line, and suggests a similar choice for an unknown one."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        known = action.choices
        if known is not None and value not in known and (near := difflib.get_close_matches(value, known, n=1)):
            raise argparse.ArgumentError(action, f"invalid choice: {value!r}; did you mean {near[0]}?")
        super()._check_value(action, value)

    def error(self, message: str) -> NoReturn:
        """Print the error and where to find help, and exit."""
        self.exit(2, f"privhp: error: {_join([message, f'see {self.prog} --help'])}\n")


def _join(parts: Iterable[str]) -> str:
    """Parts of a message with semicolons between them, except behind a question."""
    *first, last = parts
    return "".join(part + (" " if part.endswith("?") else "; ") for part in first) + last


class _StoreOnce(argparse.Action):
    """Store the value of an argument; an option that is given twice is refused."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        """Store the value."""
        if option is not None and isinstance(parser, CommandParser):
            if self.dest in parser.stored:
                how = ", with commas between its values" if isinstance(values, list) else ""
                raise argparse.ArgumentError(self, f"given more than once; give it once{how}")
            parser.stored.add(self.dest)
        setattr(namespace, self.dest, values)


class CommandParser(Parser):
    """The parser of one command; it suggests an option for an unknown one, and refuses a repeated one."""

    def __init__(self, **settings: Any) -> None:
        self.option_names: list[str] = []
        self.stored: set[str] = set()
        """Options of one value that were given."""
        self._given: list[str] = []
        super().__init__(**settings)
        for name in (None, "store"):
            self.register("action", name, _StoreOnce)

    def add_argument(self, *flags: Any, **settings: Any) -> argparse.Action:
        """Add an argument and record the names of its option."""
        action = super().add_argument(*flags, **settings)
        self.option_names += action.option_strings
        return action

    def add_group(self, title: str) -> "OptionGroup":
        """Add a group of options, with a title in the help."""
        return OptionGroup(self.add_argument_group(title), self.option_names)

    def add_exclusive_group(self, *, required: bool) -> "OptionGroup":
        """Add a group of options that exclude each other."""
        return OptionGroup(self.add_mutually_exclusive_group(required=required), self.option_names)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; an unknown option is reported before a missing one."""
        self._given = list(args)
        self.stored.clear()
        arguments = list(itertools.takewhile("--".__ne__, args))
        options = [own.partition("=")[0] for own in arguments if own.startswith("--")]
        if mistaken := [own for own in dict.fromkeys(options) if own not in self.option_names]:
            self.error(f"unrecognized arguments: {_join(own + self._suggestion(own) for own in mistaken)}")
        for argument in arguments:
            if argument.startswith("-n") and self._takes_number:
                self.error(f"unrecognized arguments: {argument}; write the number alone: {self.prog} FILE 9")
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            number = "-n" in self.option_names and unknown[0][0].isdigit()
            advice = f"; did you mean -n {unknown[0]}?" if number else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{advice}")
        return parsed, unknown

    @property
    def _takes_number(self) -> bool:
        """Whether a number is an argument without a name."""
        return any(action.dest == "number" for action in self._get_positional_actions())

    def error(self, message: str) -> NoReturn:
        """Report an error; a value that looks like an option is named with the way to write it."""
        for option, value in itertools.pairwise(self._given):
            unknown = value.startswith("-") and value not in self.option_names
            if unknown and message == f"argument {option}: expected one argument":
                message += f"; write a value that begins with - as {option}={value}"
        super().error(message)

    def _suggestion(self, option: str) -> str:
        """Options with this prefix, or else the most similar one."""
        if option in ("--date-format", "--time-format"):
            return "; declare the format of a time column in its domain: --domain day=time:LOW:HIGH:format=%d/%m/%Y"
        known = [name.removeprefix("--") for name in self.option_names if name.startswith("--")]
        word = option.removeprefix("--")  # two dashes are no similarity
        completed = [name for name in known if name.startswith(word)]
        similar = completed or difflib.get_close_matches(word, known, n=1)
        return f"; did you mean {' or '.join(f'--{name}' for name in similar)}?" if similar else ""


class OptionGroup:
    """Group of options of a command.

    Args:
        group: The group of the parser.
        names: Names of all options of the command, which the group extends.
    """

    def __init__(self, group: Any, names: list[str]) -> None:
        self._group, self._names = group, names

    def add_argument(self, *flags: str, **settings: Any) -> argparse.Action:
        """Add an argument to the group and record the names of its option."""
        action: argparse.Action = self._group.add_argument(*flags, **settings)
        self._names += action.option_strings
        return action

    def add_exclusive_group(self, *, required: bool) -> "OptionGroup":
        """Add a group of options that exclude each other."""
        return OptionGroup(self._group.add_mutually_exclusive_group(required=required), self._names)


Options: TypeAlias = CommandParser | OptionGroup
"""Where options are added: a command or one of its groups."""


class Commands(Protocol):
    """The subparsers to which a command adds its own."""

    def add_parser(self, *args: Any, **settings: Any) -> CommandParser:
        """Add the parser of a command."""
        ...


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

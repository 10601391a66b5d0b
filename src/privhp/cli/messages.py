"""Sentences of the command line: library messages with options for Python parameters, and results."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from privhp.cli.options import quote_character
from privhp.cli.streams import say
from privhp.core.number_format import format_count
from privhp.planning.guarantee import state_conditions, state_guarantee, state_odds

if TYPE_CHECKING:
    from privhp.answers.generator import Generator

OPTIONS = {
    "columns=": "--columns",
    "depth=": "--depth",
    "domain=": "--domain",
    "epsilon=": "--epsilon",
    "exact_depth=": "--exact-depth",
    "expand=": "--expand",
    "expected_records=": "--expected-records",
    "format=": "--format",
    "header=False": "--no-header",
    "header=True": "--header",
    "hot_cells=": "--hot-cells",
    "max_records_per_person=": "--max-records-per-person",
    "memory=": "--memory",
    "min_records=": "--min-records",
    "names=": "--columns",
    "neighbours=": "--neighbours",
    "null_person=": "--null-person",
    "pan_private=": "--pan-private",
    "partition=": "--partition",
    "passes=": "--passes",
    "person=": "--person",
    "plan=": "--plan",
    "replace=True": "--force",
    "resume=True": "--resume",
    "sketch_rows=": "--sketch-rows",
    "sketch_width=": "--sketch-width",
}
"""Options for `name=` in messages of the library. A bare parameter name is not translated."""

_COMMANDS = {
    "open it with privhp.load": "use it with privhp query, sample or report",
    "load it with privhp.load": "use it with privhp query, sample or report",
    "open it with privhp.resume": "continue it with privhp fit --resume, or merge it with privhp merge",
    "read it with privhp.Tally.from_bytes": "read it in Python with Tally.from_bytes",
    "closed and doubled inside; write": "closed and doubled inside; give --csv unquoted if quotes are characters like "
    "others, or write",
    "use shares(), the share of each value": "use --shares alone, the share of each value",
    "not written by privhp.save": "not written by privhp",
    "privhp.save writes one": "privhp fit writes one",
}
"""Advice on commands for advice on functions in messages of the library."""

_PARAMETER = re.compile(
    rf"(?<![\w.:-])({'|'.join(map(re.escape, OPTIONS))})(?!['\"](?:%|epoch))(?![=\w]*\()([\w'\"\[]?)"
)

_LIST = re.compile(r"=\[('[^\]]*')\]")
_TEXT = re.compile(r'(format=|null_person=)"(\w+)"')
_DIALECT = re.compile(r"csv=CsvDialect\((\w+=\[?(['\"]).*?\2\]?(?:, \w+=\[?(['\"]).*?\3\]?)*)\)")
_DIALECT_PARAMETER = re.compile(r"(\w+)=\[?(['\"])(.*?)\2\]?(?:, )?")
_DIALECT_OPTIONS = {
    "records": "--csv",
    "delimiter": "--delimiter",
    "nulls": "--null",
    "currency": "--currency",
    "thousands": "--thousands",
    "decimal": "--decimal",
    "encoding": "--encoding",
}


def speak_options(message: str) -> str:
    """Message with `columns=NAME` written as `--columns NAME`, and likewise for all of `OPTIONS` and `_COMMANDS`."""
    for advice, command in _COMMANDS.items():
        message = message.replace(advice, command)
    message = _DIALECT.sub(lambda found: " ".join(map(_dialect_option, _DIALECT_PARAMETER.finditer(found[1]))), message)
    plain = _LIST.sub(lambda found: "=" + re.sub("[' ]", "", found[1]), message)
    plain = _TEXT.sub(r"\1\2", plain)
    return _PARAMETER.sub(lambda found: f"{OPTIONS[found[1]]}{' ' * bool(found[2])}{found[2]}", plain)


def _dialect_option(parameter: re.Match[str]) -> str:
    return f"{_DIALECT_OPTIONS[parameter[1]]} {quote_character(parameter[3])}"


def warn(*texts: str | None) -> None:
    """Print each warning to standard error; with --quiet too, since a job may have no other sign."""
    for text in texts:
        if text is not None:
            say(f"privhp: warning: {speak_options(text)}")


def describe_release(generator: "Generator", output: Path, *, note: str, capped: bool | None = None) -> str:
    """File, noisy and expected number of records and guarantee of a new release, with a note after the numbers.

    The expected number is printed whatever the count is: nothing but the release may depend on a record.

    Args:
        generator: The generator of the release.
        output: The file.
        note: The note.
        capped: Whether the number of records per person was enforced; None if it is not known.
    """
    plan = generator.plan
    expected = f", {plan.expected_records:,} expected" if plan.expected_records else ""
    return (
        f"wrote {output}: epsilon = {float(plan.epsilon):g} (pure differential privacy), "
        f"about {format_count(round(generator.total), 'record')} (noisy){expected}{note}\n{state_guarantee(plan)}\n"
        f"{state_odds(plan)}\n{state_conditions(plan, capped=capped)}"
    )

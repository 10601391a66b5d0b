"""Messages of the library in the words of the command line."""

import re
from pathlib import Path

import pytest

from cli.running import command_parsers
from privhp.cli.messages import OPTIONS, speak_options
from privhp.core import container
from privhp.io.sources import text_records


@pytest.mark.parametrize(
    ("message", "spoken"),
    [
        ("epsilon= must be positive", "--epsilon must be positive"),
        ("the domain is unknown; give domain=", "the domain is unknown; give --domain"),
        ("give columns=['lon', 'lat']", "give --columns lon,lat"),
        ("give names=['fare']", "give --columns fare"),
        ("check columns=fare and the bounds", "check --columns fare and the bounds"),
        ('choose format="parquet" or format="csv"', "choose --format parquet or --format csv"),
        ("use header=False with column numbers", "use --no-header with column numbers"),
        ("make a plan with passes=1", "make a plan with --passes 1"),
        ("lower memory= or max_records_per_person=", "lower --memory or --max-records-per-person"),
        ("continue with resume=True", "continue with --resume"),
        ("expected_records=5 is small", "--expected-records 5 is small"),
        (
            "a.txt: this is not a privhp file; privhp.save writes one",
            "a.txt: this is not a privhp file; privhp fit writes one",
        ),
        ("a release; open it with privhp.load", "a release; use it with privhp query, sample or report"),
    ],
)
def test_parameters(message, spoken):
    assert speak_options(message) == spoken


@pytest.mark.parametrize(
    "message",
    [
        "expected low < high, got 5 and 3",
        "unit= must be one of s, ms",  # no option sets it
        "outside='clamp' moves values to the bounds",
        "my_columns= stays",
        "self.columns= stays",
        "got Time('2023-01-01', '2023-12-31', unit='D', format='%d.%m.%Y')",  # of a domain, too
        "optionally with :unit=D or :format=%d.%m.%Y",  # of the short form of a domain
        "expected a condition such as kind = cash",
        "--columns fare needs one name",
        "",
    ],
)
def test_other_words(message):
    assert speak_options(message) == message


def test_options_exist():
    """Every option that replaces a parameter is an option of some command."""
    known = {name for parser in command_parsers().values() for name in parser.option_names}
    assert set(OPTIONS.values()) <= known


@pytest.mark.parametrize("module", [container, text_records])
def test_functions_in_advice_on_files(module):
    """The command line names commands wherever a message on a file names functions of the library."""
    source = Path(module.__file__).read_text()
    messages = re.findall(r'f?"([^"]*privhp\.(?:save|load|resume|Tally)[^"]*)"', source)
    assert messages
    for message in messages:
        assert not re.search(r"privhp\.(save|load|resume|Tally)", speak_options(message))

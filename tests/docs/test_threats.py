"""The table of threats names tests and checks that exist."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "privacy.md").read_text()
(SECTION,) = re.findall(r"^## Threats$(.*?)^## ", PAGE, flags=re.DOTALL | re.MULTILINE)
LINES = [line.strip("|") for line in SECTION.splitlines() if line.startswith("|")]
ROWS = [[cell.strip() for cell in line.split(" |")] for line in LINES[2:]]
NAMES = [name for *_, tests in ROWS for name in re.findall(r"`([^`]+)`", tests)]


def test_table_is_found() -> None:
    assert len(ROWS) > 15
    assert len(NAMES) > 30


@pytest.mark.parametrize("name", NAMES)
def test_named_test_exists(name: str) -> None:
    module, function = name.split("::") if "::" in name else (name.split(".")[0] + ".py", name.split(".")[1])
    assert re.search(rf"^def {function}\(", (TESTS / module).read_text(), flags=re.MULTILINE)


def test_threats_without_a_test_are_stated_as_limits() -> None:
    """Either a row names a test, or it has no answer."""
    for threat, answer, tests in ROWS:
        assert bool(tests) != answer.startswith("none"), threat

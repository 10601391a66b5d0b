"""Every example of docs/engines.md runs."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
MAX_LINES = 10

pytestmark = pytest.mark.filterwarnings("default")  # of the engines


def sections() -> dict[str, str]:
    """Code of each section by its heading; the first section prepares the data."""
    found = re.findall(r"^##? (.*?)\n(.*?)(?=^## |\Z)", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)
    return {name: "".join(BLOCK.findall(text)) for name, text in found if BLOCK.search(text)}


SETUP, *EXAMPLES = sections()


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for section in (SETUP, *EXAMPLES[: EXAMPLES.index(name)][:1], name):
        exec(compile(sections()[section], name, "exec"), names)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_is_short(name: str) -> None:
    """Ten lines, imports and blank lines aside."""
    lines = [line for line in sections()[name].splitlines() if line.strip() and not line.startswith(("import", "from"))]
    assert len(lines) <= MAX_LINES

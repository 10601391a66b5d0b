"""Every example of docs/engines.md runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
MAX_LINES = 10


def sections() -> dict[str, list[str]]:
    """Code blocks of each section by its heading; the first section prepares the data."""
    found = re.findall(r"^##? (.*?)\n(.*?)(?=^## |\Z)", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)
    return {name: BLOCK.findall(text) for name, text in found if BLOCK.search(text)}


SETUP, FIRST, *EXAMPLES = sections()


@pytest.mark.parametrize("name", [FIRST, *EXAMPLES])
def test_examples_run(name: str, tmp_path: Path) -> None:
    """Each as a script of its own, since Java keeps the folder in which it was started."""
    blocks = [block for section in dict.fromkeys((SETUP, FIRST, name)) for block in sections()[section]]
    (tmp_path / "example.py").write_text("".join(blocks))
    subprocess.run([sys.executable, "example.py"], cwd=tmp_path, check=True)


@pytest.mark.parametrize("name", [FIRST, *EXAMPLES])
def test_examples_are_short(name: str) -> None:
    """Ten lines, imports and blank lines aside."""
    for block in sections()[name]:
        lines = [line for line in block.splitlines() if line.strip() and not line.startswith(("import", "from"))]
        assert len(lines) <= MAX_LINES

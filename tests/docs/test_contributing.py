"""The map in CONTRIBUTING.md names every package and module."""

import re
from pathlib import Path

import privhp

ROOT = Path(__file__).parents[2]
PACKAGE = Path(privhp.__file__).parent


def mapped() -> set[str]:
    """Modules in the map, by path."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    found = set()
    for package, table in re.findall(r"^### `privhp/([\w/]*)`\n(.*?)(?=^##|\Z)", page, flags=re.DOTALL | re.MULTILINE):
        found |= {package + name for name in re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE)}
    return found


def test_map_names_every_module() -> None:
    modules = {str(path.relative_to(PACKAGE).with_suffix("")) for path in PACKAGE.rglob("*.py")}
    assert mapped() == {module for module in modules if not module.endswith("__init__")}

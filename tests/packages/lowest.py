"""Print the lower bounds of pyproject.toml as constraints for pip: `numpy>=2.0` becomes `numpy==2.0`."""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTED = ("test",)
"""Dependency groups that the tests need; the others are tools of a release."""


def lower_bounds() -> list[str]:
    """Lower bounds of the build, the package, its extras and its tests, as exact pins."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = settings["project"]
    groups = [
        settings["build-system"]["requires"],
        project["dependencies"],
        *project["optional-dependencies"].values(),
        *(settings["dependency-groups"][name] for name in TESTED),
    ]
    required = {requirement for group in groups for requirement in group}
    return sorted(re.sub(r"^([\w-]+)(?:\[.*\])?>=([\w.]+).*$", r"\1==\2", requirement) for requirement in required)


if __name__ == "__main__":
    sys.stdout.write("\n".join(lower_bounds()) + "\n")

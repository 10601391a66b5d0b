"""Files about the project agree with each other."""

import re
import tomllib
from pathlib import Path

import pytest

import privhp

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_version_of_the_citation() -> None:
    (version,) = re.findall(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), flags=re.MULTILINE)
    assert version == privhp.__version__


def test_workflow_tests_the_python_versions_of_the_classifiers() -> None:
    """A version without a classifier is newer than all others and named in RELEASING.md."""
    classified = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    (listed,) = re.findall(
        r"python: \[(.*\d\".*)\]$", (ROOT / ".github/workflows/ci.yml").read_text(), flags=re.MULTILINE
    )
    tested = re.findall(r"3\.\d+", listed)
    assert tested[: len(classified)] == classified
    releasing = (ROOT / "RELEASING.md").read_text()
    assert [
        version for version in tested[len(classified) :] if f"Python {version} is in the matrix" not in releasing
    ] == []


@pytest.mark.skipif(not (ROOT / "src").exists(), reason="make dist tests the installed package, without sources")
def test_owned_files_exist() -> None:
    owners = (ROOT / ".github/CODEOWNERS").read_text()
    paths = re.findall(r"^/(\S+)", owners, flags=re.MULTILINE)
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_make_targets_of_the_workflows_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    for workflow in (ROOT / ".github/workflows").glob("*.yml"):
        assert set(re.findall(r"run: make ([a-z-]+)", workflow.read_text())) <= targets

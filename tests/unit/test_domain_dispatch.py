"""Code outside `domains` asks a domain and never tests for its class, so that custom domains are first class."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import privhp
from privhp.domains import Domain

ROOT = Path(privhp.__file__).parent
FILES = [path for path in sorted(ROOT.rglob("*.py")) if path.relative_to(ROOT).parts[0] != "domains"]


def concrete_domains(cls: type = Domain) -> Iterator[str]:
    """Names of all classes of domains but the protocol. Their modules are imported on first use."""
    for name in privhp.__all__:
        getattr(privhp, name)
    for child in cls.__subclasses__():
        if child.__module__.startswith("privhp."):
            yield child.__name__
            yield from concrete_domains(child)


def class_tests(source: str) -> Iterator[str]:
    """Concrete domains that a module tests for with isinstance, issubclass, match or type()."""
    known = set(concrete_domains())
    for node in ast.walk(ast.parse(source)):
        tested: list[ast.AST] = []
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("isinstance", "issubclass")
        ):
            tested = [*node.args[1:]]
        elif isinstance(node, ast.MatchClass):
            tested = [node.cls]
        elif isinstance(node, ast.Compare) and "type(" in ast.unparse(node.left):
            tested = [*node.comparators]
        for part in tested:
            for name in ast.walk(part):
                if isinstance(name, ast.Name) and name.id in known:
                    yield name.id
                if isinstance(name, ast.Attribute) and name.attr in known:
                    yield name.attr


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_test_for_a_concrete_domain(path: Path) -> None:
    assert not list(class_tests(path.read_text()))


@pytest.mark.parametrize(
    "source", ["isinstance(x, Table)", "isinstance(x, Box | hp.Geo)", "type(x) is Time", "match x:\n case IPv4(): pass"]
)
def test_scan_finds_class_tests(source: str) -> None:
    assert list(class_tests(source))
    assert not list(class_tests("isinstance(x, Domain)"))

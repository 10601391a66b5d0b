"""The package root: public names, lazy imports, registered renderers."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import privhp as hp
from privhp.core import display
from privhp.domains import registry

SLOW = {
    "difflib",
    "hashlib",
    "ipaddress",
    "json",
    "numpy.random",
    "pathlib",
    "secrets",
    "socket",
    "tomllib",
    "zoneinfo",
}
MAIN = "from privhp import Interval, Plan, Summary"
NEW = f"import sys, numpy; before = set(sys.modules); {MAIN}; print(*set(sys.modules) - before)"


def run(script: str) -> list[str]:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True).stdout.split()


def test_main_classes_import_no_unrelated_module() -> None:
    new = set(run(NEW))
    assert "privhp.planning.plan" in new
    unrelated = {"privhp.cli", "privhp.api", "privhp.collect.ingest", "privhp.evaluate", "privhp.io.sources"}
    unrelated |= {"privhp.domains.condition_grammar", "privhp.domains.geo", "privhp.domains.ip", "privhp.reporting"}
    assert not new & (SLOW | unrelated)


def test_numpy_is_imported_on_first_use() -> None:
    script = "import privhp, sys; print('numpy' in sys.modules); privhp.Plan; print('numpy' in sys.modules)"
    assert run(script) == ["False", "True"]


def test_spec_imports_the_module_of_its_domain() -> None:
    spec = {"kind": "categories", "values": ["bus", "tram"]}
    build = f"from privhp import Domain; print(Domain.from_spec({spec}).kind)"
    script = f"{build}; import sys; print('privhp.domains.box' in sys.modules)"
    assert run(script) == ["categories", "False"]


def test_registry_finds_every_built_in_domain() -> None:
    public = [getattr(hp, name) for name in hp.__all__]
    classes = [
        item for item in public if isinstance(item, type) and issubclass(item, hp.Domain) and item is not hp.Domain
    ]
    assert {item.kind: item.__module__.removeprefix("privhp.domains.") for item in classes} == registry._BUILT_IN


def test_public_names_are_sorted_and_importable() -> None:
    assert list(hp.__all__) == sorted(hp.__all__)
    assert dir(hp) == sorted([*hp.__all__, "__version__"]), "completion shows no module and no name for types"
    assert all(getattr(hp, name) is not None for name in hp.__all__)


def test_type_checkers_see_the_public_names() -> None:
    tree = ast.parse(Path(hp.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.name: node.module for node in ast.walk(block) if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert seen == hp._MODULES


def test_implementation_classes_are_not_public() -> None:
    assert not {"RefinementSchedule", "Leaves", "Release"} & set(hp.__all__)


def test_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        hp.nothing  # noqa: B018 - the access is the test


@pytest.mark.parametrize("name", sorted(display._RENDERERS))
def test_registered_renderers_exist(name: str) -> None:
    module, function = display._RENDERERS[name].split(":")
    assert callable(getattr(import_module(module), function))


def test_render_calls_registered_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display, "_RENDERERS", {})
    display.register_renderers({"size": "builtins:len"})
    assert display.render("size", [1, 2, 3]) == 3

"""Where noise comes from: integers, bytes of the operating system, and no parameter of a user."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import privhp
from privhp import Domain, PrivhpError, PrivhpWarning, check_domain
from privhp.collect import entropy, noise


def parsed(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text())))


def imported(nodes: list[ast.AST]) -> set[str]:
    modules = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return modules | {
        f"{node.module}.{alias.name}" for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    }


def named(nodes: list[ast.AST]) -> set[str]:
    return {node.id for node in nodes if isinstance(node, ast.Name)} | {
        node.attr for node in nodes if isinstance(node, ast.Attribute)
    }


def test_noise_uses_integers_and_system_entropy_only() -> None:
    nodes = parsed(Path(noise.__file__))
    assert not [node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, float | complex)]
    banned = {"random", "secrets", "default_rng", "float", "float16", "float32", "float64", "longdouble", "clip"}
    assert not named(nodes) & banned
    assert {module.split(".")[0] for module in imported(nodes)} <= {
        *("dataclasses", "decimal", "fractions", "functools", "math", "numpy", "privhp")
    }
    assert {module for module in imported(nodes) if module.startswith("math")} <= {"math.floor"}


def test_random_bytes_come_from_system() -> None:
    nodes = parsed(Path(entropy.__file__))
    assert {module.split(".")[0] for module in imported(nodes)} == {"os", "numpy"}
    assert [node.attr for node in nodes if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "os"] == [
        "urandom"
    ]


def test_importers_of_noise_and_entropy() -> None:
    rooms = {path: parsed(path) for path in Path(privhp.__file__).parent.rglob("*.py")}
    assert {
        path.stem for path, nodes in rooms.items() if "privhp.collect.noise.discrete_laplace" in imported(nodes)
    } == {"noisy_counters", "mechanism"}  # that of the baselines
    assert {path.stem for path, nodes in rooms.items() if named(nodes) & {"urandom", "getrandom"}} == {"entropy"}
    assert {path.stem for path, nodes in rooms.items() if "privhp.collect.entropy.random_bytes" in imported(nodes)} == {
        *("noise", "coins")
    }


def signatures(item: Any, name: str) -> Iterator[tuple[str, inspect.Signature]]:
    """Signatures of a function, or of a class and its public methods, with their names."""
    if callable(item):
        yield name, inspect.signature(item)
    if inspect.isclass(item):
        for member, value in inspect.getmembers(item, callable):
            if not member.startswith("_"):
                yield f"{name}.{member}", inspect.signature(value)


def is_independent_of_noise(item: Any) -> bool:
    """Errors and domains, which the import contracts separate from the noise."""
    return item is check_domain or (inspect.isclass(item) and issubclass(item, PrivhpError | PrivhpWarning | Domain))


def test_no_public_parameter_seeds_noise() -> None:
    public = {name: getattr(privhp, name) for name in privhp.__all__}
    public |= {name: item for name, item in vars(noise).items() if inspect.getmodule(item) is noise}
    seeds = {
        f"{path}({parameter})"
        for name, item in public.items()
        if not is_independent_of_noise(item)
        for path, signature in signatures(item, name)
        for parameter in signature.parameters
        if re.search("seed|rng|random|entropy|bytes|state", parameter)
    }
    assert seeds == {
        "Distribution.sample(rng)",
        "Distribution.stream(rng)",
        "Generator.sample(rng)",
        "Generator.stream(rng)",
        "Plan(hash_seed)",
        "Plan.auto(hash_seed)",
        "Plan.paper(hash_seed)",
    }

"""From options to a domain and a plan, before any data is touched."""

import tomllib
from argparse import Namespace
from typing import Any, NamedTuple

from privhp.domains import Domain
from privhp.errors import DomainError
from privhp.plan import Plan

FORMS = {
    "interval": "interval:LOW:HIGH, with :log or :clamp after it if you like",
    "integers": "integers:LOW:HIGH, with :clamp after it if you like",
    "box": "box:LOW:HIGH,LOW:HIGH, one pair for each column, with :clamp after it if you like",
    "ipv4": "ipv4",
}
_WORDS = {"log": {"scale": "log"}, "clamp": {"outside": "clamp"}}


class Described(NamedTuple):
    """A domain and, where a file says so, the columns that it describes."""

    domain: Domain
    columns: list[str] | None


def read_plan(options: Namespace, domain: Domain) -> Plan:
    """The plan that the options ask for."""
    return Plan.paper(
        domain,
        epsilon=options.epsilon,
        records=options.records,
        hot_cells=options.hot_cells,
        exact_depth=options.exact_depth,
        depth=options.depth,
        sketch_rows=options.sketch_rows,
        sketch_width=options.sketch_width,
        expand=options.expand,
        neighbours=options.neighbours,
        max_records_per_person=options.max_records_per_person,
    )


def read_domain(text: str) -> Described:
    """The domain that `--domain` names, in short form or as a TOML file."""
    kind = text.split(":")[0]
    if kind in FORMS:
        return Described(Domain.from_spec(_short_spec(text)), None)
    if text.endswith(".toml"):
        return _read_toml(text)
    raise DomainError(f"expected a domain such as {', '.join(FORMS)}, or a .toml file, got {text!r}")


def _short_spec(text: str) -> dict[str, Any]:
    """What a short form says, as the spec of a domain."""
    kind, *parts = text.split(":")
    spec: dict[str, Any] = {"kind": kind}
    while parts and parts[-1] in _WORDS:
        spec |= _WORDS[parts.pop()]
    try:
        if kind == "box":
            spec["sides"] = [[_number(end) for end in side.split(":")] for side in ":".join(parts).split(",")]
        else:
            names = () if kind == "ipv4" else ("low", "high")
            spec |= {name: _number(part) for name, part in zip(names, parts, strict=True)}
    except ValueError:
        raise DomainError(f"expected {FORMS[kind]}, got {text!r}; bounds must be public knowledge") from None
    return spec


def _number(text: str) -> float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _read_toml(path: str) -> Described:
    try:
        with open(path, "rb") as file:
            spec = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DomainError(f"expected a TOML file at {path}, got something else: {error}") from None
    columns = spec.pop("columns", None)
    if columns is not None and not (isinstance(columns, list) and all(isinstance(name, str) for name in columns)):
        raise DomainError(f'expected columns = ["a", "b"] in {path}, got {columns!r}')
    try:
        return Described(Domain.from_spec(spec), columns)
    except DomainError as error:
        raise DomainError(f"{path}: {error}") from None

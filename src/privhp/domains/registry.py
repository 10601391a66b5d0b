"""Registry of domain classes by kind, and construction of a domain from its spec."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from privhp.domains.comparisons import suggest
from privhp.domains.validation import quote
from privhp.errors import DomainError

if TYPE_CHECKING:
    from privhp.domains.domain import Domain

_BUILT_IN = {
    "box": "box",
    "categories": "categories",
    "geo": "geo",
    "integers": "numbers",
    "interval": "numbers",
    "ipv4": "ip",
    "ipv6": "ip",
    "nullable": "nullable",
    "pattern": "pattern",
    "table": "table",
    "taxonomy": "taxonomy",
    "time": "time",
}
"""Modules of the built-in domains by kind. A module is imported on the first use of one of its domains."""

_PARAMETER_OF = {"clamp": "outside", "log": "scale"}
"""Parameters by those of their values that are flags in short forms."""

_MISTAKEN = dict.fromkeys(("boolean", "bool"), '; write kind = "categories" and values = [false, true]')
"""Ends of messages on kinds that other tools have."""

_KINDS: dict[str, type[Domain]] = {}


def register(cls: type[Domain]) -> None:
    """Make a domain class available to `build` under its kind."""
    _KINDS[cls.kind] = cls


def build(spec: Mapping[str, Any]) -> Domain:
    """The domain that a spec describes."""
    if not isinstance(spec, Mapping):
        raise DomainError(f"expected the spec of a domain as a mapping with a kind, got {quote(spec)}")
    kind = spec.get("kind")
    if isinstance(kind, str) and kind not in _KINDS and kind in _BUILT_IN:
        import_module(f"privhp.domains.{_BUILT_IN[kind]}")  # its classes register themselves
    if not isinstance(kind, str) or kind not in _KINDS:
        known = sorted({*_KINDS, *_BUILT_IN})
        near = _MISTAKEN.get(kind) or suggest(kind, known) if isinstance(kind, str) else ""
        raise DomainError(
            f"expected a domain of a known kind ({', '.join(known)}), got kind {quote(kind)}"
            f"{near or '; import the class of a custom domain first'}"
        )
    cls = _KINDS[kind]
    given = {key: value for key, value in spec.items() if key != "kind"}
    if "columns" not in given or "columns" in inspect.signature(cls).parameters:
        return cls.from_parameters(given)
    names = given.pop("columns")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DomainError(f'expected columns as a list of names, such as ["fare"], got {quote(names)}')
    return cls.from_parameters(given).named(*names)


def construct(cls: type[Domain], given: Mapping[str, Any]) -> Domain:
    """An instance of a domain class from its JSON parameters; missing and unknown ones are refused."""
    parameters = inspect.signature(cls).parameters
    missing = [name for name, known in parameters.items() if known.default is known.empty and name not in given]
    unknown = [quote(key) for key in given if key not in parameters]
    if missing or unknown:
        wrong = [f"{', '.join(names)} {what}" for names, what in ((missing, "missing"), (unknown, "unknown")) if names]
        takes = ", ".join(parameters) or "nothing else"
        near = "".join(_suggest(key, parameters) for key in given if key not in parameters)
        raise DomainError(
            f"expected a domain of kind {cls.kind!r} with {takes}, got one with {' and '.join(wrong)}{near}"
        )
    return cls(**given)


def _suggest(key: Any, known: Collection[str]) -> str:
    """End of a message that names the parameter which an unknown key may mean."""
    owner = _PARAMETER_OF.get(str(key))
    return f'; write {owner} = "{key}"' if owner in known else suggest(str(key), known)

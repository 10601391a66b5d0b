"""Domains described in TOML files, with the keys of the spec that a release holds in its header."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from privhp.core.path_texts import check_path
from privhp.core.regular_files import read_regular
from privhp.domains.comparisons import suggest
from privhp.domains.declared_files import read_declared
from privhp.domains.domain import Domain
from privhp.domains.table_column import column_errors
from privhp.domains.validation import comma_advice, quote
from privhp.errors import DomainError, FileError

MAX_DOMAIN_FILE = 2**21
MAX_KEY_PARTS = 100

_STRINGS = re.compile(r"""\"(?:\\.|[^"\\\n])*\"?|'[^'\n]*'?""")  # each to its end or that of the line: in linear time
_DECIMAL_COMMA = re.compile(r"^[^=\n]*=[ \t]*([-+]?\d+),(\d+)[ \t]*(?:#.*)?$", re.MULTILINE)
_BETWEEN_KEYS = re.compile(r"[=,{}\[\]#\n]")
PLAN_KEYS = ("epsilon", "expected_records", "memory", "max_records_per_person", "person")
"""Keys of the section `[plan]`."""
_TEMPLATE_KEYS = ("kind", "low", "high", "values")
"""Keys that `privhp init` leaves blank."""


class DomainFile(NamedTuple):
    """Contents of a domain file: the domain, and parameters of a plan by name."""

    domain: Domain
    plan: Mapping[str, Any]


def read_domain(path: str | os.PathLike[str]) -> Domain:
    """The domain that a TOML file describes.

    The file has the keys of a domain's spec: `kind = "interval"`, `low = 0`,
    `high = 1000`. The file of a table has a section `[columns.fare]` with such
    keys for each column, and optionally `weight` and `nullable`. Another domain may
    have `columns = ["fare"]`, the names of its values. `file = "codes.txt"`, relative to
    the folder of the TOML file, stands for a long list: one line per value of
    categories, per text of a pattern, or per leaf of a taxonomy as a path. A section
    `[plan]` is for the command line.
    """
    return read_domain_file(path).domain


def read_domain_file(path: str | os.PathLike[str]) -> DomainFile:
    """The domain that a TOML file describes, and the parameters in its section `[plan]`."""
    import tomllib  # slow to import, and needed for files only

    check_path(path)
    try:
        text = read_regular(path, limit=MAX_DOMAIN_FILE).decode()
        _check_keys(text)
        spec = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        comma = _DECIMAL_COMMA.search(text)
        advice = "" if comma is None else comma_advice(comma[1], comma[2])
        raise DomainError(f"expected a TOML file at {path}: {error}{advice}") from None
    except FileError as error:
        raise error if error.filename else FileError(f"{path}: {error}") from None
    except (ValueError, RecursionError):
        raise DomainError(
            f"expected a TOML file at {path}: it is not UTF-8, is nested too deeply, or has too long a key or number"
        ) from None
    try:
        plan = _take_plan(spec)
        _check_filled_in(spec)
        spec = _read_files(spec, Path(path).parent)
        return DomainFile(Domain.from_spec({"kind": "table", **spec} if _is_table(spec) else spec), plan)
    except DomainError as error:
        raise DomainError(f"{path}: {error}") from None


def _take_plan(spec: dict[str, Any]) -> Mapping[str, Any]:
    """Remove the section `[plan]` from the contents of a file, and return it."""
    plan = spec.pop("plan", {})
    known = f"{', '.join(PLAN_KEYS[:-1])} and {PLAN_KEYS[-1]}"
    if not isinstance(plan, Mapping):
        raise DomainError(f"expected plan as a section [plan], which may hold {known}, got {quote(plan)}")
    for key in plan:
        if key not in PLAN_KEYS:
            raise DomainError(f"the section [plan] may hold {known}, got {key!r}{suggest(key, PLAN_KEYS)}")
    return plan


def _check_keys(text: str) -> None:
    """Refuse keys of very many parts, for which the time of the parser grows with the square of their number."""
    outside = _STRINGS.sub('""', text)
    if any(part.count(".") > MAX_KEY_PARTS for part in _BETWEEN_KEYS.split(outside)):
        raise ValueError


def _check_filled_in(spec: Mapping[str, Any]) -> None:
    """Refuse blank values, as in the template of `privhp init`."""
    columns = spec.get("columns")
    for name, own in columns.items() if isinstance(columns, Mapping) else ():
        if isinstance(own, Mapping):
            with column_errors(name):
                _check_filled_in(own)
    for key, value in spec.items():
        if key in _TEMPLATE_KEYS and value in ("", []):
            raise DomainError(f"{key} is blank; fill it in from public knowledge, never from the data")


def _read_files(spec: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The spec with the contents of the files that it names, such as lists of codes."""
    columns = spec.get("columns")
    if not _is_table(spec) or not isinstance(columns, Mapping | list):
        return read_declared(spec, folder)
    if isinstance(columns, list):
        return {**spec, "columns": [read_declared(own, folder) if isinstance(own, Mapping) else own for own in columns]}
    read = {}
    for name, own in columns.items():
        with column_errors(name):
            read[name] = read_declared(own, folder) if isinstance(own, Mapping) else own
    return {**spec, "columns": read}


def _is_table(spec: Mapping[str, Any]) -> bool:
    """Whether a spec is that of a table: by its kind, or without a kind by descriptions of columns."""
    columns = spec.get("columns")
    described = isinstance(columns, dict) or (isinstance(columns, list) and any(isinstance(c, dict) for c in columns))
    return spec.get("kind") == "table" or ("kind" not in spec and described)

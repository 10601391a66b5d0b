"""Declared lists and trees in files of their own: one value per line, beside a domain file or on the command line."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from privhp.core.regular_files import read_regular
from privhp.domains.taxonomy import SEPARATOR
from privhp.domains.validation import quote
from privhp.errors import DomainError, FileError

MAX_LIST_FILE = 2**21
KEY = "file"
"""Key of the name of the file in a spec, in place of the parameter that it holds."""


def read_declared(spec: Mapping[str, Any], folder: str | os.PathLike[str] = "") -> dict[str, Any]:
    """The spec of a domain with the content of its file in place of the name of the file.

    Args:
        spec: The spec, with or without a file.
        folder: The folder that the name of the file is relative to.
    """
    given = dict(spec)
    parameter = _PARAMETERS.get(str(given.get("kind")))
    if KEY not in given or parameter is None:
        return given
    name = given.pop(KEY)
    if not isinstance(name, str) or not name or parameter in given:
        raise DomainError(f"expected {KEY} as the name of a file, in place of {parameter}, got {quote(name)}")
    lines = read_lines(Path(folder, name))
    return given | {parameter: tree_of_paths(lines) if parameter == "tree" else lines}


_PARAMETERS = {"categories": "values", "pattern": "pattern", "taxonomy": "tree"}
"""Parameter that a file holds, by the kind of the domain."""


def read_lines(path: str | os.PathLike[str]) -> list[str]:
    """Lines of a UTF-8 file without surrounding whitespace, except empty lines."""
    try:
        text = read_regular(path, limit=MAX_LIST_FILE).decode("utf-8-sig")
    except FileError as error:
        raise error if error.filename else FileError(f"{path}: {error}") from None
    except UnicodeDecodeError:
        raise DomainError(f"expected a list of values in UTF-8 at {path}") from None
    lines = [line.strip() for line in text.split("\n")]
    return [line for line in lines if line]


def tree_of_paths(paths: Sequence[str]) -> dict[str, Any]:
    """Tree of the leaves with these paths, such as fruit/apple."""
    tree: dict[str, Any] = {}
    for path in paths:
        *above, leaf = path.split(SEPARATOR)
        node: Any = tree
        for name in above:
            node = node.setdefault(name, {})
            if node is None:
                break
        if node is None or leaf in node:
            raise DomainError(
                f"expected each leaf once, and no other path below a leaf, got {quote(path)}; a node that can be a "
                f"record needs a leaf of its own name below it, such as fruit{SEPARATOR}fruit"
            )
        node[leaf] = None
    return tree

"""Import of pyarrow for the formats that need it."""

from importlib import import_module
from typing import Any

from privhp.errors import FileError


def import_pyarrow(what: str, module: str = "") -> Any:
    """The package pyarrow or one of its modules; an error with the pip command if it is not installed."""
    try:
        return import_module(f"pyarrow.{module}" if module else "pyarrow")
    except ImportError:
        raise FileError(
            f"{what} needs pyarrow, which is not installed; pip install 'privhp[io]', or use plain CSV"
        ) from None

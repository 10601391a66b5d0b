"""pyarrow, which only some files need, imported when one of them is there."""

from importlib import import_module
from typing import Any

from privhp.errors import FileError


def arrow(what: str, part: str = "") -> Any:
    """The module pyarrow or a part of it, or an error that says how to get it."""
    try:
        return import_module(f"pyarrow.{part}" if part else "pyarrow")
    except ImportError:
        raise FileError(
            f"expected pyarrow to be installed for {what}, got none; pip install 'privhp[io]', or use plain CSV"
        ) from None

"""Opening what `privhp fit` wrote."""

from collections.abc import Callable
from typing import TypeVar

from privhp.errors import FileError

Item = TypeVar("Item")


def read_file(read: Callable[[str], Item], path: str) -> Item:
    """What `load` or `resume` makes of a file; an error names the file."""
    try:
        return read(path)
    except FileError as error:
        raise FileError(f"{path}: {error}") from None

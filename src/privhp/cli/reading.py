"""Opening what `privhp fit` wrote, and writing its records as text."""

import ipaddress
from collections.abc import Callable
from typing import Any, TypeVar

from privhp.domains import Domain, IPv4
from privhp.errors import FileError

Item = TypeVar("Item")


def read_file(read: Callable[[str], Item], path: str) -> Item:
    """What `load` or `resume` makes of a file; an error names the file."""
    try:
        return read(path)
    except FileError as error:
        raise FileError(f"{path}: {error}") from None


def as_text(domain: Domain) -> Callable[[Any], str]:
    """How a number of the domain is written: dotted for an address, else so that it reads back the same."""
    return _dotted if isinstance(domain, IPv4) else repr


def _dotted(address: int) -> str:
    return str(ipaddress.IPv4Address(address))

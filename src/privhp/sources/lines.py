"""Bytes cut into lines, in bounded memory.

A line ends at a newline byte and nowhere else: no quote, no escape and no
other byte can join two lines or cut one.
"""

from collections.abc import Iterator
from typing import BinaryIO

MAX_LINE = 2**20
"""Longest line that is read; a longer one is a lost record."""

_BLOCK = 2**18


def lines_by_block(file: BinaryIO) -> Iterator[list[bytes]]:
    """All lines, a block's worth at a time, without their newlines.

    A line beyond MAX_LINE may come shortened, but never to MAX_LINE or less,
    so its length still tells that it is too long.
    """
    rest = b""
    while block := file.read(_BLOCK):
        lines = (rest + block).split(b"\n")
        rest = lines.pop()[: MAX_LINE + 1]
        yield lines
    if rest:
        yield [rest]

"""IP addresses as text, vectorised."""

import socket
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_CHUNK = 1 << 13  # addresses written at once: what is in between stays in the cache
_GROUPS, _LONGEST = 8, 39
_COLON = 3  # slot of the colon before a group; those of its digits follow, up to the eighth


def format_ipv4(numbers: NDArray[np.uint32]) -> NDArray[np.str_]:
    """IPv4 addresses as text."""
    packed = numbers.astype(">u4").tobytes()
    texts = [socket.inet_ntoa(packed[start : start + 4]) for start in range(0, len(packed), 4)]
    return np.array(texts, dtype="U15")


def format_ipv6(high: NDArray[np.uint64], low: NDArray[np.uint64]) -> NDArray[np.str_]:
    """IPv6 addresses, given by their halves, as text: that of RFC 5952, as `socket.inet_ntop` writes it."""
    texts = np.zeros((high.size, _LONGEST), dtype=np.uint32)
    for start in range(0, high.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        _write(np.stack([high[part], low[part]], axis=1), texts[part])
    written = texts.view(f"U{_LONGEST}").reshape(-1)
    for place in np.flatnonzero((high == 0) & (low >> np.uint64(48) == 0)).tolist():
        # Some of these end in an IPv4 address, which is written as one.
        written[place] = socket.inet_ntop(socket.AF_INET6, int(low[place]).to_bytes(16, "big"))
    return written


def _write(halves: NDArray[np.uint64], texts: NDArray[np.uint32]) -> None:
    """Fill rows of characters: all that an address might have, and then those that it has.

    Each group has eight slots, of which the last five are a colon and four digits, as the bytes of one number.
    """
    digits, forms = _digits(), _forms()
    groups = halves.astype(">u8").view(">u2").astype(np.intp)
    form = np.packbits(groups == 0, axis=1)[:, 0]
    characters = digits.characters.take(groups) ^ forms.doubled.take(form, axis=0)
    kept = digits.kept.take(groups) & forms.shown.take(form, axis=0)
    used = np.arange(_LONGEST) < np.bitwise_count(kept).sum(axis=1)[:, None]
    texts[used] = characters.view(np.uint8)[kept.view(np.bool_)]


class _Digits(NamedTuple):
    """The slots of each of 2**16 groups, and a 1 for each that is left without leading zeros."""

    characters: NDArray[np.uint64]
    kept: NDArray[np.uint64]


class _Forms(NamedTuple):
    """What is shown of addresses, by which of their groups are zero, the first group being the highest bit."""

    shown: NDArray[np.uint64]
    """A 1 for each slot."""
    doubled: NDArray[np.uint64]
    """What makes a second colon of the last 0 of the first group that is left out."""


@cache
def _digits() -> _Digits:
    groups = np.arange(2**16)
    values = groups[:, None] >> np.array([12, 8, 4, 0])
    characters, kept = np.zeros((2, groups.size, 8), dtype=np.uint8)
    characters[:, _COLON], kept[:, _COLON] = ord(":"), 1
    characters[:, _COLON + 1 :] = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)[values & 15]
    kept[:, _COLON + 1 :] = values > 0
    kept[:, -1] = 1
    return _Digits(_words(characters), _words(kept))


@cache
def _forms() -> _Forms:
    shown, doubled = np.zeros((2, 2**_GROUPS, _GROUPS, 8), dtype=np.uint8)
    shown[..., _COLON:] = 1
    shown[:, 0, _COLON] = 0
    for form in range(2**_GROUPS):
        first, after = _longest_run(f"{form:08b}")
        if after - first > 1:
            shown[form, first:after] = 0
            shown[form, first, [_COLON, -1]] = 1
            doubled[form, first, -1] = ord("0") ^ ord(":")
            shown[form, after : after + 1, _COLON] = 0
    return _Forms(_words(shown), _words(doubled))


def _words(slots: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Eight slots as one number."""
    words: NDArray[np.uint64] = slots.view(np.uint64)[..., 0]
    return words


def _longest_run(zeros: str) -> tuple[int, int]:
    """Where the longest run of ones is, the first of several."""
    length = max(len(run) for run in zeros.split("0"))
    first = zeros.find("1" * length)
    return first, first + length

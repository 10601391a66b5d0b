"""Text of IP addresses, vectorised."""

import socket
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_CHUNK = 1 << 13  # addresses formatted at once, so that intermediate arrays stay in the cache
_GROUPS, _LONGEST = 8, 39
_COLON = 3  # index of the colon in the eight characters of a group; the digits follow


def format_ipv4(numbers: NDArray[np.uint32]) -> NDArray[np.str_]:
    """Text of IPv4 addresses."""
    packed = numbers.astype(">u4").tobytes()
    texts = [socket.inet_ntoa(packed[start : start + 4]) for start in range(0, len(packed), 4)]
    return np.array(texts, dtype="U15")


def format_ipv6(high: NDArray[np.uint64], low: NDArray[np.uint64]) -> NDArray[np.str_]:
    """Text of IPv6 addresses as in RFC 5952 and `socket.inet_ntop`, from the high and low 64 bits of each."""
    texts = np.zeros((high.size, _LONGEST), dtype=np.uint32)
    for start in range(0, high.size, _CHUNK):
        chunk = slice(start, start + _CHUNK)
        _format_chunk(np.stack([high[chunk], low[chunk]], axis=1), texts[chunk])
    formatted = texts.view(f"U{_LONGEST}").reshape(-1)
    for index in np.flatnonzero((high == 0) & (low >> np.uint64(48) == 0)).tolist():
        # Some of these end in an IPv4 address in dotted notation.
        formatted[index] = socket.inet_ntop(socket.AF_INET6, int(low[index]).to_bytes(16, "big"))
    return formatted


def _format_chunk(words: NDArray[np.uint64], texts: NDArray[np.uint32]) -> None:
    """Write the characters of each address to a row of `texts`.

    Each group of 16 bits has eight characters, stored as the bytes of one
    integer: three unused ones, a colon and four digits. Masks then remove the
    characters that the text omits.
    """
    digits, forms = _digits(), _forms()
    groups = words.astype(">u8").view(">u2").astype(np.intp)
    form = np.packbits(groups == 0, axis=1)[:, 0]
    characters = digits.characters.take(groups) ^ forms.second_colon.take(form, axis=0)
    kept = digits.kept.take(groups) & forms.kept.take(form, axis=0)
    used = np.arange(_LONGEST) < np.bitwise_count(kept).sum(axis=1)[:, None]
    texts[used] = characters.view(np.uint8)[kept.view(np.bool_)]


class _Digits(NamedTuple):
    """Characters of each of 2**16 groups, and a mask without its leading zeros."""

    characters: NDArray[np.uint64]
    kept: NDArray[np.uint64]


class _Forms(NamedTuple):
    """Effect of `::` on the characters, for each pattern of zero groups; the first group is the highest bit."""

    kept: NDArray[np.uint64]
    """Mask of the characters that are not abbreviated."""
    second_colon: NDArray[np.uint64]
    """Exclusive or that turns the last 0 of the first abbreviated group into a colon."""


@cache
def _digits() -> _Digits:
    groups = np.arange(2**16)
    values = groups[:, None] >> np.array([12, 8, 4, 0])
    characters, kept = np.zeros((2, groups.size, 8), dtype=np.uint8)
    characters[:, _COLON], kept[:, _COLON] = ord(":"), 1
    characters[:, _COLON + 1 :] = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)[values & 15]
    kept[:, _COLON + 1 :] = values > 0
    kept[:, -1] = 1
    return _Digits(_pack(characters), _pack(kept))


@cache
def _forms() -> _Forms:
    kept, second_colon = np.zeros((2, 2**_GROUPS, _GROUPS, 8), dtype=np.uint8)
    kept[..., _COLON:] = 1
    kept[:, 0, _COLON] = 0
    for form in range(2**_GROUPS):
        first, after = _longest_run(f"{form:08b}")
        if after - first > 1:
            kept[form, first:after] = 0
            kept[form, first, [_COLON, -1]] = 1
            second_colon[form, first, -1] = ord("0") ^ ord(":")
            kept[form, after : after + 1, _COLON] = 0
    return _Forms(_pack(kept), _pack(second_colon))


def _pack(characters: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Eight bytes as one integer."""
    words: NDArray[np.uint64] = characters.view(np.uint64)[..., 0]
    return words


def _longest_run(zeros: str) -> tuple[int, int]:
    """Start and end of the first longest run of ones."""
    length = max(len(run) for run in zeros.split("0"))
    first = zeros.find("1" * length)
    return first, first + length

"""Encoder of images as PNG, without a library."""

import base64
import struct
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Floats

Colour = tuple[int, int, int]

TONES = 64
"""Number of colours of a scale."""


def shaded(shades: Floats, stops: Sequence[Colour]) -> str:
    """Data URL of an image with one pixel per shade from 0 to 1, first row at the top; NaN is transparent."""
    tones = np.where(np.isnan(shades), 0, 1 + np.rint(np.clip(np.nan_to_num(shades), 0, 1) * (TONES - 1)))
    pixels = _png(tones.astype(np.uint8), [(0, 0, 0), *scale(stops)])
    return f"data:image/png;base64,{base64.b64encode(pixels).decode()}"


def scale(stops: Sequence[Colour]) -> list[Colour]:
    """Colour scale by interpolation between equally spaced stops."""
    positions, ends = np.linspace(0, len(stops) - 1, TONES), np.arange(len(stops))
    channels = [np.interp(positions, ends, [stop[channel] for stop in stops]) for channel in range(3)]
    return [(round(red), round(green), round(blue)) for red, green, blue in zip(*channels, strict=True)]


def _png(tones: NDArray[np.uint8], palette: Sequence[Colour]) -> bytes:
    height, width = tones.shape
    rows = np.hstack(
        [np.zeros((height, 1), dtype=np.uint8), tones]
    ).tobytes()  # each row begins with its filter type, 0 for none
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", bytes(channel for colour in palette for channel in colour)),
        (b"tRNS", b"\0"),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_chunk, *zip(*parts, strict=True)))


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

"""Random bytes for noise and coins, from the entropy of the operating system. No other module draws any."""

import os

import numpy as np
from numpy.typing import NDArray


def random_bytes(size: int) -> NDArray[np.uint8]:
    """Independent uniform bytes, fresh in every call."""
    return np.frombuffer(os.urandom(size), dtype=np.uint8)

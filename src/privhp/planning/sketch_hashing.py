"""Hash functions of the sketched levels, derived from a plan's public seed.

A cell is hashed by an ancestor a few levels up; its remaining bits select a
bucket next to the ancestor's. Descendants of one ancestor never collide, and
levels below a common ancestor share its hash function.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def hash_levels(sketched_levels: Sequence[int], *, exact_depth: int, hash_group: int) -> dict[int, int]:
    """For each sketched level, the level of the ancestor that is hashed.

    Args:
        sketched_levels: Sketched levels, coarsest first.
        exact_depth: Deepest exact level.
        hash_group: Number of levels below a common ancestor that share its hash function, at most.
    """
    hashed: dict[int, int] = {}
    above, base = exact_depth, -1
    for level in sketched_levels:
        if base < 0 or level - base > hash_group:
            base = max(above, level - hash_group)
        hashed[level], above = base, level
    return hashed


def hash_coefficients(seed: int, *, base: int, rows: int) -> NDArray[np.uint64]:
    """Three public random words per sketch row.

    Args:
        seed: Seed of the plan.
        base: Level of the ancestor that is hashed.
        rows: Rows of the sketch.
    """
    from hashlib import shake_256  # slow to import, and only plans with sketches need it

    key = seed.to_bytes(16, "little") + base.to_bytes(1, "little")
    words = shake_256(b"privhp hash" + key).digest(rows * 3 * 8)
    return np.frombuffer(words, dtype="<u8").astype(np.uint64).reshape(rows, 3)


def fresh_seed() -> int:
    """A random seed of 128 bits."""
    import secrets  # slow to import, and a plan from a file has its seed

    return secrets.randbits(128)

"""Memory of the baselines, in counters."""

COUNTER_BYTES = 8
"""Bytes of a counter, as those of a summary."""


def finest_level(memory: int, depth: int) -> int:
    """Deepest level of a domain whose cells fit a memory, one counter each."""
    return min((memory // COUNTER_BYTES).bit_length() - 1, depth)

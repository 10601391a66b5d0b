"""How many cases a property test generates."""

from hypothesis import settings


def case_count(count: int) -> int:
    """The number for a test that has `count` cases with --slow: fewer in the quick suite, more with --explore."""
    return max(1, count * settings().max_examples // 100)

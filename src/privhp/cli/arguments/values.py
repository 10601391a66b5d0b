"""Values of arguments, read or refused."""

import argparse


def number(text: str) -> float:
    """An argument that is a number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number such as 1e6, got {text!r}") from None


def whole(text: str) -> int:
    """An argument that is a whole number, also written as 1e6."""
    try:
        value = int(text)
    except ValueError:
        value = int(number(text)) if number(text).is_integer() else -1
    if value < 0:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 0, got {text!r}")
    return value


def seconds(text: str) -> float:
    """An argument that is a duration such as 30s, 5m or 1h; without a letter, in seconds."""
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    digits, unit = (text[:-1], units[text[-1]]) if text[-1:] in units else (text, 1.0)
    try:
        value = float(digits) * unit
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a time such as 30s, 5m or 1h, got {text!r}")
    return value


def names(text: str) -> list[str]:
    """An argument that is a list of columns."""
    return [name.strip() for name in text.split(",")]


def shares(text: str) -> list[float]:
    """An argument that is a list of shares."""
    return [number(share) for share in text.split(",")]

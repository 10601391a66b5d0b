"""Numbers, shares, sizes and durations as text for people."""

import math

_LARGE = {1e12: " trillion", 1e9: " billion", 1e6: " million"}
_SECONDS = {"days": 86_400.0, "hours": 3_600.0, "minutes": 60.0, "seconds": 1.0}
_BYTES = {"GiB": 2.0**30, "MiB": 2.0**20, "KiB": 2.0**10, "bytes": 1.0}


def format_number(value: float) -> str:
    """A number to about four digits."""
    size = abs(value)
    if size == 0:
        return "0"
    if size < 1e-4 or size >= 1e15:
        text = f"{value:.3g}"
    elif size >= 1e6:
        unit = next(unit for unit in _LARGE if size >= unit)
        text = f"{value / unit:.4g}{_LARGE[unit]}"
    else:
        text = f"{value:,.{max(0, 3 - math.floor(math.log10(size)))}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", "\N{MINUS SIGN}")


def format_share(value: float) -> str:
    """A share as a percentage."""
    if value <= 0:
        return "0%"
    if value < 0.0001:
        return "under 0.01%"
    return f"{value:.2%}" if value < 0.01 else f"{value:.1%}"


def format_interval(low: float, high: float) -> str:
    """Interval of a share after the share itself; empty if it is unknown."""
    return f" ({format_share(low)} to {format_share(high)})" if low < high else ""


def format_bytes(nbytes: int) -> str:
    """A number of bytes as text."""
    return _in_units(nbytes, _BYTES)


def format_duration(seconds: float) -> str:
    """A duration in seconds as text."""
    return _in_units(seconds, _SECONDS)


def _in_units(value: float, units: dict[str, float]) -> str:
    """A value in the largest unit up to it."""
    for name, unit in units.items():
        if value >= unit:
            return f"{format_number(float(f'{value / unit:.3g}'))} {name}"
    return f"{value:.3g} {name}"

"""Numbers, shares, sizes and durations as text for people."""

import math

_LARGE = {
    1e18: " quintillion",
    1e15: " quadrillion",
    1e12: " trillion",
    1e9: " billion",
    1e6: " million",
}
_SECONDS = {
    "years": 365.25 * 86_400.0,
    "days": 86_400.0,
    "hours": 3_600.0,
    "minutes": 60.0,
    "seconds": 1.0,
    "milliseconds": 1e-3,
    "microseconds": 1e-6,
    "nanoseconds": 1e-9,
}
_BYTES = {"GiB": 2.0**30, "MiB": 2.0**20, "KiB": 2.0**10, "bytes": 1.0}


def format_number(value: float) -> str:
    """A number to about four digits."""
    size = abs(value)
    if size == 0:
        return "0"
    if size < 1e-6 or size >= 1e21:
        text = f"{value:.3g}"
    elif size >= 1e6:
        unit = next(unit for unit in _LARGE if size >= unit)
        text = f"{value / unit:.4g}{_LARGE[unit]}"
    else:
        text = f"{value:,.{max(0, 3 - math.floor(math.log10(size)))}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"\N{MINUS SIGN}{text[1:]}" if value < 0 else text


def format_rounded(value: float, error: float) -> str:
    """A number to the second digit of its error; without an error, an integer in full and a float to six digits."""
    size = abs(value)
    if error <= 0:
        return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
    last = math.floor(math.log10(error)) - 1
    if isinstance(value, int):
        last = max(last, 0)
    if size >= 1e6:
        unit = next(unit for unit in _LARGE if size >= unit)
        return f"{value / unit:,.{max(round(math.log10(unit)) - last, 0)}f}{_LARGE[unit]}"
    if 0 < size < 1e-6:
        return f"{value:.{max(math.floor(math.log10(size)) - last + 1, 1)}g}"
    return f"{value:,.{max(-last, 0)}f}"


def format_share(value: float) -> str:
    """A share as a percentage."""
    if value <= 0:
        return "0%"
    if value < 0.0001:
        return "under 0.01%"
    return f"{value:.2%}" if value < 0.01 else f"{value:.1%}"


def format_interval(low: float, high: float) -> str:
    """Interval of a share after the share itself, in the digits that distinguish its ends; empty if it is unknown."""
    if not low < high:
        return ""
    ends = format_share(low), format_share(high)
    for decimals in (2, 3, 4):
        ends = ends if ends[0] != ends[1] else (f"{low:.{decimals}%}", f"{high:.{decimals}%}")
    return " ({} to {})".format(*ends)


def format_ratio(octaves: float) -> str:
    """Ratio of two numbers some octaves (factors of two) apart, to two digits: 5% more, or a factor."""
    if octaves < 1:
        return f"{format_number(float(f'{100 * math.expm1(octaves * math.log(2)):.2g}'))}%"
    return f"a factor of {format_number(float(f'{2.0 ** min(octaves, 1023):.2g}'))}"


def format_bytes(nbytes: int) -> str:
    """A number of bytes as text."""
    return _in_units(nbytes, _BYTES)


def format_duration(seconds: float) -> str:
    """A duration in seconds as text."""
    return _in_units(seconds, _SECONDS) if seconds else "0 seconds"


def format_count(count: int, noun: str) -> str:
    """A count with its noun, which takes an s in the plural."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def round_digits(value: float) -> float:
    """A number to three digits."""
    return float(f"{value:.3g}")


def round_end(end: float) -> float:
    """End of a range without the rounding errors of its computation: to the 15 digits that every float keeps."""
    return float(f"{end:.15g}") if isinstance(end, float) else end


def _in_units(value: float, units: dict[str, float]) -> str:
    """A value in the largest unit up to it, or in the smallest."""
    name, unit = next(((name, unit) for name, unit in units.items() if value >= unit), (*units.items(),)[-1])
    text = format_number(round_digits(value / unit))
    return f"{text} {name.removesuffix('s') if text == '1' else name}"

"""Regions from comparisons, and conditions from regions: functions that several domains use.

Regions are closed. On a continuous scale, where a single number has measure 0, `<` is therefore the same as `<=`;
for integers and times it ends one step earlier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from privhp.domains.unions import Ends, merge_ranges, parts_of, union
from privhp.domains.validation import check_number, number_advice
from privhp.errors import DomainError

if TYPE_CHECKING:
    from privhp.domains.condition_grammar import Predicate


def ranges_region(comparisons: Sequence[Predicate], ends: Callable[[str, str], Ends]) -> Any:
    """Range of the values that meet all comparisons, or the union of several ranges.

    Args:
        comparisons: Comparisons of one value.
        ends: The range of one comparison, from its sign and its value.
    """
    found: list[Ends] = [(None, None)]
    for comparison in comparisons:
        found = [_intersect(one, other) for one in found for other in _ranges(comparison, ends)]
        found = [(low, high) for low, high in found if low is None or high is None or low <= high]
    if not found:
        raise DomainError("no value meets all conditions; correct the bounds")
    return union(merge_ranges(found))


def range_region(comparisons: Sequence[Predicate], ends: Callable[[str, str], Ends]) -> Ends:
    """The single range of the values that meet all comparisons; see `ranges_region`."""
    region = ranges_region(comparisons, ends)
    if len(parts_of(region)) > 1:
        raise DomainError("expected one range of a coordinate, got several; query each separately")
    (found,) = parts_of(region)
    low, high = found
    return low, high


def _ranges(comparison: Predicate, ends: Callable[[str, str], Ends]) -> list[Ends]:
    """Ranges of the values that meet one comparison."""
    if comparison.sign == "among":
        return [ends("=", value) for value in comparison.values]
    if not comparison.has_sign:
        raise DomainError(f"expected a range, written NAME >= LOW and NAME <= HIGH, or in [VALUE], got {comparison}")
    (value,) = comparison.values
    if comparison.sign == "!=":
        below, above = ends("<", value), ends(">", value)
        if below[1] == above[0]:
            ends("=", value)  # refuses a single number of a continuous scale
        return [below, above]
    return [ends(comparison.sign, value)]


def _intersect(one: Ends, other: Ends) -> Ends:
    lows, highs = ([end for end in pair if end is not None] for pair in zip(one, other, strict=True))
    return max(lows, default=None), min(highs, default=None)


def continuous_range(sign: str, value: str) -> Ends:
    """Range of one comparison with a real number."""
    number = parse_number(value)
    if sign == "=":
        low, high = _around(value)
        raise DomainError(
            f"a single number such as {value} has measure 0 among real numbers; ask for a range, such as between {low} "
            f"and {high}. Whole numbers and decimals have single values if integers or a step declare them"
        )
    return (None, number) if sign in ("<", "<=") else (number, None)


def _around(value: str) -> tuple[Decimal, Decimal]:
    """The numbers that are rounded to this one."""
    number = Decimal(value)
    half = Decimal((0, (5,), min(int(number.as_tuple().exponent), 0) - 1))
    return number - half, number + half


def discrete_range(sign: str, value: str, *, around: Ends, step: Any) -> Ends:
    """Range of one comparison in a domain of equally spaced values.

    Args:
        sign: The sign of the comparison.
        value: The value as written, for messages.
        around: The last value of the domain up to the one written, and the first from it on. If what is written
            stands for several, such as a day, the last and the first of them.
        step: Distance between neighbouring values.
    """
    before, after = around
    if sign == "=" and before < after:
        raise DomainError(f"{value!r} is not a possible value of this column")
    return {
        "<": (None, after - step),
        "<=": (None, before),
        ">": (before + step, None),
        ">=": (after, None),
        "=": (after, before),
    }[sign]


def box_advice(comparisons: Sequence[Predicate], names: Sequence[str]) -> str:
    """End of a message that writes bounds of longitude and latitude as one box; empty for other comparisons."""
    from privhp.domains.condition_grammar import quote_word  # slow to import, and needed for conditions only

    ends = ["-180", "-90", "180", "90"]
    for comparison in comparisons:
        if len(comparison.names) > 1 or comparison.sign not in ("<", "<=", ">", ">="):
            return ""
        (value,) = comparison.values
        ends[names.index(comparison.names[0]) + 2 * comparison.sign.startswith("<")] = f"{parse_number(value):.15g}"
    return f"; write {','.join(map(quote_word, names))} in {':'.join(ends)}"


def single_comparison(comparisons: Sequence[Predicate]) -> Predicate:
    """The comparison of a column that takes only one."""
    if len(comparisons) > 1:
        raise DomainError("expected one condition on this column, got several; query each separately")
    return comparisons[0]


def choice_region(comparisons: Sequence[Predicate], parse: Callable[[str], Any]) -> Any:
    """The value after `=`, or the list of values after `in`."""
    comparison = single_comparison(comparisons)
    if comparison.sign not in ("=", "among"):
        raise DomainError(f"expected = VALUE or in [VALUE, VALUE], got {comparison}")
    chosen = [parse(value) for value in comparison.values]
    return chosen[0] if comparison.sign == "=" else chosen


def parse_choice(text: str, known: Mapping[str, Any]) -> Any:
    """The declared value with this text."""
    if text not in known:
        raise DomainError(f"expected a declared value, such as {next(iter(known))}, got {text!r}{suggest(text, known)}")
    return known[text]


def suggest(text: str, known: Iterable[str]) -> str:
    """End of a message that names a similar known text, if there is one."""
    from difflib import get_close_matches  # slow to import, and rarely needed

    names = {name.lower(): name for name in known}
    return "".join(f"; did you mean {names[near]}?" for near in get_close_matches(text.lower(), names, n=1))


def parse_number(text: str) -> int | float:
    """A finite number from text."""
    for read in (int, float):
        try:
            return check_number(read(text), "the value")
        except ValueError as error:
            if isinstance(error, DomainError):
                raise
    raise DomainError(f"expected a number, got {text!r}{number_advice(text)}")


def range_condition(label: str, low: str, high: str, *, with_high: bool = True) -> str:
    """Condition of a range, with its upper end or without."""
    return f"{label} >= {low} and {label} {'<=' if with_high else '<'} {high}"


def choice_condition(label: str, region: Any, format_value: Callable[[Any], str]) -> str:
    """Condition of a value or a list of values."""
    from privhp.domains.condition_grammar import quote_word  # slow to import, and needed for conditions only

    if isinstance(region, list):
        return f"{label} in [{', '.join(quote_word(format_value(value)) for value in region)}]"
    return f"{label} = {quote_word(format_value(region))}"

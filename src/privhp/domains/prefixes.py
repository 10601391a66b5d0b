"""Regions of addresses from comparisons: unions of prefixes, of which two are disjoint or one contains the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from ipaddress import AddressValueError, NetmaskValueError, collapse_addresses
from typing import TYPE_CHECKING, Any

from privhp.domains.unions import union
from privhp.domains.validation import quote
from privhp.errors import DomainError

if TYPE_CHECKING:
    from privhp.domains.condition_grammar import Predicate


_REASONS = (AddressValueError, NetmaskValueError)
"""Errors that say what is wrong, such as "Octet 300 (> 255) not permitted in '10.0.0.300'"."""


def prefixes_region(comparisons: Sequence[Predicate], read: Callable[[Any], Any], *, example: str) -> Any:
    """Prefix of the addresses that meet all comparisons, or the union of several prefixes.

    Args:
        comparisons: Comparisons of one address.
        read: The prefix of a text, or of its first address and its length.
        example: A prefix, for messages.
    """
    everything = read((0, 0))
    found = [everything]
    for comparison in comparisons:
        allowed = _prefixes(comparison, read, example)
        if comparison.sign == "!=":
            allowed = list(everything.address_exclude(*allowed))
        found = [both for one in found for other in allowed for both in _intersect(one, other)]
    if not found:
        raise DomainError("no address meets all conditions; correct the prefixes")
    return unite_prefixes(found)


def read_prefix(value: Any, parse: Callable[..., Any], expected: str) -> Any:
    """A prefix; the error for an address with bits after its prefix names the prefix.

    Args:
        value: Text of the prefix, or its first address and its length.
        parse: Class of the prefix.
        expected: What is expected, for messages.
    """
    try:
        return parse(value)
    except (ValueError, IndexError, TypeError) as error:
        advice = ""
        if isinstance(value, str) and isinstance(error, _REASONS):
            advice = f": {str(error).partition(' in ')[0].lower()}"
        if isinstance(value, str) and (network := network_of(value)) is not None:
            advice = f"; write in {network}"
        with suppress(ValueError, IndexError, TypeError):
            advice = f", which has bits after its prefix; write {parse(value, strict=False)}"
        raise DomainError(f"{expected}, got {quote(value)}{advice}") from None


def network_of(text: str) -> str | None:
    """Network of IPv4 addresses that are written with a wildcard, such as 8.8.8.* or 8.8.8.%; None of other texts."""
    if not re.fullmatch(r"(\d{1,3}\.){1,3}([*%]\.?)+", text):
        return None
    octets = re.findall(r"\d+", text)
    return f"{'.'.join([*octets, *'0' * (4 - len(octets))])}/{8 * len(octets)}"


def unite_prefixes(prefixes: Sequence[Any]) -> Any:
    """Region of the addresses of any prefix."""
    return union([str(prefix) for prefix in collapse_addresses(prefixes)])


def _prefixes(comparison: Predicate, read: Callable[[Any], Any], example: str) -> list[Any]:
    """The prefixes that a comparison names."""
    known = comparison.sign == "among" or (comparison.sign in ("in", "=", "!=") and len(comparison.values) == 1)
    if not known:
        network = network_of(comparison.values[0]) if comparison.sign == "like" else None
        advice = "" if network is None else f"; write in {network}"
        raise DomainError(f"expected a prefix, such as in {example}, or a list in [...], got {comparison}{advice}")
    return [read(value) for value in comparison.values]


def _intersect(one: Any, other: Any) -> list[Any]:
    """The common addresses of two prefixes: the longer one, or nothing."""
    return [one] if one.subnet_of(other) else [other] if other.subnet_of(one) else []

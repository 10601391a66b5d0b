"""Deliveries: which batches of numbered sources a summary has counted, so that none counts twice.

A queue delivers a batch again after a crash, a timeout or a rebalance. Each
source numbers its records or batches, and a summary counts them in order without
a gap. So all that it counted of a source is one range of numbers: a batch in
the range was counted, and a batch behind its end is new. The memory is two
integers for each declared source.
"""

from collections.abc import Mapping
from typing import Any

from privhp.errors import StateError, describe_value

MAX_SOURCES = 1024
MAX_NAME = 256
"""Characters of the name of a source."""
MAX_SEQUENCE = 2**62


class Deliveries:
    """The range of numbers that a summary has counted of each declared source. Confidential.

    Args:
        sources: Name of each source, with the number of its first batch.
    """

    def __init__(self, sources: Mapping[str, int] | None = None) -> None:
        if sources is not None and not isinstance(sources, Mapping):
            raise StateError(f"expected sources= as a dict of names and first numbers, got {describe_value(sources)}")
        self.ranges = {name: range(_check_number(first), first) for name, first in (sources or {}).items()}
        """Numbers counted of each source."""
        _check_names(self.ranges)

    def check_unnumbered(self, sequence: Any) -> None:
        """Refuse a batch without a source where sources are declared, and a number without a source."""
        if self.ranges or sequence is not None:
            raise StateError("a summary with declared sources counts numbered batches; give source= and sequence=")

    def uncounted(self, source: str, sequence: Any) -> range:
        """Numbers of a batch that are not counted yet; empty if all are.

        A gap is refused: the batches in it would be taken as counted once they come.

        Args:
            source: Name of the source.
            sequence: Number of the batch, or the range of numbers that it covers.
        """
        if source not in self.ranges:
            raise StateError(
                'expected source= as a declared source; declare them all, as in Summary(plan, sources={"queue": 0})'
            )
        numbers, counted = _read_sequence(sequence), self.ranges[source]
        if numbers.start > counted.stop:
            raise StateError(
                "batches of this source are missing before this one; read the source again from summary.positions, "
                "and give batches in order"
            )
        if numbers.start < counted.start:
            raise StateError(
                "this batch is from before the declared first number of its source, so it may be counted elsewhere"
            )
        return range(max(numbers.start, counted.stop), max(numbers.stop, counted.stop))

    def note(self, source: str, numbers: range) -> None:
        """Note that the numbers behind those counted are counted now."""
        self.ranges[source] = range(self.ranges[source].start, numbers.stop)

    def joined(self, other: "Deliveries") -> dict[str, range]:
        """Numbers that both have counted together; refuses two ranges of a source that overlap or have a gap."""
        joined = {**self.ranges, **other.ranges}
        for name in self.ranges.keys() & other.ranges.keys():
            first, last = sorted((self.ranges[name], other.ranges[name]), key=lambda own: (own.start, own.stop))
            if first.stop != last.start:
                raise StateError(
                    "both have counted a source of the same name, and not one after the other: records would count "
                    "twice or be missing"
                )
            joined[name] = range(first.start, last.stop)
        _check_names(joined)
        return joined

    def to_json(self) -> dict[str, list[int]]:
        """Bounds of the numbers counted of each source."""
        return {name: [own.start, own.stop] for name, own in sorted(self.ranges.items())}

    @classmethod
    def from_json(cls, sources: Any) -> "Deliveries":
        """The deliveries of `to_json`; any exception refuses a file."""
        deliveries = cls({name: start for name, (start, _) in sources.items()})
        for name, (start, stop) in sources.items():
            deliveries.ranges[name] = _read_sequence(range(start, _check_number(stop)))
        return deliveries


def _read_sequence(sequence: Any) -> range:
    """Numbers that a batch covers."""
    if isinstance(sequence, range):
        if sequence.step != 1 or not 0 <= sequence.start <= sequence.stop <= MAX_SEQUENCE:
            raise StateError("expected sequence= as a range of numbers with step 1, from 0 on")
        return sequence
    return range(_check_number(sequence), sequence + 1)


def _check_number(number: Any) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < MAX_SEQUENCE:
        raise StateError("expected a sequence number as an integer from 0 on, or a range of them")
    return number


def _check_names(sources: Mapping[Any, Any]) -> None:
    if len(sources) > MAX_SOURCES:
        raise StateError(f"a summary counts at most {MAX_SOURCES} sources; use more summaries and merge them")
    for name in sources:
        if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME:
            raise StateError(f"expected the name of a source as a text of 1 to {MAX_NAME} characters")

"""Arms of an audit: one measurement each, with its claim and the events of its trials."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.audit.bounds import Events
from privhp.audit.persons import Indices
from privhp.core.cells import Counts, Floats

_SHARES = (1.0, 0.5, 0.0)
"""Thresholds of scores, as shares of the largest and of the smallest one."""

_TAILS = (3, 6)
"""Thresholds of the noise in all counters of a target, in scales."""

_ROUNDING = 1e-9
_FAR = np.int64(2**62)


class Seen(NamedTuple):
    """What a run shows of targets.

    Args:
        targets: The persons.
        score: Privacy loss of the counters of a target, between -1 and 1 times the largest one.
        low: Least noise in the counters of a target, if it is present.
        high: Largest noise in the counters of a target, if it is absent.
    """

    targets: Indices
    score: Floats
    low: Counts
    high: Counts

    @classmethod
    def of(cls, targets: Indices, parts: Sequence[tuple[Counts, Indices]], *, changes: int) -> "Seen":
        """The targets' counters, in parts.

        Args:
            targets: The persons.
            parts: Noisy counts of shape (rows, targets), and how many records of a target, if present, they count.
            changes: Sum of all that a target adds to its counters.
        """
        score, low, high = np.zeros(targets.size), np.full(targets.size, _FAR), np.full(targets.size, -_FAR)
        for noisy, records in parts:
            score += np.clip(2 * noisy - records, -records, records).sum(axis=0) / changes
            low = np.minimum(low, np.where(records > 0, noisy.min(axis=0) - records, _FAR))
            high = np.maximum(high, np.where(records > 0, noisy.max(axis=0), -_FAR))
        return cls(targets, score, low, high)

    def take(self, chosen: Any) -> "Seen":
        """Some of the targets."""
        return Seen(*(own[chosen] for own in self))

    def minus(self, other: "Seen") -> "Seen":
        """Pairs of targets: the first is present and the second absent, or the reverse."""
        low, high = np.minimum(self.low, -other.high), np.maximum(self.high, -other.low)
        return Seen(self.targets, self.score - other.score, low, high)


@dataclass
class Arm:
    """One measurement of a plan: what it claims, and what its trials show.

    Args:
        name: What is measured.
        claim: Its privacy loss, at most.
        scale: Scale of its noise, by definition.
        scores: The smallest and the largest score of a target.
        pairs: Whether a trial is a pair of targets, one of which replaces the other.
    """

    name: str
    claim: Fraction
    scale: float
    scores: tuple[float, float]
    pairs: bool

    def __post_init__(self) -> None:
        events = 2 * (len(_SHARES) + len(_TAILS))
        self.present, self.absent = Events.none(events), Events.none(events)

    def add(self, seen: Seen, present: NDArray[np.bool_]) -> None:
        """Add the targets of a run.

        Args:
            seen: What the run shows of them.
            present: Whether each person is present.
        """
        bottom, top = self.scores
        if self.pairs:
            bottom, top = bottom - top, top - bottom
            pairs = seen.targets.size // 2
            first, second = seen.take(slice(0, 2 * pairs, 2)), seen.take(slice(1, 2 * pairs, 2))
            seen = first.minus(second).take(present[first.targets] != present[second.targets])
        found = np.stack(
            [
                *(seen.score >= share * top - _ROUNDING for share in _SHARES),
                *(seen.score <= share * bottom + _ROUNDING for share in _SHARES),
                *(seen.low >= tail * self.scale for tail in _TAILS),
                *(seen.high <= -tail * self.scale for tail in _TAILS),
            ]
        )
        self.present.add(found[:, present[seen.targets]])
        self.absent.add(found[:, ~present[seen.targets]])

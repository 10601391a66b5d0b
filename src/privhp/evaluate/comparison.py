"""Distances between real records and a generator or synthetic records, with a baseline. NOT private."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from privhp.answers.distribution import Distribution
from privhp.core.number_format import format_share
from privhp.core.record_counts import RecordCounts
from privhp.domains import Domain
from privhp.errors import DomainError
from privhp.evaluate.grid_distance import grid_wasserstein
from privhp.evaluate.line_distance import wasserstein
from privhp.evaluate.range_queries import random_regions, range_errors
from privhp.evaluate.tree_distance import tree_wasserstein

REGIONS = 200
"""Number of random regions for the range errors; they are the same in every run."""

DESCRIPTIONS = {
    "wasserstein": "W1 (1-Wasserstein) distance",
    "grid_wasserstein": "W1 distance of masses on a grid, both axes scaled to 1",
    "tree_wasserstein": "W1 distance in the tree of cells",
    "range_error_mean": f"mean relative error of {REGIONS} random range queries",
    "range_error_worst": f"largest relative error of {REGIONS} random range queries",
}

_IN_UNIT_OF_DOMAIN = ("wasserstein", "tree_wasserstein")


@dataclass(frozen=True)
class Distance:
    """One distance between real and synthetic data.

    Args:
        metric: Name of the metric, a key of `DESCRIPTIONS`.
        distance: Distance between the two sides.
        baseline: Distance between two random halves of the real records; None if the real side is a generator.
    """

    metric: str
    distance: float
    baseline: float | None


@dataclass(frozen=True, repr=False)
class Comparison:
    """Distances between real and synthetic data. NOT private, unless both sides are releases.

    Args:
        distances: One distance per metric that the domain supports.
        private: Whether both sides are releases, so that no real record was read.
        domain: Domain of the records, which formats the distances.
        real: Numbers of real records; None if the real side is a generator.
    """

    distances: tuple[Distance, ...]
    private: bool
    domain: Domain
    real: RecordCounts | None = None

    def __getitem__(self, metric: str) -> Distance:
        """Distance of a metric, such as "tree_wasserstein"."""
        return {one.metric: one for one in self.distances}[metric]

    def __repr__(self) -> str:
        """Table of distances and baselines."""
        notice = (
            "Both sides are releases, so the comparison is as private as they are."
            if self.private
            else "NOT PRIVATE: computed from records as they are. Do not publish it, unless all of them are synthetic."
        )
        notices = [notice] if self.real is None else [notice, str(self.real)]
        header = ("distance", "baseline (real vs real)", "metric")
        rows = [
            (*(self._format(one.metric, value) for value in (one.distance, one.baseline)), DESCRIPTIONS[one.metric])
            for one in self.distances
        ]
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        lines = [f"{a:>{widths[0]}}   {b:>{widths[1]}}   {c}" for a, b, c in (header, *rows)]
        return "\n".join([*notices, "", *lines])

    def _format(self, metric: str, value: float | None) -> str:
        """A distance in the unit of the domain; others are shares."""
        if value is None:
            return ""
        return self.domain.format_distance(value) if metric in _IN_UNIT_OF_DOMAIN else format_share(value)

    def to_dict(self) -> dict[str, Any]:
        """Distances and baselines by metric, for JSON."""
        baselines = {one.metric: one.baseline for one in self.distances if one.baseline is not None}
        distances = {one.metric: one.distance for one in self.distances}
        real = None if self.real is None else self.real._asdict()
        return {"private": self.private, "real": real, "distances": distances, "baseline": baselines or None}


def compare_sides(real: Any, synthetic: Any, *, domain: Domain, counts: RecordCounts | None = None) -> Comparison:
    """Distances between two sides, each a generator or records in random order. NOT private.

    Args:
        real: The real side.
        synthetic: The synthetic side.
        domain: Domain of both.
        counts: Numbers of real records that were read and that are inside the domain; None for a generator.
    """
    distances = dict(_distances(real, synthetic, domain))
    baselines = {} if isinstance(real, Distribution) else dict(_distances(real[::2], real[1::2], domain))
    return Comparison(
        tuple(Distance(metric, value, baselines.get(metric)) for metric, value in distances.items()),
        private=isinstance(real, Distribution) and isinstance(synthetic, Distribution),
        domain=domain,
        real=counts,
    )


def _distances(real: Any, synthetic: Any, domain: Domain) -> Iterator[tuple[str, float]]:
    """Distances of the metrics that support the domain; the others refuse it with a DomainError."""
    metrics: dict[str, Callable[..., float]] = {"wasserstein": wasserstein}
    if find_spec("scipy"):
        metrics["grid_wasserstein"] = grid_wasserstein
    metrics["tree_wasserstein"] = tree_wasserstein
    for name, metric in metrics.items():
        with suppress(DomainError):
            yield name, metric(real, synthetic, domain=domain)
    with suppress(DomainError):
        errors = range_errors(synthetic, real, random_regions(domain, REGIONS, rng=0), domain=domain)
        yield "range_error_mean", float(errors.mean())
        yield "range_error_worst", float(errors.max())

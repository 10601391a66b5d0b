"""The generator of a release: synthetic records and answers."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any, NamedTuple

from privhp.answers.distribution import Distribution
from privhp.answers.division import Division
from privhp.answers.hierarchy import Hierarchy
from privhp.answers.hierarchy_errors import HierarchyErrors
from privhp.answers.leaf_errors import LeafErrors
from privhp.answers.leaf_slopes import divide_along_slopes
from privhp.answers.leaves import build_leaves, build_leaves_top_down
from privhp.answers.projected_leaves import ProjectedLeaves
from privhp.answers.standard_errors import UnavailableErrors
from privhp.core.display import render
from privhp.core.number_format import format_count
from privhp.errors import QueryError, describe_value
from privhp.planning.partition import Partition
from privhp.planning.plan import Plan
from privhp.release import Release

NO_VARIANCES = (
    "this plan uses the paper's top-down inference, which gives no standard errors; "
    'use a plan with inference="least-squares", such as Plan.auto(...)'
)

FULL_SHARE = 9 / 10
"""A count below this share of the expected number of records is below it."""

NOISE_Z = 3.0
"""Standard deviations of noise that do not explain a count below the expected number."""

NOT_COUNTED = "records outside the domain, and nulls where it allows none, are not counted"


class Reading(NamedTuple):
    """How the data of a release was read, for the causes of a low count. A release file does not have it.

    Args:
        formats: Formats of the files, empty for data in memory; None if they are not known.
        persons: Whether a column of persons was declared; None if it is not known.
        declared: Names of the parameters that were given: columns, header, those of `CsvDialect`, and unquoted for its
            records="unquoted".
        merged: Whether summaries were merged, perhaps one alone, whose data others read.
    """

    formats: Collection[str] | None = None
    persons: bool | None = None
    declared: Collection[str] = ()
    merged: bool = False


class Generator(Distribution):
    """The distribution estimated from a release: it samples synthetic records and answers queries.

    The distribution is a partition of the domain with a probability for each
    leaf, and the domain's base measure inside a leaf. Everything it returns is
    post-processing of the release and has its guarantee.

    Attributes:
        release: The release.
        reading: How the fitted data was read.
    """

    reading = Reading()

    def __init__(self, release: Release) -> None:
        """Estimate the distribution by the inference that the plan names.

        Args:
            release: Noisy counts and plan.
        """
        if not isinstance(release, Release):
            raise QueryError(
                f"expected a Release, got {describe_value(release)}; Summary.release() returns a generator"
            )
        self.release = release
        if release.plan.inference == "top-down":
            super().__init__(release.plan.domain, build_leaves_top_down(release), UnavailableErrors(NO_VARIANCES))
            first = release.plan.exact_levels[0]
            self._total_variance = 2**first * release.plan.noise_variance(first, merged=release.merged)
        else:
            domain, hierarchy = release.plan.domain, Hierarchy(release)
            self._hierarchy = hierarchy
            self._total_variance = hierarchy.total_variance
            leaves = build_leaves(hierarchy)
            columns = {label: Generator(own) for label, own in release.columns.items()}
            division = Division(hierarchy, leaves, domain, {label: own._hierarchy for label, own in columns.items()})
            divided = divide_along_slopes(division.divide(), domain)
            measured = {label: own._errors for label, own in columns.items()}
            projected = ProjectedLeaves.of_release(HierarchyErrors(hierarchy.resolved()), domain, division, divided)
            super().__init__(domain, divided, LeafErrors(projected, measured), leaves, columns)

    @property
    def plan(self) -> Plan:
        """The plan: everything fixed before the data."""
        return self.release.plan

    @property
    def total_stderr(self) -> float:
        """Standard error of `total` by the noise of the release."""
        return math.sqrt(self._total_variance)

    @property
    def is_below_expected(self) -> bool:
        """Whether the number of records is below nine tenths of the expected one, and noise does not explain that."""
        expected = self.plan.expected_records
        missing = expected - self.total
        return self.total < FULL_SHARE * expected and missing > NOISE_Z * self.total_stderr

    @property
    def counted_text(self) -> str:
        """The number of records as the beginning of a sentence on them."""
        count = round(self.total)
        return f"about {format_count(count, 'record')} (noisy) {'was' if count == 1 else 'were'} counted"

    @property
    def count_text(self) -> str:
        """The number of records in words; if it is below the expected one, what is not counted."""
        if not self.is_below_expected:
            return super().count_text
        return f"about {self.total:,.0f} of {self.plan.expected_records:,} expected records; {NOT_COUNTED}"

    @property
    def partition(self) -> Partition:
        """The leaves as a partition, for a later plan of such data: `Plan.auto(..., partition=generator)`."""
        return self.plan.partition or Partition(self._cells.levels)

    def to_bytes(self) -> bytes:
        """The bytes of the release file, as `privhp.save` writes it. Public."""
        return self.release.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Generator:
        """The generator of the bytes of a release file."""
        return cls(Release.from_bytes(data))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the release, which is small, and solve it again."""
        return Generator, (self.release,), {"frame": self.frame, "reading": self.reading}

    def _repr_html_(self) -> str:
        return str(render("generator card", self))

    def _summary(self) -> str:
        """Domain, epsilon, leaves, and the number of records per person if it is not 1; assumed without a cap."""
        most = self.plan.max_records_per_person
        origin = {None: "", False: " (assumed)", True: " (enforced)"}[self.reading.persons]
        persons = f", at most {most:,} records per person{origin}" if most > 1 else ""
        return f"{self.domain!r}, epsilon={float(self.plan.epsilon):g}, {self._cells.codes.size:,} leaves{persons}"

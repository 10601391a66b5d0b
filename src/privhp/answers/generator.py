"""A generator: synthetic records and answers from a release."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from privhp.answers.distribution import Distribution
from privhp.answers.hierarchy import Hierarchy
from privhp.answers.leaves import build_leaves, build_leaves_top_down
from privhp.answers.standard_errors import HierarchyErrors, UnavailableErrors
from privhp.core.display import render
from privhp.errors import QueryError, describe_value
from privhp.planning.plan import Plan
from privhp.release import Release


class Generator(Distribution):
    """The distribution that a release describes, to sample from and to ask.

    It is a partition of the domain with a probability for each leaf, and the
    domain's base measure inside a leaf. All it returns is post-processing of
    the release, so it is as private as the release.
    """

    def __init__(self, release: Release) -> None:
        """Grow the partition of a release."""
        if not isinstance(release, Release):
            raise QueryError(f"expected a Release, got {describe_value(release)}; Summary.release() gives a generator")
        self.release = release
        if release.plan.inference == "top-down":
            super().__init__(release.plan.domain, build_leaves_top_down(release), UnavailableErrors())
        else:
            hierarchy = Hierarchy(release)
            super().__init__(release.plan.domain, build_leaves(hierarchy), HierarchyErrors(hierarchy))

    @property
    def plan(self) -> Plan:
        """What was fixed before the data."""
        return self.release.plan

    def _repr_html_(self) -> str:
        return str(render("generator card", self))

    def _summary(self) -> str:
        return f"{self.domain!r}, epsilon={float(self.plan.epsilon):g}, {self._leaves.codes.size:,} leaves"

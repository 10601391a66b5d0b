"""A generator: synthetic records and answers from a release."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from privhp.distribution import Distribution
from privhp.errors import QueryError, described
from privhp.plan import Plan
from privhp.release import Release
from privhp.tree import grow


class Generator(Distribution):
    """The distribution that a release describes, to sample from and to ask.

    It is a partition of the domain with a probability for each leaf, and the
    domain's base measure inside a leaf. All it returns is post-processing of
    the release, so it is as private as the release.
    """

    def __init__(self, release: Release) -> None:
        """Grow the partition of a release."""
        if not isinstance(release, Release):
            raise QueryError(f"expected a Release, got {described(release)}; Summary.release() gives a generator")
        self.release = release
        super().__init__(release.plan.domain, grow(release))

    @property
    def plan(self) -> Plan:
        """What was fixed before the data."""
        return self.release.plan

    def _summary(self) -> str:
        return f"{self.domain!r}, epsilon={float(self.plan.epsilon):g}, {self._leaves.codes.size:,} leaves"

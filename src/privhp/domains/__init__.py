"""Domains: metric spaces of records with a hierarchy of cells. `domain` holds the protocol."""

from privhp.domains.box import Box
from privhp.domains.categories import Categories
from privhp.domains.checks import check_domain
from privhp.domains.domain import Domain
from privhp.domains.geo import Geo
from privhp.domains.ip import IPv4, IPv6
from privhp.domains.nullable import Nullable
from privhp.domains.numbers import Integers, Interval
from privhp.domains.table import Table
from privhp.domains.taxonomy import Taxonomy
from privhp.domains.time import Time

__all__ = [
    "Box",
    "Categories",
    "Domain",
    "Geo",
    "IPv4",
    "IPv6",
    "Integers",
    "Interval",
    "Nullable",
    "Table",
    "Taxonomy",
    "Time",
    "check_domain",
]

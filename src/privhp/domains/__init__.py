"""Domains: where a record lives. One file per family; `base` says what a domain is."""

from privhp.domains.base import Domain
from privhp.domains.box import Box
from privhp.domains.checks import check_domain
from privhp.domains.ip import IPv4
from privhp.domains.numbers import Integers, Interval

__all__ = ["Box", "Domain", "IPv4", "Integers", "Interval", "check_domain"]

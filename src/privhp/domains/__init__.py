"""Domains: metric spaces of records with a hierarchy of cells.

`domain` holds the protocol, `registry` the modules of the built-in domains,
which are imported when they are needed.
"""

from privhp.domains.domain import Domain

__all__ = ["Domain"]

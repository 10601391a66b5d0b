"""Reports on a release: an HTML page, notebook output and matplotlib figures.

All of it is post-processing of the release. Only a page with real records is
not private, and it says so.
"""

from privhp.reporting.overlay import RealRecords
from privhp.reporting.page import report_page

__all__ = ["RealRecords", "report_page"]

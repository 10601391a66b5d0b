"""Reports: what a release promises and shows, for people. One HTML file, or a few lines in a notebook.

Takes a generator, gives HTML or a figure of matplotlib. All of it is
post-processing of the release; only with real records beside it is it not
private, and then it says so.
"""

from privhp.report.page import report_page

__all__ = ["report_page"]

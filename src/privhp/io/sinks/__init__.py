"""Sinks: files of synthetic records, written atomically.

A sink writes samples of a generator in memory that does not depend on the
number of rows.
"""

from privhp.io.sinks.text_values import format_values
from privhp.io.sinks.writer import OUTPUT_SUFFIXES, write_sample

__all__ = ["OUTPUT_SUFFIXES", "format_values", "write_sample"]

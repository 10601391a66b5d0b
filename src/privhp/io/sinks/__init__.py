"""Sinks: synthetic records written to files, whole or not at all.

A sink takes a generator and gives a file, in bounded memory whatever the
number of rows. It knows nothing of where the generator came from.
"""

from privhp.io.sinks.text_values import format_values
from privhp.io.sinks.writer import OUTPUT_SUFFIXES, write_sample

__all__ = ["OUTPUT_SUFFIXES", "format_values", "write_sample"]

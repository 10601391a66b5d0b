"""Sinks: synthetic records written to files, whole or not at all.

A sink takes a generator and gives a file, in bounded memory whatever the
number of rows. It knows nothing of where the generator came from.
"""

from privhp.io.sinks.text_values import as_written
from privhp.io.sinks.writer import ENDINGS, write_sample

__all__ = ["ENDINGS", "as_written", "write_sample"]

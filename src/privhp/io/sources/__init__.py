"""Sources: files, pipes and what a program holds, read in batches that a summary takes.

A source takes a path or data, a domain and the names of columns, and gives
batches in bounded memory. It knows nothing of counts or noise. The rule that
privacy rests on: what becomes of a record depends on its own bytes alone.
"""

from privhp.io.sources.files import Format
from privhp.io.sources.opening import open_source
from privhp.io.sources.protocol import START, Batch, Position, Source

__all__ = ["START", "Batch", "Format", "Position", "Source", "open_source"]

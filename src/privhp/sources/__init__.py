"""Sources: files and pipes read in batches that a summary takes.

A source takes a path, a domain and the names of columns, and gives batches in
bounded memory. It knows nothing of counts or noise. The rule that privacy
rests on: what becomes of a record depends on its own bytes alone.
"""

from privhp.sources.opening import Source, open_source

__all__ = ["Source", "open_source"]

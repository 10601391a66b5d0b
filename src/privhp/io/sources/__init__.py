"""Sources: batches of records from files, pipes and objects in memory.

A source is made from a path or data, a domain and the names of columns. It
yields batches for `Summary.update` in bounded memory, without access to counts
or noise. Privacy requires that the value read for a record depends on the
bytes of that record alone.
"""

from privhp.io.sources.csv_dialect import CsvDialect
from privhp.io.sources.files import Format
from privhp.io.sources.opening import open_source
from privhp.io.sources.protocol import START, Batch, Cap, NullPerson, Persons, Position, Sample, Source

__all__ = [
    "START",
    "Batch",
    "Cap",
    "CsvDialect",
    "Format",
    "NullPerson",
    "Persons",
    "Position",
    "Sample",
    "Source",
    "open_source",
]

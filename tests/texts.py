"""Batches of a text file with given content."""

import tempfile
from collections.abc import Sequence
from typing import Any

from privhp import Domain
from privhp.io.sources import CsvDialect, open_source

LINES = CsvDialect(records="lines")


def text_batches(
    content: bytes,
    domain: Domain,
    *,
    columns: Sequence[str] | None = None,
    header: bool = False,
    csv: CsvDialect = LINES,
    ending: str = ".csv",
) -> list[Any]:
    """The batches of a file with this content."""
    with tempfile.NamedTemporaryFile(suffix=ending) as file:
        file.write(content)
        file.flush()
        source = open_source(file.name, domain=domain, columns=columns, header=header, csv=csv)
        return [batch.records for batch in source.batches()]

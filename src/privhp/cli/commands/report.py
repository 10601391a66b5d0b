"""`privhp report`: a release in, a page for people out."""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from privhp.api import load
from privhp.cli.output import check_output
from privhp.cli.reading import read_file
from privhp.domains import Domain
from privhp.errors import FileError, RecordsError
from privhp.io.disk import replacing
from privhp.io.sources.files import FileSource
from privhp.io.sources.selection import Selection
from privhp.report import report_page
from privhp.report.variables import variables_of

PUBLIC, CONFIDENTIAL = 0o644, 0o600


def run(options: Namespace) -> None:
    """Write the page; with real records beside, for the owner's eyes only."""
    output = _check_page(options.output, force=options.force)
    generator = read_file(load, options.release)
    names = _check_names(generator.domain, options.columns)
    against = None if options.against is None else _real(options, generator.domain)
    title = options.title or Path(options.release).stem
    page = report_page(generator, title=title, names=names, against=against)
    with replacing(output, mode=PUBLIC if against is None else CONFIDENTIAL) as file:
        file.write(page.encode())
    if not options.quiet:
        kind = "as private as the release" if against is None else "NOT PRIVATE: it shows the real records"
        print(f"wrote {output}, {kind}; open it in a browser")


def _check_page(name: str, *, force: bool) -> Path:
    if not name.lower().endswith((".html", ".htm")):
        raise FileError(f"expected a page to be called something like fares.html, got {name}")
    return check_output(name, force=force)


def _check_names(domain: Domain, columns: Sequence[str] | None) -> Sequence[str] | None:
    """The names of the values of a record, as many as it has."""
    size = len(variables_of(domain))
    if columns is not None and len(columns) != size:
        raise RecordsError(f"expected {size} column names for this release, got {len(columns)}: {', '.join(columns)}")
    return columns


def _real(options: Namespace, domain: Domain) -> Iterator[Any]:
    """Batches of real records; what can be checked without reading them is checked now."""
    source = FileSource(options.against, Selection(domain, options.columns, header=not options.no_header))
    return (batch.records for batch in source.batches())

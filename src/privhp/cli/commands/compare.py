"""`privhp compare`: two distributions in, their distances out. NOT PRIVATE where a side is real records."""

import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from privhp.answers.generator import Generator
from privhp.api import load
from privhp.cli.planning import read_domain
from privhp.cli.progress import Progress
from privhp.cli.reading import read_file
from privhp.cli.tables import as_table
from privhp.core.cells import OUTSIDE, Codes
from privhp.core.container import RELEASE
from privhp.domains import Domain
from privhp.errors import DomainError, QueryError, RecordsError
from privhp.evaluate import grid_wasserstein, random_regions, range_errors, tree_wasserstein, wasserstein
from privhp.io.sources.files import FileSource
from privhp.io.sources.selection import Selection

REGIONS = 200
"""Random regions whose masses are compared, the same in every run."""

_WORDS = {
    "wasserstein": "1-Wasserstein: how far a record is moved on average",
    "grid_wasserstein": "1-Wasserstein between masses on a grid, both sides scaled to 1",
    "tree_wasserstein": "1-Wasserstein in the tree of cells",
    "range_error_mean": f"relative error of {REGIONS} random ranges, mean",
    "range_error_worst": f"relative error of {REGIONS} random ranges, worst",
}


def run(options: Namespace) -> None:
    """Print the distances, and those between two halves of the real records for a yardstick."""
    names = (options.real, options.synthetic)
    releases = [read_file(load, name) if _is_release(name) else None for name in names]
    domain, columns = _domain(options, releases)
    real, synthetic = (
        _records(name, domain, options.columns or columns, quiet=options.quiet) if release is None else release
        for name, release in zip(names, releases, strict=True)
    )
    found = _distances(real, synthetic, domain)
    halves = {} if isinstance(real, Generator) else _distances(real[::2], real[1::2], domain)
    private = all(release is not None for release in releases)
    if options.json:
        print(json.dumps({"private": private, "distances": found, "between_halves_of_real": halves or None}))
        return
    if private:
        print("Both are releases, so this is as private as they are.\n")
    else:
        print("NOT PRIVATE: this looks at real records. It is for whoever may see those, and not for publication.\n")
    rows = [(_text(value), _text(halves[name]) if halves else "", _WORDS[name]) for name, value in found.items()]
    print(as_table(("apart", "halves of the first apart", "by"), rows))


def _is_release(name: str) -> bool:
    path = Path(name)
    if not path.is_file():  # a pipe or standard input can be read once
        return False
    with path.open("rb") as file:
        return file.read(len(RELEASE)) == RELEASE


def _domain(options: Namespace, releases: Sequence[Generator | None]) -> tuple[Domain, list[str] | None]:
    """Where both sides live: what the releases say, or the options."""
    known = [release.domain for release in releases if release is not None]
    given, columns = read_domain(options) if options.domain else (None, None)
    domains = known if given is None else [*known, given]
    if not domains:
        raise QueryError("neither side is a release, so the domain is unknown; give --domain")
    if any(domain != domains[0] for domain in domains):
        raise DomainError("expected one domain on both sides, got several; a release knows its own")
    return domains[0], columns


def _records(name: str, domain: Domain, columns: Sequence[str] | None, *, quiet: bool) -> Any:
    """All records of a file that have a cell, to within a deepest cell."""
    source = FileSource([name], Selection(domain, columns))
    codes: list[Codes] = []
    with Progress(sys.stderr, size=source.size, shown=not quiet and sys.stderr.isatty()) as progress:
        for batch in source.batches():
            own = domain.encode(batch.records, level=domain.depth)
            codes.append(own[own != OUTSIDE])
            progress.show(batch.read)
    cells = np.concatenate(codes) if codes else np.zeros(0, dtype=np.uint64)
    if cells.size < 2:
        raise RecordsError(f"{name}: expected two records or more with a cell of the domain; check columns and bounds")
    rng = np.random.default_rng(0)
    rng.shuffle(cells)  # a half is one by chance, whatever the order of the file
    return domain.decode(cells, level=domain.depth, rng=rng)


def _distances(one: Any, other: Any, domain: Domain) -> dict[str, float]:
    """Those distances that the domain has."""
    found = {}
    if domain.density_breaks is not None:
        found["wasserstein"] = wasserstein(one, other, domain=domain)
    if domain.rectangle is not None and len(domain.rectangle) == 2 and find_spec("scipy"):
        found["grid_wasserstein"] = grid_wasserstein(one, other, domain=domain)
    found["tree_wasserstein"] = tree_wasserstein(one, other, domain=domain)
    if domain.ordered or domain.rectangle is not None:
        errors = range_errors(other, one, random_regions(domain, REGIONS, rng=0), domain=domain)
        found |= {"range_error_mean": float(errors.mean()), "range_error_worst": float(errors.max())}
    return found


def _text(value: float) -> str:
    return f"{value:.4g}"

"""What the site has beyond the files of docs/: pages that live elsewhere in the repository, at the same place.

Takes the pages as they are in the repository, where their links lead from file to file. Gives them to MkDocs with the
links that the site needs, and refuses a page that would ask another host for anything but a click.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
ELSEWHERE = {
    "README.md": "index.md",
    **{name: name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "examples/README.md")},
    **{f"benchmarks/{path.name}": f"benchmarks/{path.name}" for path in (ROOT / "benchmarks").glob("*.[ms][dv]*")},
}
"""Files outside docs/, by their path in the repository, and where the site has them."""

LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")
LOADED = re.compile(r"<(?:script|img|iframe|source)[^>]+src=[\"']?https?:|<link(?![^>]+canonical)[^>]+https?:")


def on_files(files: Files, *, config: Any, **_: Any) -> Files:
    """Add what lives outside docs/."""
    for path, place in ELSEWHERE.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Let links lead where the site has what they name."""
    place = page.file.src_uri
    origins = {place: path for path, place in ELSEWHERE.items()}
    folder = posixpath.dirname(origins.get(place, f"docs/{place}"))

    def moved(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, link[0]))
        target = ELSEWHERE.get(path, path.removeprefix("docs/"))
        return posixpath.relpath(target, posixpath.dirname(place) or ".")

    return LINK.sub(moved, markdown)


def on_post_page(output: str, *, page: Any, **_: Any) -> str:
    """Refuse what would be fetched from another host when the page is opened."""
    if fetched := LOADED.search(output):
        raise PluginError(f"expected {page.file.src_uri} to need nothing from elsewhere, got {fetched[0]!r}")
    return output

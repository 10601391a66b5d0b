"""MkDocs hooks: add pages from outside docs/ to the site and rewrite their links.

In the repository, links lead from file to file; the hooks turn them into links between pages of the site. A page that
would load anything from another host fails the build.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = (
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "RELEASING.md",
    "SECURITY.md",
    "examples/README.md",
)
ELSEWHERE = {
    "README.md": "index.md",
    **{name: name for name in OUTSIDE},
    **{f"benchmarks/{path.name}": f"benchmarks/{path.name}" for path in (ROOT / "benchmarks").glob("*.[ms][dv]*")},
}
"""Pages of the site by their path in the repository, for files outside docs/."""

LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")
LOADED = re.compile(r"<(?:script|img|iframe|source)[^>]+src=[\"']?https?:|<link(?![^>]+canonical)[^>]+https?:")


def on_files(files: Files, *, config: Any, **_: Any) -> Files:
    """Add the files outside docs/."""
    for path, place in ELSEWHERE.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Rewrite links between files of the repository as links between pages."""
    place = page.file.src_uri
    origins = {place: path for path, place in ELSEWHERE.items()}
    folder = posixpath.dirname(origins.get(place, f"docs/{place}"))

    def rewrite(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, link[0]))
        target = ELSEWHERE.get(path, path.removeprefix("docs/"))
        return posixpath.relpath(target, posixpath.dirname(place) or ".")

    return LINK.sub(rewrite, markdown)


def on_post_page(output: str, *, page: Any, **_: Any) -> str:
    """Refuse a page that loads a resource from another host."""
    if fetched := LOADED.search(output):
        raise PluginError(
            f"{page.file.src_uri} loads from another host: {fetched[0]!r}; bundle the resource in docs/theme"
        )
    return output

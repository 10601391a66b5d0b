"""HTML reader for tests: well-formedness, text and addresses of a page; and reports with coarse pictures."""

from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from typing import Any
from unittest import mock

VOID = {"meta", "link", "img", "source", "br"}


class Reader(HTMLParser):
    """Parser that checks the nesting of tags and collects text, tags and addresses."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "srcset", "href", "action", "data")]
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        """Visible text of the page."""
        return " ".join(" ".join(self.words).split())


@contextmanager
def coarse_pictures() -> Iterator[None]:
    """Pictures with few bins, for speed."""
    with (
        mock.patch("privhp.reporting.pictures.MAP_BINS", 12),
        mock.patch("privhp.reporting.value_scales._MAX_BINS", 12),
    ):
        yield

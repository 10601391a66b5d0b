"""Partial files that an interrupted write leaves."""

from pathlib import Path

from privhp.io import disk


def partials(path: Path) -> list[Path]:
    """The partial files of a path."""
    return list(path.parent.glob(f"{disk._partial_prefix(path)}*.partial"))


def left_behind(path: Path, content: bytes) -> Path:
    """A file with the name of a partial file."""
    partial = path.with_name(f"{disk._partial_prefix(path)}{0:016x}.partial")
    partial.write_bytes(content)
    return partial

"""Texts that stand where a path is expected, such as the content of a file."""

import os
import re
from typing import Any

from privhp.errors import FileError

MAX_NAME, MAX_PATH = 255, 4096
"""Bytes of the longest name of a file or a folder, and of the longest path."""

_RECORDS = re.compile(r"""\ufeff?\s*(\{\s*["'}]|\[\s*[{("']|\[\s*\[(?!\]))""")
"""The beginning of a JSON object or of a list of records."""


def check_path(path: Any) -> None:
    """Refuse a text that cannot be a path, without quoting it: it may hold records."""
    if not isinstance(path, str) or os.path.exists(path):  # noqa: PTH110 - a Path raises for long names
        return
    encoded = path.encode("utf-8", "replace")
    is_long = len(encoded) > MAX_PATH or max(map(len, re.split(rb"[/\\]", encoded))) > MAX_NAME
    if is_long or "\0" in path or path.splitlines() not in ([], [path]) or _RECORDS.match(path):
        raise FileError("got text, not a path; pass the path of a file, or records as a data frame, an array or a list")

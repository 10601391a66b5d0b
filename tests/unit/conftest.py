"""Fixtures of several files."""

import os

import pytest


@pytest.fixture(params=["anonymous", "named"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether the file system has anonymous files."""
    if request.param == "named":
        monkeypatch.delattr(os, "O_TMPFILE")
    return str(request.param)

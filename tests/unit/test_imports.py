"""Importing privhp stays quick: what only some need is imported when it is needed."""

import subprocess
import sys

import pytest

import privhp

SLOW = {"hashlib", "numpy.random", "pathlib", "secrets", "socket", "threading", "tomllib", "zoneinfo"}
NEW = "import sys, numpy; before = set(sys.modules); from privhp import Plan; print(*set(sys.modules) - before)"


def test_rooms_that_only_some_need_are_not_imported_at_once() -> None:
    new = set(subprocess.run([sys.executable, "-c", NEW], capture_output=True, check=True, text=True).stdout.split())
    assert "privhp.planning.plan" in new
    assert not new & (
        SLOW | {"privhp.cli", "privhp.api", "privhp.collect.ingest", "privhp.evaluate", "privhp.io.sources"}
    )


def test_numpy_is_imported_with_the_first_name_that_needs_it() -> None:
    script = "import privhp, sys; print('numpy' in sys.modules); privhp.Plan; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert done.stdout.split() == ["False", "True"]


def test_every_public_name_is_there_and_listed() -> None:
    assert list(privhp.__all__) == sorted(privhp.__all__)
    assert set(privhp.__all__) <= set(dir(privhp))
    assert all(getattr(privhp, name) is not None for name in privhp.__all__)


def test_a_name_that_is_not_there_is_missed_as_in_any_module() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        privhp.nothing  # noqa: B018 - asking is the test

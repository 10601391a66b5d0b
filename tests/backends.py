"""Tests on both kernels: the compiled ones, where they were built, and the NumPy ones."""

import contextlib
from collections.abc import Iterator
from unittest import mock

import pytest

from privhp import kernels
from privhp.kernels import plain

needs_native = pytest.mark.skipif(kernels.BACKEND == "plain", reason="privhp was installed without a compiler")
both = pytest.mark.parametrize("native", [pytest.param(True, marks=needs_native), False])


@contextlib.contextmanager
def plain_kernels() -> Iterator[None]:
    """Replace the kernels in use by the NumPy ones."""
    numpy_kernels = {name: getattr(plain, name) for name in plain.__all__}
    with mock.patch.multiple(kernels, BACKEND="plain", native=None, **numpy_kernels):
        yield


@pytest.fixture(autouse=True)
def selected_kernels(request: pytest.FixtureRequest) -> Iterator[None]:
    """NumPy kernels in tests whose parameter `native` is False."""
    if "native" in request.fixturenames and not request.getfixturevalue("native"):
        with plain_kernels():
            yield
    else:
        yield

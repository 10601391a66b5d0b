"""No exception, warning or output may depend on a record."""

import contextlib
import io
import warnings
from collections.abc import Iterator

import numpy as np


@contextlib.contextmanager
def assert_silent() -> Iterator[None]:
    """Assert that the block raises, warns and prints nothing, with all NumPy errors enabled."""
    output = io.StringIO()
    try:
        with (
            warnings.catch_warnings(record=True) as caught,  # as errors, those of a value would only make it invalid
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(output),
        ):
            warnings.simplefilter("always")
            with np.errstate(all="raise"):
                yield
    except Exception as error:
        raise AssertionError(f"a record raises {error!r}") from error
    assert not caught, f"a record causes a warning: {caught[0].message}"
    assert not output.getvalue(), "a record causes output"

"""Nothing may be said about a record."""

import contextlib
import io
import warnings
from collections.abc import Iterator

import numpy as np


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Nothing is raised, warned or printed inside, however strict the caller's NumPy is."""
    output = io.StringIO()
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            warnings.simplefilter("error")
            with np.errstate(all="raise"):
                yield
    except Exception as error:
        raise AssertionError(f"a record is answered by {error!r}") from error
    assert not output.getvalue(), "a record is answered by a message"

"""Values of a sample as text."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.domains import Domain
from privhp.domains.fields import OutputForm
from privhp.domains.time_zones import time_texts


def format_values(domain: Domain, values: NDArray[Any]) -> list[Any]:
    """Values of a domain for text formats: numbers in the shortest digits that read back the same, None for null."""
    (form, *_) = domain.output_forms()
    return to_list(format_column(form, values))


def format_column(form: OutputForm, values: NDArray[Any]) -> NDArray[Any]:
    """Addresses and times as text; other values unchanged."""
    values = form.apply_text(values)
    if values.dtype.kind != "M":
        return values
    texts = time_texts(np.ma.getdata(values), form.zone)
    return np.ma.MaskedArray(texts, mask=np.ma.getmaskarray(values))


def to_list(values: NDArray[Any]) -> list[Any]:
    """Values as Python objects."""
    if values.dtype == np.float32:
        values = values.astype(np.str_).astype(np.float64)  # the float64 with the shortest digits of the float32
    written: list[Any] = values.tolist()
    return written

"""Values of a sample as they are written."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.domains import Domain
from privhp.domains.fields import OutputForm
from privhp.io.sinks.time_zones import zoned_texts


def format_values(domain: Domain, values: NDArray[Any]) -> list[Any]:
    """Values of a domain as they are written in text: numbers so that they read back the same, null as None."""
    (form, *_) = domain.output_forms()
    return listed(with_texts(form, values))


def with_texts(form: OutputForm, values: NDArray[Any]) -> NDArray[Any]:
    """Addresses and times as text, anything else as it is."""
    values = with_text_form(form, values)
    if values.dtype.kind != "M":
        return values
    texts = _times(np.ma.getdata(values), form.zone)
    return np.ma.MaskedArray(texts, mask=np.ma.getmaskarray(values))


def listed(values: NDArray[Any]) -> list[Any]:
    """Values as Python's own."""
    if values.dtype == np.float32:
        values = values.astype(np.str_).astype(np.float64)  # the shortest number that is rounded to it
    written: list[Any] = values.tolist()
    return written


def _times(times: NDArray[np.datetime64], zone: str | None) -> NDArray[np.str_]:
    """ISO texts of times, with the offset of the zone, and of dates, which have none."""
    if zone is not None:
        return zoned_texts(times, zone)
    return np.datetime_as_string(times, timezone="naive" if times.dtype == "M8[D]" else "UTC")


def with_text_form(form: OutputForm, values: NDArray[Any]) -> NDArray[Any]:
    """Values in the text form of their domain, if it has one; otherwise unchanged."""
    if form.to_text is None:
        return values
    texts = form.to_text(np.ma.getdata(values))
    return np.ma.MaskedArray(texts, mask=values.mask) if isinstance(values, np.ma.MaskedArray) else texts

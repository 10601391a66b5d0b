"""A part whose values have names: a bar for each."""

from html import escape

import numpy as np

from privhp.core.cells import Floats
from privhp.core.number_format import format_plus_minus, format_share
from privhp.report.figures.markup import figure, legend
from privhp.report.pictures import Names

MOST = 20


def names_figure(picture: Names, real: Floats | None = None) -> str:
    """The figure of a list of names, with real records if there are any."""
    found = picture.shares[:MOST]
    top = max(float(found.max(initial=0.0)), float(real[:MOST].max(initial=0.0)) if real is not None else 0.0, 1e-12)
    rows = "".join(
        _row(picture, place, None if real is None else float(real[place]), top)
        for place in range(min(MOST, len(picture.names)))
    )
    body = f'{legend(real=real is not None)}<div class="names">{rows}</div>'
    return figure(picture.label, body, caption=_caption(picture), kind="list")


def _row(picture: Names, place: int, real: float | None, top: float) -> str:
    name, value = picture.names[place], float(picture.shares[place])
    bars = f'<span class="bar synthetic" style="width:{100 * value / top:.2f}%"></span>'
    text = f"{format_share(value)}<small>{format_plus_minus(float(picture.doubts[place]))}</small>"
    if real is not None:
        bars += f'<span class="bar real" style="width:{100 * real / top:.2f}%"></span>'
        text += f'<small class="real">{format_share(real)}</small>'
    return f'<span class="name">{escape(name)}</span><span class="bars">{bars}</span><span class="share">{text}</span>'


def _caption(picture: Names) -> str:
    if not picture.names:
        return "No single one holds enough of the records to be told apart from the noise."
    shown, rest = min(MOST, len(picture.names)), len(picture.names) - MOST
    sentences = ["Share of the records."]
    if picture.doubts.any():
        sentences.append("After ±, how far off it may be, in percentage points, nine times in ten.")
    if picture.nested:
        sentences.append("What lies inside another counts in both.")
    if rest > 0:
        sentences.append(
            f"The {shown} fullest; {rest} more hold up to {format_share(float(picture.shares[MOST]))} each."
        )
    elif not picture.nested and (missing := 1 - float(np.sum(picture.shares))) > 0.001:
        sentences.append(f"The remaining {format_share(missing)} could not be told apart.")
    return " ".join(sentences)

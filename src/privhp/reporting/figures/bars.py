"""Figure of a ranked list: one bar per value."""

from html import escape

import numpy as np

from privhp.answers.heavy_hitters import describe_remaining
from privhp.core.cells import Floats
from privhp.core.number_format import format_interval, format_share
from privhp.reporting.figures.markup import figure, legend
from privhp.reporting.pictures import Names

MAX_BARS = 20


def bars_figure(picture: Names, real: Floats | None = None) -> str:
    """Figure of a ranked list, with real records if given."""
    found = picture.shares[:MAX_BARS]
    top = max(
        float(found.max(initial=0.0)), float(real[:MAX_BARS].max(initial=0.0)) if real is not None else 0.0, 1e-12
    )
    rows = "".join(
        _row(picture, index, None if real is None else float(real[index]), top)
        for index in range(min(MAX_BARS, len(picture.names)))
    )
    body = f'{legend(real=real is not None)}<div class="names">{rows}</div>'
    return figure(picture.label, body, caption=_caption(picture), kind="list")


def _row(picture: Names, index: int, real: float | None, top: float) -> str:
    name, value = picture.names[index], float(picture.shares[index])
    bars = f'<span class="bar synthetic" style="width:{100 * value / top:.2f}%"></span>'
    text = f"{format_share(value)}<small>{format_interval(*picture.intervals[:, index].tolist())}</small>"
    if real is not None:
        bars += f'<span class="bar real" style="width:{100 * real / top:.2f}%"></span>'
        text += f'<small class="real">{format_share(real)}</small>'
    return f'<span class="name">{escape(name)}</span><span class="bars">{bars}</span><span class="share">{text}</span>'


def _caption(picture: Names) -> str:
    if not picture.names:
        return "No value holds enough records to exceed the noise."
    shown, rest = min(MAX_BARS, len(picture.names)), len(picture.names) - MAX_BARS
    sentences = ["Share of the records."]
    if np.isfinite(picture.intervals).any():
        sentences.append("In brackets: a 90% interval.")
    if picture.nested:
        sentences.append("A value inside another one counts in both.")
    if rest > 0:
        sentences.append(
            f"The {shown} largest of {shown + rest}; the others hold up to "
            f"{format_share(float(picture.shares[MAX_BARS]))} each."
        )
    if not picture.nested:
        remaining = describe_remaining(1 - float(np.sum(picture.shares)), least=picture.least)
        sentences += [] if remaining is None else [remaining]
    return " ".join(sentences)

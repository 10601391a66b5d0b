"""Pieces that all figures are made of."""

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from privhp.core.cells import Floats
from privhp.core.number_format import format_share
from privhp.report.ticks import Tick

SIZE = 1000
"""Width and height of the square that shapes are drawn in, and which is stretched."""


def figure(title: str, body: str, *, caption: str, kind: str = "", label: str | None = None) -> str:
    """A picture under its title, with a caption in plain words."""
    heading = f"<h3>{escape(title)}</h3>" if title else ""
    spoken = escape(label or f"{title}. {caption}", quote=True)
    return (
        f'<figure class="{kind}">{heading}<div role="img" aria-label="{spoken}">{body}</div>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def steps(places: Floats, heights: Floats, *, closed: bool) -> str:
    """The outline of bars: their ends from 0 to 1, and their heights from 0 to 1."""
    xs, ys = np.repeat(places, 2)[1:-1], np.repeat(heights, 2)
    points = " ".join(f"{SIZE * x:.1f},{SIZE * (1 - y):.1f}" for x, y in zip(xs.tolist(), ys.tolist(), strict=True))
    return f"M{SIZE * places[0]:.1f},{SIZE} L{points} {SIZE * places[-1]:.1f},{SIZE} Z" if closed else f"M{points}"


def band(places: Floats, lower: Floats, upper: Floats) -> str:
    """What lies between two outlines of bars."""
    back = np.repeat(lower, 2)[::-1], np.repeat(places, 2)[1:-1][::-1]
    points = " ".join(
        f"{SIZE * x:.1f},{SIZE * (1 - y):.1f}" for y, x in zip(*map(np.ndarray.tolist, back), strict=True)
    )
    return f"{steps(places, upper, closed=False)} L{points} Z"


def polyline(places: Floats, heights: Floats) -> str:
    """A line through points from 0 to 1."""
    pairs = zip(places.tolist(), heights.tolist(), strict=True)
    return "M" + " ".join(f"{SIZE * x:.1f},{SIZE * (1 - y):.1f}" for x, y in pairs)


def path(shape: str, kind: str) -> str:
    """A shape of a kind that the style sheet knows; lines keep their width when it is stretched."""
    return f'<path class="{kind}" d="{shape}" vector-effect="non-scaling-stroke"/>'


def stretched(*shapes: str) -> str:
    """Shapes on a square that is stretched to the room that there is."""
    inner = "".join(shapes)
    return f'<svg viewBox="0 0 {SIZE} {SIZE}" preserveAspectRatio="none" aria-hidden="true">{inner}</svg>'


def plot(kind: str, shapes: str, *, upward: Sequence[Tick] = ()) -> str:
    """Shapes over lines at the ticks of the axis that goes up."""
    lines = "".join(f'<i style="bottom:{100 * place:.2f}%"><b>{escape(text)}</b></i>' for place, text in upward)
    return f'<div class="plot {kind}">{lines}{shapes}</div>'


def below(ticks: Sequence[Tick]) -> str:
    """Text under a picture. Every second is left out on a narrow screen, and none sticks out at the ends."""
    texts = "".join(
        f'<span class="{_side(place)}{" spare" if index % 2 and len(ticks) > 4 else ""}" '
        f'style="left:{100 * place:.2f}%">{escape(text)}</span>'
        for index, (place, text) in enumerate(ticks)
    )
    return f'<div class="ticks">{texts}</div>'


def _side(place: float) -> str:
    return "first" if place < 0.04 else "last" if place > 0.96 else "middle"


def targets(places: Floats, texts: Iterable[str]) -> str:
    """Unseen bars that say what they are under the pointer."""
    pairs = zip(places[:-1].tolist(), np.diff(places).tolist(), texts, strict=True)
    return "".join(
        f'<rect class="target" x="{SIZE * start:.1f}" y="0" width="{SIZE * width:.1f}" height="{SIZE}">'
        f"<title>{escape(text)}</title></rect>"
        for start, width, text in pairs
    )


def legend(*, real: bool) -> str:
    """What is synthetic and what is real, where there is both."""
    if not real:
        return ""
    return '<p class="legend"><span class="key synthetic"></span>synthetic <span class="key real"></span>real</p>'


def difference(shares: Floats, real: Floats | None) -> str:
    """How far real and synthetic are apart, in words."""
    if real is None:
        return ""
    moved = float(np.abs(shares - real).sum()) / 2
    return f" {format_share(moved)} of the real records would have to change places to look like the synthetic ones."

"""Markup shared by all figures: SVG shapes, axis labels, legend and caption."""

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from privhp.core.cells import Floats
from privhp.core.number_format import format_share
from privhp.reporting.ticks import Tick, side, thin_out

SIZE = 1000
"""Width and height of the SVG view box."""

_CHARACTER = 0.019
"""Largest width of a character of a tick label, as a share of the width of a plot on a wide screen."""


def figure(title: str, body: str, *, caption: str, kind: str = "", label: str | None = None) -> str:
    """A figure with title, caption and accessible label."""
    heading = f"<h3>{escape(title)}</h3>" if title else ""
    spoken = escape(label or f"{title}. {caption}", quote=True)
    return (
        f'<figure class="{kind}">{heading}<div role="img" aria-label="{spoken}">{body}</div>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def steps(positions: Floats, heights: Floats, *, closed: bool) -> str:
    """Outline of bars, with edges and heights from 0 to 1."""
    xs, ys = np.repeat(positions, 2)[1:-1], np.repeat(heights, 2)
    points = " ".join(f"{SIZE * x:.1f},{SIZE * (1 - y):.1f}" for x, y in zip(xs.tolist(), ys.tolist(), strict=True))
    return (
        f"M{SIZE * positions[0]:.1f},{SIZE} L{points} {SIZE * positions[-1]:.1f},{SIZE} Z" if closed else f"M{points}"
    )


def band(positions: Floats, lower: Floats, upper: Floats) -> str:
    """Area between two outlines of bars."""
    back = np.repeat(lower, 2)[::-1], np.repeat(positions, 2)[1:-1][::-1]
    points = " ".join(
        f"{SIZE * x:.1f},{SIZE * (1 - y):.1f}" for y, x in zip(*map(np.ndarray.tolist, back), strict=True)
    )
    return f"{steps(positions, upper, closed=False)} L{points} Z"


def polyline(positions: Floats, heights: Floats) -> str:
    """A line through points from 0 to 1."""
    pairs = zip(positions.tolist(), heights.tolist(), strict=True)
    return "M" + " ".join(f"{SIZE * x:.1f},{SIZE * (1 - y):.1f}" for x, y in pairs)


def path(shape: str, kind: str) -> str:
    """A path of a class of the style sheet; its lines keep their width when it is scaled."""
    return f'<path class="{kind}" d="{shape}" vector-effect="non-scaling-stroke"/>'


def stretched(*shapes: str) -> str:
    """Shapes in a view box that scales to the available width."""
    inner = "".join(shapes)
    return f'<svg viewBox="0 0 {SIZE} {SIZE}" preserveAspectRatio="none" aria-hidden="true">{inner}</svg>'


def plot(kind: str, shapes: str, *, upward: Sequence[Tick] = ()) -> str:
    """Shapes over the grid lines of the vertical axis."""
    lines = "".join(f'<i style="bottom:{100 * position:.2f}%"><b>{escape(text)}</b></i>' for position, text in upward)
    return f'<div class="plot {kind}">{lines}{shapes}</div>'


def axis_labels(ticks: Sequence[Tick]) -> str:
    """Tick labels of the horizontal axis. Narrow screens hide every second one; none overflows or overlaps."""
    ticks = thin_out(ticks, _CHARACTER)
    texts = "".join(
        f'<span class="{side(position)}{" spare" if index % 2 and len(ticks) > 4 else ""}" '
        f'style="left:{100 * position:.2f}%">{escape(text)}</span>'
        for index, (position, text) in enumerate(ticks)
    )
    return f'<div class="ticks">{texts}</div>'


def targets(positions: Floats, texts: Iterable[str]) -> str:
    """Invisible bars with tooltips."""
    pairs = zip(positions[:-1].tolist(), np.diff(positions).tolist(), texts, strict=True)
    return "".join(
        f'<rect class="target" x="{SIZE * start:.1f}" y="0" width="{SIZE * width:.1f}" height="{SIZE}">'
        f"<title>{escape(text)}</title></rect>"
        for start, width, text in pairs
    )


def legend(*, real: bool) -> str:
    """Legend of synthetic and real records; empty without real ones."""
    if not real:
        return ""
    return '<p class="legend"><span class="key synthetic"></span>synthetic <span class="key real"></span>real</p>'


def difference(shares: Floats, real: Floats | None) -> str:
    """A sentence on the total variation distance of real and synthetic records."""
    if real is None:
        return ""
    moved = float(np.abs(shares - real).sum()) / 2
    return f" {format_share(moved)} of the records lie in different bins (total variation distance)."

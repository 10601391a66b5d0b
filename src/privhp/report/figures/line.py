"""A part that is a line: its histogram, and below it the share at or below each value."""

import numpy as np

from privhp.cells import Floats
from privhp.report.figures.markup import (
    below,
    difference,
    figure,
    legend,
    path,
    plot,
    polyline,
    steps,
    stretched,
    targets,
)
from privhp.report.lines import TimeLine
from privhp.report.numerals import share
from privhp.report.pictures import Histogram
from privhp.report.ticks import Tick, number_ticks


def line_figure(picture: Histogram, real: Floats | None = None) -> str:
    """The figure of a histogram, with real records if there are any."""
    axis, places = picture.axis, picture.axis.places
    heights = _heights(picture, picture.shares)
    top = max(float(heights.max()), float(_heights(picture, real).max()) if real is not None else 0.0, 1e-12)
    bars = [path(steps(places, heights / top, closed=True), "synthetic area")]
    curves = [path(polyline(places, _cumulated(picture.shares)), "synthetic line")]
    if real is not None:
        bars.append(path(steps(places, _heights(picture, real) / top, closed=False), "real line"))
        curves.append(path(polyline(places, _cumulated(real)), "real line"))
    texts = _texts(picture, real)
    upward = [Tick(value / top, share(value)) for value, _ in number_ticks(0, top, 4)]
    quarters = [Tick(value, f"{value:.0%}") for value in (0.0, 0.5, 1.0)]
    body = (
        legend(real=real is not None)
        + plot("tall", stretched(*bars, targets(places, texts)), upward=upward)
        + plot("short", stretched(*curves), upward=quarters)
        + below(axis.ticks)
    )
    return figure(picture.label, body, caption=_caption(picture) + difference(picture.shares, real), kind="line")


def _heights(picture: Histogram, shares: Floats) -> Floats:
    """Heights of the bars; one that is cut short by a bound is as high as if it were whole."""
    widths = np.diff(picture.axis.places)
    heights: Floats = shares[1:-1] * (np.median(widths) / widths)
    return heights


def _cumulated(shares: Floats) -> Floats:
    """Share of all values at or below each edge; null is no value."""
    found: Floats = np.cumsum(shares)[:-1] / max(float(shares.sum()), 1e-12)
    return found


def _texts(picture: Histogram, real: Floats | None) -> list[str]:
    words = [f"{text}: {share(value)}" for text, value in zip(picture.axis.words, picture.shares[1:-1], strict=True)]
    if real is None:
        return words
    return [f"{text} synthetic, {share(value)} real" for text, value in zip(words, real[1:-1], strict=True)]


def _caption(picture: Histogram) -> str:
    axis = picture.axis
    each = "period" if isinstance(axis.line, TimeLine) else "bar"
    low, high = axis.line.text(float(axis.edges[0])), axis.line.text(float(axis.edges[-1]) - axis.line.whole)
    sentences = [
        f"Top: share of the records in each {each} of {axis.line.width(axis.edges)}. Bottom: share up to each value."
    ]
    if picture.missing > 0:
        sentences.append(f"It is missing in {share(picture.missing)} of the records.")
    if picture.shares[0] > 0:
        sentences.append(f"{share(float(picture.shares[0]))} lie below {low}, to the left of the picture.")
    if picture.shares[-1] > 0:
        sentences.append(f"{share(float(picture.shares[-1]))} lie above {high}, to the right of the picture.")
    return " ".join(sentences)

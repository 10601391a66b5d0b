"""A part that is a line: its histogram, and below it the share at or below each value."""

import numpy as np

from privhp.core.cells import Floats
from privhp.core.number_format import format_plus_minus, format_share
from privhp.report.axes import Axis
from privhp.report.figures.markup import (
    band,
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
from privhp.report.pictures import Histogram
from privhp.report.ticks import Tick, number_ticks


def line_figure(picture: Histogram, real: Floats | None = None) -> str:
    """The figure of a histogram, with real records if there are any."""
    axis, places = picture.axis, picture.axis.places
    heights = _heights(picture, picture.shares)
    doubts = _as_heights(picture, picture.doubts)
    top = float((heights + doubts).max())
    if real is not None:
        top = max(top, float(_heights(picture, real).max()))
    top = max(top, 1e-12)
    bars = [
        path(steps(places, heights / top, closed=True), "synthetic area"),
        path(band(places, np.maximum(heights - doubts, 0.0) / top, (heights + doubts) / top), "doubt"),
    ]
    curves = [path(polyline(places, _cumulated(picture.shares)), "synthetic line")]
    if real is not None:
        bars.append(path(steps(places, _heights(picture, real) / top, closed=False), "real line"))
        curves.append(path(polyline(places, _cumulated(real)), "real line"))
    texts = _texts(picture, real)
    upward = [Tick(value / top, f"{100 * value:.3g}%") for value, _ in number_ticks(0, top, 5)]
    quarters = [Tick(value, f"{value:.0%}") for value in (0.0, 0.5, 1.0)]
    body = (
        legend(real=real is not None)
        + plot("tall", stretched(*bars, targets(places, texts)), upward=upward)
        + plot("short", stretched(*curves), upward=quarters)
        + below(axis.ticks)
    )
    return figure(picture.label, body, caption=_caption(picture) + difference(picture.shares, real), kind="line")


def _heights(picture: Histogram, shares: Floats) -> Floats:
    return _as_heights(picture, shares[1:-1])


def _as_heights(picture: Histogram, shares: Floats) -> Floats:
    """Heights of the bars; one that is cut short by a bound is as high as if it were whole."""
    widths = np.diff(picture.axis.places)
    heights: Floats = shares * (np.median(widths) / widths)
    return heights


def _cumulated(shares: Floats) -> Floats:
    """Share of all values at or below each edge; null is no value."""
    found: Floats = np.cumsum(shares)[:-1] / max(float(shares.sum()), 1e-12)
    return found


def _texts(picture: Histogram, real: Floats | None) -> list[str]:
    known = zip(picture.axis.words, picture.shares[1:-1], picture.doubts, strict=True)
    words = [f"{text}: {format_share(value)}{format_plus_minus(doubt)}" for text, value, doubt in known]
    if real is None:
        return words
    return [f"{text} synthetic, {format_share(value)} real" for text, value in zip(words, real[1:-1], strict=True)]


def _caption(picture: Histogram) -> str:
    axis = picture.axis
    each = "period" if isinstance(axis.line, TimeLine) else "bar"
    low, high = axis.line.text(float(axis.edges[0])), _last(axis)
    sentences = [
        f"Top: share of the records in each {each} of {axis.line.width(axis.edges)}. Bottom: share up to each value."
    ]
    if picture.doubts.any():
        sentences.append("Nine times in ten the true share lies in the shaded band.")
    if picture.missing > 0:
        sentences.append(f"It is missing in {format_share(picture.missing)} of the records.")
    if picture.shares[0] > 0:
        sentences.append(f"{format_share(float(picture.shares[0]))} lie below {low}, to the left of the picture.")
    if picture.shares[-1] > 0:
        sentences.append(f"{format_share(float(picture.shares[-1]))} lie above {high}, to the right of the picture.")
    return " ".join(sentences)


def _last(axis: Axis) -> str:
    """The upper end of a picture."""
    inclusive = axis.line.whole and not isinstance(axis.line, TimeLine)
    return axis.line.text(float(axis.edges[-1]) - inclusive)

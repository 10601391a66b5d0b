"""Figure of a numeric variable: its histogram, and below it the cumulative distribution."""

import numpy as np

from privhp.core.cells import Floats
from privhp.core.number_format import format_interval, format_share
from privhp.reporting.axes import PictureAxis
from privhp.reporting.figures.markup import (
    axis_labels,
    band,
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
from privhp.reporting.pictures import HistogramPicture
from privhp.reporting.ticks import Tick, number_ticks
from privhp.reporting.value_scales import TimeScale


def histogram_figure(picture: HistogramPicture, real: Floats | None = None) -> str:
    """Figure of a histogram, with real records if given."""
    axis, positions = picture.axis, picture.axis.positions
    top = picture.top(real)
    heights = picture.heights(picture.shares)
    low, high = (
        np.minimum(picture.as_heights(np.where(np.isnan(ends), picture.shares[1:-1], ends)), top)
        for ends in picture.intervals
    )
    bars = [
        path(steps(positions, heights / top, closed=True), "synthetic area"),
        path(band(positions, low / top, high / top), "margin"),
    ]
    curves = [path(polyline(positions, _cumulative(picture.shares)), "synthetic line")]
    if real is not None:
        bars.append(path(steps(positions, picture.heights(real) / top, closed=False), "real line"))
        curves.append(path(polyline(positions, _cumulative(real)), "real line"))
    texts = _texts(picture, real)
    upward = [Tick(value / top, f"{100 * value:.3g}%") for value, _ in number_ticks(0, top, 5)]
    quarters = [Tick(value, f"{value:.0%}") for value in (0.0, 0.5, 1.0)]
    body = (
        legend(real=real is not None)
        + plot("tall", stretched(*bars, targets(positions, texts)), upward=upward)
        + plot("short", stretched(*curves), upward=quarters)
        + axis_labels(axis.ticks)
    )
    return figure(picture.label, body, caption=_caption(picture, top) + difference(picture.shares, real), kind="line")


def _cumulative(shares: Floats) -> Floats:
    """Share of the values at or below each edge, without null."""
    found: Floats = np.cumsum(shares)[:-1] / max(float(shares.sum()), 1e-12)
    return found


def _texts(picture: HistogramPicture, real: Floats | None) -> list[str]:
    known = zip(picture.axis.words, picture.shares[1:-1], picture.intervals.T.tolist(), strict=True)
    words = [f"{text}: {format_share(value)}{format_interval(*ends)}" for text, value, ends in known]
    if real is None:
        return words
    return [f"{text} synthetic, {format_share(value)} real" for text, value in zip(words, real[1:-1], strict=True)]


def _caption(picture: HistogramPicture, top: float) -> str:
    axis = picture.axis
    each = "period" if isinstance(axis.scale, TimeScale) else "bar"
    low, high = axis.scale.text(float(axis.edges[0])), _last(axis)
    sentences = [
        f"Top: share of the records in each {each} of {axis.scale.width(axis.edges)}. Bottom: cumulative share."
    ]
    if np.isfinite(picture.intervals).any():
        cut = picture.band_top > top * (1 + 1e-9)
        end = f"; it is cut off at the top and reaches {format_share(min(picture.band_top, 1.0))}" if cut else ""
        sentences.append(f"The shaded band is a 90% interval{end}.")
    if picture.missing > 0:
        sentences.append(f"The value is null in {format_share(picture.missing)} of the records.")
    if picture.shares[0] > 0:
        sentences.append(f"Below {low}, to the left of the picture, lie {format_share(float(picture.shares[0]))}.")
    if picture.shares[-1] > 0:
        sentences.append(f"Above {high}, to the right of the picture, lie {format_share(float(picture.shares[-1]))}.")
    return " ".join(sentences)


def _last(axis: PictureAxis) -> str:
    """Upper end of the axis as text."""
    inclusive = axis.scale.whole and not isinstance(axis.scale, TimeScale)
    return axis.scale.text(float(axis.edges[-1]) - inclusive)

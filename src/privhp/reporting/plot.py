"""The pictures of a distribution as a matplotlib figure; matplotlib is imported on use."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import math
from typing import Any

import numpy as np

from privhp.answers.distribution import Distribution
from privhp.core.progress_displays import watch_session
from privhp.errors import QueryError
from privhp.reporting.axes import CategoryAxis, PictureAxis
from privhp.reporting.figures.bars import MAX_BARS
from privhp.reporting.pictures import Map, Names, Picture, pictures_of
from privhp.reporting.ticks import thin_out

FILL, EDGE = "#8db6de", "#2f6fb3"

CHARACTER = 0.0165
"""Width of a character of a tick label, as a share of the axis of a panel."""


def plot(distribution: Distribution) -> Any:
    """A figure with one panel per picture."""
    try:
        from privhp.reporting.shown_figure import ShownFigure
    except ImportError:
        raise QueryError("a plot needs matplotlib; pip install 'privhp[report]'") from None
    with watch_session():
        pictures = pictures_of(distribution)
    columns = min(len(pictures), 2)
    rows = math.ceil(len(pictures) / columns)
    figure = ShownFigure(figsize=(5.5 * columns, 3.8 * rows), layout="constrained")
    for index, picture in enumerate(pictures):
        panel = figure.add_subplot(rows, columns, index + 1)
        panel.set_title(picture.label, loc="left", fontsize=10)
        _draw(panel, picture)
    _explain(figure)
    return figure


def _explain(figure: Any) -> None:
    """A legend below all panels, if one of them has labels."""
    pairs = (zip(*panel.get_legend_handles_labels(), strict=True) for panel in figure.axes)
    handles = {label: handle for own in pairs for handle, label in own}
    if handles:
        look = {"ncols": len(handles), "fontsize": 9, "frameon": False}
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", **look)


def _draw(panel: Any, picture: Picture) -> None:
    if isinstance(picture, Map):
        _draw_map(panel, picture)
        return
    from matplotlib.ticker import PercentFormatter

    if isinstance(picture, Names):
        _draw_names(panel, picture)
        panel.xaxis.set_major_formatter(PercentFormatter(1.0))
        return
    positions, heights = picture.axis.positions, picture.heights(picture.shares)
    low, high = (picture.as_heights(ends) for ends in picture.intervals)
    panel.stairs(heights, positions, fill=True, color=FILL, label="estimate")
    label = "90% interval, darker on the estimate" if np.isfinite(high).any() else None
    panel.stairs(high, positions, baseline=low, fill=True, color="black", alpha=0.2, label=label)
    panel.set_ylim(0, 1.05 * picture.top())
    panel.yaxis.set_major_formatter(PercentFormatter(1.0))
    _mark(panel.xaxis, picture.axis)


def _draw_names(panel: Any, picture: Names) -> None:
    names, shares, (low, high) = picture.names[:MAX_BARS], picture.shares[:MAX_BARS], picture.intervals[:, :MAX_BARS]
    panel.barh(names, shares, xerr=np.maximum([shares - low, high - shares], 0.0), color=FILL, ecolor=EDGE)
    panel.invert_yaxis()


def _draw_map(panel: Any, picture: Map) -> None:
    origin = "lower" if isinstance(picture.up, PictureAxis) else "upper"
    height = (0, 1) if isinstance(picture.up, PictureAxis) else (1, 0)
    look: dict[str, Any] = {"cmap": "Blues", "interpolation": "nearest", "aspect": "auto"}
    panel.imshow(picture.shares**0.5, origin=origin, extent=(0, 1, *height), **look)
    _mark(panel.xaxis, picture.across)
    _mark(panel.yaxis, picture.up)


def _mark(side: Any, axis: PictureAxis | CategoryAxis) -> None:
    """Draw the ticks of an axis; positions lie between 0 and 1."""
    ticks = thin_out(axis.ticks, CHARACTER) if side.axis_name == "x" else axis.ticks
    side.set_ticks([tick.value for tick in ticks], labels=[tick.text for tick in ticks])

"""Figures of two variables: darker where there are more records, or where the partition is deeper."""

import math
from html import escape

import numpy as np

from privhp.core.cells import Floats
from privhp.core.number_format import format_share
from privhp.reporting.axes import PictureAxis
from privhp.reporting.figures.markup import axis_labels, difference, figure
from privhp.reporting.pictures import Map
from privhp.reporting.png import Colour, scale, shaded

SCALES: dict[str, list[Colour]] = {
    "on-light": [(237, 243, 250), (158, 197, 230), (66, 133, 196), (18, 74, 138), (8, 32, 71)],
    "on-dark": [(30, 41, 54), (29, 78, 137), (52, 140, 190), (140, 207, 197), (253, 246, 190)],
}
"""Colours from few to many records, by the class of the elements on a light and on a dark background."""


def map_figure(picture: Map, real: Floats | None = None) -> str:
    """Figure of a map, beside one of real records if given."""
    top = max(float(picture.shares.max()), float(real.max()) if real is not None else 0.0, 1e-15)
    panels = [_panel(picture, _shades(picture.shares, top), "synthetic" if real is not None else "")]
    if real is not None:
        panels.append(_panel(picture, _shades(real, top), "real"))
    body = f'<div class="panels">{"".join(panels)}</div>' + _legend("0%", format_share(top / 4), format_share(top))
    caption = (
        f"Share of the records in each of {picture.shares.shape[1]} by {picture.shares.shape[0]} cells; "
        f"{format_share(float(picture.shares.sum()))} of them are in the picture."
    )
    return figure(picture.label, body, caption=caption + difference(picture.shares, real), kind="map")


def depth_figure(picture: Map, levels: Floats) -> str:
    """Figure of the mean level of the leaves in each cell of a map."""
    lowest, highest = math.floor(levels.min()), math.ceil(levels.max())
    body = _panel(picture, (levels - lowest) / max(highest - lowest, 1), "") + _legend(
        f"level {lowest}", "", f"level {highest}"
    )
    caption = "Mean level of the leaves: deeper where there are more records. Each level splits the cells in two."
    return figure(f"{picture.label}: depth", body, caption=caption, kind="map")


def _shades(shares: Floats, top: float) -> Floats:
    """Square roots of the shares, so that a quarter of the largest share is half as dark; empty cells stay blank."""
    return np.where(shares > 0, np.sqrt(shares / top), np.nan)


def _panel(picture: Map, shades: Floats, title: str) -> str:
    flipped = isinstance(picture.up, PictureAxis)
    images = "".join(
        f'<img class="{kind}" alt="" src="{shaded(shades[::-1] if flipped else shades, stops)}" '
        f'style="aspect-ratio:{_aspect(picture):.3f}">'
        for kind, stops in SCALES.items()
    )
    side = "".join(
        f'<span style="{"bottom" if flipped else "top"}:{100 * position:.2f}%">{escape(text)}</span>'
        for position, text in picture.up.ticks
    )
    heading = f'<p class="panel-title {title}">{title}</p>' if title else ""
    up, kind = (f"↑ {picture.up.variable.title}", "") if flipped else (picture.up.variable.title, " listed")
    longest = max((len(text) for _, text in picture.up.ticks), default=0)
    return (
        f'<div class="panel{kind}" style="--longest:{longest}">{heading}<p class="up">{escape(up)}</p>'
        f'<div class="frame"><div class="side">{side}</div>{images}</div>{axis_labels(picture.across.ticks)}'
        f'<p class="across">{escape(picture.across.variable.title)} →</p></div>'
    )


def _aspect(picture: Map) -> float:
    """Width over height: true to scale for longitude and latitude, flat for few categories, else 1.25."""
    if isinstance(picture.up, PictureAxis) and isinstance(picture.across, PictureAxis) and picture.is_geographic:
        (west, east), (south, north) = (axis.edges[[0, -1]].tolist() for axis in (picture.across, picture.up))
        ratio: float = (east - west) * math.cos(math.radians((south + north) / 2)) / (north - south)
        return min(max(ratio, 0.5), 2.5)
    return 1.25 if isinstance(picture.up, PictureAxis) else min(max(8.0 / len(picture.up.names), 1.25), 2.5)


def _legend(few: str, middle: str, many: str) -> str:
    ramps = "".join(
        f'<span class="ramp {kind}" style="background:linear-gradient(90deg,{",".join(map(_css, scale(stops)[::9]))})">'
        "</span>"
        for kind, stops in SCALES.items()
    )
    return f'<div class="scale">{ramps}<span>{few}</span><span>{middle}</span><span>{many}</span></div>'


def _css(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)

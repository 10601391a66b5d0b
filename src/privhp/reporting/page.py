"""The report as one self-contained HTML file without network requests."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Sequence
from html import escape
from importlib.resources import files

from privhp.answers.generator import Generator
from privhp.core.cells import Floats
from privhp.core.version import __version__
from privhp.reporting.figures.bars import bars_figure
from privhp.reporting.figures.histograms import histogram_figure
from privhp.reporting.figures.maps import depth_figure, map_figure
from privhp.reporting.overlay import RealRecords, real_shares
from privhp.reporting.pictures import HistogramPicture, Map, Names, Picture, pictures_of
from privhp.reporting.region_masses import mean_levels
from privhp.reporting.sections import (
    accuracy_section,
    facts,
    generator_facts,
    guarantee_section,
    levels_section,
    warnings_section,
)

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""Content security policy of the page: no requests."""

_NOT_PRIVATE = (
    '<aside class="warning"><strong>NOT PRIVATE.</strong> This page shows real records, in orange, beside synthetic '
    "ones. Nothing on it protects the people in the data. Store it as safely as the data; to share a report, make one "
    "without the real records. {}.</aside>"
)


def report_page(
    generator: Generator,
    *,
    title: str,
    names: Sequence[str] | None = None,
    against: RealRecords | None = None,
) -> str:
    """Report on a generator as HTML. With real records it is NOT PRIVATE.

    Args:
        generator: The generator.
        title: Heading of the page.
        names: Names of the values of a record, for a domain without columns.
        against: Real records for comparison.
    """
    pictures = pictures_of(generator, names)
    real: Sequence[Floats | None] = [None] * len(pictures)
    if against is not None:
        real = real_shares(pictures, against)
    figures = [picture_figure(picture, shares) for picture, shares in zip(pictures, real, strict=True)]
    maps = [picture for picture in pictures if isinstance(picture, Map)]
    sections = [
        ("Privacy guarantee", guarantee_section(generator.plan, covers_page=against is None)),
        ("Expected accuracy", accuracy_section(generator.plan, round(generator.total))),
        ("Distribution of the records", f'<div class="figures">{"".join(figures)}</div>'),
        (
            "Resolution",
            levels_section(generator)
            + "".join(f'<div class="figures">{_depth_figure(generator, picture)}</div>' for picture in maps[:1]),
        ),
        ("Full plan", f'<pre class="wide" tabindex="0">{escape(str(generator.plan))}</pre>'),
    ]
    summary = warnings_section(generator) + facts(generator_facts(generator))
    return _document(title, summary, sections, against)


def _depth_figure(generator: Generator, picture: Map) -> str:
    return depth_figure(picture, mean_levels(generator, *picture.sides))


def picture_figure(picture: Picture, real: Floats | None = None) -> str:
    """The figure of a picture."""
    match picture:
        case HistogramPicture():
            return histogram_figure(picture, real)
        case Map():
            return map_figure(picture, real)
        case Names():
            return bars_figure(picture, real)


def read_style() -> str:
    """The style sheet, for everything inside an element of class privhp."""
    return files("privhp.reporting").joinpath("style.css").read_text()


def _document(title: str, summary: str, sections: Sequence[tuple[str, str]], against: RealRecords | None) -> str:
    heading, private = escape(title), against is None
    body = "".join(f"<section><h2>{escape(name)}</h2>{content}</section>" for name, content in sections)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{"" if private else "NOT PRIVATE: "}{heading}</title>
<link rel="icon" href="data:,">
<style>{read_style()}</style>
</head>
<body class="privhp page">
<header>
<p class="kind">A differentially private release{"" if private else ", beside the real records"}</p>
<h1>{heading}</h1>
</header>
{"" if against is None else _NOT_PRIVATE.format(against.counts)}
{summary}
<main>{body}</main>
<footer>Made by privhp {__version__} {
        "from the release alone, so it is as private as the release. All numbers on the records are noisy."
        if private
        else "from the release and the real records, which are shown as they are."
    }</footer>
</body>
</html>
"""

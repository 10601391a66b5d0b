"""Figures of pictures as self-contained HTML: text in HTML, shapes in SVG, maps as PNG.

Figures scale to the available width; text keeps its size.
"""

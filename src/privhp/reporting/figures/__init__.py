"""Pictures as HTML that stands alone: text in HTML, shapes in SVG, maps as PNG. One file for each kind of picture.

All of them stretch to the width that there is, while text keeps its size.
"""

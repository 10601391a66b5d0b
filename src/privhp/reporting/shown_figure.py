"""A matplotlib figure that a notebook displays; it needs neither pyplot nor a magic command."""

from io import BytesIO
from typing import Any

from matplotlib.figure import Figure

DPI = 160
"""Dots per inch of the picture, more than the screen shows, so that it is sharp on fine screens."""


class ShownFigure(Figure):
    """A figure with a picture for notebooks."""

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        """The picture, and its width on the screen."""
        picture = BytesIO()
        self.savefig(picture, format="png", dpi=DPI)
        return picture.getvalue(), {"width": round(self.get_figwidth() * self.dpi)}

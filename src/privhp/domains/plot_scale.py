"""The axis on which the values of a variable are drawn."""

from typing import Any, Literal, NamedTuple

ScaleKind = Literal["linear", "log", "time", "longitude", "latitude", "categorical"]


class PlotScale(NamedTuple):
    """Axis of a plot: its kind and its bounds.

    Attributes:
        kind: Spacing of the values. Longitude and latitude of one domain make a map.
        low: Lower bound as a number; of times, in units since 1970.
        high: Upper bound; of integers and times, the number after the last one.
        integer: Whether the values are integers, so that regions are pairs of them.
        unit: NumPy's unit of time, for times.
        step: Distance of neighbouring values; 0 for all real numbers.
        values: All values in order, for a categorical scale.
        note: What people must know of the numbers on the axis, such as "UTC"; it stands behind the name of the values.
    """

    kind: ScaleKind
    low: float = 0.0
    high: float = 1.0
    integer: bool = False
    unit: str = "s"
    step: float = 0.0
    values: tuple[Any, ...] = ()
    note: str = ""

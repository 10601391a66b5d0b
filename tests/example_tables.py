"""Tables that tests share."""

from privhp import (
    Box,
    Integers,
    Interval,
    IPv4,
    Nullable,
    Table,
    Time,
)

TRIPS = Table(
    {"trip distance": Interval(0, 200), ("lon", "lat"): Box([(-9, 2), (49.8, 61)])},
    pickup=Time("2018-01-01", "2021-01-01"),
    tip=Nullable(Interval(0.01, 500, scale="log")),
    zone=Integers(1, 265),
    delay=Nullable(Integers(-120, 1440), share=0.1),
    source=IPv4(),
    weights={"pickup": 2, "delay": 0.5},
)
SMALL = Table(a=Integers(0, 4), b=Nullable(Integers(0, 2), share=0.25), c=Integers(1, 2))

"""Questions about regions without a record of the domain warn: their answer is 0 whatever the data."""

import warnings
from typing import Any

import numpy as np
import pytest

import privhp as hp
from releases import histogram

MESSAGE = "no record of the domain is in the region, so the share is 0 whatever the data"


@pytest.mark.parametrize(
    ("domain", "outside", "inside"),
    [
        (hp.Interval(0, 100), (200, 300), (99, 300)),
        (hp.Integers(0, 100), (101, None), (100, None)),
        (hp.Interval(0, 100, step="0.5"), (100.25, 100.5), (99.75, 100.25)),
        (hp.Time("2024-01-01", "2024-12-31"), ("2025-01-01", None), ("2024-12-30", None)),
        (hp.Box([(0, 1), (0, 1)]), [(0, 1), (2, 3)], [(0, 1), (0.5, 3)]),
        (hp.IPv4("10.0.0.0/8"), "11.0.0.0/8", "10.1.0.0/16"),
        (hp.Nullable(hp.Interval(0, 1)), (2, 3), None),
        (hp.Table(a=hp.Interval(0, 1), b=hp.Interval(0, 1)), {"a": (0, 1), "b": (2, 3)}, {"a": (0, 1)}),
    ],
    ids=repr,
)
def test_mass_of_a_region_outside_warns_once_at_the_call(domain: hp.Domain, outside: Any, inside: Any) -> None:
    generator = histogram(domain, 2, [0, 9, 0, 1])
    with pytest.warns(hp.PrivhpWarning, match=MESSAGE) as caught:
        assert generator.mass(outside).value == 0
    assert [one.filename for one in caught] == [__file__]
    assert not any(digit in str(caught[0].message).replace("share is 0", "") for digit in "123456789")
    with pytest.warns(hp.PrivhpWarning, match="is in one of the regions") as caught:
        assert generator.masses([inside, outside, outside]).value[1:].tolist() == [0, 0]
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        generator.mass(inside)
        generator.masses([inside, inside])


def test_an_empty_region_inside_the_bounds_does_not_warn() -> None:
    """The counts decide about it, and a warning is no answer."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert histogram(hp.Interval(0, 100), 2, [0, 9, 0, 1]).mass((0, 24)).value == 0


def test_a_warning_does_not_depend_on_the_data() -> None:
    for counts in ([1, 0, 0, 0], [0, 0, 0, 9]):
        with pytest.warns(hp.PrivhpWarning) as caught:
            histogram(hp.Interval(0, 100), 2, counts).mass((np.float64(101), 102))
        assert MESSAGE in str(caught[0].message)

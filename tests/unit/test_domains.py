"""Domains of numbers, points and addresses: laws, specs, and records in and out of bounds."""

import ipaddress
import json
import math
from typing import Any

import numpy as np
import pytest

from example_domains import DOMAINS, cells_of
from privhp import Box, Domain, DomainError, Integers, Interval, IPv4, RecordsError, check_domain
from privhp.core.cells import OUTSIDE


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_laws(domain: Domain) -> None:
    check_domain(domain, awkward=[np.float16(0.5), np.longdouble("1e4000"), 1j, [0.5], [0.5, 0.5], "0.5", np.ma.masked])


BAD_SPECS: list[tuple[dict[Any, Any], str]] = [
    ({}, "known kind"),
    ({"kind": None}, "known kind"),
    ({"kind": "circle"}, "known kind"),
    ({"kind": ["interval"]}, "known kind"),
    ({"kind": "interval"}, "low, high missing"),
    ({"kind": "interval", "low": 0}, "one with high missing"),
    ({"kind": "interval", "low": 0, "high": 1, "bins": 3}, "'bins'"),
    ({"kind": "interval", "low": 0, "high": 1, 3: 3}, "3 unknown"),
    ({"kind": "interval", "low": "0", "high": 1}, "a number for the lower bound"),
    ({"kind": "interval", "low": 0, "high": None}, "a number for the upper bound"),
    ({"kind": "interval", "low": False, "high": True}, "a number for the lower bound"),
    ({"kind": "interval", "low": [0], "high": 1}, "a number for the lower bound"),
    ({"kind": "interval", "low": 0, "high": 1j}, "a number for the upper bound"),
    ({"kind": "interval", "low": np.zeros((3, 3)), "high": 1}, "a number for the lower bound"),
    ({"kind": "interval", "low": -math.inf, "high": 1}, "a finite number for the lower bound"),
    ({"kind": "interval", "low": 0, "high": math.nan}, "a finite number for the upper bound"),
    ({"kind": "interval", "low": 0, "high": 10**400}, "a finite number for the upper bound"),
    ({"kind": "interval", "low": 0, "high": 10**5000}, "a finite number for the upper bound"),
    ({"kind": "interval", "low": 1, "high": 0}, "below the upper"),
    ({"kind": "interval", "low": 1, "high": 1}, "below the upper"),
    ({"kind": "interval", "low": 1, "high": 1 + 2**-50}, "too close or too far apart"),
    ({"kind": "interval", "low": -1.7e308, "high": 1.7e308}, "too close or too far apart"),
    ({"kind": "interval", "low": 0, "high": 5e-324}, "too close or too far apart"),
    ({"kind": "interval", "low": 1, "high": 2, "scale": "sqrt"}, "scale="),
    ({"kind": "interval", "low": 1, "high": 2, "scale": None}, "scale="),
    ({"kind": "interval", "low": 1, "high": 2, "scale": np.array(["log", "log"])}, "scale="),
    ({"kind": "interval", "low": 0, "high": 2, "scale": "log"}, "positive lower bound"),
    ({"kind": "interval", "low": -1, "high": 2, "scale": "log"}, "positive lower bound"),
    ({"kind": "interval", "low": 1, "high": 1 + 2**-50, "scale": "log"}, "1.0 and 1.0000000000000009, are too close"),
    ({"kind": "interval", "low": 1, "high": 2, "outside": "wrap"}, "outside="),
    ({"kind": "interval", "low": 1, "high": 2, "outside": None}, "outside="),
    ({"kind": "integers", "low": 0, "high": 0}, "below the upper"),
    ({"kind": "integers", "low": 0.5, "high": 3}, "an integer for the lower bound"),
    ({"kind": "integers", "low": 0, "high": math.inf}, "a finite number for the upper bound"),
    ({"kind": "integers", "low": 0, "high": "9"}, "a number for the upper bound"),
    ({"kind": "integers", "low": 0, "high": True}, "a number for the upper bound"),
    ({"kind": "integers", "low": 0, "high": 2**61}, "shift or shorten"),
    ({"kind": "integers", "low": -(2**61) - 1, "high": 0}, "shift or shorten"),
    ({"kind": "integers", "low": 0, "high": 9, "outside": 1}, "outside="),
    ({"kind": "box"}, "sides missing"),
    ({"kind": "box", "sides": []}, "list of 1 to 63 pairs"),
    ({"kind": "box", "sides": [[0, 1]] * 64}, "list of 1 to 63 pairs"),
    ({"kind": "box", "sides": "ab"}, "list of 1 to 63 pairs"),
    ({"kind": "box", "sides": 3}, "list of 1 to 63 pairs"),
    ({"kind": "box", "sides": np.ones((4, 2))}, "below the upper"),
    ({"kind": "box", "sides": [[0, 1], [0]]}, "side 1 of the box as a pair"),
    ({"kind": "box", "sides": [[0, 1], 5]}, "side 1 of the box as a pair"),
    ({"kind": "box", "sides": [0, 1]}, "side 0 of the box as a pair"),
    ({"kind": "box", "sides": [[0, 1], [1, 0]]}, "bound of side 1 of the box below the upper"),
    ({"kind": "box", "sides": [[0, 1], [0, math.inf]]}, "finite number for the upper bound of side 1"),
    ({"kind": "box", "sides": [[0, 1], [1, 1 + 2**-51]]}, "side 1 of the box, 1.0 and 1.0000000000000004, are too"),
    ({"kind": "box", "sides": [[0, 1]], "outside": "keep"}, "outside="),
    ({"kind": "ipv4", "low": 0}, "'low' unknown"),
]


@pytest.mark.parametrize(("spec", "hint"), BAD_SPECS, ids=[hint for _, hint in BAD_SPECS])
def test_wrong_spec(spec: dict[Any, Any], hint: str) -> None:
    with pytest.raises(DomainError) as refusal:
        Domain.from_spec(spec)
    message = str(refusal.value)
    assert hint in message
    assert len(message.splitlines()) == 1
    assert len(message) < 250 or hint == "known kind"  # which lists them, those of other tests included


@pytest.mark.parametrize("spec", [None, "interval", 3, [], [("kind", "ipv4")]], ids=repr)
def test_spec_that_is_not_a_mapping(spec: Any) -> None:
    with pytest.raises(DomainError, match="as a mapping with a kind"):
        Domain.from_spec(spec)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_json_round_trip(domain: Domain) -> None:
    twin = Domain.from_spec(json.loads(json.dumps(domain.spec())))
    assert type(twin) is type(domain)
    assert twin == domain
    assert twin.spec() == domain.spec()


def test_equality() -> None:
    assert Interval(-0.0, 1) == Interval(0, 1.0) == Interval(np.float32(0), np.int8(1))
    assert hash(Interval(-0.0, 1)) == hash(Interval(0, 1.0))
    assert Integers(0, 9) == Integers(0.0, np.uint8(9))
    assert len({Interval(0, 1), Interval(0, 1, outside="clamp"), Interval(0, 2), Box([(0, 1)]), Integers(0, 1)}) == 5
    assert Interval(0, 1) != "Interval(0, 1)"


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_repr(domain: Domain) -> None:
    names = {"Interval": Interval, "Integers": Integers, "Box": Box, "IPv4": IPv4}
    twin = eval(repr(domain), names)
    assert type(twin) is type(domain)
    assert twin.depth == domain.depth


# Records in and out of bounds


def test_interval_out_of_bounds() -> None:
    records = [-math.inf, -1.0, -5e-324, 0.0, 3.999, 4.0, math.nextafter(4.0, 5.0), 1e308, math.inf, math.nan, None]
    assert cells_of(Interval(0, 4), records, 2) == [None, None, None, 0, 3, 3, None, None, None, None, None]
    assert cells_of(Interval(0, 4, outside="clamp"), records, 2) == [0, 0, 0, 0, 3, 3, 3, 3, 3, None, None]
    logs = [-1.0, 0.0, 0.5, 1.0, 2.0, 15.9, 16.0, 17.0, math.inf, math.nan]
    assert cells_of(Interval(1, 16, scale="log"), logs, 2) == [None, None, None, 0, 1, 3, 3, None, None, None]
    assert cells_of(Interval(1, 16, scale="log", outside="clamp"), logs, 2) == [0, 0, 0, 0, 1, 3, 3, 3, 3, None]


def test_integers_out_of_bounds() -> None:
    records = [-math.inf, -(2**80), -1, 0, 5, 5.0, 5.5, 9, 10, 2**80, math.inf, math.nan, None]
    dropped = [None, None, None, 0, 5, 5, None, 9, None, None, None, None, None]
    assert cells_of(Integers(0, 9), records) == dropped
    clamped = [0, 0, 0, 0, 5, 5, None, 9, 9, 9, 9, None, None]
    assert cells_of(Integers(0, 9, outside="clamp"), records) == clamped
    floats = [math.nan if value is None else float(value) for value in records]
    assert cells_of(Integers(0, 9, outside="clamp"), np.array(floats)) == clamped


def test_clamped_coordinates() -> None:
    points = [(0.25, 0.25), (-5, 0.25), (0.25, 5), (math.inf, -math.inf), (math.nan, 5), (0.25,), None]
    square = [(0, 1), (0, 1)]
    assert cells_of(Box(square), points, 2) == [0, None, None, None, None, None, None]
    assert cells_of(Box(square, outside="clamp"), points, 2) == [0, 0, 1, 2, None, None, None]


def test_addresses_out_of_range() -> None:
    assert cells_of(IPv4(), [-1, 0, 2**32 - 1, 2**32, 0.5, "10", "text"], 32) == [
        None,
        0,
        2**32 - 1,
        None,
        None,
        10,
        None,
    ]
    assert cells_of(IPv4(), np.array([0, 2**32 - 1], dtype=np.uint32), 8) == [0, 255]


@pytest.mark.parametrize("domain", [domain for domain in DOMAINS if isinstance(domain, Interval)], ids=repr)
def test_cell_of_upper_bound(domain: Interval) -> None:
    beyond = math.nextafter(domain.high, math.inf)
    for level in range(domain.depth + 1):
        last = 2**level - 1
        cells = cells_of(domain, [domain.low, math.nextafter(domain.high, 0), domain.high], level)
        assert cells == [0, last, last]
        assert cells_of(domain, [beyond], level) == [last if domain.outside == "clamp" else None]


@pytest.mark.parametrize("domain", [domain for domain in DOMAINS if isinstance(domain, Box)], ids=repr)
def test_cell_of_upper_corner_of_box(domain: Box) -> None:
    lower, upper = [axis.low for axis in domain.axes], [axis.high for axis in domain.axes]
    just_below = [math.nextafter(high, low) for low, high in zip(lower, upper, strict=True)]
    for level in range(domain.depth + 1):
        assert cells_of(domain, [lower, just_below, upper], level) == [0, 2**level - 1, 2**level - 1]


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@pytest.mark.parametrize("records", [np.zeros(4321, dtype=complex), np.zeros((7, 7, 4321)), np.zeros((9, 4321)), 4321])
def test_batch_of_wrong_type_or_shape(domain: Domain, records: Any) -> None:
    with pytest.raises(RecordsError) as refusal:
        domain.encode(records, level=1)
    assert "4321" not in str(refusal.value)


def test_forms_of_ipv4_addresses() -> None:
    expected = [0x0A000001] * 5
    forms = ["10.0.0.1", b"10.0.0.1", " 10.0.0.1 ", ipaddress.IPv4Address("10.0.0.1"), 0x0A000001]
    assert IPv4().encode(forms, level=32).tolist() == expected
    assert IPv4().encode(np.array(forms, dtype=object), level=32).tolist() == expected
    assert IPv4().encode(np.array(["10.0.0.1", "167772161"]), level=32).tolist() == expected[:2]


def test_invalid_addresses() -> None:
    strange = ["10.0.0", "10.0.0.256", "10.0.0.1/8", "1.5", ".", "", b"\xff.", ipaddress.IPv6Address("::1"), -1, 2**32]
    assert (IPv4().encode(strange, level=32) == OUTSIDE).all()


def test_box_from_array() -> None:
    assert Box(np.array([[0, 1], [-2, 5]])) == Box([(0, 1), (-2, 5)])

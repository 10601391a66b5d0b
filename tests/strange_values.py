"""Objects in place of a record that readers and conversions may fail on."""

import datetime as dt
import ipaddress
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

SIGNALLING_NAN = np.array([0x7FF0000000000001], dtype=np.uint64).view(np.float64)[0]

STRANGE: list[Any] = [
    math.nan,
    SIGNALLING_NAN,
    math.inf,
    -math.inf,
    -0.0,
    5e-324,
    1.7e308,
    2**70,
    -(2**63),
    10**4000,
    "9" * 5000,
    "nan",
    "1e400",
    "0.5",
    '"',
    "\u0663",
    b"\xff\x00",
    None,
    True,
    1j,
    object(),
    [],
    [[0.5, [0.5]], 0.5],
    (0.5, None),
    {"0.5": 0.5},
    range(2),
    Decimal("sNaN"),
    Decimal("1e999999999"),
    Fraction(10**400, 3),
    dt.date(2024, 2, 29),
    dt.datetime.max,
    dt.datetime.min.replace(tzinfo=dt.timezone(dt.timedelta(hours=23))),
    dt.time(12),
    "2024-02-30",
    "now",
    ipaddress.IPv4Address("255.255.255.255"),
    ipaddress.IPv6Address("fe80::1%eth0"),
    "::ffff:255.255.255.256",
    np.float16(0.5),
    np.longdouble("1e4000"),
    np.complex128(0.5),
    np.complex64(1),
    np.array([1j]),
    np.uint64(2**64 - 1),
    np.bool_(True),
    np.str_("0.5"),
    np.void(b"\x01"),
    np.datetime64("NaT", "s"),
    np.datetime64(2**62, "Y"),
    np.datetime64(3, "7s"),
    np.timedelta64(1, "s"),
    np.array([0.5]),
    np.array([[0.5, 0.5]]),
    np.array([[0.5], [0.5]]),
    np.array(["x"], dtype=object),
    np.ma.masked,
]

"""IP addresses: reading, prefixes, sampling and text."""

import ipaddress
import itertools
import socket
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from privhp import Domain, DomainError, IPv4, IPv6, Plan, RecordsError, Summary, check_domain
from privhp.core.cells import OUTSIDE, Codes
from privhp.domains.addresses import format_ipv6
from silent import assert_silent

Network = IPv4 | IPv6
DOMAINS: list[Network] = [
    IPv4(),
    IPv4("10.0.0.0/8"),
    IPv4("192.168.255.252/30"),
    IPv4("255.255.255.254/31"),
    IPv6(),
    IPv6("2000::/3"),
    IPv6("2001:db8::/32"),
    IPv6("2001:db8::/63"),
    IPv6("2001:db8:0:1::/64"),
    IPv6("2001:db8::/65"),
    IPv6("ffff:ffff:ffff:ffff:ffff:ffff:ffff:fff8/125"),
    IPv6("::/127"),
]
AWKWARD: list[Any] = [
    "255.255.255.255",
    "256.1.1.1",
    "010.0.0.1",
    "10.0.0.1/8",
    "::",
    "::1%eth0",
    "1::2::3",
    "12345::",
    b"2001:db8::1",
    b"\xff:\xff",
    "2001:db8::1\x00",
    ":",
    ipaddress.IPv4Address("10.0.0.1"),
    ipaddress.IPv6Address("2001:db8::1"),
    ipaddress.IPv4Network("10.0.0.0/8"),
    2**128 - 1,
    2**128,
    -1,
    np.uint64(2**64 - 1),
    np.ma.masked,
    np.void(b"\x01" * 16),
]


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_laws(domain: Network) -> None:
    check_domain(domain, awkward=AWKWARD)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_repr(domain: Network) -> None:
    assert eval(repr(domain), {"IPv4": IPv4, "IPv6": IPv6}) == domain


def test_network_in_spec() -> None:
    assert IPv4().spec() == {"kind": "ipv4"}
    assert IPv4("10.0.0.0/8").spec() == {"kind": "ipv4", "network": "10.0.0.0/8"}
    assert IPv6(ipaddress.IPv6Network("2001:db8::/32")) == IPv6("2001:DB8:0::/32") != IPv6()


def numbers_around(domain: Network, rng: np.random.Generator) -> list[int]:
    """Addresses inside a network, at its ends, and next to it."""
    first, last = int(domain.network.network_address), int(domain.network.broadcast_address)
    inside = [first + int.from_bytes(rng.bytes(16), "big") % (last - first + 1) for _ in range(50)]
    return [first, last, first + 1, last - 1, *inside, (first - 1) % 2**domain.BITS, (last + 1) % 2**domain.BITS]


def prefix_of(domain: Network, number: int, level: int) -> int:
    """Code by definition: the bits after the prefix of the network."""
    address = ipaddress.ip_address(number.to_bytes(domain.BITS // 8, "big"))
    if address not in domain.network:
        return int(OUTSIDE)
    return (number - int(domain.network.network_address)) >> (domain.BITS - domain.network.prefixlen - level)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_cells_are_prefixes(domain: Network) -> None:
    numbers = numbers_around(domain, np.random.default_rng(1))
    objects = [ipaddress.ip_address(number.to_bytes(domain.BITS // 8, "big")) for number in numbers]
    texts = [str(address) for address in objects]
    batches: list[Any] = [numbers, objects, texts, np.array(texts), np.array([text.encode() for text in texts])]
    batches += [np.array(numbers, dtype=object), np.array(objects, dtype=object), [f" {text}\n" for text in texts]]
    batches += [[address.exploded for address in objects], [[text] for text in texts], [str(n) for n in numbers]]
    batches += [pd.Series(texts), pa.array(texts), pl.Series(texts), pa.array(texts).dictionary_encode()]
    if isinstance(domain, IPv4):
        batches += [np.array(numbers, dtype=np.uint32), np.array(numbers, dtype=np.int64), pa.array(numbers)]
    else:
        words = [(number >> 64, number & (2**64 - 1)) for number in numbers]
        batches += [np.array(words, dtype=np.uint64), np.array(words, dtype=IPv6.HALVES)]
        batches += [list(np.array(words, dtype=IPv6.HALVES)), [text + "%eth0" for text in texts]]
        batches += [np.frombuffer(b"".join(address.packed for address in objects), dtype=np.uint8).reshape(-1, 16)]
    for level in {0, 1, domain.depth // 2, domain.depth}:
        expected = [prefix_of(domain, number, level) for number in numbers]
        for batch in batches:
            assert domain.encode(batch, level=level).tolist() == expected


def test_ipv6_from_64_bit_integers() -> None:
    domain = IPv6("::/64")
    assert domain.encode(np.array([2**64 - 1, 0], dtype=np.uint64), level=63).tolist() == [2**63 - 1, 0]
    assert domain.encode(np.array([-1, 6]), level=63).tolist() == [OUTSIDE, 3]


def test_ipv4_mapped_addresses() -> None:
    assert IPv6().encode(["10.0.0.1", ipaddress.IPv4Address("10.0.0.1")], level=1).tolist() == [OUTSIDE] * 2
    assert IPv4().encode(["::ffff:10.0.0.1", ipaddress.IPv6Address("::1")], level=1).tolist() == [OUTSIDE] * 2
    mapped = IPv6("::ffff:0:0/96")
    assert mapped.encode(["::ffff:10.0.0.1"], level=8).tolist() == [10]


def test_missing_address() -> None:
    for column in (pd.Series(["::2", None]), pa.array(["::2", None]), pl.Series(["::2", None]), ["::2", None]):
        assert IPv6("::/126").encode(column, level=2).tolist() == [2, OUTSIDE]
    chunks = pa.chunked_array([pa.array(["::2", None, "::3"]).dictionary_encode()])
    assert IPv6("::/126").encode(chunks, level=2).tolist() == [2, OUTSIDE, 3]


@pytest.mark.parametrize("array", [np.zeros(4321), np.zeros((4321, 3), np.uint64), np.zeros(4321, "M8[s]"), 4321])
def test_batch_of_wrong_type(array: Any) -> None:
    with pytest.raises(RecordsError, match="expected") as refusal:
        IPv6().encode(array, level=1)
    assert "4321" not in str(refusal.value)


# Prefixes as regions


def all_cells(level: int) -> Codes:
    return np.arange(2**level, dtype=np.uint64)


PREFIXES = {
    IPv4("10.0.0.0/8"): ["0.0.0.0/0", "10.0.0.0/7", "10.0.0.0/8", "10.64.0.0/10", "10.255.255.255/32", "11.0.0.0/8"],
    IPv6("2001:db8::/32"): [
        "::/0",
        "2001:db8::/31",
        "2001:db8::/32",
        "2001:db8:4000::/34",
        "2001:db8:ffff::/48",
        "::/8",
    ],
    IPv6("2001:db8::/120"): ["2001:db8::/119", "2001:db8::80/121", "2001:db8::ff/128", "2001:db8::100/120"],
}


@pytest.mark.parametrize(
    ("domain", "prefix"), [(domain, prefix) for domain, prefixes in PREFIXES.items() for prefix in prefixes], ids=str
)
def test_overlap(domain: Network, prefix: str) -> None:
    network = ipaddress.ip_network(prefix)
    start, region = int(domain.network.network_address), (int(network.network_address), int(network.broadcast_address))
    for level in range(6):
        size = 2 ** (domain.BITS - domain.network.prefixlen - level)
        for cell, share in enumerate(domain.overlap(prefix, all_cells(level), level=level).tolist()):
            first, last = start + cell * size, start + (cell + 1) * size - 1
            common = min(last, region[1]) - max(first, region[0]) + 1
            assert share == max(common, 0) / size
        assert np.array_equal(
            domain.overlap(network, all_cells(level), level=level),
            domain.overlap(prefix, all_cells(level), level=level),
        )


@pytest.mark.parametrize("region", [None, "2001:db8::1/32", "10.0.0.0/8", "2001:db8::/129", "x", 1.5, (), -1])
def test_wrong_region(region: Any) -> None:
    with pytest.raises(
        DomainError, match='expected an address such as "2001:db8::1" or a prefix such as "2001:db8::/32"'
    ) as refusal:
        IPv6().overlap(region, all_cells(1), level=1)
    assert len(str(refusal.value).splitlines()) == 1


BAD_SPECS: list[tuple[dict[str, Any], str]] = [
    ({"kind": "ipv4", "network": None}, 'expected a network such as "10.0.0.0/8", got None'),
    ({"kind": "ipv4", "network": "10.0.0.1/8"}, "which has bits after its prefix; write 10.0.0.0/8"),
    ({"kind": "ipv6", "network": "2001:db8::1/32"}, "which has bits after its prefix; write 2001:db8::/32"),
    ({"kind": "ipv4", "network": "10.0.0.0/33"}, 'expected a network such as "10.0.0.0/8"'),
    ({"kind": "ipv4", "network": "2001:db8::/32"}, 'expected a network such as "10.0.0.0/8"'),
    ({"kind": "ipv4", "network": "10.0.0.1/32"}, "a network needs more than one address, got 10.0.0.1/32"),
    ({"kind": "ipv4", "network": ["10.0.0.0"] * 3}, 'expected a network such as "10.0.0.0/8"'),
    ({"kind": "ipv6", "network": "10.0.0.0/8"}, 'expected a network such as "2001:db8::/32"'),
    ({"kind": "ipv6", "network": 1.5}, 'expected a network such as "2001:db8::/32", got 1.5'),
    ({"kind": "ipv6", "network": "::1"}, "a network needs more than one address, got ::1/128"),
    ({"kind": "ipv6", "prefix": "::/8"}, "'prefix' unknown"),
]


@pytest.mark.parametrize(("spec", "hint"), BAD_SPECS, ids=[hint for _, hint in BAD_SPECS])
def test_wrong_spec(spec: dict[str, Any], hint: str) -> None:
    with pytest.raises(DomainError) as refusal:
        Domain.from_spec(spec)
    assert hint in str(refusal.value)
    assert len(str(refusal.value).splitlines()) == 1


# Distances and samples


@pytest.mark.parametrize("domain", [IPv4("10.0.0.0/26"), IPv6("2001:db8::/122")], ids=repr)
def test_diameter(domain: Network) -> None:
    offsets = range(64)
    numbers = [int(domain.network.network_address) + offset for offset in offsets]
    for level in range(7):
        cells = domain.encode(numbers, level=level).tolist()
        largest = max(
            0.0 if one == other else 2.0 ** -(6 - (one ^ other).bit_length())
            for one, other in itertools.product(offsets, repeat=2)
            if cells[one] == cells[other]
        )
        assert domain.diameter(level) == largest


def test_single_ipv6_addresses_in_65_bit_network() -> None:
    assert IPv6("2001:db8::/65").diameter(63) == 0
    assert IPv6("2001:db8::/64").diameter(63) == 2.0**-63


@pytest.mark.parametrize("network", ["::/0", "2001:db8::/32", "2001:db8::/64", "2001:db8::/90"])
def test_random_bits_of_drawn_address(network: str) -> None:
    domain = IPv6(network)
    level = 3
    records = domain.decode(np.full(2000, 5, dtype=np.uint64), level=level, rng=np.random.default_rng(3))
    fixed = domain.network.prefixlen + level
    bits = np.array([list(f"{int(high) << 64 | int(low):0128b}") for high, low in records.tolist()]) == "1"
    shares = bits.mean(axis=0)
    assert set(shares[:fixed].tolist()) <= {0.0, 1.0}
    assert (np.abs(shares[fixed:] - 0.5) < 0.1).all()


def test_output_of_ipv6_is_text() -> None:
    domain = IPv6("2001:db8::/32")
    records = domain.decode(np.arange(8, dtype=np.uint64), level=3, rng=np.random.default_rng(0))
    texts = domain.to_output(records)
    assert [ipaddress.ip_address(str(text)) in domain.network for text in texts] == [True] * 8
    assert [ipaddress.ip_address(str(text)).compressed for text in texts] == texts.tolist()
    assert domain.encode(texts, level=63).tolist() == domain.encode(records, level=63).tolist()
    assert domain.to_output(records[:0]).shape == (0,)
    assert domain.to_output(np.array([(0, 1), (2**64 - 1, 2**64 - 1)], dtype=IPv6.HALVES)).tolist() == [
        "::1",
        ":".join(["ffff"] * 8),
    ]


def test_cdf_of_text() -> None:
    domain = IPv4("10.0.0.0/30")
    root = np.zeros(4, dtype=np.uint64)
    region = ["9.255.255.255", "10.0.0.0", "10.0.0.2", "11.0.0.0"]
    assert domain.cell_cdf(np.array(region), root, level=0).tolist() == [0, 0.25, 0.75, 1]
    assert domain.cell_cdf([ipaddress.IPv4Address(text) for text in region], root, level=0).tolist() == [
        0,
        0.25,
        0.75,
        1,
    ]
    with pytest.raises(DomainError, match="expected addresses"):
        domain.cell_cdf(["nowhere"], root[:1], level=0)


@pytest.mark.parametrize("domain", [IPv4("10.0.0.0/8"), IPv6("2001:db8::/32")], ids=repr)
def test_mass_of_prefix(domain: Network) -> None:
    texts = {
        "ipv4": ["10.1.2.3"] * 900 + ["10.200.0.1"] * 100,
        "ipv6": ["2001:db8:1::1"] * 900 + ["2001:db8:f000::"] * 100,
    }
    summary = Summary(Plan.paper(domain, epsilon=1000, expected_records=1000, hot_cells=4, depth=16))
    with assert_silent():
        summary.update(texts[domain.kind] + AWKWARD)
    generator = summary.release()
    prefix = {"ipv4": "10.1.0.0/16", "ipv6": "2001:db8:1::/48"}[domain.kind]
    assert generator.mass(prefix).value == pytest.approx(0.9, abs=0.02)
    assert generator.mass(domain.network).value == pytest.approx(1)
    sample = generator.sample(100, rng=1)
    assert all(ipaddress.ip_address(address) in domain.network for address in sample.tolist())


GROUPS = st.lists(st.sampled_from([0, 0, 0, 1, 0xF, 0x10, 0xFF, 0x100, 0xFFF, 0x1000, 0xFFFF]), min_size=8, max_size=8)


@given(addresses=st.lists(GROUPS.map(lambda groups: bytes(np.array(groups, dtype=">u2"))), max_size=20))
@example(
    addresses=[
        bytes(16),
        bytes(15) + b"\1",
        b"\1" + bytes(15),
        bytes(10) + b"\xff\xff\1\2\3\4",
        bytes(12) + b"\1\2\3\4",
    ]
)
def test_text_equals_standard_library(addresses: list[bytes]) -> None:
    words = np.frombuffer(b"".join(addresses), dtype=[("high", ">u8"), ("low", ">u8")]).astype(IPv6.HALVES)
    texts = IPv6().to_output(words).tolist()
    assert texts == [socket.inet_ntop(socket.AF_INET6, address) for address in addresses]
    for text, address in zip(texts, addresses, strict=True):
        if "." not in text:  # IPv4 addresses in it, which ipaddress writes in one way or another by its version
            assert text == str(ipaddress.IPv6Address(address))


def test_ipv6_text_of_every_zero_pattern() -> None:
    groups = np.array(list(itertools.product([0, 0xAB], repeat=8)), dtype=">u2")
    words = groups.view(">u8").astype(np.uint64)
    texts = format_ipv6(np.repeat(words[:, 0], 100), np.repeat(words[:, 1], 100))  # more than one chunk
    expected = [socket.inet_ntop(socket.AF_INET6, row.tobytes()) for row in groups]
    assert texts.tolist() == [text for text in expected for _ in range(100)]

"""Domains of IP addresses. Cells are prefixes, one bit longer on each level."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import ipaddress
import math
import operator
from collections.abc import Sequence
from functools import cache, partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privhp.core.bits import shift_left
from privhp.core.cells import MAX_DEPTH, OUTSIDE, Codes, Counts, Floats
from privhp.domains.column import attempt
from privhp.domains.conversion import as_integers, parse_integer, read_each, single_value, values_of_kind
from privhp.domains.domain import NUMERIC, Domain
from privhp.domains.fields import Field, FieldKind, OutputForm
from privhp.domains.integer_ranges import IntegerRangeDomain
from privhp.domains.numbers import Integers
from privhp.domains.prefixes import prefixes_region, read_prefix, unite_prefixes
from privhp.domains.presentation import TRANSPORT
from privhp.domains.to_column import to_column
from privhp.domains.unions import parts_of
from privhp.domains.validation import check_dtype
from privhp.errors import DomainError

if TYPE_CHECKING:
    from privhp.domains.condition_grammar import Predicate

_WORD = 2**64 - 1
_ROWS = {(8, 2), (1, 16)}  # size and number of the integers that hold an IPv6 address in a row of an array


@cache
def _socket() -> ModuleType:
    import socket  # slow to import, and needed for text only

    return socket


class _Network(Domain):
    """Addresses of a network; two whose longest common prefix within it has l bits are at distance 2**-l."""

    BITS: ClassVar[int]
    EXAMPLE: ClassVar[str]
    NAMED: ClassVar[int]
    """Reports name prefixes whose length is a multiple of this number."""
    parse: ClassVar[type[ipaddress.IPv4Network] | type[ipaddress.IPv6Network]]

    def __init__(self, network: Any) -> None:
        self.network = self._prefix(network, "network")
        self._length: int = self.network.prefixlen
        if self._length == self.BITS:
            raise DomainError(f"a network needs more than one address, got {self.network}; declare a shorter prefix")

    def _prefix(self, value: Any, name: str) -> Any:
        value = int(value) if isinstance(value, np.integer) else value
        address = f'an address such as "{self.parse(self.EXAMPLE)[1]}" or ' if name == "prefix" else ""
        return read_prefix(value, self.parse, f'expected {address}a {name} such as "{self.EXAMPLE}"')

    def __repr__(self) -> str:
        given = [repr(value) if name == "network" else f"{name}={value!r}" for name, value in self.parameters().items()]
        return f"{type(self).__name__}({', '.join(given)})"

    @property
    def depth(self) -> int:
        return min(self.BITS - self._length, MAX_DEPTH)

    def diameter(self, level: int) -> float:
        return 2.0**-level if level < self.BITS - self._length else 0.0

    def overlap(self, region: Any, codes: Codes, *, level: int) -> Floats:
        prefix = self._prefix(region, "prefix")
        first, longer = int(prefix.network_address), prefix.prefixlen - self._length
        if longer <= 0:
            return np.full(codes.shape, float(self.network.subnet_of(prefix)))
        if not prefix.subnet_of(self.network):
            return np.zeros(codes.shape)
        own = first >> (self.BITS - prefix.prefixlen) & (2**longer - 1)
        if longer <= level:
            return np.where(codes >> np.uint64(level - longer) == own, 1.0, 0.0)
        return np.where(codes == own >> (longer - level), 2.0 ** (level - longer), 0.0)

    def describe(self, code: int, *, level: int) -> str:
        length = self._length + level
        first = int(self.network.network_address) | code << (self.BITS - length)
        return str(self.parse((first, length)))

    def is_reportable(self, codes: Codes, *, level: int) -> NDArray[np.bool_]:
        return np.full(codes.shape, (self._length + level) % self.NAMED == 0)

    def region_kind(self, region: Any) -> str:
        return f"prefixes /{self._prefix(region, 'prefix').prefixlen}"

    @property
    def distance_meaning(self) -> str:
        return f"{TRANSPORT}: it is /16 for two addresses with a common prefix of 16 bits, and twice as far is /15."

    def format_distance(self, distance: float) -> str:
        """Length of the common prefix of two addresses so far apart, with a decimal for mean distances."""
        return f"/{min(self._length - math.log2(distance), self.BITS):.1f}" if distance > 0 else "0"

    def format_resolution(self, level: int) -> str:
        """Length of the prefix of a cell."""
        return f"/{self._length + level}"

    def parse_region(self, comparisons: Sequence[Predicate], names: Sequence[str]) -> Any:
        return prefixes_region(comparisons, partial(self._prefix, name="prefix"), example=self.EXAMPLE)

    def unite(self, regions: Sequence[Any]) -> Any:
        return unite_prefixes([self.parse(part) for region in regions for part in parts_of(region)])

    def format_region(self, region: Any, label: str) -> str:
        return f"{label} in {region}"

    def everything(self) -> str:
        return str(self.network)

    def parameters(self) -> dict[str, Any]:
        return {"network": str(self.network)} if self._length else {}


def parse_ipv4(value: Any) -> int:
    """Integer of one IPv4 address given as text, object or integer; ValueError for other text."""
    value = single_value(value)
    if isinstance(value, bytes):
        value = value.decode("ascii")
    if isinstance(value, str) and "." in value:
        socket = _socket()
        try:
            return int.from_bytes(socket.inet_pton(socket.AF_INET, value.strip()), "big")
        except OSError:
            raise ValueError from None
    return int(value) if isinstance(value, ipaddress.IPv4Address) else parse_integer(value)


class IPv4(IntegerRangeDomain, _Network):
    """IPv4 addresses: integers from 0 to 2**32 - 1, text such as "10.0.0.1", or `ipaddress` objects.

    Two addresses whose longest common prefix within the network has l bits are
    at distance 2**-l. Regions are prefixes such as "10.0.0.0/8". Records outside
    the network are dropped. Samples are integers; files hold them as text.

    Args:
        network: Common prefix of all addresses, public knowledge; all addresses by default.
        dtype: Type of samples in arrays, data frames and files, public knowledge: "uint32" or "str".
    """

    kind: ClassVar[str] = "ipv4"
    ordered: ClassVar[bool] = True
    accepts = NUMERIC
    BITS: ClassVar[int] = 32
    NAMED: ClassVar[int] = 8
    EXAMPLE: ClassVar[str] = "10.0.0.0/8"
    parse = ipaddress.IPv4Network

    def __init__(self, network: str | ipaddress.IPv4Network = "0.0.0.0/0", *, dtype: Any = None) -> None:
        super().__init__(network)
        self.dtype = None if dtype is None else check_dtype(dtype, ("uint32", "str"))
        self._addresses = Integers(int(self.network.network_address), int(self.network.broadcast_address))

    def fields(self) -> tuple[Field, ...]:
        return (Field("value", FieldKind.ADDRESS, accepts=self.accepts, declared_as=self.kind),)

    def output_forms(self) -> tuple[OutputForm, ...]:
        return (OutputForm(to_text=self.texts if self.dtype is None else None),)

    def encode(self, records: Any, *, level: int) -> Codes:
        return self._addresses.encode_readable(*as_integers(records, read=parse_ipv4), level=level)

    def _ranges(self, codes: Codes, levels: NDArray[np.int64] | int) -> tuple[Counts, Counts]:
        return self._addresses._ranges(codes, levels)

    def _records_at(self, numbers: Counts) -> NDArray[Any]:
        return self._addresses._records_at(numbers).astype(np.uint32)

    def to_output(self, records: NDArray[Any]) -> NDArray[Any]:
        """Addresses as the declared type."""
        return self.texts(records) if self.dtype == "str" else records

    @staticmethod
    def texts(numbers: NDArray[Any]) -> NDArray[np.str_]:
        """Text of addresses."""
        from privhp.domains.addresses import format_ipv4  # imports socket, which is slow

        return format_ipv4(numbers)

    def parameters(self) -> dict[str, Any]:
        return super().parameters() | ({} if self.dtype is None else {"dtype": self.dtype.name})

    def random_regions(self, count: int, *, rng: np.random.Generator) -> list[Any]:
        """Random prefixes of 1 to 16 bits."""
        lengths = rng.integers(1, 17, count)
        prefixes = rng.integers(0, 2**lengths) << (32 - lengths)
        octets = (prefixes[:, None] >> np.array([24, 16, 8, 0])) & 255
        return [
            f"{'.'.join(map(str, address))}/{length}"
            for address, length in zip(octets.tolist(), lengths.tolist(), strict=True)
        ]

    def decode_within(self, region: Any, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        prefix = self._prefix(region, "prefix")
        first, last = int(prefix.network_address), int(prefix.broadcast_address)
        return self._addresses.draw_between(first, last, codes, level=level, rng=rng).astype(np.uint32)

    def cell_cdf(self, records: Any, codes: Codes, *, level: int) -> Floats:
        return self._addresses.cell_cdf(_numbers(records), codes, level=level)

    def cell_quantile(self, shares: Floats, codes: Codes, *, level: int) -> NDArray[Any]:
        return self._addresses.cell_quantile(shares, codes, level=level).astype(np.uint32)


def _numbers(records: Any) -> NDArray[Any]:
    """Integers of the addresses of a query."""
    array = np.asarray(records)
    if array.dtype.kind in "biuf":
        return array
    numbers, readable = read_each(array.tolist(), parse_ipv4)
    if not readable.all():
        raise DomainError('expected addresses such as "10.0.0.1" for a cdf, got other values')
    return numbers


class IPv6(_Network):
    """IPv6 addresses: text such as "2001:db8::1", `ipaddress` objects or integers.

    Arrays hold text, integers, or the bits of each address: shape (n, 2) of
    uint64, shape (n, 16) of uint8, or the fields of `IPv6.HALVES`. Cells are
    prefixes of up to 63 bits beyond that of the network, such as /66 in
    2000::/3, or single addresses in a /65. Lower bits are not counted, and they
    are random in samples. Samples are text.

    Two addresses whose longest common prefix within the network has l bits are
    at distance 2**-l. Regions are prefixes such as "2001:db8::/48". Records
    outside the network are dropped.

    Args:
        network: Common prefix of all addresses, public knowledge; all addresses by default.
    """

    kind: ClassVar[str] = "ipv6"
    accepts = frozenset({"integers", "text"})
    BITS: ClassVar[int] = 128
    NAMED: ClassVar[int] = 16
    EXAMPLE: ClassVar[str] = "2001:db8::/32"
    HALVES: ClassVar[np.dtype[Any]] = np.dtype([("high", np.uint64), ("low", np.uint64)])
    parse = ipaddress.IPv6Network

    def __init__(self, network: str | ipaddress.IPv6Network = "::/0") -> None:
        super().__init__(network)
        self._first = int(self.network.network_address)

    def fields(self) -> tuple[Field, ...]:
        return (Field("value", FieldKind.TEXT, accepts=self.accepts, declared_as=self.kind),)

    def encode(self, records: Any, *, level: int) -> Codes:
        high, low, valid = _halves(records)
        length = self._length
        if length < 64:
            after = (high << np.uint64(length)) | (low >> np.uint64(64 - length))
            inside = high >> np.uint64(64 - length) == self._first >> (128 - length)
        else:
            after = low << np.uint64(length - 64)
            inside = low >> np.uint64(128 - length) == (self._first & _WORD) >> (128 - length)
            inside &= high == self._first >> 64
        return np.where(inside & valid, after >> np.uint64(64 - level), OUTSIDE)

    def decode(self, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        free = self.BITS - self._length - level
        records = self._draw(self._first, codes.size, free=free, rng=rng)
        records["high"] |= shift_left(codes, free - 64)
        records["low"] |= shift_left(codes, free)
        return records

    def _draw(self, first: int, size: int, *, free: int, rng: np.random.Generator) -> NDArray[Any]:
        """`size` addresses with a common prefix and random bits after it."""
        high, low = rng.integers(0, _WORD, size=(2, size), dtype=np.uint64, endpoint=True)
        records = np.empty(size, dtype=self.HALVES)
        beyond = 2**free - 1
        records["high"] = np.uint64(first >> 64) | (high & np.uint64(beyond >> 64))
        records["low"] = np.uint64(first & _WORD) | (low & np.uint64(beyond & _WORD))
        return records

    def decode_within(self, region: Any, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        prefix = self._prefix(region, "prefix")
        if prefix.prefixlen <= self._length + level:
            return self.decode(codes, level=level, rng=rng)
        return self._draw(int(prefix.network_address), codes.size, free=self.BITS - prefix.prefixlen, rng=rng)

    def to_output(self, records: NDArray[Any]) -> NDArray[np.str_]:
        """Text of addresses."""
        from privhp.domains.addresses import format_ipv6  # imports socket, which is slow

        return format_ipv6(records["high"], records["low"])


def _halves(records: Any) -> tuple[Codes, Codes, NDArray[np.bool_]]:
    """High and low 64 bits of each address, and a mask of the valid addresses."""
    column = to_column(records)
    halves = None if column.dictionary is not None else _array_halves(column.values)
    if halves is None:
        values = values_of_kind(column, kinds="iu", what="addresses")
        if not isinstance(values, np.ndarray):
            return _read_halves(values)
        halves = np.zeros(values.shape, dtype=np.uint64), values.astype(np.uint64), values >= 0
    high, low, valid = halves
    return high, low, valid if column.missing is None else valid & ~column.missing


def _array_halves(values: Any) -> tuple[Codes, Codes, NDArray[np.bool_]] | None:
    """High and low 64 bits of addresses in an array that holds bits; None for any other values."""
    if not isinstance(values, np.ndarray):
        return None
    every = np.ones(len(values), dtype=np.bool_)
    if values.dtype == IPv6.HALVES and values.ndim == 1:
        return values["high"], values["low"], every
    if values.dtype.kind == "u" and values.ndim == 2 and (values.dtype.itemsize, values.shape[1]) in _ROWS:
        words = values if values.dtype.itemsize == 8 else np.ascontiguousarray(values).view(">u8")
        return words[:, 0].astype(np.uint64), words[:, 1].astype(np.uint64), every
    return None


def _read_halves(values: list[Any]) -> tuple[Codes, Codes, NDArray[np.bool_]]:
    packed = [attempt(value, _parse_ipv6, None) for value in values]
    high, low = np.frombuffer(b"".join([value or bytes(16) for value in packed]), dtype=">u8").reshape(-1, 2).T
    valid = np.array([value is not None for value in packed], dtype=np.bool_)
    return high.astype(np.uint64), low.astype(np.uint64), valid


def _parse_ipv6(value: Any) -> bytes:
    """Bytes of one IPv6 address; raises if it cannot be read."""
    value = single_value(value)
    if isinstance(value, bytes):
        value = value.decode("ascii")
    if isinstance(value, str):
        text = value.strip()
        if ":" in text:
            socket = _socket()
            return bytes(socket.inet_pton(socket.AF_INET6, text.partition("%")[0]))
        value = int(text) if text.isdecimal() else None
    if isinstance(value, ipaddress.IPv6Address):
        return value.packed
    if isinstance(value, np.void) and value.dtype == IPv6.HALVES:
        value = int(value["high"]) << 64 | int(value["low"])
    return operator.index(value).to_bytes(16, "big")

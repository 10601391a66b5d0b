"""Internet addresses as domains. A cell of level l is a prefix of l bits."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import ipaddress
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privhp.cells import Codes, Floats
from privhp.domains.base import Domain, shown
from privhp.domains.batches import as_integers, whole
from privhp.domains.numbers import Integers
from privhp.errors import DomainError


def address(value: Any) -> int:
    """An address, as text, as an object or as a number, by itself as a number; raises if it is none."""
    if isinstance(value, bytes):
        value = value.decode("ascii")
    if isinstance(value, str) and "." in value:
        value = ipaddress.IPv4Address(value.strip())
    return int(value) if isinstance(value, ipaddress.IPv4Address) else whole(value)


class IPv4(Domain):
    """All IPv4 addresses: whole numbers from 0 to 2**32 - 1, or text such as "10.0.0.1".

    Two addresses that share their first l bits and no more are 2**-l apart.
    Regions are prefixes such as "10.0.0.0/8". What is no address is dropped;
    samples are numbers.
    """

    kind: ClassVar[str] = "ipv4"
    ordered: ClassVar[bool] = True
    _addresses = Integers(0, 2**32 - 1)

    def __repr__(self) -> str:
        return "IPv4()"

    @property
    def depth(self) -> int:
        return 32

    def encode(self, records: Any, *, level: int) -> Codes:
        return self._addresses._encode(*as_integers(records, read=address), level=level)

    def decode(self, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        return self._addresses.decode(codes, level=level, rng=rng).astype(np.uint32)

    def diameter(self, level: int) -> float:
        return 2.0**-level if level < self.depth else 0.0

    def overlap(self, region: Any, codes: Codes, *, level: int) -> Floats:
        try:
            network = ipaddress.IPv4Network(region)
        except (ValueError, IndexError):
            raise DomainError(f'expected a prefix such as "10.0.0.0/8", got {shown(region)}') from None
        ends = (int(network.network_address), int(network.broadcast_address))
        return self._addresses.overlap(ends, codes, level=level)

    def below(self, records: Any, codes: Codes, *, level: int) -> Floats:
        return self._addresses.below(records, codes, level=level)

    def at(self, shares: Floats, codes: Codes, *, level: int) -> NDArray[Any]:
        return self._addresses.at(shares, codes, level=level).astype(np.uint32)

    def parameters(self) -> dict[str, Any]:
        return {}

"""What a domain is: a metric space with a fixed binary hierarchy.

A domain takes records and gives cells, and takes cells and gives records. It
is the only room that sees a record. It knows nothing of counts or noise.

To bring a space of your own, subclass `Domain`, set `kind`, write the abstract
methods, and put an instance through `privhp.check_domain`.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import inspect
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from privhp.core.allocation import Allocation, CellDraws
from privhp.core.cells import Codes, Floats
from privhp.domains.fields import Field, OutputForm, default_kind, default_names
from privhp.errors import DomainError

Outside = Literal["drop", "clamp"]
"""What becomes of a record out of bounds."""

ValueKind = Literal["whole numbers", "numbers", "decimals", "times", "text", "lists of text"]
"""What a column holds by its type; numbers may be whole."""

NUMERIC: frozenset[ValueKind] = frozenset({"whole numbers", "numbers", "decimals", "text"})
"""What numbers are read from."""

_KINDS: dict[str, type[Domain]] = {}

ALMOST_ALL = 1.0 - 2.0**-53
"""The largest share below 1."""


class Domain(ABC):
    """A metric space cut in two, again and again, in a way fixed before the data.

    Encoding is total: every record gets the code of one cell or OUTSIDE, by a
    rule that looks at that record alone. Domains are equal when their specs are.
    """

    kind: ClassVar[str]
    """Name of the domain in specs and file headers."""

    ordered: ClassVar[bool] = False
    """Whether cells are in the order of the records, so that cdf and quantile make sense."""

    is_line: bool = False
    """Whether distances are differences on a line, where errors before a point add up by their signs."""

    accepts: frozenset[ValueKind] | None = None
    """What columns whose types say it may hold, since records can be read from it; None where that is not known."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Make the kind known to `Domain.from_spec`."""
        super().__init_subclass__(**kwargs)
        if "kind" in cls.__dict__:
            _KINDS[cls.kind] = cls

    @property
    @abstractmethod
    def depth(self) -> int:
        """Deepest level of the hierarchy, between 1 and 63."""

    reads_by_name: ClassVar[bool] = False
    """Whether readers find the columns of a record by the names of its fields, as for tables."""

    def fields(self) -> tuple[Field, ...]:
        """The values of a record, in order: their names, and how readers read each from a column.

        Unless overridden, those of the records that `to_output` gives: one value, or the numbers of a point.
        """
        rng = np.random.default_rng(0)
        example = np.asarray(self.to_output(self.decode(np.zeros(1, dtype=np.uint64), level=0, rng=rng)))
        names = default_names(example.shape[1] if example.ndim == 2 else None)
        kind = default_kind(example.dtype)
        return tuple(Field(name, kind, accepts=self.accepts, declared_as=self.kind) for name in names)

    @property
    def value_names(self) -> tuple[str, ...]:
        """Names of the values of a record."""
        return tuple(field.name for field in self.fields())

    def output_forms(self) -> tuple[OutputForm, ...]:
        """Type of the column of each field in data frames and files of samples, beyond its NumPy dtype."""
        return (OutputForm(),) * len(self.fields())

    def as_batch(self, records: Any) -> Any:
        """Records as something that can be cut in blocks, where they come as something that cannot."""
        return records

    def nontemporal_mask(self, level: int) -> int:
        """Which bits of a cell of a level say anything but when, as a mask: all of them, unless a domain has times."""
        return (1 << level) - 1

    @abstractmethod
    def encode(self, records: Any, *, level: int) -> Codes:
        """The cell of each record at a level, or OUTSIDE. Never raises for the value of a record."""

    @abstractmethod
    def decode(self, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        """A record drawn from the base measure inside each cell. Encoding it gives the cell back."""

    def sample_allocation(
        self, allocation: Allocation, *, balanced: bool, rng: np.random.Generator, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Sample the allocated number of records in each cell, in the order of the cells.

        Args:
            allocation: The cells, each with a measure above 0, and the number of records in each.
            balanced: Whether the records of a cell are a systematic sample of it, or independent.
            rng: Source of randomness.
            out: Array for the records, of their number, shape and dtype.
        """
        codes, levels, owner = allocation.codes, allocation.levels, allocation.owner
        if balanced:
            positions = allocation.ranks + rng.random(codes.size)[owner]
            shares = np.minimum(positions / allocation.counts[owner], ALMOST_ALL)
        like = self.decode(np.zeros(1, dtype=np.uint64), level=0, rng=rng)
        records = np.empty((owner.size, *like.shape[1:]), dtype=like.dtype) if out is None else out
        for level in np.unique(levels).tolist():
            chosen = np.flatnonzero(levels[owner] == level)
            inner, deeper = codes[owner[chosen]], level
            if balanced:
                inner, deeper = self._descend(inner, shares[chosen], level)
            records[chosen] = self.decode(inner, level=deeper, rng=rng)
        return records

    def sample_cells(
        self, draws: CellDraws, *, rng: np.random.Generator, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Sample a record in the cell of each draw, independently, in the order of the draws."""
        return self.sample_allocation(draws.one_each(), balanced=False, rng=rng, out=out)

    def to_output(self, records: NDArray[Any]) -> Any:
        """Records of `decode` or `sample_allocation` in the form that a caller of `sample` gets."""
        return records

    def _descend(self, codes: Codes, shares: Floats, level: int) -> tuple[Codes, int]:
        """Follow each share of the measure down inside its cell, until few cells hold two of the shares."""
        crowd = int(np.unique(codes, return_counts=True)[1].max(initial=1))
        deepest = min(level + (crowd - 1).bit_length(), self.depth)
        while level < deepest:
            whole = self.measure(codes, level=level)
            level += 1
            codes = codes << np.uint64(1)
            split = self.measure(codes, level=level) / whole
            right = shares >= split
            before, part = np.where(right, split, 0.0), np.where(right, 1.0 - split, split)
            shares = np.minimum((shares - before) / part, ALMOST_ALL)
            codes = codes | right
        return codes, level

    def decode_within(self, region: Any, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        """A record drawn from the base measure inside the part of each cell that lies in the region and is not empty.

        Unless overridden, by going down into the halves. So where the edge of
        the region runs through a deepest cell, the records of that are not told apart.
        """
        like = self.decode(np.zeros(1, dtype=np.uint64), level=0, rng=rng)
        records = np.empty((codes.size, *like.shape[1:]), dtype=like.dtype)
        places = np.arange(codes.size)
        while places.size:
            inside = (self.overlap(region, codes, level=level) >= 1) | (level == self.depth)
            records[places[inside]] = self.decode(codes[inside], level=level, rng=rng)
            places, codes, level = places[~inside], codes[~inside] << np.uint64(1), level + 1
            if places.size:
                left, right = (
                    self.measure(half, level=level) * self.overlap(region, half, level=level)
                    for half in (codes, codes | np.uint64(1))
                )
                codes = codes | (rng.random(places.size) * (left + right) >= left)
        return records

    @abstractmethod
    def diameter(self, level: int) -> float:
        """Largest distance between two records of one cell of that level."""

    def measure(self, codes: Codes, *, level: int) -> Floats:
        """Share of the base measure in each cell; 0 where no record can be. Even unless overridden."""
        return np.full(codes.shape, 2.0**-level)

    def overlap(self, region: Any, codes: Codes, *, level: int) -> Floats:
        """Share of each cell's measure that lies in the region: 0 only if nothing of it does, 1 only if all does."""
        raise DomainError(f"a domain of kind {self.kind!r} has no regions, so it cannot tell the mass of one")

    def describe(self, code: int, *, level: int) -> Any:
        """A cell in the records' own terms: a region with all of it, where the domain has regions."""
        return f"cell {code:0{level}b}" if level else "everything"

    def is_reportable(self, codes: Codes, *, level: int) -> NDArray[np.bool_]:
        """Which cells people have a name for, as they have for whole octets of an address. All unless overridden."""
        return np.ones(codes.shape, dtype=np.bool_)

    def cell_cdf(self, records: NDArray[Any], codes: Codes, *, level: int) -> Floats:
        """Share of the i-th cell's measure at or below the i-th record. Ordered domains only."""
        raise DomainError(f"a domain of kind {self.kind!r} has no order, so it has no cdf and no quantiles")

    def cell_quantile(self, shares: Floats, codes: Codes, *, level: int) -> NDArray[Any]:
        """Record at or below which the i-th share of the i-th cell's measure lies. Ordered domains only."""
        raise DomainError(f"a domain of kind {self.kind!r} has no order, so it has no cdf and no quantiles")

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """What the constructor needs to build the domain again, as JSON values."""

    def spec(self) -> dict[str, Any]:
        """The domain as a JSON object."""
        return {"kind": self.kind, **self.parameters()}

    @staticmethod
    def from_spec(spec: Mapping[str, Any]) -> Domain:
        """The domain that a spec describes."""
        if not isinstance(spec, Mapping):
            raise DomainError(f"expected the spec of a domain as a mapping with a kind, got {quote(spec)}")
        kind = spec.get("kind")
        if not isinstance(kind, str) or kind not in _KINDS:
            known = ", ".join(sorted(_KINDS))
            raise DomainError(
                f"expected a domain of a known kind ({known}), got kind {quote(kind)}; "
                "a domain of your own must be imported first"
            )
        return _KINDS[kind].from_parameters({key: value for key, value in spec.items() if key != "kind"})

    @classmethod
    def from_parameters(cls, given: Mapping[str, Any]) -> Domain:
        """The domain that was built with these parameters, which are JSON values."""
        parameters = inspect.signature(cls).parameters
        missing = [name for name, known in parameters.items() if known.default is known.empty and name not in given]
        unknown = [quote(key) for key in given if key not in parameters]
        if missing or unknown:
            wrong = [
                f"{', '.join(names)} {what}" for names, what in ((missing, "missing"), (unknown, "unknown")) if names
            ]
            takes = ", ".join(parameters) or "nothing else"
            raise DomainError(
                f"expected a domain of kind {cls.kind!r} with {takes}, got one with {' and '.join(wrong)}"
            )
        return cls(**given)

    def __eq__(self, other: object) -> bool:
        """Whether the other domain has the same spec."""
        return isinstance(other, Domain) and self._written() == other._written()

    def __hash__(self) -> int:
        """Hash of the spec."""
        return hash(self._written())

    def _written(self) -> str:
        """The spec as text, in which 1 is not true."""
        import json  # takes long to import, and few domains are compared

        return json.dumps(self.spec(), sort_keys=True)


def between(first: Floats, last: Floats) -> Floats:
    """Share of a cell from one share to another: rounded, but 1 only if it is all."""
    most = np.where((first <= 0) & (last >= 1), 1.0, ALMOST_ALL)
    share: Floats = np.clip(last - first, 0.0, most)
    return share


def check_outside(outside: str) -> None:
    """Refuse anything but the two rules for records out of bounds."""
    if not isinstance(outside, str) or outside not in ("drop", "clamp"):
        raise DomainError(f'expected outside="drop" or outside="clamp", got {quote(outside)}')


def clamping(outside: str) -> str:
    """How the representation of a domain shows that records are clamped."""
    return ', outside="clamp"' if outside == "clamp" else ""


def typing(parameters: Mapping[str, Any]) -> str:
    """How the representation of a domain shows the type of its samples, where that is a parameter."""
    return f', dtype="{parameters["dtype"]}"' if "dtype" in parameters else ""


def finite_number(value: Any, name: str) -> int | float:
    """A number as Python's own, whole ones exactly, or an error that names it."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise DomainError(f"expected a number for {name}, got {quote(value)}; write a plain number, known beforehand")
    try:
        number = float(value) + 0.0  # one zero: -0.0 would be equal to it and print otherwise
    except OverflowError:
        number = np.inf
    if not np.isfinite(number):
        raise DomainError(f"expected a finite number for {name}, got {number}")
    return int(value) if isinstance(value, int | np.integer) else number


def quote(value: Any) -> str:
    """A value for a message, in one short line."""
    return " ".join(reprlib.repr(value).split())

"""Custom domains: `check_domain` accepts a correct one and names the law that a wrong one breaks."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from privhp import Domain, DomainError, Plan, Summary, check_domain
from privhp.core.allocation import Allocation, CellDraws
from privhp.core.cells import OUTSIDE, Codes, Floats
from privhp.domains.conversion import as_floats


class Barcodes(Domain):
    """Words of a fixed length over the letters ACGT: an example of a custom domain."""

    kind = "example-barcodes"
    depth = 0  # two bits a letter; set with the length

    def __init__(self, length: int) -> None:
        self.length, self.depth = length, 2 * length

    def encode(self, records: Any, *, level: int) -> Codes:
        codes = np.array([self._code(record) for record in records], dtype=np.uint64)
        return np.where(codes == OUTSIDE, OUTSIDE, codes >> np.uint64(self.depth - level))

    def _code(self, record: Any) -> int:
        word = isinstance(record, str) and len(record) == self.length and set(record) <= set("ACGT")
        return int(record.translate(str.maketrans("ACGT", "0123")), 4) if word else int(OUTSIDE)

    def decode(self, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        free = self.depth - level
        full = (codes << np.uint64(free)) | rng.integers(0, 2**free, size=codes.shape, dtype=np.uint64)
        digits = full[:, None] >> 2 * np.arange(self.length, dtype=np.uint64)[::-1] & np.uint64(3)
        return np.array(["".join("ACGT"[digit] for digit in row) for row in digits.tolist()], dtype=object)

    def diameter(self, level: int) -> float:
        return 2.0**-level if level < self.depth else 0.0  # by the length of the common prefix

    def parameters(self) -> dict[str, Any]:
        return {"length": self.length}


@pytest.mark.parametrize("length", [1, 4, 20])
def test_laws_of_custom_domain(length: int) -> None:
    check_domain(Barcodes(length), awkward=["A" * length, "acgt", "ACGU", "ACGT" * 20, ["A"] * length, b"ACGT"])


def test_generator_of_custom_domain() -> None:
    summary = Summary(Plan.paper(Barcodes(4), epsilon=100, expected_records=10_000, hot_cells=8))
    summary.update(["GATC"] * 10_000 + ["no word"])
    words, counts = np.unique(summary.release().sample(1000, rng=0).astype(str), return_counts=True)
    assert words[counts.argmax()] == "GATC"


def test_repr_of_custom_domain() -> None:
    assert repr(Barcodes(4)) == "Barcodes(length=4)"


def test_optional_methods_of_custom_domain() -> None:
    root = np.zeros(1, dtype=np.uint64)
    with pytest.raises(DomainError, match="'example-barcodes' has no regions"):
        Barcodes(4).overlap("GA", root, level=0)
    with pytest.raises(DomainError, match="'example-barcodes' has no order"):
        Barcodes(4).cell_cdf(np.array(["GATC"]), root, level=0)


class Sound(Domain):
    """Numbers in [0, 1); each class below breaks one law."""

    kind = "check-sound"
    ordered = True
    depth = 6

    def encode(self, records: Any, *, level: int) -> Codes:
        numbers = as_floats(records)
        inside = (numbers >= 0) & (numbers < 1)
        return np.where(inside, (np.where(inside, numbers, 0) * 2**level).astype(np.uint64), OUTSIDE)

    def decode(self, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        return (codes + rng.random(codes.shape)) / 2**level

    def diameter(self, level: int) -> float:
        return 2.0**-level

    def cell_cdf(self, records: NDArray[Any], codes: Codes, *, level: int) -> Floats:
        return np.clip(records * 2**level - codes, 0, 1)

    def cell_quantile(self, shares: Floats, codes: Codes, *, level: int) -> NDArray[Any]:
        return (codes + shares) / 2**level

    def parameters(self) -> dict[str, Any]:
        return {}


class CodeTooLarge(Sound):
    kind = "check-grid"

    def encode(self, records: Any, *, level: int) -> Codes:
        numbers = np.clip(as_floats(records), 0, 1)  # the upper bound gets a cell past the last
        inside = ~np.isnan(numbers)
        return np.where(inside, (np.where(inside, numbers, 0) * 2**level).astype(np.uint64), OUTSIDE)


class ShiftsOutsideCode(Sound):
    kind = "check-outside"

    def encode(self, records: Any, *, level: int) -> Codes:
        return super().encode(records, level=self.depth) >> np.uint64(self.depth - level)


class EncodesListsDifferently(Sound):
    kind = "check-lists"

    def encode(self, records: Any, *, level: int) -> Codes:
        codes = super().encode(records, level=level)
        return codes if isinstance(records, np.ndarray) else np.full_like(codes, OUTSIDE)


class DoesNotNest(Sound):
    """Reverses the order of the cells at every other level."""

    kind = "check-nesting"
    ordered = False

    def encode(self, records: Any, *, level: int) -> Codes:
        codes = super().encode(records, level=level)
        return np.where((codes == OUTSIDE) | (level % 2 == 0), codes, np.uint64(2**level - 1) - codes)

    def decode(self, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        return super().decode(codes if level % 2 == 0 else np.uint64(2**level - 1) - codes, level=level, rng=rng)


class RootForOutside(Sound):
    """Encodes records without a cell as the root at level 0."""

    kind = "check-root"

    def encode(self, records: Any, *, level: int) -> Codes:
        codes = super().encode(records, level=level)
        return codes if level > 0 else np.zeros_like(codes)


class DrawsOutsideTheCell(Sound):
    kind = "check-round-trip"

    def decode(self, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        return (codes + 1.1 * rng.random(codes.shape)) / 2**level


class DrawsTooFew(Sound):
    kind = "check-too-few"

    def decode(self, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        return super().decode(codes, level=level, rng=rng)[1:]


class SamplesCellsInAnotherOrder(Sound):
    kind = "check-sample-cells"

    def sample_cells(self, draws: CellDraws, *, rng: np.random.Generator, out: Any = None) -> Any:
        return super().sample_cells(CellDraws(draws.codes, draws.levels, draws.indices[::-1]), rng=rng, out=out)


class SamplesAllocationInAnotherOrder(Sound):
    kind = "check-sample-allocation"

    def sample_allocation(self, allocation: Allocation, **options: Any) -> NDArray[Any]:
        return super().sample_allocation(allocation, **options)[::-1]


class SignedCodes(Sound):
    kind = "check-signed"

    def encode(self, records: Any, *, level: int) -> Any:
        return super().encode(records, level=level).astype(np.int64)


class NotAdditive(Sound):
    kind = "check-additive"

    def measure(self, codes: Codes, *, level: int) -> Floats:
        return np.full(codes.shape, 0.7**level)


class EmptyChild(Sound):
    kind = "check-dead"

    def measure(self, codes: Codes, *, level: int) -> Floats:
        return super().measure(codes, level=level) * ~((level == 3) & (codes == 7))


class MeasureOfTwo(Sound):
    kind = "check-two"

    def measure(self, codes: Codes, *, level: int) -> Floats:
        return 2 * super().measure(codes, level=level)


class NegativeMeasure(Sound):
    kind = "check-negative"

    def measure(self, codes: Codes, *, level: int) -> Floats:
        return np.where(codes == 0, 1.5, -0.5) if level == 1 else np.where(codes == 0, 1.0, 0.0)


class GrowingDiameter(Sound):
    kind = "check-grows"

    def diameter(self, level: int) -> float:
        return 2.0**level


class ReversedOrder(Sound):
    kind = "check-order"

    def cell_cdf(self, records: NDArray[Any], codes: Codes, *, level: int) -> Floats:
        return 1 - super().cell_cdf(records, codes, level=level)


class MedianInAnotherCell(Sound):
    kind = "check-median"

    def cell_quantile(self, shares: Floats, codes: Codes, *, level: int) -> NDArray[Any]:
        return super().cell_quantile(1 - shares, codes, level=level) / 2


class RaisesOnInvalidRecord(Sound):
    kind = "check-raises"

    def encode(self, records: Any, *, level: int) -> Codes:
        return super().encode([float(record) for record in records], level=level)


class WarnsOnInvalidRecord(Sound):
    kind = "check-warns"

    def encode(self, records: Any, *, level: int) -> Codes:
        return (as_floats(records) * 2**level).astype(np.uint64)


class DependsOnTheBatch(Sound):
    """An invalid value makes the whole batch invalid."""

    kind = "check-batch"

    def encode(self, records: Any, *, level: int) -> Codes:
        try:
            numbers = np.array(records, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            return np.full(len(records), OUTSIDE)
        return super().encode(numbers, level=level)


class OmitsInvalidRecords(Sound):
    kind = "check-leaves-out"

    def encode(self, records: Any, *, level: int) -> Codes:
        codes = super().encode(records, level=level)
        return codes[codes != OUTSIDE]


class OmitsParameter(Sound):
    kind = "check-forgets"

    def __init__(self, width: float) -> None:
        self.width = width


class OmitsOption(Sound):
    kind = "check-option"

    def __init__(self, clamp: bool = False) -> None:
        self.clamp = clamp

    def encode(self, records: Any, *, level: int) -> Codes:
        numbers = as_floats(records)
        return super().encode(np.clip(numbers, 0, 0.5) if self.clamp else numbers, level=level)

    def decode(self, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        return codes / 2**level

    def measure(self, codes: Codes, *, level: int) -> Floats:
        return np.where(codes == 0, 1.0, 0.0)


class ParameterNotJson(Sound):
    kind = "check-json"

    def __init__(self, level: Any = 3) -> None:
        self.level = level

    def parameters(self) -> dict[str, Any]:
        return {"level": np.int64(self.level)}


class ChangesParameter(Sound):
    kind = "check-changes"

    def __init__(self, width: float = 1.0) -> None:
        self.width = width

    def parameters(self) -> dict[str, Any]:
        return {"width": self.width * 2}


class NoLevels(Sound):
    kind = "check-no-levels"
    depth = 0


class TooDeep(Sound):
    kind = "check-too-deep"
    depth = 64


def test_sound_domain() -> None:
    check_domain(Sound())


@pytest.mark.parametrize(
    ("domain", "law"),
    [
        (CodeTooLarge(), "total: a code exceeds . bits at level ."),
        (ShiftsOutsideCode(), "total: a code exceeds 0 bits at level 0"),
        (DoesNotNest(), "nesting: "),
        (RootForOutside(), "nesting: "),
        (DrawsOutsideTheCell(), "round trip: a record drawn from a cell of level . is encoded as another cell"),
        (EncodesListsDifferently(), "round trip: a list of records of level 0 is encoded differently from an array"),
        (DrawsTooFew(), "round trip: decode returned a wrong number of records"),
        (
            SamplesAllocationInAnotherOrder(),
            "round trip: sample_allocation returns records of level . in other cells or order",
        ),
        (SamplesCellsInAnotherOrder(), "round trip: sample_cells returns a record of level . in another cell"),
        (SignedCodes(), "round trip: expected codes of uint64"),
        (NotAdditive(), "measure: the children of a cell of level 0 do not have its measure"),
        (
            EmptyChild(),
            "measure: the children of a cell of level 2 do not have its measure",
        ),
        (MeasureOfTwo(), "measure: the root does not have measure 1"),
        (NegativeMeasure(), "measure: a cell of level 1 has a negative measure"),
        (GrowingDiameter(), "diameter: it is larger at level 1 than at level 0"),
        (ReversedOrder(), "order: "),
        (MedianInAnotherCell(), "order: the median of a cell of level . is in another cell"),
        (RaisesOnInvalidRecord(), "total: encode raised TypeError"),
        (WarnsOnInvalidRecord(), "total: encode raised RuntimeWarning"),
        (DependsOnTheBatch(), "total: the cell of a record depends on the other records"),
        (OmitsInvalidRecords(), "total: encode does not return one code per record"),
        (OmitsParameter(2), "spec: the domain cannot be built from its spec"),
        (OmitsOption(clamp=True), "spec: the domain built from the spec encodes a record differently"),
        (ParameterNotJson(), "spec: the domain cannot be built from its spec as JSON"),
        (ChangesParameter(), "spec: the domain differs from the one built from its spec"),
        (NoLevels(), "depth: expected 1 to 63, got 0"),
        (TooDeep(), "depth: expected 1 to 63, got 64"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_broken_law(domain: Domain, law: str) -> None:
    with pytest.raises(AssertionError, match=f"^{law}"):
        check_domain(domain)


def test_awkward_examples() -> None:
    class DependsOnWords(Sound):
        kind = "check-words"

        def encode(self, records: Any, *, level: int) -> Codes:
            codes = super().encode(records, level=level)
            return np.full_like(codes, OUTSIDE) if len(codes) > 1 and "stop" in list(map(str, records)) else codes

    check_domain(DependsOnWords())
    with pytest.raises(AssertionError, match=r"^total: "):
        check_domain(DependsOnWords(), awkward=["stop", 0.5])

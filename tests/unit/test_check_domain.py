"""check_domain accepts a small domain of one's own and rejects each way to get one wrong, naming the law."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from privhp import Domain, DomainError, Plan, Summary, check_domain
from privhp.core.allocation import Allocation, CellDraws
from privhp.core.cells import OUTSIDE, Codes, Floats
from privhp.domains.conversion import as_floats


class Barcodes(Domain):
    """Words of a fixed length over the letters ACGT: a domain of one's own, to be copied."""

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
        return 2.0**-level if level < self.depth else 0.0  # words are close that begin alike

    def parameters(self) -> dict[str, Any]:
        return {"length": self.length}


@pytest.mark.parametrize("length", [1, 4, 20])
def test_a_domain_of_ones_own_keeps_the_laws(length: int) -> None:
    check_domain(Barcodes(length), awkward=["A" * length, "acgt", "ACGU", "ACGT" * 20, ["A"] * length, b"ACGT"])


def test_a_domain_of_ones_own_gets_a_generator() -> None:
    summary = Summary(Plan.paper(Barcodes(4), epsilon=100, expected_records=10_000, hot_cells=8))
    summary.update(["GATC"] * 10_000 + ["no word"])
    words, counts = np.unique(summary.release().sample(1000, rng=0).astype(str), return_counts=True)
    assert words[counts.argmax()] == "GATC"


def test_what_a_domain_of_ones_own_leaves_out_is_refused_by_name() -> None:
    root = np.zeros(1, dtype=np.uint64)
    with pytest.raises(DomainError, match="'example-barcodes' has no regions"):
        Barcodes(4).overlap("GA", root, level=0)
    with pytest.raises(DomainError, match="'example-barcodes' has no order"):
        Barcodes(4).cell_cdf(np.array(["GATC"]), root, level=0)


class Sound(Domain):
    """Numbers in [0, 1); each class below breaks it in one way."""

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


class LeavesTheGrid(Sound):
    kind = "check-grid"

    def encode(self, records: Any, *, level: int) -> Codes:
        numbers = np.clip(as_floats(records), 0, 1)  # the upper end would be one cell too far
        inside = ~np.isnan(numbers)
        return np.where(inside, (np.where(inside, numbers, 0) * 2**level).astype(np.uint64), OUTSIDE)


class ShiftsOutside(Sound):
    kind = "check-outside"

    def encode(self, records: Any, *, level: int) -> Codes:
        return super().encode(records, level=self.depth) >> np.uint64(self.depth - level)


class ReadsListsOtherwise(Sound):
    kind = "check-lists"

    def encode(self, records: Any, *, level: int) -> Codes:
        codes = super().encode(records, level=level)
        return codes if isinstance(records, np.ndarray) else np.full_like(codes, OUTSIDE)


class DoesNotNest(Sound):
    """Counts its cells from the other end at every other level."""

    kind = "check-nesting"
    ordered = False

    def encode(self, records: Any, *, level: int) -> Codes:
        codes = super().encode(records, level=level)
        return np.where((codes == OUTSIDE) | (level % 2 == 0), codes, np.uint64(2**level - 1) - codes)

    def decode(self, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        return super().decode(codes if level % 2 == 0 else np.uint64(2**level - 1) - codes, level=level, rng=rng)


class KeepsOutsideAtTheRoot(Sound):
    """Puts everything into the root, what has no cell below it included."""

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


class ScattersInAnotherOrder(Sound):
    kind = "check-sample-cells"

    def sample_cells(self, draws: CellDraws, *, rng: np.random.Generator, out: Any = None) -> Any:
        return super().sample_cells(CellDraws(draws.codes, draws.levels, draws.indices[::-1]), rng=rng, out=out)


class PopulatesInAnotherOrder(Sound):
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


class DeadParentLiveChildren(Sound):
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


class Grows(Sound):
    kind = "check-grows"

    def diameter(self, level: int) -> float:
        return 2.0**level


class Backwards(Sound):
    kind = "check-order"

    def cell_cdf(self, records: NDArray[Any], codes: Codes, *, level: int) -> Floats:
        return 1 - super().cell_cdf(records, codes, level=level)


class MedianElsewhere(Sound):
    kind = "check-median"

    def cell_quantile(self, shares: Floats, codes: Codes, *, level: int) -> NDArray[Any]:
        return super().cell_quantile(1 - shares, codes, level=level) / 2


class RaisesOnABadRecord(Sound):
    kind = "check-raises"

    def encode(self, records: Any, *, level: int) -> Codes:
        return super().encode([float(record) for record in records], level=level)


class WarnsOfABadRecord(Sound):
    kind = "check-warns"

    def encode(self, records: Any, *, level: int) -> Codes:
        return (as_floats(records) * 2**level).astype(np.uint64)


class DependsOnTheBatch(Sound):
    """One value that cannot be read loses the whole batch."""

    kind = "check-batch"

    def encode(self, records: Any, *, level: int) -> Codes:
        try:
            numbers = np.array(records, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            return np.full(len(records), OUTSIDE)
        return super().encode(numbers, level=level)


class LeavesOutBadRecords(Sound):
    kind = "check-leaves-out"

    def encode(self, records: Any, *, level: int) -> Codes:
        codes = super().encode(records, level=level)
        return codes[codes != OUTSIDE]


class ForgetsItsParameter(Sound):
    kind = "check-forgets"

    def __init__(self, width: float) -> None:
        self.width = width


class ForgetsAnOption(Sound):
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


class NoJson(Sound):
    kind = "check-json"

    def __init__(self, level: Any = 3) -> None:
        self.level = level

    def parameters(self) -> dict[str, Any]:
        return {"level": np.int64(self.level)}


class ChangesItsParameter(Sound):
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


def test_the_domain_that_the_others_break_is_sound() -> None:
    check_domain(Sound())


@pytest.mark.parametrize(
    ("domain", "law"),
    [
        (LeavesTheGrid(), "total: a code exceeds . bits at level ."),
        (ShiftsOutside(), "total: a code exceeds 0 bits at level 0"),
        (DoesNotNest(), "nesting: "),
        (KeepsOutsideAtTheRoot(), "nesting: "),
        (DrawsOutsideTheCell(), "round trip: a record drawn from a cell of level . is encoded as another cell"),
        (ReadsListsOtherwise(), "round trip: a list of records of level 0 is encoded differently from an array"),
        (DrawsTooFew(), "round trip: decode returned a wrong number of records"),
        (PopulatesInAnotherOrder(), "round trip: sample_allocation returns records of level . in other cells or order"),
        (ScattersInAnotherOrder(), "round trip: sample_cells returns a record of level . in another cell"),
        (SignedCodes(), "round trip: expected codes of uint64"),
        (NotAdditive(), "measure: the children of a cell of level 0 do not have its measure"),
        (
            DeadParentLiveChildren(),
            "measure: the children of a cell of level 2 do not have its measure",
        ),
        (MeasureOfTwo(), "measure: the root does not have measure 1"),
        (NegativeMeasure(), "measure: a cell of level 1 has a negative measure"),
        (Grows(), "diameter: it is larger at level 1 than at level 0"),
        (Backwards(), "order: "),
        (MedianElsewhere(), "order: the median of a cell of level . is in another cell"),
        (RaisesOnABadRecord(), "total: encode raised TypeError"),
        (WarnsOfABadRecord(), "total: encode raised RuntimeWarning"),
        (DependsOnTheBatch(), "total: the cell of a record depends on the other records"),
        (LeavesOutBadRecords(), "total: encode does not return one code per record"),
        (ForgetsItsParameter(2), "spec: the domain cannot be built from its spec"),
        (ForgetsAnOption(clamp=True), "spec: the domain built from the spec encodes a record differently"),
        (NoJson(), "spec: the domain cannot be built from its spec as JSON"),
        (ChangesItsParameter(), "spec: the domain differs from the one built from its spec"),
        (NoLevels(), "depth: expected 1 to 63, got 0"),
        (TooDeep(), "depth: expected 1 to 63, got 64"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_broken_domain_is_rejected_with_its_law(domain: Domain, law: str) -> None:
    with pytest.raises(AssertionError, match=f"^{law}"):
        check_domain(domain)


def test_examples_given_by_the_caller_are_checked_too() -> None:
    class DependsOnWords(Sound):
        kind = "check-words"

        def encode(self, records: Any, *, level: int) -> Codes:
            codes = super().encode(records, level=level)
            return np.full_like(codes, OUTSIDE) if len(codes) > 1 and "stop" in list(map(str, records)) else codes

    check_domain(DependsOnWords())
    with pytest.raises(AssertionError, match=r"^total: "):
        check_domain(DependsOnWords(), awkward=["stop", 0.5])

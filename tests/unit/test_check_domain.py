"""Custom domains: `check_domain` accepts a correct one and names the law that a wrong one breaks."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from broken_domains import (
    ChangesParameter,
    CodeTooLarge,
    DependsOnTheBatch,
    DoesNotNest,
    DrawsOutsideTheCell,
    DrawsTooFew,
    EmptyChild,
    EncodesListsDifferently,
    GrowingDiameter,
    MeasureOfTwo,
    MedianInAnotherCell,
    NegativeMeasure,
    NoLevels,
    NotAdditive,
    OmitsInvalidRecords,
    OmitsOption,
    OmitsParameter,
    ParameterNotJson,
    RaisesOnInvalidRecord,
    ReversedOrder,
    RootForOutside,
    SamplesAllocationInAnotherOrder,
    SamplesCellsInAnotherOrder,
    ShiftsOutsideCode,
    SignedCodes,
    Sound,
    TooDeep,
    WarnsOnInvalidRecord,
)
from privhp import Domain, DomainError, Plan, Summary, check_domain
from privhp.core.cells import OUTSIDE, Codes


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

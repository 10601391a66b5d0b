"""A sound domain, and domains that each break one law."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp import Domain
from privhp.core.allocation import Allocation, CellDraws
from privhp.core.cells import OUTSIDE, Codes, Floats
from privhp.domains.conversion import as_floats


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

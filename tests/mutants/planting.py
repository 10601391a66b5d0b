"""Registry of planted defects and the checks that must catch them."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

Check = Callable[..., None]
Plant = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Defect:
    """A planted defect and the checks that catch it."""

    plant: Plant
    checks: tuple[Check, ...]
    trials: int | None = None
    """Number of trials that the checks need; such a defect is planted offline only."""

    @property
    def name(self) -> str:
        return self.plant.__name__


DEFECTS: list[Defect] = []


def caught_by(*checks: Check, trials: int | None = None) -> Callable[[Plant], Plant]:
    def register(plant: Plant) -> Plant:
        DEFECTS.append(Defect(plant, checks, trials))
        return plant

    return register

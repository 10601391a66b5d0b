"""How a defect is planted and which checks must notice it."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

Check = Callable[..., None]
Plant = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Defect:
    """A way to break privacy, and the checks that kill it."""

    plant: Plant
    killers: tuple[Check, ...]
    trials: int | None = None
    """How many trials the killers need; such a defect is planted offline only."""

    @property
    def name(self) -> str:
        return self.plant.__name__


DEFECTS: list[Defect] = []


def killed_by(*killers: Check, trials: int | None = None) -> Callable[[Plant], Plant]:
    def register(plant: Plant) -> Plant:
        DEFECTS.append(Defect(plant, killers, trials))
        return plant

    return register

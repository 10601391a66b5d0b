"""Timing side by side: contenders take turns in one process, and the best turn of each counts.

Machines are shared and noisy, so a speed is only ever given as a ratio to an
anchor that was measured in the same run.
"""

import importlib.metadata
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from privhp import kernels
from privhp.kernels import plain


@contextmanager
def numpy_kernels() -> Iterator[None]:
    """Context in which the NumPy kernels replace the compiled ones."""
    with mock.patch.multiple(kernels, native=None, **{name: getattr(plain, name) for name in plain.__all__}):
        yield


def best_seconds(
    contenders: Mapping[str, Callable[[], object]],
    *,
    turns: int = 40,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, float]:
    """Seconds of the best of several turns of each contender, taken in rotation after one to warm up.

    Processor time, unless another clock is given: several threads need one on the wall.
    """
    best = dict.fromkeys(contenders, float("inf"))
    for turn in range(turns + 1):
        for name, run in contenders.items():
            start = clock()
            run()
            elapsed = clock() - start
            if turn:
                best[name] = min(best[name], elapsed)
    return best


def load() -> str:
    """How many processes others keep running on this machine; ask before measuring."""
    return f"{os.getloadavg()[0]:.1f} other processes at work"


def machine() -> str:
    """One line about the processor and the versions that matter."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    cores = sum(line.startswith("processor") for line in lines)
    packages = ("numpy", "boost-histogram", "datasketches", "opendp")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages)
    return f"{model}, {cores} cores; Python {platform.python_version()}, {versions}; kernels: {kernels.BACKEND}"

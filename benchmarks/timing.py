"""Best times of contenders that run in rotation in one process.

Shared machines are noisy, so every speed is a ratio to an anchor measured in
the same run.
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
    """Best time of each contender in seconds, run in rotation after one turn of warm-up.

    The clock is processor time by default; contenders with several threads need wall-clock time.
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
    """Load average of the machine, to be taken before the measurement."""
    return f"load average {os.getloadavg()[0]:.1f}"


def machine() -> str:
    """Processor, library versions and kernels, in one line."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    cores = sum(line.startswith("processor") for line in lines)
    packages = ("numpy", "boost-histogram", "datasketches", "opendp")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages)
    return f"{model}, {cores} cores; Python {platform.python_version()}, {versions}; kernels: {kernels.BACKEND}"

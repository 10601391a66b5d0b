"""Size of an installation on disk, and its import time relative to NumPy's.

`make dist` runs it with the folder into which the wheel was installed without extras.
"""

import os
import subprocess
import sys
from pathlib import Path

TURNS = 15


def main(folder: Path) -> None:
    """Print size and import time."""
    sizes = {part.name: size_of(part) for part in folder.iterdir()}
    own = sum(size for name, size in sizes.items() if name.startswith("privhp"))
    print(f"installed: {sum(sizes.values()) / 1e6:.0f} MB with NumPy, {own / 1e6:.1f} MB without")
    nothing, numpy, both = best_times(folder, ["0", "import numpy", "import numpy; from privhp import Plan, Summary"])
    ratio, more = (both - nothing) / (numpy - nothing), 1000 * (both - numpy)
    print(f"imported:  {ratio:.2f} times the import time of NumPy, {more:.0f} ms more")


def size_of(part: Path) -> int:
    """Size of a file or folder in bytes."""
    return sum(path.lstat().st_size for path in (part, *part.rglob("*")))


def best_times(folder: Path, scripts: list[str]) -> list[float]:
    """Processor seconds of each script, the best of several runs in rotation."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = str(folder.resolve())
    best = [float("inf")] * len(scripts)
    for _ in range(TURNS):
        for index, script in enumerate(scripts):
            command = [sys.executable, "-c", f"{script}; import time; print(time.process_time())"]
            run = subprocess.run(command, env=environment, capture_output=True, check=True)
            best[index] = min(best[index], float(run.stdout))
    return best


if __name__ == "__main__":
    main(Path(sys.argv[1]))

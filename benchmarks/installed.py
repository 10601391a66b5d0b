"""What an installation costs: megabytes on the disk, and the time to import it as a ratio to NumPy's.

Run by `make dist`, with the folder that the wheel was installed to without any extra.
"""

import os
import subprocess
import sys
from pathlib import Path

TURNS = 15


def main(folder: Path) -> None:
    """Print both."""
    sizes = {part.name: size_of(part) for part in folder.iterdir()}
    own = sum(size for name, size in sizes.items() if name.startswith("privhp"))
    print(f"installed: {sum(sizes.values()) / 1e6:.0f} MB with NumPy, {own / 1e6:.1f} MB without")
    nothing, numpy, both = times_of(folder, ["0", "import numpy", "import numpy; from privhp import Plan, Summary"])
    ratio, more = (both - nothing) / (numpy - nothing), 1000 * (both - numpy)
    print(f"imported:  {ratio:.2f} times as long as NumPy alone, {more:.0f} ms of this processor more")


def size_of(part: Path) -> int:
    """Bytes of a file or a folder."""
    return sum(path.lstat().st_size for path in (part, *part.rglob("*")))


def times_of(folder: Path, scripts: list[str]) -> list[float]:
    """Seconds of the processor, which others that are busy do not change; the best of interleaved runs."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = str(folder.resolve())
    best = [float("inf")] * len(scripts)
    for _ in range(TURNS):
        for place, script in enumerate(scripts):
            command = [sys.executable, "-c", f"{script}; import time; print(time.process_time())"]
            run = subprocess.run(command, env=environment, capture_output=True, check=True)
            best[place] = min(best[place], float(run.stdout))
    return best


if __name__ == "__main__":
    main(Path(sys.argv[1]))

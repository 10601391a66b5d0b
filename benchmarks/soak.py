"""Long runs, in which memory must stay flat and no record may be lost.

    python -m benchmarks.soak stream 1e9      # records of CSV through a pipe into `privhp fit -`
    python -m benchmarks.soak fits 1e4        # fits of small files in one process
    python -m benchmarks.soak sample 1e8 csv  # rows that `privhp sample` writes to a file

Prints one line. Memory is the peak of the resident set, with interpreter and libraries. Its growth is that from a tenth
of the run to the whole. The count of a stream is that of its release, and is noisy.
"""

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

import privhp as hp

PERIOD = 0.05
"""Seconds between two looks at the memory of a process."""
MAX_GROWTH = 32.0
"""Megabytes by which memory may grow: allocators keep some, and so do the caches of libraries."""
DOMAIN = hp.Interval(0, 1000)
LINES = 10**5
FORMATS = ("csv", "csv.gz", "csv.zst", "ndjson", "parquet", "arrow", "npy")


def soak_stream(records: int) -> str:
    """Write records to a pipe that `privhp fit -` reads."""
    values = np.random.default_rng(0).gamma(2, 20, LINES)
    block = "".join(f"{value:.3f}\n" for value in values).encode()

    def run(records: int, folder: Path) -> float:
        plan = ["--domain", "interval:0:1000", "--epsilon", "1", "--expected-records", str(records)]
        command = ["fit", "-", *plan, "-o", str(folder / f"{records}.privhp"), "--quiet"]
        with start(command, stdin=subprocess.PIPE) as process:
            feeding = threading.Thread(target=feed, args=(process.stdin, block, records))
            feeding.start()
            peak = wait(process)
            feeding.join()
        return peak

    with tempfile.TemporaryDirectory() as name:
        begun, folder = time.perf_counter(), Path(name)
        memory = describe_growth(run(records // 10, folder), run(records, folder))
        totals = {size: hp.load(folder / f"{size}.privhp").total for size in (records // 10, records)}
    if any(abs(total - size) > 1000 for size, total in totals.items()):
        raise AssertionError("records were lost or counted twice")
    return f"{records:,} records, {totals[records]:,.0f} counted; {memory}; {time.perf_counter() - begun:,.0f} s"


def feed(pipe: BinaryIO, block: bytes, records: int) -> None:
    """Write a header, and a block of lines as often as needed."""
    with pipe:
        pipe.write(b"value\n")
        for _ in range(records // LINES):
            pipe.write(block)


def soak_fits(fits: int) -> str:
    """Fit a small file again and again in this process, in one pass and in three."""
    plans = [hp.Plan.auto(DOMAIN, epsilon=1, expected_records=1e5, memory="16 KiB", passes=passes) for passes in (1, 3)]
    begun, early = time.perf_counter(), 0.0
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "data.csv"
        path.write_text("value\n" + "".join(f"{value:.3f}\n" for value in np.random.default_rng(0).gamma(2, 20, 2000)))
        for number in range(fits):
            hp.fit(path, plan=plans[number % 2]).sample(10)
            early = peak_of("self") if number == fits // 10 else early
    memory = describe_growth(early, peak_of("self"))
    files, threads = len(list(Path("/proc/self/fd").iterdir())), threading.active_count()
    if files > 20 or threads > 1:
        raise AssertionError("files or threads are left open")
    return f"{fits:,} fits; {memory}; {files} open files at the end; {time.perf_counter() - begun:,.0f} s"


def soak_sample(rows: int, ending: str) -> str:
    """Sample rows to a file, and count them."""

    def run(rows: int, release: Path, path: Path) -> float:
        with start(["sample", str(release), "-n", str(rows), "-o", str(path), "--force", "--quiet"]) as process:
            peak = wait(process)
        if count_rows(path, ending) != rows:
            raise AssertionError("the file has another number of rows")
        return peak

    with tempfile.TemporaryDirectory() as name:
        release, path = Path(name) / "a.privhp", Path(name) / f"sample.{ending}"
        records = np.random.default_rng(0).gamma(2, 20, 10**5)
        hp.save(hp.fit(records, DOMAIN, epsilon=1, expected_records=1e5), release)
        begun = time.perf_counter()
        memory = describe_growth(run(rows // 10, release, path), run(rows, release, path))
        size = path.stat().st_size
    return f"{rows:,} rows, {size / 1e9:.2f} GB; {memory}; {time.perf_counter() - begun:,.0f} s"


def start(command: list[str], stdin: int | None = None) -> "subprocess.Popen[bytes]":
    """Start a command of privhp."""
    return subprocess.Popen([sys.executable, "-m", "privhp", *command], stdin=stdin)


def wait(process: "subprocess.Popen[bytes]") -> float:
    """Wait for the end of a process; its peak memory in megabytes."""
    peak = 0.0
    while process.poll() is None:
        peak = peak_of(process.pid) or peak
        time.sleep(PERIOD)
    if process.returncode != 0:
        raise AssertionError(f"the command ended with code {process.returncode}")
    return peak


def peak_of(process: int | str) -> float:
    """Peak of the resident set of a process in megabytes; 0 once it has ended."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), 0.0)


def describe_growth(early: float, late: float) -> str:
    """Peak and growth of memory in words; raises if it is not flat."""
    growth = max(late - early, 0.0)
    if growth > MAX_GROWTH:
        raise AssertionError(f"memory is not flat: it grows by {growth:.0f} MB")
    return f"peak {late:.0f} MB, growth {growth:.1f} MB"


def count_rows(path: Path, ending: str) -> int:
    """Number of rows of a file, as a reader other than that of privhp counts them."""
    import pyarrow as pa
    from pyarrow import parquet

    if ending == "npy":
        return int(np.load(path, mmap_mode="r").shape[0])
    if ending == "parquet":
        return int(parquet.read_metadata(path).num_rows)
    if ending == "arrow":
        with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
            return sum(reader.get_batch(number).num_rows for number in range(reader.num_record_batches))
    with pa.input_stream(str(path), compression="detect") as stream:
        lines = sum(piece.count(b"\n") for piece in read_pieces(stream))
    return lines - ending.startswith("csv")


def read_pieces(stream: BinaryIO) -> Iterator[bytes]:
    """All bytes of a stream, in pieces."""
    while piece := stream.read(2**24):
        yield piece


RUNS: dict[str, Callable[..., str]] = {"stream": soak_stream, "fits": soak_fits, "sample": soak_sample}

if __name__ == "__main__":
    kind, size, *formats = sys.argv[1:]
    print(RUNS[kind](int(float(size)), *formats))

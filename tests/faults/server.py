"""Commands in forked processes, with a fault or a signal at a chosen moment; requests and answers are lines of JSON.

There is no noise, and samples have all rows, so the release shows which rows each pass counted. Batches are small.
"""

import contextlib
import ctypes
import gc
import json
import os
import pkgutil
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import privhp.collect.ingest
import privhp.collect.noisy_counters
import privhp.io.sources.selection
import privhp.io.sources.text_records
from privhp.cli import main
from privhp.cli.commands import build_parser
from privhp.collect.ingest import CheckpointedIngestion, Ingestion
from privhp.collect.summary import Summary
from privhp.core.cells import Counts


class Watch:
    """Notes what a fit does, sends its process a signal at one event, and logs the count of each complete pass."""

    def __init__(self, event: str, number: int, log: str | None) -> None:
        self.event, self.number, self.log = event, number, log
        self.batches = self.saves = self.place = 0

    def note(self, event: str) -> None:
        if event == self.event:
            os.kill(os.getpid(), self.number)

    def install(self) -> None:
        run_pass, update, save = Ingestion._run_pass, Summary.update, CheckpointedIngestion.save

        def noted_pass(ingestion: Any, should_stop: Any) -> bool:
            self.place, self.batches = ingestion.number, 0
            done = run_pass(ingestion, should_stop)
            if done and self.log:
                counts = ingestion.summary.state()[-ingestion.summary.plan.leaves :]
                with Path(self.log).open("a") as log:
                    log.write(json.dumps([self.place, int(counts.sum())]) + "\n")
            return done

        def noted_update(summary: Any, records: Any, **options: Any) -> None:
            self.batches += 1
            self.note(f"before batch {self.batches} of pass {self.place}")
            update(summary, records, **options)
            self.note(f"after batch {self.batches} of pass {self.place}")

        def noted_save(ingestion: Any) -> None:
            self.saves += 1
            self.note(f"before save {self.saves}")
            self.note(f"before saving batch {self.batches} of pass {self.place}")
            save(ingestion)
            self.note(f"after saving batch {self.batches} of pass {self.place}")
            self.note(f"after save {self.saves}")

        Ingestion._run_pass = noted_pass  # type: ignore[method-assign]  # observed by the test
        Summary.update = noted_update  # type: ignore[method-assign]  # observed by the test
        CheckpointedIngestion.save = noted_save  # type: ignore[method-assign]  # observed by the test


def no_noise(size: int, *, scale: Any) -> Counts:
    return np.zeros(size, dtype=np.int64)


def all_rows(rows: int, *, rate: Any) -> Any:
    return np.arange(rows)


def run(request: dict[str, Any], shim: Any, output: int) -> int:
    """Run a command in this process and return its exit code."""
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(request["folder"])
    privhp.io.sources.text_records._BLOCK = request["block"]
    privhp.io.sources.selection.MAX_ROWS = privhp.io.sources.selection.MIN_ROWS = request["rows"]
    Watch(*request["event"], request["log"]).install()
    if shim is not None:
        shim.faults_begin(os.fsencode(os.path.realpath(request["folder"])), *request["fault"])
    return main(request["arguments"])


def serve() -> None:
    """Answer each request by the exit code and the output of its process, and by its calls and its fault."""
    shim = ctypes.CDLL(None) if "LD_PRELOAD" in os.environ else None
    if shim is not None:
        shim.faults_begin.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.c_int, ctypes.c_int]
        shim.faults_calls.restype, shim.faults_fired.restype = ctypes.c_long, ctypes.c_char_p
    privhp.collect.noisy_counters.discrete_laplace = no_noise  # type: ignore[assignment]  # counts are compared exactly
    privhp.collect.ingest.poisson_sample = all_rows
    for module in pkgutil.walk_packages(privhp.__path__, "privhp."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):  # compiled kernels, where there is no compiler
                import_module(module.name)
    build_parser()  # shared with the forked processes, like the modules
    gc.freeze()
    for line in sys.stdin:
        with tempfile.TemporaryFile() as output:
            child = os.fork()
            if child == 0:
                sys.exit(run(json.loads(line), shim, output.fileno()))
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            output.seek(0)
            answer = {"code": code, "output": output.read().decode(), "calls": 0, "fired": ""}
        if shim is not None:
            answer |= {"calls": shim.faults_calls(), "fired": shim.faults_fired().decode()}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()

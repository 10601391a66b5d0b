"""`privhp fit --checkpoint --resume`, killed in any pass over any format: each row counts once in each pass.

By default a fit is killed once in each pass, with --slow at every batch and every checkpoint.
"""

import gzip
import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import privhp as hp
from faults.fits import Commands, Event, serve_commands
from privhp.release import Release

ROWS, BATCH = 3000, 500
FIT = ["--plan", "plan", "-o", "out", "--checkpoint", "state", "--every", "0s", "--resume"]
DOMAIN = hp.Table({"n": hp.Integers(0, 65535)})
PLANS = {1: hp.Plan(DOMAIN, epsilon=1, budgets={8: 1}, exact_depth=8)} | {
    passes: hp.Plan.auto(DOMAIN, epsilon=1, expected_records=4e4, memory="16 KiB", passes=passes) for passes in (2, 3)
}
"""A plan for each number of passes."""
MOMENTS = ["before batch {}", "after batch {}", "after saving batch {}"]
FORMATS = ["csv", "csv.gz", "csv.zst", "ndjson", "ndjson.gz", "parquet", "arrow", "arrows", "npy"]


def write_file(path: Path, kind: str) -> None:
    """Write the numbers in a format."""
    numbers = np.random.default_rng(0).lognormal(6, 1, ROWS).astype(np.int64)
    table = pa.table({"n": numbers})
    csv = "n\n" + "".join(f"{number}\n" for number in numbers)
    ndjson = "".join(f'{{"n": {number}}}\n' for number in numbers)
    match kind:
        case "csv":
            path.write_text(csv)
        case "csv.gz":
            path.write_bytes(gzip.compress(csv.encode()))
        case "csv.zst":
            with pa.output_stream(path, compression="zstd") as stream:
                stream.write(csv.encode())
        case "ndjson":
            path.write_text(ndjson)
        case "ndjson.gz":
            path.write_bytes(gzip.compress(ndjson.encode()))
        case "parquet":
            parquet.write_table(table, path, row_group_size=700)
        case "arrow":
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table, max_chunksize=700)
        case "arrows":
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
                writer.write_table(table, max_chunksize=700)
        case "npy":
            np.save(path, numbers)


@pytest.fixture(scope="module")
def commands() -> Iterator[Commands]:
    with serve_commands(block=4 * BATCH, rows=BATCH) as served:
        yield served


class Run:
    """A fit of a file with a checkpoint, and the counts of its complete passes."""

    def __init__(self, commands: Commands, folder: Path, kind: str, passes: int) -> None:
        self._commands, self._folder, self._log = commands, folder / "run", folder / "passes"
        self._folder.mkdir()
        self._passes, name = passes, f"data.{kind}"
        write_file(self._folder / name, kind)
        self._arguments = ["fit", name, *FIT]
        (self._folder / "plan").write_text(json.dumps(PLANS[passes].spec()))
        self._before = (self._folder / name).read_bytes()
        self.expected = self.finish()

    def kill(self, moment: str) -> bool:
        """Kill the fit, or its continuation, at a moment; whether the moment came."""
        done = self._commands.run(
            self._folder, *self._arguments, event=Event(moment, int(signal.SIGKILL)), log=self._log
        )
        assert done.code in (0, -signal.SIGKILL), done
        return done.code != 0

    def finish(self) -> Release:
        """Continue to the end: each pass has counted each row once. The release is removed."""
        done = self._commands.run(self._folder, *self._arguments, log=self._log)
        assert done.code == 0, done
        counts = [json.loads(line) for line in self._log.read_text().splitlines()]
        assert dict(map(tuple, counts)) == dict.fromkeys(range(self._passes), ROWS)
        data, output, _ = sorted(path for path in self._folder.iterdir())
        assert data.read_bytes() == self._before
        release = hp.load(output).release
        output.unlink()
        self._log.unlink()
        return release


@pytest.mark.parametrize(("kind", "passes"), [("csv", 1), ("parquet", 1), *((kind, 3) for kind in FORMATS)])
def test_killed_once_in_each_pass(commands: Commands, tmp_path: Path, kind: str, passes: int) -> None:
    run = Run(commands, tmp_path, kind, passes)
    for number in range(passes):
        moment = MOMENTS[(number + FORMATS.index(kind)) % len(MOMENTS)].format(3)
        assert run.kill(f"{moment} of pass {number}")
    assert run.finish() == run.expected


@pytest.mark.slow
@pytest.mark.parametrize("passes", PLANS)
@pytest.mark.parametrize("kind", FORMATS)
def test_killed_at_every_batch(
    commands: Commands, tmp_path: Path, kind: str, passes: int, record_property: Callable[[str, object], None]
) -> None:
    run, kills = Run(commands, tmp_path, kind, passes), 0
    for number in range(passes):
        for moment in MOMENTS:
            batch = 1
            while run.kill(f"{moment.format(batch)} of pass {number}"):
                kills, batch = kills + 1, batch + 1
                assert run.finish() == run.expected
            assert batch > 4
            (tmp_path / "run" / "out").unlink()
    record_property("kills", kills)

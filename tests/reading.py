"""Checks of ingestion and of the CSV scanner that raise AssertionError."""

import csv
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from privhp import (
    Categories,
    CsvDialect,
    FileError,
    Integers,
    Interval,
    Nullable,
    Plan,
    StateError,
    Summary,
    Table,
)
from privhp.collect.ingest import CheckpointedIngestion
from privhp.io.sources import open_source
from silent import assert_silent
from texts import LINES as BY_LINES

LINES = 300
PLAN = Plan(Integers(0, 255), epsilon=1, budgets={8: 1}, exact_depth=8)


def resumed_ingestion_counts_each_record_once() -> None:
    """An ingestion that is stopped and resumed after any batch counts each record once."""
    values = np.random.default_rng(0).integers(0, 256, LINES)
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch("privhp.io.sources.text_records._BLOCK", 100),
        mock.patch(
            "privhp.collect.noisy_counters.discrete_laplace", lambda size, *, scale: np.zeros(size, dtype=np.int64)
        ),
    ):
        data, state = Path(folder) / "data.csv", Path(folder) / "state"
        data.write_text("n\n" + "".join(f"{value}\n" for value in values))
        for stride in (1, 2, 5):
            done, runs = False, 0
            while not done:
                source = open_source(data, domain=PLAN.domain)
                run = CheckpointedIngestion(PLAN, source, state, every=0, resume=runs > 0)
                left = iter(range(stride))
                done = run.run(lambda _, left=left: next(left, None) is None)
                counts = run.summary.state()
                run.close(remove=done)
                runs += 1
                assert runs < 50, "the resumed ingestion does not end"
            assert runs > 1
            assert np.array_equal(counts, np.bincount(values, minlength=256)), "a record is lost or counted twice"


def changed_files_are_never_counted() -> None:
    """A file that takes the place of another one, or grows while it is read, adds no record."""
    with tempfile.TemporaryDirectory() as folder, mock.patch("privhp.io.sources.text_records._BLOCK", 100):
        one, two = Path(folder) / "1.csv", Path(folder) / "2.csv"
        for change in (lambda: one.replace(two), lambda: one.write_text(one.read_text() * 2)):
            for path in (one, two):
                path.write_text("n\n" + "1\n" * LINES)
                os.utime(path, (0, 0))
            rows = 0
            with suppress(FileError):
                for number, batch in enumerate(open_source([one, two], domain=PLAN.domain).batches()):
                    rows += len(batch.records)
                    if number == 0:
                        change()
            assert rows <= 2 * LINES - 10, "records of a changed file are counted"


def interrupted_update_is_never_saved() -> None:
    """After an interrupt between counting a batch and noting its position, nothing is saved."""
    update, batches = Summary.update, iter(range(2))

    def interrupted(self: Summary, records: Any) -> None:
        update(self, records)
        if next(batches, None) is None:
            raise KeyboardInterrupt

    with tempfile.TemporaryDirectory() as folder, mock.patch("privhp.io.sources.text_records._BLOCK", 100):
        data, state = Path(folder) / "data.csv", Path(folder) / "state"
        data.write_text("n\n" + "7\n" * LINES)
        ingestion = CheckpointedIngestion(PLAN, open_source(data, domain=PLAN.domain), state)
        with mock.patch.object(Summary, "update", interrupted), suppress(KeyboardInterrupt):
            ingestion.run()
        before = state.read_bytes()
        with suppress(StateError):
            ingestion.save()
        assert state.read_bytes() == before, "counters are saved without their position"
        ingestion.close(remove=True)


def csv_record_changes_its_own_row() -> None:
    """In a file of a CSV writer, a record with any text in it changes no other row, and counts once."""
    domain = Table(a=Integers(0, 255), b=Categories(["x"], other="y"))
    hostile = ["x", '"', '""', "\n", "1,x\n2,x\n" * 20, '1,"x\n', '",\n"', "a,b,c", "x" * 2000, "1,x\n" * 300_000]
    with tempfile.TemporaryDirectory() as folder, assert_silent():
        codes = []
        for text in hostile:
            path = Path(folder) / "data.csv"
            with path.open("w", newline="") as file:
                csv.writer(file).writerows([("a", "b"), (1, "x"), (2, "y"), (3, text), (4, "x"), (5, "\n")])
            batches = open_source(path, domain=domain).batches()
            found = [code for batch in batches for code in domain.encode(batch.records, level=domain.depth).tolist()]
            assert len(found) == 5, "a record is more or less than a row"
            codes.append(found[:2] + found[3:])
    assert all(other == codes[0] for other in codes), "a record changes the row of another"
    assert all(code < 2**domain.depth for code in codes[0])


def lines_of_dialects_are_independent() -> None:
    """In every dialect a line is read the same alone and among other lines, whatever it looks like."""
    domain = Table(a=Nullable(Interval(0, 10_000)), b=Nullable(Categories(["x", "NA", "\xfc"], other="y")))
    texts = [
        "1;x",
        "2,5;x",
        "1.234,5;x",
        "NA;NA",
        "-;x",
        "3.5,x",
        "4\tx",
        "5|x",
        "\xa37;x",
        "6;\xfc",
        ";",
        "x;1",
        "7;x;x",
        "\ufeff8;x",
    ]
    dialects = [
        CsvDialect(records="lines", delimiter=";"),
        CsvDialect(records="lines", delimiter=";", decimal=",", nulls=["-"]),
        CsvDialect(records="lines", delimiter=";", decimal=",", thousands=".", currency="\xa3", encoding="cp1252"),
        CsvDialect(records="lines", delimiter=";", encoding="utf-16-le"),
        CsvDialect(records="lines", delimiter=";", encoding="utf-16-be"),
    ]
    with tempfile.TemporaryDirectory() as folder, assert_silent():
        for dialect in dialects:
            codes = []
            for chosen in [texts, texts[::-1], *([text] for text in texts)]:
                path = Path(folder) / "data.csv"
                path.write_bytes("".join(f"{text}\n" for text in chosen).encode(dialect.encoding, "ignore"))
                batches = open_source(path, domain=domain, header=False, csv=dialect).batches()
                codes.append([code for own in batches for code in domain.encode(own.records, level=20).tolist()])
            alone = [code for own in codes[2:] for code in own]
            assert len(alone) == len(texts), "a line is more or less than a row"
            assert codes[0] == alone == codes[1][::-1], "a line changes how another is read"


def scanner_reads_lines_independently() -> None:
    """A line is read the same alone and among other lines."""
    domain = Table(a=Nullable(Integers(0, 255)), b=Nullable(Integers(0, 255)))
    lines = [b"1,2", b'"3",4', b"5", b"6,7,8", b" 9 ,10\r", b"1_1,2", b"12.0,13", b"x,1", b'"1,2', b"", b"1,x", b"14,"]
    with tempfile.TemporaryDirectory() as folder, assert_silent():
        codes = []
        for chosen in [lines, *([line] for line in lines)]:
            path = Path(folder) / "data.csv"
            path.write_bytes(b"".join(line + b"\n" for line in chosen))
            batches = open_source(path, domain=domain, header=False, csv=BY_LINES).batches()
            codes.append(
                [code for batch in batches for code in domain.encode(batch.records, level=domain.depth).tolist()]
            )
    assert codes[0] == [code for alone in codes[1:] for code in alone], "a line changes how another is read"
    inside = [code < 2**domain.depth for code in codes[0]]
    assert inside == [True, True, False, True, True, False, True, False, False, False, False, True]

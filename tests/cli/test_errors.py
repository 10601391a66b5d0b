"""Errors of the command line: one line that says what is wrong and what to do."""

import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from cli.running import spawn
from commands import SMALL_DATA

PLAN = ["--epsilon", "2", "--expected-records", "1e3"]
FARE = ["--columns", "fare", "--domain", "interval:0:1000", *PLAN]
OUT = ["-o", "out.privhp"]


@pytest.fixture(autouse=True)
def data(tmp_path):
    (tmp_path / "trips.csv").write_text("fare,kind\n5,a\n7,b\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "paid.toml").write_text('[columns.paid]\nkind = "boolean"\n')
    (tmp_path / "folder.csv").mkdir()
    parquet.write_table(pa.table({"fare": [5.0], "kind": ["a"]}), tmp_path / "trips.parquet")
    (tmp_path / "renamed.csv").write_bytes((tmp_path / "trips.parquet").read_bytes())
    (tmp_path / "out.txt").write_text("precious")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        # missing or invalid bounds
        (["fit", "trips.csv", "--columns", "fare", "--domain", "interval", *PLAN, *OUT], "expected interval:LOW:HIGH"),
        (["fit", "trips.csv", "--domain", "fare=interval:0", *PLAN, *OUT], "column 'fare': expected interval:LOW:HIGH"),
        (["fit", "trips.csv", *PLAN, *OUT], "the domain of the records is missing; give --domain, or a domain file"),
        # unknown domains
        (["plan", "--domain", "intervall:0:1", *PLAN], "expected one of interval, integers, box"),
        (["plan", "--domain", "fare=number:0:1", *PLAN], "column 'fare': expected one of interval, integers, box"),
        (["plan", "--domain", "paid=boolean", *PLAN], "got 'boolean'; write categories:false,true"),
        (["plan", "--domain", "paid.toml", *PLAN], 'write kind = "categories" and values = [false, true]'),
        # misspelt names
        (["fti"], "invalid choice: 'fti'; did you mean fit? see privhp --help"),
        (["fit", "trips.csv", "--csv", "lnes"], "invalid choice: 'lnes'; did you mean lines? see privhp fit --help"),
        (["fit", "--espilon", "1"], "unrecognized arguments: --espilon; did you mean --epsilon? see privhp fit"),
        (["fit", "--bogus"], "unrecognized arguments: --bogus; see privhp fit --help"),
        # wrong columns
        (["fit", "trips.csv", "--columns", "Fare", *FARE[2:], *OUT], "name a column 'Fare', got no such name"),
        (["fit", "trips.parquet", "--columns", "fair", *FARE[2:], *OUT], "did you mean fare?"),
        (
            ["fit", "trips.parquet", "--domain", "fare=time:2020-01-01:2020-12-31", *PLAN, *OUT],
            "column 'fare': expected times or text, since it is declared as time, got double; declare it as interval",
        ),
        (
            ["fit", "trips.parquet", "--domain", "fare=categories:cheap,dear", *PLAN, *OUT],
            "column 'fare': expected text, since it is declared as categories, got double; declare it as interval",
        ),
        (
            ["fit", "trips.csv", "--columns", "fare,kind", *FARE[2:], *OUT],
            "has values per record, 1, got 2: fare, kind",
        ),
        # wrong files
        (["fit", "no.csv", *FARE, *OUT], "cannot use no.csv: No such file or directory; check its name"),
        (["fit", "no.csv", *FARE], "cannot use no.csv: No such file or directory; check its name"),
        (["fit", "trips.csv", *FARE], "-o FILE is missing; name the file to write"),
        (["fit", "folder.csv", *FARE, *OUT], "folder.csv is a folder; give its files, such as 'folder.csv/**/*.csv'"),
        (
            ["fit", "empty.csv", *FARE, *OUT],
            "the file is empty; expected a first line with the column names",
        ),
        (["fit", "renamed.csv", *FARE, *OUT], "got a Parquet file; give it a name that ends in .parquet"),
        (["fit", "trips.csv", "--format", "parquet", *FARE, *OUT], "trips.csv: expected a complete Parquet file"),
        (["fit", "no/*.csv", *FARE, *OUT], "no file matches no/*.csv; check the pattern"),
        (["sample", "trips.csv", "-o", "s.csv"], "trips.csv: this is not a privhp file"),
        (["sample", "folder.csv", "-o", "s.csv"], "cannot use folder.csv: Is a directory"),
        (["sample", "no.privhp", "-o", "s.csv"], "cannot use no.privhp: No such file"),
        (["report", "empty.csv", "-o", "r.html"], "empty.csv: this is not a privhp file"),
        (["query", "empty.csv", "--heavy-hitters", "0.1"], "empty.csv: this is not a privhp file"),
        (["inspect", "folder.csv"], "cannot use folder.csv: Is a directory"),
        (["merge", "no", "folder.csv", *OUT], "cannot use no: No such file"),
        (["plan", "--domain", "folder.toml", *PLAN], "cannot use folder.toml: No such file"),
        # outputs
        (["fit", "trips.csv", *FARE, "-o", "out.txt"], "out.txt exists; choose another name"),
        (["fit", "trips.csv", *FARE, "-o", "folder.csv"], "folder.csv looks like a data file"),
        (
            ["fit", "trips.csv", *FARE, "-o", "no/out.privhp"],
            "there is no folder no to write out.privhp in",
        ),
        (["init", "no/*.csv", "-o", "paid.toml"], "no file matches no/*.csv; check the pattern"),
        (["init", "trips.csv", "--header", "-o", "paid.toml"], "paid.toml exists; choose another name"),
        (["plan", "trips.csv", *PLAN], "trips.csv is no domain file, whose name ends in .toml; a plan reads no data"),
        (["plan", "paid.toml", "--domain", "ipv4", *PLAN], "argument --domain: not allowed with argument file"),
        (["init", "trips.csv", "-o", "folder.toml/x.toml"], "there is no folder folder.toml to write x.toml in"),
        # values
        (["plan", "--domain", "ipv4", "--epsilon", "small", *PLAN[2:]], "expected --epsilon as a number"),
        (
            ["plan", "--domain", "ipv4", *PLAN[:2], "--expected-records", "lots"],
            "expected a number such as 1e6, got 'lots'",
        ),
    ],
    ids=lambda value: None,
)
def test_errors(refused, tmp_path, arguments, says):
    before = sorted(tmp_path.iterdir())
    assert says in refused(*arguments)
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "out.txt").read_text() == "precious"


def test_header_of_text_unquoted(refused, tmp_path):
    """The first line of a text file may be a record."""
    (tmp_path / "bare.csv").write_text("fares,jane\n5,b\n")
    line = refused("fit", "bare.csv", *FARE, *OUT)
    assert "did you mean" not in line
    assert "fares" not in line.replace("fares.privhp", "")


@pytest.mark.parametrize("name", ["trips.parquet", "trips.arrow", "trips.csv.zst"])
def test_missing_pyarrow(refused, tmp_path, monkeypatch, name):
    for part in ("", ".parquet", ".ipc"):
        monkeypatch.setitem(sys.modules, f"pyarrow{part}", None)
    (tmp_path / name).write_bytes(b"whatever")
    line = refused("fit", name, *FARE, *OUT)
    assert "needs pyarrow, which is not installed" in line
    assert "pip install 'privhp[io]'" in line


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file(refused, tmp_path):
    (tmp_path / "trips.csv").chmod(0)
    assert "cannot use trips.csv: Permission denied; check its name and permissions" in refused(
        "fit", "trips.csv", *FARE, *OUT
    )


def test_note_on_text_in_numeric_column(run, tmp_path):
    """Text may hold numbers, so it is read. The note depends on the schema only, and is printed once."""
    notes = []
    for number, texts in enumerate((["12.5", "7"], ["cheap", "dear"])):
        for part in ("a", "b"):
            parquet.write_table(pa.table({"fare": texts}), tmp_path / f"{number}{part}.parquet")
        code, out, err = run("fit", f"{number}*.parquet", *FARE, "-o", f"{number}.privhp")
        assert code == 0
        assert SMALL_DATA.sub("", err) == ""
        assert out.count("note: ") == 1
        notes.append(out.splitlines()[0])
        assert run("fit", f"{number}*.parquet", *FARE, "-o", f"{number}.privhp", "--force", "--quiet").out == ""
    assert notes[0] == notes[1]
    assert notes[0].startswith("note: column 'fare' is text (string) and declared as interval: ")
    assert notes[0].endswith("or convert it to numbers first, such as with pandas.to_numeric")


def test_note_on_whole_numbers_in_interval(run, tmp_path):
    """By the type of the column alone."""
    parquet.write_table(pa.table({"fare": [12, 7] * 500}), tmp_path / "whole.parquet")
    code, out, err = run("fit", "whole.parquet", *FARE, "-o", "whole.privhp")
    assert (code, err, out.count("note: ")) == (0, "", 1)
    assert out.startswith("note: column 'fare' holds whole numbers (int64) and is declared as interval: ")
    code, out, err = run("fit", "whole.parquet", *FARE, "-o", "json.privhp", "--json")
    assert (code, err.count("note: "), json.loads(out)["written"]) == (0, 1, True)
    assert run("learn", "whole.parquet", *FARE, "-o", "whole.json").out.count("note: ") == 1
    parquet.write_table(pa.table({"fare": [12.0, 7.0]}), tmp_path / "real.parquet")
    assert "note: " not in run("fit", "real.parquet", *FARE, "-o", "real.privhp").out


def test_note_to_closed_pipe(tmp_path):
    parquet.write_table(pa.table({"fare": ["12.5", "7"] * 500}), tmp_path / "texts.parquet")
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "privhp", "fit", "texts.parquet", *FARE, *OUT]
    done = subprocess.run(command, cwd=tmp_path, stdout=writing, stderr=subprocess.PIPE, check=False, timeout=60)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "out.privhp").exists()


def test_empty_parquet_file(run, tmp_path):
    """That a file has no records is confidential too."""
    parquet.write_table(pa.table({"fare": np.zeros(0)}), tmp_path / "none.parquet")
    assert run("fit", "none.parquet", *FARE, *OUT).code == 0


def test_quiet(run, tmp_path):
    few = [*FARE[:4], "--epsilon", "1000", "--expected-records", "2"]
    assert run("fit", "trips.csv", *few, *OUT, "--quiet") == (0, "", "")
    assert run("sample", "out.privhp", "-n", "5", "-o", "s.csv", "--quiet") == (0, "", "")
    assert run("report", "out.privhp", "-o", "r.html", "--quiet") == (0, "", "")
    assert run("init", "trips.csv", "--header", "--quiet") == (0, "", "")


def test_standard_error_without_errors(tmp_path):
    """Progress is written to a terminal only."""
    (tmp_path / "trips.csv").write_text("fare\n" + "5\n" * 1000)
    done = spawn("fit", "trips.csv", *FARE, *OUT, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    done = spawn("compare", "trips.csv", "out.privhp", "--columns", "fare", folder=tmp_path, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    "command",
    [
        "query pipe --quantile 0.5",
        "sample pipe -n 1 -o -",
        "inspect pipe",
        "merge pipe pipe -o all.privhp",
        "fit a.csv --plan pipe -o out.privhp",
        "fit a.csv --domain interval:0:1 --epsilon 1 --expected-records 1e3 --partition pipe -o out.privhp",
    ],
)
def test_pipe_in_place_of_a_file(refused, tmp_path, command):
    """Nobody writes to the pipe, so that whoever waits for it never ends."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a.csv").write_text("x\n1\n")
    assert "pipe: this is a pipe or a device; write its content to a file first" in refused(*command.split())

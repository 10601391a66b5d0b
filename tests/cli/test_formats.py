"""`privhp fit` and `sample` with all formats, and their errors."""

import gzip
import json
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

import privhp as hp
from cli.running import PLAN, noisy_count, spawn
from privhp.answers.generator import Reading
from privhp.answers.low_counts import describe_low_count
from privhp.cli.messages import speak_options
from privhp.io.sources.files import format_of

FIT = ["--columns", "fare", *PLAN, "-o", "out.privhp"]


def write(folder, name, values):
    """Write arbitrary values as a file with the column fare."""
    texts = [json.dumps({"fare": value}, default=str) if not isinstance(value, bytes) else None for value in values]
    raw = [value if isinstance(value, bytes) else str(value).encode() for value in values]
    path = folder / name
    if name.endswith(".ndjson"):
        path.write_bytes(
            b"".join((text.encode() if text else value) + b"\n" for text, value in zip(texts, raw, strict=True))
        )
    elif ".csv" in name:
        content = b"fare\n" + b"".join(value.replace(b"\n", b"") + b"\n" for value in raw)
        packed = {".gz": gzip.compress, ".zst": lambda data: pa.Codec("zstd").compress(data, asbytes=True)}
        path.write_bytes(packed.get(path.suffix, bytes)(content))
    else:
        table = pa.table({"fare": pa.array(raw, pa.binary()).view(pa.string())})
        if name.endswith(".parquet"):
            parquet.write_table(table, path)
        else:
            with ipc.new_file(path, table.schema) as writer:
                writer.write_table(table)


NAMES = ["a.csv", "a.csv.gz", "a.csv.zst", "a.ndjson", "a.parquet", "a.arrow"]
INVALID = [
    "",
    "text",
    "nan",
    "inf",
    -5,
    1e9,
    b"\xff\xfe",
    b'"',
    b'"open',
    b"3\x00",
    b"7" * 2000,
    b"1_0",
    [1, 2],
    None,
    {"a": 1},
]


@pytest.mark.parametrize("name", NAMES)
def test_invalid_values(run, tmp_path, monkeypatch, name):
    good = [float(value) for value in range(1000)]
    mixed = [part for place, value in enumerate(good) for part in (value, INVALID[place % len(INVALID)])]
    said = []
    for folder, values in (("good", good), ("mixed", mixed), ("bad", INVALID * 20)):
        (tmp_path / folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        write(tmp_path / folder, name, values)
        options = ["100" if option == "2" else option for option in FIT]  # of epsilon
        code, out, err = run("fit", name, "--csv", "lines", *options)
        generator = hp.load("out.privhp")
        public = noisy_count(generator)
        declared = ["records", "columns"]
        generator.reading = Reading(formats=[format_of(name)], persons=False, declared=declared)
        low = describe_low_count(generator)
        assert err == ("" if low is None else f"privhp: warning: {speak_options(low)}\n")
        said.append((code, out.replace(public, "")))
        expected = 0 if folder == "bad" else 1000
        assert abs(generator.total - expected) < 30, "the noise has scale 0.2 per level"
    assert said[0] == said[1] == said[2]
    assert said[0][0] == 0


@pytest.mark.parametrize("name", NAMES)
def test_wrong_columns(refused, tmp_path, name):
    write(tmp_path, name, [1.0, 2.0])
    if name.endswith(".ndjson"):
        assert "give them with --columns NAME" in refused("fit", name, *PLAN, "-o", "out.privhp")
        return
    answer = refused("fit", name, "--columns", "fee", *PLAN, "-o", "out.privhp")
    assert f"{name}: expected" in answer
    assert "to name a column 'fee', got no such name" in answer
    assert "fare" not in answer


def test_folders(run, refused, tmp_path):
    """A folder, and a pattern that is not deep enough, are answered by the pattern that matches."""
    (tmp_path / "pq" / "month=1").mkdir(parents=True)
    write(tmp_path / "pq" / "month=1", "a.parquet", [1.0, 2.0])
    (tmp_path / "csv").mkdir()
    (tmp_path / "csv" / "a.csv.gz").touch()
    assert "pq is a folder; give its files, such as 'pq/**/*.parquet'\n" in refused("fit", "pq", *FIT)
    assert "such as 'csv/**/*.csv.gz'\n" in refused("fit", "csv", *FIT)
    line = refused("fit", "pq/*.parquet", *FIT)
    assert "no file matches pq/*.parquet; files in deeper folders match 'pq/**/*.parquet'\n" in line
    assert run("fit", "pq/**/*.parquet", *FIT).code == 0


def test_log_and_json_without_their_options(run, refused, tmp_path):
    """Following the messages leads to a fit."""
    client = '"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"'
    line = f'10.0.0.1 - - [01/May/2024:12:00:00 +0000] "GET / HTTP/1.1" 200 5120 "-" {client}\n'
    (tmp_path / "access.log").write_text(line * 1000)
    fit = ["fit", "access.log", "--domain", "ipv4", "--epsilon", "9", "--expected-records", "1000", "-o", "a.privhp"]
    advice = "choose --csv lines --delimiter space, --no-header, and --columns with column numbers from 1\n"
    for options in ([], ["--columns", "1"]):
        assert advice in refused(*fit, *options)
    assert run(*fit, "--csv", "lines", "--delimiter", "space", "--no-header", "--columns", "1").err == ""
    (tmp_path / "log").write_text('{"fare": 5}\n' * 1000)
    fit = ["fit", "log", "--columns", "fare", "--domain", "interval:0:9", *fit[4:-1], "b.privhp"]
    assert "for one object per line choose --format ndjson\n" in refused(*fit)
    assert run(*fit, "--format", "ndjson").err == ""
    (tmp_path / "log").write_text('[{"fare": 5},\n{"fare": 6}]\n')
    assert 'such as with jq -c ".[]", and choose --format ndjson\n' in refused(*fit, "--force")


def test_errors(refused, tmp_path, monkeypatch):
    write(tmp_path, "a.parquet", [1.0, 2.0])
    parquet.write_table(pa.table({"fare": np.array(["2020-01-01"], dtype="M8[us]")}), tmp_path / "times.parquet")
    (tmp_path / "text.parquet").write_text("fare\n5\n")
    assert "declared as interval, got timestamp[us]; declare it as time, convert" in refused(
        "fit", "times.parquet", *FIT
    )
    assert "text.parquet: expected a complete Parquet file" in refused("fit", "text.parquet", *FIT)
    assert "no file matches *.pq; check the pattern" in refused("fit", "*.pq", *FIT)
    assert "cannot use no.parquet: No such file" in refused("fit", "no.parquet", *FIT)
    assert "cannot come from a pipe; write it to a file first" in refused("fit", "-", "--format", "parquet", *FIT)
    (tmp_path / "same.parquet").hardlink_to(tmp_path / "a.parquet")
    (tmp_path / "link.parquet").symlink_to("a.parquet")
    for again in ("a.parquet", "link.parquet", "same.parquet"):
        assert "each file once" in refused("fit", "a.parquet", again, *FIT)
    assert "out.parquet looks like a data file: .csv" in refused("fit", "a.parquet", *FIT[:-1], "out.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "a.parquet: Parquet needs pyarrow, which is not installed" in refused("fit", "a.parquet", *FIT)
    assert not (tmp_path / "out.privhp").exists()


def test_several_files_to_every_format(run, tmp_path):
    for name in NAMES:
        write(tmp_path, name, range(1000))
    assert run("fit", *NAMES, *FIT).code == 0
    for ending in ("csv", "ndjson", "parquet", "arrow", "npy"):
        name = f"synthetic.{ending}"
        assert run("sample", "out.privhp", "-n", "500", "--seed", "1", "--columns", "fare", "-o", name).code == 0
        columns = [] if ending == "npy" else ["--columns", "fare"]
        again = [
            "--epsilon",
            "100",
            "--domain",
            "interval:0:1000",
            "--expected-records",
            "1e3",
            "-o",
            f"{ending}.privhp",
        ]
        assert run("fit", name, *columns, *again).code == 0
        assert abs(hp.load(f"{ending}.privhp").total - 500) < 30


def test_arrow_pipe(tmp_path):
    table = pa.table({"fare": np.arange(1000.0)})
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=100)
    done = spawn("fit", "-", "--format", "arrow", *FIT, folder=tmp_path, input=sink.getvalue().to_pybytes())
    assert (done.returncode, done.stderr) == (0, b"")
    assert abs(hp.load(tmp_path / "out.privhp").total - 1000) < 500


@pytest.mark.parametrize("command", ["fit", "learn", "compare", "report"])
def test_readings_of_csv(run, refused, release, tmp_path, command):
    """An open quote is refused by default, and is a part of its own line with --csv lines."""
    (tmp_path / "a.csv").write_bytes(b'fare,note\n1,"x"\n2,"open\n' + b"3,x\n" * 500)
    arguments = {
        "fit": ["fit", "a.csv", *FIT],
        "learn": ["learn", "a.csv", "--columns", "fare", *PLAN[:4], "--expected-records", "1e6", "-o", "plan.json"],
        "compare": ["compare", "a.csv", release, "--columns", "fare"],
        "report": ["report", release, "--columns", "fare", "--against", "a.csv", "-o", "NOT-PRIVATE.html"],
    }[command]
    message = refused(*arguments)
    assert message.endswith("if each line is a record, choose --csv lines\n")
    assert not any((tmp_path / name).exists() for name in ("out.privhp", "plan.json", "NOT-PRIVATE.html"))
    assert run(*arguments, "--csv", "lines").code == 0


def test_quoted_line_breaks(run, tmp_path):
    """A record with line breaks counts once."""
    (tmp_path / "a.csv").write_bytes(b"fare,note\n" + b'1,"a\n9,9\n9,9"\n' * 1000)
    for reading, expected in {"rfc4180": 1000, "lines": 2000}.items():
        run("fit", "a.csv", *FIT, "--csv", reading, "--force")
        assert hp.load(tmp_path / "out.privhp").total == pytest.approx(expected, abs=200)


def test_names_of_folders(refused, tmp_path):
    """Of a partitioned data set: other programs read them as columns."""
    folder = tmp_path / "hours" / "day=1"
    folder.mkdir(parents=True)
    parquet.write_table(pa.table({"n": [1.0]}), folder / "a.parquet")
    plan = ["--epsilon", "1", "--expected-records", "10", "-o", "out.privhp"]
    line = refused("fit", "hours/day=1/*.parquet", "--domain", "day=integers:1:31", *plan)
    assert (
        "hours/day=1/a.parquet: the folder day=... is no column: names of folders are not read; leave out day" in line
    )
    other = refused("fit", "hours/day=1/*.parquet", "--domain", "month=integers:1:12", *plan)
    assert "to name a column 'month', got no such name" in other

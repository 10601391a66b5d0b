"""`privhp init`: a template with names and types of the columns, and without values."""

import tomllib

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from pyarrow import parquet

import privhp as hp
from privhp.cli.domain_template import domain_template
from privhp.io.sources.schemas import SchemaColumn

SECRET = 987654.25
COLUMNS = {
    "fare": pa.array([SECRET, 1.0]),
    "rides": pa.array([3, 4], pa.int32()),
    "pickup": pa.array([0, 1], pa.timestamp("us")),
    "day": pa.array([0, 1], pa.date32()),
    "kind": pa.array(["secret", "b"]),
    "code": pa.array(["secret", "b"]).dictionary_encode(),
    "ok": pa.array([True, False]),
    "price": pa.array([1, 2]).cast(pa.decimal128(21, 2)),
    "tags": pa.array([[1], [2]]),
    "odd name.": pa.array([1.0, 2.0]),
}
KINDS = {
    "fare": "interval",
    "rides": "integers",
    "pickup": "time",
    "day": "time",
    "kind": "categories",
    "code": "categories",
    "ok": "categories",
    "price": "interval",
    "odd name.": "interval",
}


@pytest.fixture(params=["trips.parquet", "trips.arrow", "trips.arrows"])
def data(request, tmp_path):
    table = pa.table(COLUMNS)
    path = tmp_path / request.param
    if request.param.endswith("parquet"):
        parquet.write_table(table, path)
    else:
        opened = (pa.ipc.new_file if request.param == "trips.arrow" else pa.ipc.new_stream)(path, table.schema)
        with opened as writer:
            writer.write_table(table)
    return request.param


def test_kinds_and_blank_bounds(run, data, tmp_path):
    code, out, err = run("init", data)
    assert (code, err) == (0, "")
    assert out.startswith("wrote domain.toml; fill in the bounds from public knowledge, never from the data\n\n")
    assert [line.split()[-2:] for line in out.splitlines()[3:5]] == [["low,", "high"], ["low,", "high"]]
    assert out.splitlines()[-3].split() == ["[plan]", "epsilon,", "expected_records"]
    assert out.endswith(f"\n\nThen: privhp fit {data} domain.toml\n")
    text = (tmp_path / "domain.toml").read_text()
    columns = tomllib.loads(text)["columns"]
    assert {name: column["kind"] for name, column in columns.items()} == KINDS
    assert all(column.get("low", "") == column.get("high", "") == "" for column in columns.values())
    assert columns["kind"]["values"] == columns["code"]["values"] == []
    assert str(columns["ok"]["values"]) == "[False, True]"  # from the type
    assert columns["day"]["unit"] == "D"
    assert "# [columns.tags]  # list<" in text
    assert "must come from public knowledge" in text


def test_template_without_values(run, data, tmp_path):
    assert run("init", data).code == 0
    text = (tmp_path / "domain.toml").read_text()
    assert str(SECRET) not in text
    assert "secret" not in text


def test_parquet_statistics_unread(run, tmp_path, monkeypatch):
    class Opened:
        def __init__(self, *args, **options):
            raise AssertionError("only the schema may be read")

    parquet.write_table(pa.table(COLUMNS), tmp_path / "trips.parquet")
    monkeypatch.setattr(parquet, "read_table", Opened)
    monkeypatch.setattr(parquet, "read_metadata", Opened)
    whole = parquet.ParquetFile

    class Schema(whole):
        @property
        def metadata(self):
            raise AssertionError("only the schema may be read")

    monkeypatch.setattr(parquet, "ParquetFile", Schema)
    assert run("init", "trips.parquet").code == 0


def test_blank_keys(run, refused, tmp_path):
    parquet.write_table(pa.table({"fare": [1.0], "kind": ["a"]}), tmp_path / "t.parquet")
    assert run("init", "t.parquet").code == 0
    path = tmp_path / "domain.toml"
    plan = ["plan", "--domain", "domain.toml", "--epsilon", "1", "--expected-records", "1e5"]
    for key, blank, filled in (
        ("column 'fare': low", 'low = ""', "low = 0"),
        ("column 'fare': high", 'high = ""', "high = 100"),
        ("column 'kind': values", "values = []", 'values = ["a", "b"]'),
    ):
        line = refused(*plan)
        assert f"domain.toml: {key} is blank; fill it in from public knowledge, never from the data" in line
        path.write_text(path.read_text().replace(blank, filled, 1))
    assert run(*plan).code == 0
    assert hp.read_domain(path) == hp.Table(fare=hp.Interval(0, 100), kind=hp.Categories(["a", "b"]))


def test_csv(run, refused, tmp_path):
    (tmp_path / "trips.csv").write_text('fare,"the kind"\n5.5,a\n')
    code, out, err = run("init", "trips.csv", "--header", "-o", "t.toml")
    assert (code, err) == (0, "")
    assert out.startswith("wrote t.toml, with the first line of the file as column names; fill in the bounds")
    text = (tmp_path / "t.toml").read_text()
    assert "copied the first line of a CSV file as column names" in text
    assert tomllib.loads(text)["columns"] == {"fare": {"kind": ""}, "the kind": {"kind": ""}}
    line = refused("plan", "--domain", "t.toml", "--epsilon", "1", "--expected-records", "1e5")
    assert "column 'fare': kind is blank" in line


@pytest.mark.parametrize(
    "first",
    [
        "5.5,a",
        "a,,b",
        "nan,b",
        "2020-05-05,a",
        "2020-05-05T01:02Z,a",
        "10.0.5.5,a",
        "$5.5,a",
        "fe80::5,a",
    ],
)
def test_record_taken_for_header(refused, tmp_path, first):
    (tmp_path / "trips.csv").write_text(f"{first}\n1,2\n", encoding="latin-1")
    line = refused("init", "trips.csv", "--header")
    assert "looks like a record; give --no-header for a file without a header" in line
    assert "5" not in line
    assert not (tmp_path / "domain.toml").exists()


def test_header_with_a_name_twice(refused, tmp_path):
    (tmp_path / "trips.csv").write_text("amount,amount\n1,2\n")
    line = refused("init", "trips.csv", "--header")
    assert "names each column once, got a name twice; rename it, or read columns by number with --no-header" in line
    assert "amount" not in line


def test_header_of_another_dialect(refused, run, tmp_path):
    (tmp_path / "trips.csv").write_text("\xe4;b\n1;2\n", encoding="latin-1")
    assert "choose --encoding cp1252, for Latin-1 --encoding latin-1" in refused("init", "trips.csv", "--header")
    text = ["init", "trips.csv", "--header", "--encoding", "latin-1"]
    assert "looks separated by semicolons; choose --delimiter ';'" in refused(*text)
    assert run(*text, "--delimiter", ";").code == 0
    assert '[columns."\xe4"]' in (tmp_path / "domain.toml").read_text()


def test_tabs_are_named(run, refused, tmp_path):
    (tmp_path / "sheet.txt").write_text("a\tb\n1\t2\n", encoding="utf-16")
    init = ["init", "sheet.txt", "--header", "--encoding", "utf-16"]
    assert "choose --delimiter tab or, if it is not, --delimiter ,\n" in refused(*init)
    out = run(*init, "--delimiter", "tab").out
    assert "Then: privhp fit sheet.txt domain.toml --delimiter tab --encoding utf-16\n" in out


@pytest.mark.parametrize("option", ["--header", "--no-header"])
@pytest.mark.parametrize("text", ["\n1,2\n", '"open,2\n'])
def test_csv_without_fields(refused, tmp_path, text, option):
    (tmp_path / "trips.csv").write_text(text)
    assert "expected a first line with fields, separated by commas" in refused("init", "trips.csv", option)
    assert not (tmp_path / "domain.toml").exists()


@pytest.mark.parametrize("options", [[], ["--header"], ["--no-header"]])
def test_empty_file(refused, tmp_path, options):
    (tmp_path / "empty.csv").touch()
    assert "empty.csv: the file is empty; expected a first line" in refused("init", "empty.csv", *options)


@pytest.mark.parametrize("first", ["Jane,Doe,flu", "5.5,Jane,", '"Jane, Doe",2020-05-05,\xe4', "Jane,Jane,Jane"])
def test_first_record_is_never_copied(run, refused, tmp_path, first):
    """Words of a record cannot be told from names, so the user confirms the header."""
    (tmp_path / "trips.csv").write_text(f"{first}\n1,2,3\n", encoding="latin-1")
    line = refused("init", "trips.csv")
    assert "look at the line, and give --header for names or --no-header for a record" in line
    assert not (tmp_path / "domain.toml").exists()
    code, out, err = run("init", "trips.csv", "--no-header")
    text = (tmp_path / "domain.toml").read_text()
    assert (code, err) == (0, "")
    assert tomllib.loads(text)["columns"] == {f"column{number}": {"kind": ""} for number in (1, 2, 3)}
    assert not any(part in shown for part in ("Jane", "5.5", "2020-05-05") for shown in (line, out, text))
    bars = run("init", "trips.csv", "--no-header", "--delimiter", "|", "--force").out
    assert "with --delimiter" not in out + bars
    (tmp_path / "trips.csv").write_text("1|2\n")
    assert "one column. If it has several" in run("init", "trips.csv", "--no-header", "--force").out


def test_fit_of_numbered_columns(run, tmp_path):
    (tmp_path / "trips.csv").write_text("5.5,a,100\n" * 2000)
    assert run("init", "trips.csv", "--no-header").code == 0
    text = (tmp_path / "domain.toml").read_text()
    for number, kind in ((1, 'kind = "interval"\nlow = 0\nhigh = 10'), (3, 'kind = "integers"\nlow = 0\nhigh = 255')):
        head, title, section = text.partition(f"[columns.column{number}]\n")
        text = head + title + section.replace('kind = ""', kind, 1)
    head, _, rest = text.partition("[columns.column2]\n")
    (tmp_path / "domain.toml").write_text(head + rest[rest.index("[columns.column3]") :])
    options = ["--domain", "domain.toml", "--epsilon", "1", "--expected-records", "2e3", "-o", "out.privhp"]
    assert run("fit", "trips.csv", "--no-header", "--columns", "1,3", *options).code == 0
    assert hp.load("out.privhp").mass({"column1": (5, 6), "column3": (64, 127)}).value > 0.5


def test_header_of_parquet(refused, tmp_path):
    parquet.write_table(pa.table(COLUMNS), tmp_path / "trips.parquet")
    assert "a Parquet or Arrow file names its columns" in refused("init", "trips.parquet", "--no-header")


def test_files_without_schema(refused, tmp_path):
    (tmp_path / "t.ndjson").write_text('{"secret": 1}\n')
    np.save(tmp_path / "t.npy", np.arange(3))
    (tmp_path / "t.parquet").write_bytes(b"nothing of the kind")
    (tmp_path / "t.arrow").write_bytes(b"nothing of the kind")
    line = refused("init", "t.ndjson")
    assert "NDJSON has no schema, since its column names are parts of the records" in line
    assert "secret" not in line
    assert "an array has no column names" in refused("init", "t.npy")
    assert "t.parquet: expected a complete Parquet file" in refused("init", "t.parquet")
    assert "t.arrow: expected a complete Arrow file" in refused("init", "t.arrow")
    assert "from standard input" in refused("init", "-")
    assert "cannot use no.parquet: No such file" in refused("init", "no.parquet")
    assert "a name such as domain.toml in place of t.parquet" in refused(
        "init", "t.ndjson", "-o", "t.parquet", "--force"
    )
    (tmp_path / "domain.toml").write_text("mine")
    assert "domain.toml exists" in refused("init", "t.npy")


def test_damaged_file(refused, tmp_path, data):
    whole = (tmp_path / data).read_bytes()
    ends = {"trips.parquet": (len(whole) - 200, len(whole) - 8), "trips.arrow": (len(whole) - 200, len(whole) - 10)}
    first, last = ends.get(data, (8, 200))
    (tmp_path / data).write_bytes(whole[:first] + b"\x0e" * (last - first) + whole[last:])
    assert "damaged, truncated or in another format" in refused("init", data)


def test_type_with_newlines():
    kind = pa.struct([("a\n[columns.b]\u2028\rkind", pa.int8())])
    text = domain_template([SchemaColumn("a", kind), SchemaColumn("c", pa.float64())])
    assert list(tomllib.loads(text)["columns"]) == ["c"]


@given(st.lists(st.text(min_size=1).filter(lambda name: name.isprintable() or "\n" in name), unique=True, min_size=1))
@example(["a.b", 'say "so"', "back\\slash", "\x7f", "\x00\x1f", "ü", "\u2028"])
def test_column_names_round_trip(names):
    text = domain_template([SchemaColumn(name, pa.float64()) for name in names])
    assert list(tomllib.loads(text)["columns"]) == names


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        ("fare", pa.float64(), 'step = "0.01" for cents;'),
        ("unitPrice", pa.decimal128(10, 2), 'scale = "log"'),
        ("price", pa.string(), None),
        ("AGE", pa.int16(), "high = 120"),
        ("page", pa.int16(), None),
        ("average", pa.float64(), None),
        ("client_ip", pa.string(), 'kind = "ipv4"'),
        ("clientIP", None, 'kind = "ipv4"'),
        ("ship", pa.string(), None),
        ("zip", pa.int32(), "high = 99999"),
        ("zip code", pa.string(), 'kind = "pattern"'),
        ("plz", None, 'kind = "pattern"'),
        ("ICD", None, "[A-Z][0-9]{2}"),
        ("postal_code", None, 'kind = "pattern"'),
        ("start_date", pa.string(), 'kind = "time"'),
        ("start_date", pa.date32(), None),
        ("ts", None, 'kind = "time"'),
        ("parts", None, None),
        ("trip_id", pa.int64(), "perhaps remove this column"),
        ("width", pa.int64(), None),
    ],
)
def test_suggested_kinds(name, kind, says):
    text = domain_template([SchemaColumn(name, kind)])
    _, section = text.split("\n[columns.")
    assert (says in section) if says else "perhaps" not in section
    assert tomllib.loads(text)["columns"].keys() == {name}


def test_suggested_places():
    names = ["pickup_lat", "pickup_lon", "dropLng", "dropLat", "lat", "longest"]
    text = domain_template([SchemaColumn(name, pa.float64()) for name in names])
    assert '# name = ["pickup_lon", "pickup_lat"]\n# kind = "geo"\n' in text
    assert '# name = ["dropLng", "dropLat"]\n' in text
    assert text.count('\n# kind = "geo"\n') == 2


def test_first_of_several_files(run, refused, tmp_path):
    """Globs and lists of files are those of fit; a folder is refused with the glob to write."""
    (tmp_path / "trips").mkdir()
    for name in ("b", "a"):
        (tmp_path / "trips" / f"{name}.csv").write_text(f"{name},kind\n1,x\n")
    assert "trips is a folder; give its files, such as 'trips/**/*.csv'" in refused("init", "trips", "--header")
    assert "no file matches trips/*.tsv" in refused("init", "trips/*.tsv", "--header")
    out = run("init", "trips/**/*.csv", "--header").out
    assert out.endswith("Then: privhp fit 'trips/**/*.csv' domain.toml\n")
    assert tomllib.loads((tmp_path / "domain.toml").read_text())["columns"].keys() == {"a", "kind"}
    out = run("init", "trips/b.csv", "trips/a.csv", "--header", "--force").out
    assert out.endswith("Then: privhp fit trips/b.csv trips/a.csv domain.toml\n")
    assert tomllib.loads((tmp_path / "domain.toml").read_text())["columns"].keys() == {"b", "kind"}


def test_next_command_of_a_log(run, tmp_path):
    """The command runs as it is printed, with a quote inside a line, too."""
    lines = ['10.0.0.1 "GET /a" 200', '10.0.0.2 "GET /b 404'] * 1000
    (tmp_path / "access.log").write_text("\n".join(lines))
    out = run("init", "access.log", "--no-header", "--delimiter", "space").out
    options = "--csv lines --no-header --columns 1,2,3 --delimiter space"
    assert f"Then: privhp fit access.log domain.toml {options}\n--columns lists the numbers of the columns" in out
    text = (tmp_path / "domain.toml").read_text()
    for kind in ('"ipv4"', '"categories"\nvalues = ["GET /a"]\nother = "x"', '"integers"\nlow = 100\nhigh = 599'):
        text = text.replace('kind = ""', f"kind = {kind}", 1)
    text = text.replace('epsilon = ""', "epsilon = 1").replace('expected_records = ""', "expected_records = 1e3")
    (tmp_path / "domain.toml").write_text(text)
    assert run("fit", "access.log", "domain.toml", *options.split()).code == 0


def test_next_command_has_the_same_dialect(run, tmp_path):
    """Both commands have the same delimiter and encoding."""
    (tmp_path / "d.csv").write_bytes("größe;ort\n1;b\n".encode("latin-1"))
    out = run("init", "d.csv", "--header", "--delimiter", ";", "--encoding", "latin-1").out
    assert out.endswith("Then: privhp fit d.csv domain.toml --delimiter ';' --encoding latin-1\n")


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_mark_of_utf8(run, refused, tmp_path, encoding):
    """It would become a part of the first name."""
    (tmp_path / "a.csv").write_bytes("\ufeffDatum,n\n1,2\n".encode())
    says = "a.csv: the file begins with the mark of UTF-8; choose --encoding utf-8, the default\n"
    assert says in refused("init", "a.csv", "--header", "--encoding", encoding)
    fit = ["--domain", "n=integers:0:9", "--epsilon", "1", "--expected-records", "10", "-o", "a.privhp"]
    assert says in refused("fit", "a.csv", "--encoding", encoding, *fit)
    assert run("init", "a.csv", "--header").code == 0
    assert "[columns.Datum]" in (tmp_path / "domain.toml").read_text()


def test_delimiter_at_the_end_of_the_header(run, tmp_path):
    """The column without a name is left out, as fit leaves it out."""
    (tmp_path / "a.csv").write_text("fare;tip;\n1;2;\n")
    assert run("init", "a.csv", "--header", "--delimiter", ";").code == 0
    assert list(tomllib.loads((tmp_path / "domain.toml").read_text())["columns"]) == ["fare", "tip"]


def test_declared_delimiter_is_named(refused, tmp_path):
    (tmp_path / "a.log").write_text('- "GET \\"x\\" y" 200\n')
    line = refused("init", "a.log", "--no-header", "--delimiter", "space", "-o", "a.toml")
    assert "expected a first line with fields, separated by spaces, and quotes that are closed" in line
    assert "give --csv unquoted if quotes are characters like others, or write the domain file by hand" in line


def test_reading_of_the_first_line(run, tmp_path):
    """As fit reads it, which the next command says."""
    (tmp_path / "a.log").write_text('- "GET \\"x\\" y" 200\n')
    out = run("init", "a.log", "--no-header", "--delimiter", "space", "--csv", "unquoted").out
    assert "Then: privhp fit a.log domain.toml --csv unquoted --no-header --columns 1,2,3,4,5 --delimiter space" in out
    (tmp_path / "b.csv").write_text("a,b\n1,2\n")
    assert run("init", "b.csv", "--header", "--csv", "lines", "--force").out.endswith("domain.toml --csv lines\n")

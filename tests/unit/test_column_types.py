"""Types of columns: what a domain reads, what it refuses, and the values it gets."""

import datetime as dt
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

import privhp as hp
from privhp import FileError
from privhp.core.cells import OUTSIDE
from privhp.io.sources import open_source
from privhp.io.sources.schemas import read_schema
from silent import assert_silent
from trips import table


@pytest.mark.parametrize(
    ("column", "domain", "says"),
    [
        (
            "pickup",
            hp.Interval(0, 1),
            "expected numbers, decimals or text, since it is declared as interval, got timestamp.*; declare it as time",
        ),
        ("pickup", hp.Nullable(hp.Integers(0, 1)), ".* declared as integers, got timestamp"),
        ("pickup", hp.Categories(["a", "b"]), "expected text, .*, got timestamp.*; declare it as time"),
        ("fare", hp.Time("2018-01-01", "2019-01-01"), "expected times or text, .*, got double; declare it as interval"),
        ("fare", hp.Categories(["a", "b"]), "expected text, .* declared as categories, got double"),
        ("nested", hp.Interval(0, 1), ".* got struct; convert the column first"),
        ("nested", hp.IPv4(), ".* declared as ipv4, got struct"),
    ],
)
def test_column_type_errors(tmp_path, column, domain, says):
    data = table(10).append_column("nested", pa.array([{"a": 1}] * 10))
    parquet.write_table(data, tmp_path / "a.parquet")
    with pytest.raises(FileError, match=f"column '{column}': {says}"):
        open_source(tmp_path / "a.parquet", domain=domain, columns=[column])


WORDS = ["a", "1", "5", "2020-01-01", "1.2.3.4", "::1"]


SAMPLES = {
    "bool": pa.array([True, False]),
    "int": pa.array([1, 5]),
    "real": pa.array([1.0, 5.0]),
    "decimal": pa.array([Decimal(1), Decimal(5)]),
    "text": pa.array(WORDS),
    "large text": pa.array(WORDS, pa.large_string()),
    "view": pa.array(WORDS, pa.string_view()),
    "bytes": pa.array([word.encode() for word in WORDS]),
    "coded": pa.array(WORDS).dictionary_encode(),
    "coded numbers": pa.array([1, 5]).dictionary_encode(),
    "timestamp": pa.array([dt.datetime(2020, 1, 1)]),
    "date": pa.array([dt.date(2020, 1, 1)]),
    "time of day": pa.array([dt.time(1)]),
    "duration": pa.array([dt.timedelta(1)]),
    "list": pa.array([[1, 2]]),
    "path": pa.array([["kinds", "a"]]),
    "struct": pa.array([{"a": 1}]),
    "map": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
}


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize(
    "domain",
    [
        hp.Interval(0, 9),
        hp.Box([(0, 9)]),
        hp.Integers(0, 9),
        hp.Time("2000-01-01", "2030-01-01"),
        hp.Time("2000-01-01", "2030-01-01", unit="ns", zone="Europe/Berlin"),
        hp.Categories(["a", "b"]),
        hp.Categories(["b", "c"], other="rest"),
        hp.Categories([1, 5]),
        hp.Taxonomy({"kinds": ["a", "b"], "others": ["c"]}),
        hp.IPv4(),
        hp.IPv6(),
    ],
    ids=repr,
)
def test_refused_types(sample, domain):
    """The values include one inside each domain that accepts their type."""
    data, warned = pa.table({"a": SAMPLES[sample]}), []
    try:
        batches = list(open_source(data, domain=domain, warn=warned.append).batches())
    except hp.RecordsError:
        values = SAMPLES[sample].to_pylist()
        assert (domain.encode(values, level=domain.depth) == OUTSIDE).all()
    else:
        assert warned or any((domain.encode(batch.records, level=domain.depth) != OUTSIDE).any() for batch in batches)


def test_types_of_custom_domain():
    class Anything(hp.Integers):
        kind = "anything"
        accepts = None

        def encode(self, records, *, level):
            return np.zeros(len(records), dtype=np.uint64)

    for array in SAMPLES.values():
        (batch,) = open_source(pa.table({"a": array}), domain=Anything(0, 9)).batches()
        assert len(batch.records) == len(array)


def test_numeric_array_as_categories(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(5))
    with pytest.raises(FileError, match="column '1': expected text, since it is declared as categories, got int64"):
        open_source(tmp_path / "a.npy", domain=hp.Categories(["a", "b"]))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, None, 3], pa.int8()),
        ([1, None, 3], pa.uint64()),
        ([1.5, None, float("nan")], pa.float16()),
        ([1.5, None, 3.0], pa.float32()),
        ([True, None, False], pa.bool_()),
        (["1", None, "x"], pa.string()),
        (["1", None, "x"], pa.large_string()),
        (["1", None, "x"], pa.string_view()),
        ([b"1", None, b"\xff"], pa.binary()),
        (["1", None, "1"], pa.dictionary(pa.int8(), pa.string())),
        ([None, None, None], pa.null()),
    ],
    ids=str,
)
@pytest.mark.parametrize("domain", [hp.Interval(0, 9), hp.Integers(0, 9), hp.Categories([1, 3])], ids=repr)
def test_values_of_types(values, kind, domain):
    """A column and its Python values have the same cells, with null or without."""
    check_read_as_values(values, kind, domain)


@pytest.mark.parametrize("domain", [hp.Interval(0, 9), hp.Integers(0, 9), hp.Categories([1, 3])], ids=repr)
def test_decimals(domain):
    check_read_as_values([1, None, 3], pa.decimal128(5, 2), domain)


def check_read_as_values(values, kind, domain):
    array = pa.array(values, kind)
    for domain_of in (domain, hp.Nullable(domain)):
        column = hp.Table(a=domain_of)
        with assert_silent():
            (batch,) = open_source(pa.table({"a": array}), domain=column).batches()
            codes = column.encode(batch.records, level=column.depth)
        assert codes.tolist() == column.encode({"a": array.to_pylist()}, level=column.depth).tolist()


@pytest.mark.parametrize(
    "kind",
    [
        pa.timestamp("s"),
        pa.timestamp("ms"),
        pa.timestamp("us", "Europe/Berlin"),
        pa.timestamp("ns"),
        pa.date32(),
        pa.date64(),
    ],
)
def test_times(kind):
    domain = hp.Table(a=hp.Nullable(hp.Time("2018-01-01", "2020-12-31", unit="D")))
    array = pa.array([dt.datetime(2019, 5, 5), None, dt.datetime(2035, 1, 1)], pa.timestamp("us")).cast(kind)
    (batch,) = open_source(pa.table({"a": array}), domain=domain).batches()
    values = [value if value is None else np.datetime64(str(value)[:10]) for value in array.cast("date32").to_pylist()]
    level = domain.depth
    assert domain.encode(batch.records, level=level).tolist() == domain.encode({"a": values}, level=level).tolist()


@pytest.mark.parametrize("domain", [hp.Interval(0, 9), hp.Categories(["a", "b"]), hp.Time("2018-01-01", "2020-01-01")])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())], ids=str)
def test_invalid_utf8(tmp_path, domain, kind):
    """Arrow itself refuses the whole batch."""
    good = {"Interval": b"5", "Categories": b"a", "Time": b"2019-01-01"}[type(domain).__name__]
    plain = pa.types.is_dictionary(kind)
    values = pa.array([good, b"\xff\xfe", good], pa.large_binary() if pa.types.is_large_string(kind) else pa.binary())
    texts = values.view(pa.string() if plain else kind)
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), texts) if plain else texts
    data = pa.table({"a": array})
    parquet.write_table(data, tmp_path / "a.parquet")
    with ipc.new_file(tmp_path / "a.arrow", data.schema) as writer:
        writer.write_table(data)
    for source in (data, tmp_path / "a.parquet", tmp_path / "a.arrow"):
        with assert_silent():
            (batch,) = open_source(source, domain=hp.Table(a=domain)).batches()
            codes = hp.Table(a=domain).encode(batch.records, level=1).tolist()
        assert codes[0] == codes[2] < 2 < codes[1]


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_invalid_column_names(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    data = pa.table({"faré": [1.0], "b": [2.0]})
    if ending == "parquet":
        parquet.write_table(data, path, store_schema=False)
    else:
        with ipc.new_file(path, data.schema) as writer:
            writer.write_table(data)
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xff\xfe"))
    for use in (lambda: open_source(path, domain=hp.Interval(0, 9), columns=["b"]), lambda: read_schema(str(path))):
        with pytest.raises(FileError, match="a column name of the file is not valid UTF-8"):
            use()


DAYS = hp.Time("2024-01-01", "2024-12-31", unit="D")
PERIODS = pd.Series(pd.period_range("2024-01-01", periods=300), name="day")


@pytest.mark.parametrize(
    ("data", "domain", "name"),
    [
        (PERIODS, DAYS, ""),
        (PERIODS[:0], DAYS, ""),
        (pd.PeriodIndex(PERIODS), hp.Nullable(DAYS), ""),
        (PERIODS.to_frame(), DAYS, "column 'day': "),
        (PERIODS.to_frame(), hp.Table(day=DAYS), "column 'day': "),
        ({"day": PERIODS}, hp.Table(day=hp.Categories(["a", "b"])), "column 'day': "),
    ],
)
def test_periods_are_refused_by_type(data, domain, name):
    plan = hp.Plan.auto(domain, epsilon=9, expected_records=300)
    with pytest.raises(
        hp.RecordsError, match=rf"^{name}expected single values, got period\[D\]; .* \.dt\.to_timestamp\(\)$"
    ):
        hp.fit(data, plan=plan)
    assert hp.fit(PERIODS.dt.to_timestamp(), DAYS, epsilon=90, expected_records=300).total > 250


@pytest.mark.parametrize(("name", "shown"), [("fare", "column 'fare'"), (None, "the data"), (3, "the data")])
def test_warnings_have_the_name_of_a_series(name, shown):
    for series, what in ((pd.Series([1, 2] * 200, name=name), "holds"), (pd.Series(["1"] * 400, dtype="string"), "is")):
        with pytest.warns(hp.PrivhpWarning, match=f"^{shown} {what} "):
            hp.fit(series.rename(name), hp.Interval(0, 9), epsilon=9, expected_records=400)


def test_missing_column_is_refused_without_warnings():
    frame, unit = pd.DataFrame({"a": ["x"] * 400}), hp.Interval(0, 1)
    for data in (frame, {"a": frame["a"]}):
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "column 'a'")
            with pytest.raises(hp.RecordsError, match="a column 'b'"):
                hp.fit(data, hp.Table(a=unit, b=unit), epsilon=9, expected_records=400)


MIXED = pd.Series([12.5, "$900", 13.0, "$950", 12.0] * 80, dtype=object)


@pytest.mark.parametrize(
    ("values", "domain", "advice"),
    [
        (MIXED, hp.Interval(0, 2000), "is not a number are skipped; convert it first, such as with pandas.to_numeric"),
        (MIXED, hp.Integers(0, 2000), "is not a number are skipped; convert it first, such as with pandas.to_numeric"),
        (MIXED, DAYS, "is not a time are skipped; convert it first, such as with pandas.to_datetime"),
        (MIXED * 0, hp.Interval(0, 2000), "is not a number are skipped"),
    ],
)
def test_columns_of_objects_warn_by_their_type(values, domain, advice):
    """Whatever their values are."""
    text = r"^{} may hold values of any type \(object\) and is declared as [a-z]+: records with a value that "
    for data, own, label in (
        (values.to_frame("x"), hp.Table(x=domain), "column 'x'"),
        ({"x": values.to_numpy()}, domain, "column 'x'"),
        (values, domain, "the data"),
    ):
        with pytest.warns(hp.PrivhpWarning, match=text.format(label) + advice) as caught:
            hp.fit(data, own, epsilon=9, expected_records=400)
        assert {one.filename for one in caught} == {__file__}


@pytest.mark.parametrize("domain", [hp.Categories(["a", "b"]), hp.IPv4(), hp.Pattern("[ab]")])
def test_columns_of_objects_may_be_texts(domain):
    texts, records = (np.array(values * 200, dtype=object) for values in (["a", "b"], [{"x": 1}, (2,)]))
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "column 'x'")
        hp.fit({"x": texts}, hp.Table(x=domain), epsilon=9, expected_records=400)
        hp.fit(records, hp.Table(x=hp.Interval(0, 9)), epsilon=9, expected_records=400)


def test_decimals_declared_as_integers_are_a_cause_of_a_low_count():
    """Whole numbers of a type of decimals are fine: pandas holds integers with missing values as float64."""
    numbers = np.random.default_rng(0).uniform(0, 100, 400)
    for data in (numbers, pd.DataFrame({"age": numbers}), numbers.tolist()):
        with pytest.warns(hp.PrivhpWarning, match="\n- numbers with decimals where integers are declared\n"):
            hp.fit(data, hp.Integers(0, 100), epsilon=9, expected_records=400)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hp.fit(np.round(numbers), hp.Integers(0, 100), epsilon=9, expected_records=400)


NUMBERS = pd.Series([0, 1] * 200, name="flag")


@pytest.mark.parametrize("values", [NUMBERS, NUMBERS * 1.0, NUMBERS == 1, NUMBERS.astype("category")], ids=str)
def test_numbers_declared_as_text_warn_by_their_type(values):
    flags = hp.Categories(["0", "1"])
    kind = values.dtype if values.dtype != "category" else "int64"
    text = rf"column 'flag' holds numbers \({kind}\) .*: its values are declared as text"
    with pytest.warns(hp.PrivhpWarning, match=text):
        hp.fit(values.to_frame(), hp.Table(flag=flags), epsilon=9, expected_records=400)
    nulls = pd.DataFrame({"flag": [np.nan] * 400})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hp.fit(nulls, hp.Table(flag=hp.Nullable(flags)), epsilon=9, expected_records=400)
        hp.fit(values.to_frame(), hp.Table(flag=hp.Categories([0, 1])), epsilon=9, expected_records=400)


def test_intervals_are_refused_by_type():
    ages = pd.cut(pd.Series([1.0, 30.0] * 200, name="age"), [0, 18, 99])
    domain = hp.Table(age=hp.Categories(["(0, 18]", "(18, 99]"]))
    for column in (ages, pd.Series(pd.arrays.IntervalArray(ages), name="age")):
        text = r"column 'age': expected single values, got interval\[int64, right\]; .*\.astype\(str\)$"
        with pytest.raises(hp.RecordsError, match=text):
            hp.fit(column.to_frame(), domain, epsilon=9, expected_records=400)
    assert hp.fit(ages.astype(str).to_frame(), domain, epsilon=9, expected_records=400).total > 350


@pytest.mark.parametrize("make", [lambda frame: frame, lambda frame: frame.lazy(), lambda frame: [frame]])
def test_objects_of_polars_are_refused_by_type(make):
    """Whatever they are: as an Arrow stream, such a column holds the addresses of its values."""
    frame = pl.DataFrame({"a": pl.Series([1.5, "x"], dtype=pl.Object), "b": [1.0, 2.0]})
    text = r"^column 'a' holds Python objects .*; cast it .* pl\.Series\(column\.to_list\(\), strict=False\)$"
    unit, words = hp.Interval(0, 9), hp.Categories(["x", "y"])
    for domain in (hp.Table(a=unit), hp.Table(b=unit, a=words), hp.Box([(0, 9)] * 2)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(hp.RecordsError, match=text):
                list(open_source(make(frame), domain=domain).batches())
    (batch,) = open_source(make(frame), domain=hp.Table(b=unit)).batches()
    assert len(batch.records) == 2
    cast = frame.with_columns(pl.Series("a", pl.Series(frame["a"].to_list(), strict=False)))
    assert len(list(open_source(cast, domain=hp.Table(a=unit)).batches())) == 1

"""`hp.fit`: one call from data to a generator."""

import io
import threading
import time

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import privhp as hp
from privhp import FileError, PlanError, RecordsError
from privhp.io.sources import open_source
from privhp.io.sources.prefetch import prefetch

DOMAIN = hp.Interval(0, 1000)


def test_fit_of_file_and_variable(tmp_path):
    values = np.random.default_rng(0).uniform(100, 200, 20_000)
    parquet.write_table(pa.table({"id": np.arange(20_000), "fare": values}), tmp_path / "a.parquet")
    for data, columns in ((values, None), (tmp_path / "a.parquet", ["fare"]), ({"fare": values}, None)):
        generator = hp.fit(data, DOMAIN, epsilon=1, expected_records=1e4, memory="64 KiB", columns=columns)
        assert generator.mass((90, 210)).value > 0.9
        assert abs(generator.total - 20_000) < 2000
        assert generator.plan.memory == 2**16


def test_fit_with_plan():
    plan = hp.Plan.paper(DOMAIN, epsilon=1, expected_records=1000)
    assert hp.fit([5.0] * 1000, plan=plan).plan == plan
    assert hp.fit([5.0] * 1000, DOMAIN, plan=plan).plan == plan
    for domain, options in (
        (hp.Interval(0, 1), {"plan": plan}),
        (None, {"plan": plan, "epsilon": 1}),
        (None, {}),
        (DOMAIN, {"epsilon": 1}),
        (DOMAIN, {"expected_records": 1e6}),
    ):
        with pytest.raises(PlanError, match="plan"):
            hp.fit([5.0], domain, **options)


def test_fit_refuses_invalid_data():
    with pytest.raises(RecordsError, match=r"to name a column 'fee', got no such name; its columns are \['fare'\]"):
        hp.fit({"fare": [5.0]}, DOMAIN, epsilon=1, expected_records=1e3, columns=["fee"])
    with pytest.raises(RecordsError, match="expected numbers"):
        hp.fit(np.array(["2020-01-01"], dtype="M8[D]"), DOMAIN, epsilon=1, expected_records=1e3)
    with pytest.raises(FileNotFoundError):
        hp.fit("no-such-file.parquet", DOMAIN, epsilon=1, expected_records=1e3)


def test_list_of_strings_is_records():
    domain = hp.Categories(["a", "b"])
    generator = hp.fit(["a"] * 5000 + ["no such file"], domain, epsilon=1, expected_records=1e4)
    assert generator.mass("a").value > 0.9


def test_iterator_runs_in_thread_of_caller():
    """Database connections belong to one thread."""

    def batches():
        assert threading.current_thread() is threading.main_thread()
        yield np.full(1000, 5.0)

    hp.fit(batches(), DOMAIN, epsilon=1, expected_records=1e3)


def test_prefetch_order_and_exceptions():
    def items():
        yield from range(100)
        raise FileError("broken")

    numbers = prefetch(items())
    assert [next(numbers) for _ in range(100)] == list(range(100))
    with pytest.raises(FileError, match="broken"):
        next(numbers)


def test_prefetch_ends_with_close():
    over = threading.Event()

    def slow():
        yield 1
        time.sleep(0.2)
        over.set()

    numbers = prefetch(slow())
    assert next(numbers) == 1
    numbers.close()
    assert over.is_set()  # the interpreter could end now


def test_prefetch_close_times_out(monkeypatch):
    monkeypatch.setattr("privhp.io.sources.prefetch._JOIN_TIMEOUT", 0.01)
    more = threading.Event()

    def stuck():
        yield 1
        more.wait()

    numbers = prefetch(stuck())
    assert next(numbers) == 1
    numbers.close()
    more.set()


def test_prefetch_stops_producer():
    left = threading.Event()

    def endless():
        try:
            while True:
                yield 1
        finally:
            left.set()

    numbers = prefetch(endless())
    assert next(numbers) == 1
    numbers.close()
    assert left.wait(10)


def test_open_file_and_single_column_name(tmp_path):
    path = tmp_path / "trips.csv"
    path.write_text("id,fare\n1,2.5\n2,7.5\n")
    source = open_source(path, domain=hp.Interval(0, 10), columns="fare")
    assert [list(batch.records) for batch in source.batches()] == [[2.5, 7.5]]
    with path.open() as file:
        source = open_source(file, domain=hp.Interval(0, 10), columns=["fare"])
        assert [list(batch.records) for batch in source.batches()] == [[2.5, 7.5]]
        file.readline()
        with pytest.raises(RecordsError, match="pass its path"):
            open_source(file, domain=hp.Interval(0, 10))


def test_missing_file_is_a_file_error(tmp_path):
    with pytest.raises(FileError) as missing:
        open_source(tmp_path / "none.csv", domain=hp.Interval(0, 10))
    assert isinstance(missing.value, FileNotFoundError)


FIT = {"epsilon": 1, "expected_records": 1e3}


def test_columns_as_integers(tmp_path):
    (tmp_path / "a.csv").write_text("1,2,5\n" * 300)
    generator = hp.fit(tmp_path / "a.csv", hp.Integers(0, 9), columns=[3], header=False, **FIT)
    assert generator.quantile(0.5).value == 5
    assert hp.fit(tmp_path / "a.csv", hp.Integers(0, 9), columns=2, header=False, **FIT).quantile(0.5).value == 2
    with pytest.raises(RecordsError, match="columns= takes column names, or numbers from 1, got a float"):
        hp.fit(tmp_path / "a.csv", hp.Integers(0, 9), columns=[3.0], header=False, **FIT)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_missing_column_of_frame(library):
    columns = {"a": [0.5], "b": [0.5]}
    module = pytest.importorskip(library)
    form = module.table if library == "pyarrow" else module.DataFrame
    with pytest.raises(RecordsError, match=r"to name a column 'c', got no such name; its columns are \['a', 'b'\]"):
        hp.fit(form(columns), hp.Interval(0, 1), columns=["c"], **FIT)
    with pytest.raises(RecordsError, match=r"'user'.* columns are \['a', 'b', 'user_id'\]; did you mean user_id\?$"):
        hp.fit(form({**columns, "user_id": [1]}), hp.Interval(0, 1), columns=["a"], person="user", **FIT)


def test_integer_names_of_frame():
    frame = pytest.importorskip("pandas").DataFrame(np.full((300, 3), [1, 2, 5]))
    assert hp.fit(frame, hp.Integers(0, 9), columns=[2], **FIT).quantile(0.5).value == 5


@pytest.mark.parametrize("data", [[0.5, 0.25], np.array([0.5]), [{"a": 0.5}]])
def test_columns_of_records_without_columns(data):
    with pytest.raises(RecordsError, match=r"columns= selects columns of a file.*; leave it out"):
        hp.fit(data, hp.Interval(0, 1), columns=["a"], **FIT)


def test_file_object_without_name():
    with pytest.raises(RecordsError, match=r"write it to a file, or pass its records$"):
        hp.fit(io.BytesIO(b"a\n1\n"), hp.Interval(0, 1), **FIT)

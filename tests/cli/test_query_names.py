"""`privhp query` of columns by their names, and of unions of ranges."""

import json

import pytest


def test_release_keeps_the_names_of_columns(run, tmp_path):
    (tmp_path / "trips.csv").write_text("id,port\n" + "".join(f"{i},{i % 500}\n" for i in range(5000)))
    plan = ["--epsilon", "50", "--expected-records", "5000", "-o", "ports.privhp"]
    assert run("fit", "trips.csv", "--columns", "port", "--domain", "integers:0:999", *plan).code == 0
    assert run("sample", "ports.privhp", "-n", "3", "-o", "-").out.startswith("port\n")
    assert run("query", "ports.privhp", "--quantile", "0.5").out.split()[:2] == ["quantile", "port"]
    assert run("query", "ports.privhp", "--quantile", "0.5", "--marginal", "port").code == 0
    assert run("compare", "trips.csv", "ports.privhp").code == 0
    conditions = {
        "port in [22, 445]": 0.004,
        "port != 22": 0.998,
        "port between 100 and 199": 0.2,
        "port < 100 or port >= 400": 0.4,
        "port == 7": 0.002,
    }
    asked = [part for text in conditions for part in ("--where", text)]
    code, out, err = run("query", "ports.privhp", *asked, "--json")
    assert (code, err) == (0, "")
    for line, (text, share) in zip(out.splitlines(), conditions.items(), strict=True):
        answer = json.loads(line)
        assert answer["where"] == text
        assert answer["share"] == pytest.approx(share, abs=0.01)
        assert answer["at_least"] <= answer["share"] <= answer["at_most"] + 1e-9
        assert 0 < answer["stderr"] < 0.01


def test_union_and_its_complement(run, tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n" + "".join(f"{i % 97},{i % 2}\n" for i in range(5000)))
    columns = ["--domain", "a=integers:0:99", "--domain", "b=integers:0:1"]
    assert run("fit", "a.csv", *columns, "--epsilon", "50", "--expected-records", "5e3", "-o", "a.privhp").code == 0
    pairs = [
        ("a between 20 and 59", "a < 20 or a > 59"),
        ("a = 7", "a != 7"),
        ("a in [3, 50, 51]", "a != 3 and a != 50 and a != 51"),
    ]
    asked = [part for pair in pairs for text in pair for part in ("--where", text)]
    answers = [json.loads(line) for line in run("query", "a.privhp", *asked, "--json").out.splitlines()]
    for inside, outside in zip(answers[::2], answers[1::2], strict=True):
        assert inside["share"] + outside["share"] == pytest.approx(1)
        assert inside["at_least"] + outside["at_most"] == pytest.approx(1)
    assert answers[0]["stderr"] == pytest.approx(answers[1]["stderr"])
    (both,) = (json.loads(run("query", "a.privhp", "--where", "a != 7 and b = 1", "--json").out),)
    assert 0.4 < both["share"] < 0.6

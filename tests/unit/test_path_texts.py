"""Text in place of a path is refused without quoting it, by every function that takes a path."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privhp as hp
from forgery import PLAN
from privhp.collect.checkpoint import Checkpoint
from privhp.core.path_texts import check_path

FRAME = pd.DataFrame({"price": [61.25, 73.5] * 40, "note": ["secret", "61.25"] * 40})
DOMAIN = hp.Interval(0, 100)
TEXTS: dict[str, str] = {
    "CSV": FRAME.to_csv(index=False),
    "short CSV": FRAME[:1].to_csv(index=False),
    "old Mac": FRAME[:1].to_csv(index=False, lineterminator="\r"),
    "JSON": FRAME.to_json(),
    "short JSON": FRAME[:1].to_json(),
    "JSON of records": FRAME[:1].to_json(orient="records"),
    "list": str(FRAME.values.tolist()),
    "one line": "61.25 " * 100,
    "long characters": "\u00e9 61.25" * 40,
    "dates": "2024/01/02,secret/" * 300,
    "marked JSON": '\ufeff{"a": 61.25}',
    "other line break": "price\u202861.25",
    "zero byte": "\0secret",
}
SUMMARY = hp.Summary(PLAN)
FUNCTIONS: dict[str, Callable[[str], Any]] = {
    "fit": lambda text: hp.fit(text, DOMAIN, epsilon=1, expected_records=100),
    "fit with columns": lambda text: hp.fit(text, DOMAIN, epsilon=1, expected_records=100, columns="price"),
    "learn": lambda text: hp.learn(text, DOMAIN, epsilon=1, expected_records=100),
    "compare": lambda text: hp.compare([1.0, 2.0], text, domain=DOMAIN),
    "compare synthetic": lambda text: hp.compare(text, [1.0, 2.0], domain=DOMAIN),
    "load": hp.load,
    "resume": hp.resume,
    "save": lambda text: hp.save(SUMMARY, text),
    "checkpoint": lambda text: Checkpoint(SUMMARY).save(text),
    "read_domain": hp.read_domain,
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("kind", TEXTS)
def test_text_is_not_quoted(function: str, kind: str) -> None:
    with pytest.raises(hp.FileError, match=r"^got text, not a path; ") as refusal:
        FUNCTIONS[function](TEXTS[kind])
    assert "61" not in str(refusal.value)
    assert "secret" not in str(refusal.value)
    assert refusal.value.filename is None


def test_report_against_text(tmp_path: Path) -> None:
    generator = hp.Summary(PLAN).release()
    with pytest.raises(hp.FileError, match="got text"):
        hp.report(generator, tmp_path / "a.html", against=TEXTS["CSV"])
    with pytest.raises(hp.FileError, match="got text"):
        hp.report(generator, TEXTS["CSV"])


@pytest.mark.parametrize(
    "path",
    [
        "a.csv",
        "-",
        "",
        "[ab]*.csv",
        "{folder}/a.csv",
        "x" * 255,
        "folder/" * 100 + "a",
        "[[]2024] d.csv",
        os.fsdecode(b"\xe9" * 120),
        Path("a\nb"),
        None,
        3,
    ],
)
def test_paths_pass(path: Any) -> None:
    check_path(path)


def test_files_that_exist_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("[[z.csv", '{"k"}.csv', "a\nb.csv"):
        Path(name).write_text("1\n")
        check_path(name)

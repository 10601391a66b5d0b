"""No command changes a file that it does not declare: whole folders are hashed before and after."""

import hashlib
import os
import shutil
import sys
from pathlib import Path

import pytest

from cli.running import PLAN, spawn
from commands import SMALL_DATA
from privhp.cli.commands import COMMANDS
from privhp.io.disk import _partial_prefix

OUTPUTS = {
    "plan": (["plan", *PLAN, "-o", "plan.json"], ["plan.json"]),
    "learn": (
        [
            "learn",
            "data.csv",
            "--domain",
            "interval:0:1000",
            "--epsilon",
            "9",
            "--expected-records",
            "1e6",
            "-o",
            "l.json",
        ],
        ["l.json"],
    ),
    "fit": (["fit", "data.csv", *PLAN, "-o", "out"], ["out"]),
    "fit of a partial file": (["fit", "trips.partial", *PLAN, "-o", "trips"], ["trips"]),
    "fit with a checkpoint": (["fit", "data.csv", *PLAN, "--checkpoint", "poetry", "-o", "out"], ["out"]),
    "fit --resume": (["fit", "data.csv", *PLAN, "--checkpoint", "poetry", "--resume", "-o", "out"], ["out"]),
    "fit --resume, finished": (
        ["fit", "data.csv", *PLAN, "--checkpoint", "poetry", "--resume", "-o", "fares.privhp"],
        [],
    ),
    "fit --summary-only": (["fit", "data.csv", *PLAN, "--summary-only", "-o", "0.summary"], ["0.summary"]),
    "fit --force": (["fit", "data.csv", *PLAN, "-o", "fares.privhp", "--force"], ["fares.privhp"]),
    "sample": (["sample", "fares.privhp", "-n", "10", "-o", "s.csv"], ["s.csv"]),
    "sample of parquet": (["sample", "fares.privhp", "-n", "10", "-o", "s.parquet"], ["s.parquet"]),
    "sample to a pipe": (["sample", "fares.privhp", "-n", "10", "-o", "-"], []),
    "query": (["query", "fares.privhp", "--where", "value < 10"], []),
    "quantiles": (["quantiles", "fares.privhp", "3"], []),
    "report": (["report", "fares.privhp", "-o", "r.html"], ["r.html"]),
    "report --against": (["report", "fares.privhp", "--against", "data.csv", "-o", "r.html"], ["r.html"]),
    "inspect": (["inspect", "fares.privhp"], []),
    "merge": (["merge", "a.summary", "b.summary", "-o", "all.privhp"], ["all.privhp"]),
    "compare": (["compare", "data.csv", "fares.privhp"], []),
    "init": (["init", "data.csv", "--header"], ["domain.toml"]),
    "audit": (["audit", "--plan", "shared.json", "--time", "0.1s"], []),
    "completion": (["completion", "bash"], []),
    "demo": (["demo", "flights", "--quiet"], ["flights"]),
}

WRITING = [case for case, (_, declared) in OUTPUTS.items() if declared]


def hashes(folder: Path) -> dict[str, str]:
    """What is at each name of a folder: kind, permissions and content."""
    found: dict[str, str] = {}
    for path in folder.iterdir():
        if path.is_symlink():
            found[path.name] = f"link to {path.readlink()}"
        elif path.is_file():
            found[path.name] = f"{path.stat().st_mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        else:
            found[path.name] = f"{path.stat().st_mode:o}"
    return found


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data, a release, summaries, and files with names that a program might take for its own."""
    folder = tmp_path_factory.mktemp("template")
    rows = "fare\n" + "".join(f"{value}\n" for value in range(1000))
    for name in ("data.csv", "trips.partial"):
        (folder / name).write_text(rows)
    plan = ["plan", *PLAN, "-o", "shared.json"]
    fits = [["--plan", "shared.json", "--summary-only", "-o", f"{name}.summary"] for name in "ab"]
    for command in (plan, *(["fit", "data.csv", *fit] for fit in (*fits, [*PLAN, "-o", "fares.privhp"]))):
        assert spawn(*command, folder=folder).returncode == 0
    outputs = {name for _, names in OUTPUTS.values() for name in names}
    for name in sorted({*outputs, "poetry", "data.csv", "fares.privhp"}):
        for other in (f"{name}.partial", f"{name}.lock", f"{name}.tmp", f".{name}.partial", f".{name}.swp", f"{name}~"):
            (folder / other).write_text("precious")
        (folder / f"{_partial_prefix(Path(name))}{0:016x}.partial").write_text("precious")
    (folder / "s").symlink_to("data.csv")
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    shutil.copytree(template, tmp_path, symlinks=True, dirs_exist_ok=True)
    return tmp_path


def test_every_command_is_hashed() -> None:
    assert {command.__name__.rpartition(".")[2] for command in COMMANDS} == {name.split()[0] for name in OUTPUTS}


@pytest.mark.parametrize("case", OUTPUTS)
def test_outputs_alone_differ(run, folder, few_flights, case):
    arguments, declared = OUTPUTS[case]
    before = hashes(folder)
    code, _, err = run(*arguments)
    assert code == 0
    assert SMALL_DATA.sub("", err) == ""  # trips.partial has no record
    after = hashes(folder)
    assert {name for name in before | after if before.get(name) != after.get(name)} == set(declared)


@pytest.mark.parametrize("case", WRITING)
def test_existing_output_is_kept(run, folder, case):
    arguments, declared = OUTPUTS[case]
    for name in declared:
        (folder / name).write_text("precious")
    before = hashes(folder)
    code, out, err = run(*(one for one in arguments if one != "--force"))
    assert (code, out) == (2, "")
    assert "exists" in err
    assert hashes(folder) == before


@pytest.mark.parametrize("case", [case for case in WRITING if case != "demo"])
def test_full_disk_changes_nothing(run, folder, monkeypatch, case):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    before = hashes(folder)
    monkeypatch.setattr(os, "fsync", full)
    assert run(*OUTPUTS[case][0]).code == 1
    assert hashes(folder) == before


INTERVAL = ["--domain", "interval:0:9", "--epsilon", "1", "--expected-records", "9"]


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (["fit", "data", *PLAN], "data"),
        (["fit", "d*", *PLAN], "data"),
        (["fit", "data", *PLAN], "link"),
        (["fit", "link", *PLAN], "data"),
        (["fit", "-", *PLAN], "data"),
        (["fit", "data.csv", "--plan", "plan"], "plan"),
        (["learn", "data", *INTERVAL], "data"),
        (["plan", *INTERVAL, "--partition", "plan"], "plan"),
        (["merge", "a.summary", "plan"], "plan"),
        (["sample", "release", "--format", "csv"], "release"),
        (["report", "page.html"], "page.html"),
        (["report", "release", "--against", "page.html"], "page.html"),
        (["init", "d.toml", "--header"], "d.toml"),
    ],
)
def test_input_is_never_an_output(run, refused, tmp_path, monkeypatch, arguments, output):
    for name in ("data", "data.csv", "plan", "release", "a.summary", "page.html", "d.toml"):
        (tmp_path / name).write_text("fare\n1\n2\n")
    (tmp_path / "link").symlink_to("data")
    if "plan" in arguments[1:]:
        assert run("plan", *PLAN, "-o", "plan", "--force").code == 0
    before = hashes(tmp_path)
    with (tmp_path / "data").open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert "is an input file; choose another output" in refused(*arguments, "-o", output, "--force")
    assert hashes(tmp_path) == before


@pytest.mark.parametrize("command", ["fit", "sample", "plan"])
def test_dangling_link_is_kept(run, refused, folder, command):
    name = "dangling.csv" if command == "sample" else "dangling"
    arguments = [*OUTPUTS[command][0][:-1], name]
    (folder / name).symlink_to("nowhere")
    before = hashes(folder)
    assert f"{name} exists" in refused(*arguments)
    assert hashes(folder) == before
    assert run(*arguments, "--force").code == 0
    assert not (folder / name).is_symlink()
    assert not (folder / "nowhere").exists()

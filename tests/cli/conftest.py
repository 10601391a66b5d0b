"""Fixtures that run commands in an empty folder."""

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cli.running import PLAN, Outcome
from pages import coarse_pictures
from privhp.cli import main
from privhp.cli.commands import demo


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run_here(*arguments: str) -> Outcome:
        try:
            code = main(arguments)
        except SystemExit as leaving:  # argparse exits for help and for usage errors
            code = int(leaving.code or 0)
        return Outcome(code, *capsys.readouterr())

    return run_here


@pytest.fixture
def refused(run: Callable[..., Outcome]) -> Callable[..., str]:
    """Run a command that must be refused, and return its one line of error."""

    def refusal(*arguments: str) -> str:
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert err.startswith("privhp: error: ")
        assert err.count("\n") == 1
        assert err.endswith("\n")
        return err

    return refusal


@pytest.fixture
def release(run: Callable[..., Outcome], tmp_path: Path) -> str:
    """A release of the numbers 0 to 999."""
    (tmp_path / "data.csv").write_text("fare\n" + "".join(f"{value}\n" for value in range(1000)))
    assert run("fit", "data.csv", *PLAN, "-o", "fares.privhp").code == 0
    return "fares.privhp"


@pytest.fixture(scope="session")
def every_64th_flight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A part of the bundled flights."""
    header, *rows = gzip.decompress(demo.FLIGHTS.read_bytes()).splitlines(keepends=True)
    some = tmp_path_factory.mktemp("package") / demo.FLIGHTS.name
    some.write_bytes(gzip.compress(b"".join([header, *rows[::64]])))
    return some


@pytest.fixture
def few_flights(every_64th_flight: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The demo with a part of its flights and coarse pictures, for speed."""
    monkeypatch.setattr(demo, "FLIGHTS", every_64th_flight)
    monkeypatch.setattr(demo, "PLAN", ["--epsilon", "1", "--expected-records", "5000"])
    with coarse_pictures():
        yield

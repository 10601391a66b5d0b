"""Every command that may take long shows the time on a terminal, though it has nothing to report yet."""

import sys
from threading import Event

import numpy as np
import pytest

from cli.test_fit import Terminal
from privhp.answers.generator import Generator
from privhp.audit.trials import Trials
from privhp.collect.ingest import Ingestion
from privhp.core import progress
from privhp.planning import planner

FIT = ["--domain", "x=integers:0:255", "--epsilon", "1", "--expected-records", "2e3"]
COMMANDS = {
    "fit": (Generator, "__init__", ["fit", "data.csv", *FIT, "-o", "again.privhp"]),
    "fit --json": (Generator, "__init__", ["fit", "data.csv", *FIT, "-o", "again.privhp", "--json"]),
    "learn": (Ingestion, "_refine", ["learn", "data.csv", "--domain", "x=interval:0:255", *FIT[2:], "-o", "plan.json"]),
    "sample": (Generator, "__init__", ["sample", "out.privhp", "-o", "s.csv"]),
    "query": (Generator, "__init__", ["query", "out.privhp", "--where", "x < 9"]),
    "quantiles": (Generator, "__init__", ["quantiles", "out.privhp"]),
    "report": (Generator, "__init__", ["report", "out.privhp", "-o", "out.html"]),
    "compare": (Generator, "__init__", ["compare", "data.csv", "out.privhp"]),
    "inspect": (Generator, "__init__", ["inspect", "out.privhp"]),
    "merge": (Generator, "__init__", ["merge", "a.summary", "b.summary", "-o", "all.privhp"]),
    "plan": (planner.Planner, "__init__", ["plan", *FIT]),
    "audit": (Trials, "run", ["audit", "--plan", "shared.json", "--time", "1s"]),
}


class SlowTerminal(Terminal):
    """A terminal that tells when it shows the time."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = Event()

    def write(self, text: str) -> int:
        if "elapsed" in text:
            self.seen.set()
        return super().write(text)


@pytest.fixture
def files(run, tmp_path):
    """Data, a release, and two summaries of one plan."""
    (tmp_path / "data.csv").write_text("x\n" + "\n".join(map(str, np.arange(2000) % 256)))
    assert run("fit", "data.csv", *FIT, "-o", "out.privhp").code == 0
    assert run("plan", *FIT, "--passes", "1", "-o", "shared.json").code == 0
    for name in ("a", "b"):
        fit = ["fit", "data.csv", "--plan", "shared.json", "--summary-only", "-o", f"{name}.summary"]
        assert run(*fit).code == 0


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", COMMANDS)
def test_time_is_shown(run, monkeypatch, name):
    """The slow step goes on once the time is shown, and the line is gone at the end."""
    owner, method, command = COMMANDS[name]
    terminal, work = SlowTerminal(), getattr(owner, method)

    def slow(*arguments, **settings):
        assert terminal.seen.wait(30)
        return work(*arguments, **settings)

    monkeypatch.setattr(owner, method, slow)
    monkeypatch.setattr(progress, "IDLE", 0.01)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr(sys, "stderr", terminal)
    assert run(*command).code == 0
    assert terminal.getvalue().endswith("\r\033[K")

"""Progress of long work, on a terminal and in a notebook."""

import io
import re
import sys
from pathlib import Path
from threading import Event, active_count
from types import SimpleNamespace

import numpy as np
import pytest

import privhp as hp
from privhp import api
from privhp.core import progress, progress_displays
from privhp.core.progress import Progress
from privhp.core.progress_displays import NotebookBar, TerminalLine, session_display
from privhp.reporting import pictures


class Shown:
    """A display that remembers what it was asked to show."""

    def __init__(self) -> None:
        self.texts, self.shares, self.removed = [], [], 0
        self.seen = Event()

    def show(self, text: str, share: float | None) -> None:
        self.texts.append(text)
        self.shares.append(share)
        self.seen.set()

    def remove(self) -> None:
        self.removed += 1


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_of_file() -> None:
    now = 0.0
    stream = io.StringIO()
    with Progress(TerminalLine(stream), clock=lambda: now) as bar:
        bar.begin(size=400_000_000, unit="bytes")
        bar.show(40_000_000)
        now = 90.0
        bar.show(90_000_000)
        bar.show(110_000_000)
        now = 100.0
        bar.show(None)
    assert stream.getvalue() == "\r 22%  1:30 elapsed, 1.0 MB/s, 5:10 left\033[K\r1:40 elapsed\033[K\r\033[K"


def test_progress_of_pipe_and_resumed_file() -> None:
    now = 0.0
    display = Shown()
    with Progress(display, clock=lambda: now) as bar:
        bar.begin(unit="bytes")
        now = 10.0
        bar.show(20_000_000)
    with Progress(display, clock=lambda: now) as bar:
        bar.begin(size=100_000_000, unit="bytes", resumed=True)
        bar.show(60_000_000)
        now = 14_410.0
        bar.show(70_000_000)
    assert display.texts == ["0:10 elapsed, 2.0 MB/s", " 70%  4:00:00 elapsed, 0.0 MB/s, 12:00:00 left"]
    assert display.shares == [None, 0.7]


def test_stages_share_the_time_and_not_the_rate() -> None:
    now = 0.0
    display = Shown()
    with Progress(display, clock=lambda: now) as bar:
        now = 60.0
        bar.begin(size=4_000_000, unit="rows")
        now = 61.0
        bar.show(1_000_000)
        now = 62.0
        bar.begin()
        bar.show(None)
    assert display.texts == [" 25%  1:01 elapsed, 1.0 million rows/s, 0:03 left", "1:02 elapsed"]


def test_nothing_is_shown_before_the_delay() -> None:
    now = 0.0
    stream = io.StringIO()
    with Progress(TerminalLine(stream), delay=2.0, clock=lambda: now) as bar:
        now = 1.9
        bar.show(1)
    assert stream.getvalue() == ""


def test_time_is_shown_while_nothing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line is removed though the work fails."""
    monkeypatch.setattr(progress, "IDLE", 0.001)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    display, threads = Shown(), active_count()

    def work() -> None:
        with Progress(display):
            assert display.seen.wait(60)
            raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        work()
    assert display.texts[0] == "0:00 elapsed"
    assert display.removed == 1
    assert active_count() == threads


def test_long_calls_of_a_session(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Loading, comparing, reporting and drawing show the time, once each, and remove it."""
    generator = hp.fit(np.linspace(0, 1, 1000), hp.Interval(0, 1), epsilon=1, expected_records=1000)
    hp.save(generator, tmp_path / "a.privhp")
    calls = [
        (hp.Generator, "__init__", lambda: hp.load(tmp_path / "a.privhp")),
        (api, "_read_side", lambda: hp.compare(generator, np.linspace(0, 1, 1000))),
        (pictures, "_histogram", lambda: hp.report(generator, tmp_path / "a.html")),
        (pictures, "_histogram", generator._repr_html_),
        (pictures, "_histogram", generator.plot),
    ]
    for owner, name, call in calls:
        display, work = Shown(), getattr(owner, name)

        def slow(*given, display=display, work=work, **options):
            assert display.seen.wait(60)
            return work(*given, **options)

        with monkeypatch.context() as patch:
            patch.setattr(progress, "IDLE", 0.001)
            patch.setattr(progress, "EVERY", 0.0)
            patch.setattr(progress_displays, "IDLE", 0.0)
            patch.setattr(progress_displays, "session_display", lambda display=display: display)
            patch.setattr(owner, name, slow)
            call()
        assert display.removed == 1


def test_no_display_needs_no_thread() -> None:
    threads = active_count()
    with Progress(None) as bar:
        bar.show(1)
        assert active_count() == threads


def test_bar_of_a_notebook() -> None:
    """One output is displayed, updated and emptied."""
    bundles = []

    def display(bundle: dict[str, str], *, raw: bool, display_id: bool) -> SimpleNamespace:
        assert raw
        assert display_id
        bundles.append(("new", bundle))
        return SimpleNamespace(update=lambda bundle, *, raw: bundles.append(("update", bundle)))

    bar = NotebookBar(display)
    bar.remove()
    assert bundles == []
    bar.show("0:01 elapsed", None)
    bar.show(" 50%  0:02 elapsed, 0:02 left", 0.5)
    bar.remove()
    assert [kind for kind, _ in bundles] == ["new", "update", "update"]
    waiting, half, ended = (bundle for _, bundle in bundles)
    assert "value" not in waiting["text/html"]
    assert '<progress value="0.500"' in half["text/html"]
    assert half["text/plain"] == " 50%  0:02 elapsed, 0:02 left"
    assert ended == {"text/plain": "", "text/html": ""}


def test_display_of_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel has a bar, a person at a terminal a line, and a script nothing."""
    shells = [SimpleNamespace(kernel=object()), SimpleNamespace(), None]
    found = []
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        for shell in shells:
            ipython = SimpleNamespace(get_ipython=lambda own=shell: own, display=SimpleNamespace(display=print))
            monkeypatch.setitem(sys.modules, "IPython", ipython)
            found.append(type(session_display()))
    nothing = type(None)
    assert found == [NotebookBar, TerminalLine, nothing, NotebookBar, nothing, nothing]
    monkeypatch.delitem(sys.modules, "IPython")
    assert session_display() is None
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    assert isinstance(session_display(), TerminalLine)


@pytest.mark.parametrize("kind", ["array", "dict"])
def test_progress_of_a_fit(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """The share of all passes grows to 1; no text has a number of records."""
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr(progress_displays, "IDLE", 0.0)
    display = Shown()
    monkeypatch.setattr(progress_displays, "session_display", lambda: display)
    values = np.linspace(0, 1, 150_001)
    data, domain = (values, hp.Interval(0, 1)) if kind == "array" else ({"x": values}, hp.Table(x=hp.Interval(0, 1)))
    settings = {"epsilon": 1, "expected_records": 150_000}
    hp.fit(data, domain, **settings, progress=False)
    hp.learn(data, domain, **settings, progress=False)
    assert display.texts == []
    hp.fit(data, domain, **settings)
    shares = [share for share in display.shares if share is not None]
    assert len(shares) == 9  # three passes of three batches each
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert all(re.fullmatch(r" *\d+%  0:\d\d elapsed, \d+:\d\d left|0:\d\d elapsed", text) for text in display.texts)
    assert display.removed == 1
    hp.learn(data, domain, **settings)
    assert display.shares[-1] == 1.0
    assert display.removed == 2

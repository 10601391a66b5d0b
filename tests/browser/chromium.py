"""Headless Chromium, controlled by the DevTools protocol over two pipes; needs no driver and no library."""

import base64
import fcntl
import json
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
]
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find_chromium() -> str | None:
    """Path of an installed Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """A tab of the browser, with the events received from it."""

    def __init__(self, commands: Any, answers: Any) -> None:
        self._commands, self._answers, self._last = commands, answers, 0
        self.events: list[dict[str, Any]] = []
        target = self._call("Target.createTarget", url="about:blank", session=None)["targetId"]
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True, session=None)
        self._session = attached["sessionId"]
        for topic in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{topic}.enable")

    def _call(self, method: str, *, session: str | None = "own", **parameters: Any) -> dict[str, Any]:
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = self._session
        self._commands.write(json.dumps(message).encode() + b"\0")
        while (answer := self._receive()).get("id") != self._last:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _receive(self) -> dict[str, Any]:
        text = bytearray()
        while not text.endswith(b"\0"):
            part = self._answers.read(1)
            if not part:
                raise RuntimeError("Chromium closed the connection")
            text += part
        return json.loads(text[:-1])

    def open(self, address: Path | str, *, width: int, height: int = 900, dark: bool = False) -> None:
        """Open a file or an address at a window width, in the light or dark colour scheme."""
        self.resize(width, height, dark=dark)
        self.events.clear()
        self._call("Page.navigate", url=address if isinstance(address, str) else address.resolve().as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self._receive())
        self.run("document.fonts.ready.then(() => 0)")

    def resize(self, width: int, height: int, *, dark: bool = False) -> None:
        """Set the size of the window and the colour scheme of the system; a narrow window is that of a phone."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._call("Emulation.setEmulatedMedia", features=scheme)
        phone = width < 600
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")

    def run(self, script: str) -> Any:
        """Run a script in the page and return its value."""
        found = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"].get("description", "a script failed"))
        return found["result"].get("value")

    def console_messages(self) -> list[dict[str, Any]]:
        """Console messages and exceptions of the page."""
        loud = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
        return [event for event in self.events if event["method"] in loud]

    def requests(self) -> list[str]:
        """Addresses requested by the page, without data addresses."""
        sent = [event for event in self.events if event["method"] == "Network.requestWillBeSent"]
        addresses = [event["params"]["request"]["url"] for event in sent]
        return [address for address in addresses if not address.startswith("data:")]

    def screenshot(self, path: Path, *, clip: dict[str, float] | None = None, scale: float = 1) -> None:
        """Write the page, or a clip of it, to a PNG file."""
        more = {} if clip is None else {"clip": {**clip, "scale": scale}}
        picture = self._call("Page.captureScreenshot", format="png", captureBeyondViewport=True, **more)
        path.write_bytes(base64.b64decode(picture["data"]))

    def screenshot_whole(self, path: Path) -> None:
        """Write the page in full height to a PNG file."""
        size = self._call("Page.getLayoutMetrics")["cssContentSize"]
        self.screenshot(path, clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"]})


@contextmanager
def browser(program: str) -> Iterator[Page]:
    """Start a browser with an empty profile and one page."""
    commands_out, commands_in = (_high(end) for end in os.pipe())
    answers_out, answers_in = (_high(end) for end in os.pipe())

    silence = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    pipes = [(os.POSIX_SPAWN_DUP2, commands_out, 3), (os.POSIX_SPAWN_DUP2, answers_in, 4)]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        arguments = [program, *FLAGS, f"--user-data-dir={folder}"]
        process = os.posix_spawn(program, arguments, {**os.environ, "HOME": folder}, file_actions=[*silence, *pipes])
        os.close(commands_out)
        os.close(answers_in)
        try:
            with open(commands_in, "wb", buffering=0) as commands, open(answers_out, "rb") as answers:
                yield Page(commands, answers)
        finally:
            os.kill(process, signal.SIGTERM)
            os.waitpid(process, 0)


def _high(end: int) -> int:
    """Move a descriptor above 3 and 4, which Chromium uses for its pipes."""
    moved = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 16)
    os.close(end)
    return moved

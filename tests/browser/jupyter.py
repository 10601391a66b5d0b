"""A Jupyter server on this computer, and its notebook page, whose cells are executed by a real kernel."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from browser.chromium import Page

SETTINGS = [
    "--no-browser",
    "--allow-root",
    "--expose-app-in-browser",
    "--ServerApp.ip=127.0.0.1",
    "--ServerApp.port=0",
    "--IdentityProvider.token=",
]
SECONDS = 120.0
"""Time within which a server, a page or a cell is ready."""

EXECUTED = """
[...document.querySelectorAll(".jp-InputPrompt")].every(prompt => /[0-9]/.test(prompt.textContent))
"""


class Server(NamedTuple):
    """A server, with the folder of its notebooks."""

    url: str
    folder: Path


@contextmanager
def serve(folder: Path) -> Iterator[Server]:
    """Serve the notebooks of a folder."""
    own = folder / ".jupyter"
    own.mkdir()
    environment = {**os.environ, "HOME": str(own), "JUPYTER_RUNTIME_DIR": str(own), "JUPYTER_CONFIG_DIR": str(own)}
    command = [sys.executable, "-m", "notebook", *SETTINGS, f"--ServerApp.root_dir={folder}"]
    with (own / "log").open("w") as log, subprocess.Popen(command, env=environment, stdout=log, stderr=log) as process:
        try:
            deadline = time.monotonic() + SECONDS
            while not (found := list(own.glob("jpserver-*.json"))) or not found[0].read_text().endswith("}"):
                assert process.poll() is None, (own / "log").read_text()
                assert time.monotonic() < deadline
                time.sleep(0.1)
            yield Server(json.loads(found[0].read_text())["url"], folder)
        finally:
            process.terminate()


def open_cells(page: Page, server: Server, cells: Sequence[str], *, width: int, height: int) -> None:
    """Open a new notebook of code cells, and start to execute them."""
    name = f"{len(list(server.folder.glob('*.ipynb')))}.ipynb"
    code = [
        {"cell_type": "code", "id": str(index), "execution_count": None, "metadata": {}, "outputs": [], "source": cell}
        for index, cell in enumerate(cells)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": code, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (server.folder / name).write_text(json.dumps(notebook))
    page.open(f"{server.url}notebooks/{name}", width=width, height=height)
    wait_for(page, "window.jupyterapp && jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel != null")
    page.run("void jupyterapp.commands.execute('notebook:run-all-cells')")


def run_cells(page: Page, server: Server, cells: Sequence[str], *, width: int, height: int) -> None:
    """Open a new notebook of code cells, and execute them all."""
    open_cells(page, server, cells, width=width, height=height)
    wait_for(page, f"document.querySelectorAll('.jp-InputPrompt').length >= {len(cells)} && {EXECUTED.strip()}")


def use_theme(page: Page, *, dark: bool) -> None:
    """Switch to the dark or the light theme of Jupyter."""
    theme = f"JupyterLab {'Dark' if dark else 'Light'}"
    page.run(f"jupyterapp.commands.execute('apputils:change-theme', {{theme: '{theme}'}}).then(() => 0)")
    wait_for(page, f"document.body.dataset.jpThemeLight === '{str(not dark).lower()}'")


def wait_for(page: Page, condition: str) -> None:
    """Wait until a condition is true in the page."""
    deadline = time.monotonic() + SECONDS
    while not page.run(f"Boolean({condition})"):
        assert time.monotonic() < deadline, condition
        time.sleep(0.1)

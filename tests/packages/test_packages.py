"""What is published is whole, small, and what was tested. `make dist` builds it and runs these.

PRIVHP_DIST names a folder with one sdist and one wheel, and PRIVHP_CORE one that the wheel was installed to without
any extra. Where they are not set these tests are skipped.
"""

import os
import subprocess
import tarfile
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path, PurePosixPath

import pytest

pytestmark = pytest.mark.skipif("PRIVHP_DIST" not in os.environ, reason="make dist sets PRIVHP_DIST")

ROOT = Path(__file__).parents[2]
MEGABYTES = 100


@pytest.fixture
def wheel() -> zipfile.ZipFile:
    (path,) = Path(os.environ["PRIVHP_DIST"]).glob("*.whl")
    return zipfile.ZipFile(path)


@pytest.fixture
def metadata(wheel: zipfile.ZipFile) -> Message:
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return message_from_string(wheel.read(name).decode())


@pytest.fixture
def tracked() -> set[str]:
    """The files that belong to the project."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}


def test_the_wheel_has_the_package_and_nothing_else(wheel: zipfile.ZipFile, tracked: set[str]) -> None:
    names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    compiled = {name for name in names if name.endswith(".so")}
    assert {PurePosixPath(name).name.split(".")[0] for name in compiled} == {"native"}
    assert names - compiled == {name.removeprefix("src/") for name in tracked if name.startswith("src/privhp/")}
    assert {"privhp/py.typed", "privhp/report/style.css"} <= names
    assert not [name for name in names if name.endswith((".cpp", ".h", ".hpp"))]


def test_the_sdist_has_everything(tracked: set[str]) -> None:
    """So that whoever has it can build, test and document it."""
    (path,) = Path(os.environ["PRIVHP_DIST"]).glob("*.tar.gz")
    with tarfile.open(path) as packed:
        names = {member.name.split("/", 1)[1] for member in packed if not member.isdir()}
    assert names - {"PKG-INFO"} == tracked


def test_the_core_needs_numpy_alone_and_extras_are_named(metadata: Message) -> None:
    needed = metadata.get_all("Requires-Dist")
    assert [need for need in needed if "extra ==" not in need] == ["numpy>=2.0"]
    assert sorted(metadata.get_all("Provides-Extra")) == ["all", "io", "metrics", "report"]
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert "Typing :: Typed" in metadata.get_all("Classifier")


def test_the_extra_all_is_all_extras(metadata: Message) -> None:
    def needs(extra: str) -> set[str]:
        marked = [need.split(";") for need in metadata.get_all("Requires-Dist") if ";" in need]
        return {need for need, marker in marked if f'"{extra}"' in marker.replace("'", '"')}

    assert needs("all") == needs("io") | needs("metrics") | needs("report") != set()


def test_the_core_is_small() -> None:
    core = Path(os.environ["PRIVHP_CORE"])
    assert {path.name.split("-")[0] for path in core.glob("*.dist-info")} == {"numpy", "privhp"}
    assert sum(path.lstat().st_size for path in core.rglob("*")) < MEGABYTES * 10**6


def test_the_core_comes_with_the_command() -> None:
    core = os.environ["PRIVHP_CORE"]
    command = [f"{core}/bin/privhp", "inspect", "--system"]
    done = subprocess.run(command, env={"PYTHONPATH": core}, capture_output=True, text=True, check=True)
    assert "native" in done.stdout

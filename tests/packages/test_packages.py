"""Contents and metadata of the sdist and the wheel. `make dist` builds them and runs these tests.

PRIVHP_DIST is a folder with one sdist and one wheel, PRIVHP_CORE a folder with the wheel installed without extras. The
tests are skipped if the variables are not set.
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
    """Files under version control."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}


def test_wheel_contains_the_package_alone(wheel: zipfile.ZipFile, tracked: set[str]) -> None:
    names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    compiled = {name for name in names if name.endswith(".so")}
    assert {PurePosixPath(name).name.split(".")[0] for name in compiled} == {"native"}
    assert names - compiled == {name.removeprefix("src/") for name in tracked if name.startswith("src/privhp/")}
    assert {"privhp/py.typed", "privhp/reporting/style.css"} <= names
    assert not [name for name in names if name.endswith((".cpp", ".h", ".hpp"))]


def test_sdist_contains_every_tracked_file(tracked: set[str]) -> None:
    """The sdist can be built, tested and documented."""
    (path,) = Path(os.environ["PRIVHP_DIST"]).glob("*.tar.gz")
    with tarfile.open(path) as packed:
        names = {member.name.split("/", 1)[1] for member in packed if not member.isdir()}
    assert names - {"PKG-INFO"} == tracked


def test_requirements_and_extras(metadata: Message) -> None:
    needed = metadata.get_all("Requires-Dist")
    assert [need for need in needed if "extra ==" not in need] == ["numpy>=2.0"]
    assert sorted(metadata.get_all("Provides-Extra")) == ["all", "completion", "io", "metrics", "report"]
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert "Typing :: Typed" in metadata.get_all("Classifier")


def test_extra_all_is_the_union_of_extras(metadata: Message) -> None:
    def requirements(extra: str) -> set[str]:
        marked = [need.split(";") for need in metadata.get_all("Requires-Dist") if ";" in need]
        return {need for need, marker in marked if f'"{extra}"' in marker.replace("'", '"')}

    others = set(metadata.get_all("Provides-Extra")) - {"all"}
    assert requirements("all") == set().union(*map(requirements, others)) != set()


def test_size_of_the_core() -> None:
    core = Path(os.environ["PRIVHP_CORE"])
    assert {path.name.split("-")[0] for path in core.glob("*.dist-info")} == {"numpy", "privhp"}
    assert sum(path.lstat().st_size for path in core.rglob("*")) < MEGABYTES * 10**6


def test_command_of_the_core() -> None:
    core = os.environ["PRIVHP_CORE"]
    command = [f"{core}/bin/privhp", "inspect", "--system"]
    done = subprocess.run(command, env={"PYTHONPATH": core}, capture_output=True, text=True, check=True)
    assert "native" in done.stdout

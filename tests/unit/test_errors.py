"""Errors of missing and forbidden files, and values in messages."""

from pathlib import Path

import numpy as np
import pytest

import privhp as hp
from privhp.errors import describe_value, file_errors


@pytest.mark.parametrize("name", ["missing.privhp", "missing/file.privhp"])
def test_missing_file_is_a_file_error_and_a_file_not_found_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(hp.FileError) as caught:
        hp.load(tmp_path / name)
    assert isinstance(caught.value, FileNotFoundError)
    assert caught.value.filename == str(tmp_path / name)
    assert str(caught.value) == (
        f"cannot use {tmp_path / name}: No such file or directory; check its name and permissions"
    )


@pytest.mark.parametrize(
    "error", [FileNotFoundError, FileExistsError, PermissionError, IsADirectoryError, NotADirectoryError]
)
def test_unusable_files_keep_their_built_in_class(error: type[OSError]) -> None:
    with pytest.raises(error) as caught, file_errors():
        raise error(1, "not usable", "out")
    assert isinstance(caught.value, hp.FileError)
    assert (caught.value.errno, caught.value.strerror, caught.value.filename) == (1, "not usable", "out")


@pytest.mark.parametrize("error", [OSError(28, "No space left on device", "out"), hp.FileError("damaged")])
def test_other_errors_pass_unchanged(error: OSError) -> None:
    with pytest.raises(OSError) as caught, file_errors():
        raise error
    assert caught.value is error


def test_missing_data_and_domain_files(tmp_path: Path) -> None:
    for call in (
        lambda: hp.fit(str(tmp_path / "no.csv"), hp.Interval(0, 1), epsilon=1, expected_records=10),
        lambda: hp.resume(tmp_path / "no.state"),
        lambda: hp.read_domain(tmp_path / "no.toml"),
    ):
        with pytest.raises(hp.PrivhpError) as caught:
            call()
        assert isinstance(caught.value, FileNotFoundError)


def test_messages_describe_plain_values_and_types_only() -> None:
    assert describe_value(1.5) == "1.5"
    assert describe_value(hp.Interval) == "the class Interval"
    assert describe_value(np.array([123456])) == "a value of type ndarray"

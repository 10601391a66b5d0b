"""The exceptions and the warning of privhp.

    PrivhpError
    |-- DomainError    invalid domain, bound or region
    |-- PlanError      invalid budget, level or size of a plan
    |-- RecordsError   batch whose type or shape does not fit the domain
    |-- QueryError     invalid question to a generator
    |-- StateError     operation that the state of a summary forbids
    |-- FileError      file of another kind, damaged, missing or not permitted
    `-- LowCountError  release of fewer records than the caller asks for

    PrivhpWarning      a plan, a release or a question that is probably not what the user wants

A message says what is wrong and what to do. No message depends on the value of
a record or on the number of records.
"""

import contextlib
import functools
import inspect
import reprlib
import warnings
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

_INNER_FILES = (__file__.removesuffix("errors.py"), contextlib.__file__, functools.__file__)
"""Files of the package, and of the context managers and properties that call its functions."""


class PrivhpError(Exception):
    """Base class of all errors that privhp raises."""


class DomainError(PrivhpError, ValueError):
    """Invalid domain, bound or region."""


class PlanError(PrivhpError, ValueError):
    """Invalid budget, level or size of a plan."""


class RecordsError(PrivhpError, TypeError):
    """Batch whose type or shape does not fit the domain."""


class QueryError(PrivhpError, ValueError):
    """Invalid question to a generator."""


class StateError(PrivhpError, RuntimeError):
    """Operation that the state of a summary forbids."""


class FileError(PrivhpError, OSError):
    """File that is of another kind, damaged, missing or not permitted."""


class LowCountError(PrivhpError, ValueError):
    """Noisy number of records below `min_records=`.

    Attributes:
        generator: The generator of the release, which was paid for: a second fit costs epsilon again.
    """

    def __init__(self, message: str, generator: Any) -> None:
        super().__init__(message, generator)
        self.generator = generator

    def __str__(self) -> str:
        return str(self.args[0])


class PrivhpWarning(UserWarning):
    """Plan, release or question that is probably not what the user wants. It follows from public values alone."""


class _UnusableFileError(FileError):
    def __str__(self) -> str:  # with an errno, OSError would print that instead of the message
        return str(self.args[0])


class MissingFileError(_UnusableFileError, FileNotFoundError):
    """File that does not exist."""


class ExistingFileError(_UnusableFileError, FileExistsError):
    """File that exists and is not replaced."""


class ForbiddenFileError(_UnusableFileError, PermissionError):
    """File that may not be read or written."""


class DirectoryFileError(_UnusableFileError, IsADirectoryError):
    """Folder in the place of a file."""


class NotDirectoryFileError(_UnusableFileError, NotADirectoryError):
    """File in the place of a folder."""


_FILE_ERRORS: dict[type[OSError], type[_UnusableFileError]] = {
    FileNotFoundError: MissingFileError,
    FileExistsError: ExistingFileError,
    PermissionError: ForbiddenFileError,
    IsADirectoryError: DirectoryFileError,
    NotADirectoryError: NotDirectoryFileError,
}


@contextlib.contextmanager
def file_errors() -> Iterator[None]:
    """Raise a missing or forbidden file as a `FileError` that keeps its built-in class, such as FileNotFoundError.

    Other errors of the operating system, such as a full disk, pass unchanged.
    """
    try:
        yield
    except tuple(_FILE_ERRORS) as error:
        if isinstance(error, PrivhpError) or error.filename is None:
            raise
        kind = next(own for known, own in _FILE_ERRORS.items() if isinstance(error, known))
        name = error.filename2 or error.filename  # of a rename, the path and not its temporary file
        wrapped = kind(f"cannot use {name}: {error.strerror}; check its name and permissions")
        wrapped.errno, wrapped.strerror, wrapped.filename = error.errno, error.strerror, name
        raise wrapped from None


def warn(*texts: str | None) -> None:
    """Warn of each text at the call from outside the package. They follow from types and other public values."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_code.co_filename.startswith(_INNER_FILES):
        frame, level = frame.f_back, level + 1
    for text in texts:
        if text is not None:
            warnings.warn(text, PrivhpWarning, stacklevel=level)


def describe_value(value: object) -> str:
    """A parameter for a message: its value if it is plain, else its type, since it may hold records."""
    plain = value is None or isinstance(value, str | bytes | int | float | complex | Fraction | Decimal)
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return reprlib.repr(value) if plain else f"a value of type {type(value).__name__}"

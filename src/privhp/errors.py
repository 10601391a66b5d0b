"""The exceptions of privhp.

    PrivhpError
    |-- DomainError    a domain, a bound or a region that makes no sense
    |-- PlanError      a budget, a level or a size that cannot be honoured
    |-- RecordsError   a batch whose type or shape does not fit the domain
    |-- QueryError     a question to a generator that makes no sense
    |-- StateError     an operation that the life cycle of a summary forbids
    `-- FileError      a file that is not ours, damaged, or of another kind

Each message says what was expected, what came and what to do. No message
depends on the value of a record or on how many records there were.
"""

import reprlib
from decimal import Decimal
from fractions import Fraction


def describe_value(value: object) -> str:
    """A parameter for a message: itself if it is a plain value, else its type, since it may hold records."""
    plain = value is None or isinstance(value, str | bytes | int | float | complex | Fraction | Decimal)
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return reprlib.repr(value) if plain else f"a value of type {type(value).__name__}"


class PrivhpError(Exception):
    """Anything that privhp refuses to do."""


class DomainError(PrivhpError, ValueError):
    """A domain, a bound or a region that makes no sense."""


class PlanError(PrivhpError, ValueError):
    """A budget, a level or a size that cannot be honoured."""


class RecordsError(PrivhpError, TypeError):
    """A batch whose type or shape does not fit the domain."""


class QueryError(PrivhpError, ValueError):
    """A question to a generator that makes no sense."""


class StateError(PrivhpError, RuntimeError):
    """An operation that the life cycle of a summary forbids."""


class FileError(PrivhpError, OSError):
    """A file that is not ours, damaged, or of another kind."""

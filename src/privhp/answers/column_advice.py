"""Advice for queries that are asked with a column, as those of other libraries are."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from privhp.domains.validation import quote
from privhp.errors import QueryError

P = ParamSpec("P")
R = TypeVar("R")


def of_all_columns(query: Callable[P, R]) -> Callable[P, R]:
    """A query that names `marginal` if it is asked with a column, as queries of other libraries are."""
    most = len(inspect.signature(query).parameters)

    @wraps(query)
    def asked(*args: P.args, **kwargs: P.kwargs) -> R:
        if len(args) > most:
            name = query.__name__
            raise QueryError(f"{name} takes no column; use marginal({quote(args[1])}).{name}(...)")
        return query(*args, **kwargs)

    return asked

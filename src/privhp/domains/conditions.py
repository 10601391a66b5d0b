"""Conditions on columns, such as fare < 10 and kind = cash: read as regions of a domain, and written from them.

The text is parsed by `condition_grammar`; each column's domain makes a region
of its comparisons.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from privhp.domains.comparisons import suggest
from privhp.domains.condition_grammar import MIRRORED, Predicate, parse, quote_word
from privhp.domains.domain import Domain
from privhp.domains.table_column import Name, column_errors
from privhp.domains.unions import parts_of, union
from privhp.errors import DomainError

MAX_PARTS = 1000
"""Disjoint regions of a condition, at most."""


class _Target(NamedTuple):
    """A column that conditions refer to: its name in a table, the names of its values, its domain."""

    column: Name | None
    names: tuple[str, ...]
    domain: Domain

    @property
    def label(self) -> str:
        return ",".join(self.names)

    def accepts(self, names: tuple[str, ...]) -> bool:
        """Whether a comparison of these names refers to the column, as a whole or by one coordinate."""
        return names == self.names or (len(names) == 1 and names[0] in self.names)


def read_condition(text: str, domain: Domain, *, names: Sequence[str] | None = None) -> Any:
    """Region of all records that meet a condition, as `mass` takes it.

    Args:
        text: Comparisons joined by `and`, and on one column by `or`; `docs/cli.md` lists them.
        domain: Domain of the records.
        names: Names of the values of a record, for a domain without columns.
    """
    targets = _targets(domain, names)
    first, *others = [_conjunction(comparisons, targets) for comparisons in parse(text)]
    regions = _unite([first, *others], targets) if others else first
    if not domain.columns:
        return regions[None]
    parts = [parts_of(region) for region in regions.values()]
    if math.prod(map(len, parts)) > MAX_PARTS:
        raise DomainError(f"expected a condition of at most {MAX_PARTS:,} ranges; query parts of it")
    return union([dict(zip(regions, chosen, strict=True)) for chosen in itertools.product(*parts)])


def _conjunction(comparisons: Sequence[Predicate], targets: Sequence[_Target]) -> dict[Name | None, Any]:
    """Region of each column that comparisons refer to."""
    found: dict[str, list[Predicate]] = {}
    for comparison in comparisons:
        found.setdefault(_target(comparison, targets).label, []).append(comparison)
    return {target.column: _region(target, found[target.label]) for target in targets if target.label in found}


def _unite(alternatives: Sequence[dict[Name | None, Any]], targets: Sequence[_Target]) -> dict[Name | None, Any]:
    """Region of one column that all alternatives refer to."""
    columns = {column for regions in alternatives for column in regions}
    if len(columns) > 1:
        raise DomainError("or joins conditions on one column, got several columns; query each separately")
    (target,) = (target for target in targets if target.column in columns)
    with column_errors(target.label):
        return {target.column: target.domain.unite([regions[target.column] for regions in alternatives])}


def format_condition(region: Any, domain: Domain, *, names: Sequence[str] | None = None) -> str:
    """A region, such as that of a heavy hitter, as a condition that `read_condition` reads back."""
    targets = {target.column: target for target in _targets(domain, names)}
    regions = region if domain.columns else {None: region}
    return " and ".join(_condition(targets[column], own) for column, own in regions.items()) or "everything"


def _targets(domain: Domain, names: Sequence[str] | None) -> list[_Target]:
    if domain.columns:
        if names is not None:
            raise DomainError(f"the columns of a table have names already, got {', '.join(names)}; leave them out")
        return [_Target(column.name, column.names, column.domain) for column in domain.columns]
    own = domain.value_names
    if names is not None and len(names) != len(own):
        raise DomainError(f"expected {len(own)} names for the values of {domain!r}, got {', '.join(names)}")
    return [_Target(None, tuple(names or own), domain)]


def _target(comparison: Predicate, targets: Sequence[_Target]) -> _Target:
    """The column that a comparison refers to."""
    for target in targets:
        if target.accepts(comparison.names):
            return target
    asked, known = ",".join(comparison.names), [target.label for target in targets]
    near = suggest(asked, known)
    for target in targets:
        if comparison.has_sign and target.accepts(tuple(comparison.values)):  # 5 <= x
            (name,), (value,) = comparison.values, comparison.names
            turned = f"{quote_word(name)} {MIRRORED[comparison.sign]} {quote_word(value)}"
            raise DomainError(f"expected the name of a column before the value; write {turned}")
    (first, *_) = targets
    unnamed = first.column is None and first.domain.declared_names is None and first.names == first.domain.value_names
    if not near and unnamed and len(comparison.names) == len(first.names):
        near = f"; values of a release without columns have no names; give names={list(comparison.names)}"
    raise DomainError(f"expected a condition on {' or '.join(known)}, got one on {asked!r}{near}")


def _region(target: _Target, comparisons: Sequence[Predicate]) -> Any:
    with column_errors(target.label):
        if not target.domain.nullable and any(comparison.is_null_test for comparison in comparisons):
            raise DomainError("its values cannot be null; leave out the condition on null")
        return target.domain.parse_region(comparisons, target.names)


def _condition(target: _Target, region: Any) -> str:
    return target.domain.format_region(region, ",".join(map(quote_word, target.names)))

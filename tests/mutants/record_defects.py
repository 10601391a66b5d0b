"""Defects: records with more than their sensitivity, or with visible effects."""

import datetime as dt
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import leaks
import privacy
import privhp.collect.summary
import privhp.collect.tally
import privhp.planning.plan
from mutants.planting import caught_by
from privhp import Interval, Nullable, Summary, Table, Time, kernels
from privhp.core.cells import OUTSIDE, Counts
from privhp.domains import conversion, ip, lookup, numbers, table
from privhp.domains.column import Column
from privhp.domains.lookup import NOT_FOUND, Lookup
from privhp.domains.to_column import to_column


@caught_by(privacy.record_changes_at_most_its_sensitivity)
def level_counted_twice(patch: pytest.MonkeyPatch) -> None:
    count_codes = kernels.count_codes

    def twice(codes: Any, weights: Any, **sizes: Any) -> None:
        count_codes(codes, weights, **sizes)
        count_codes(
            codes, weights, **{**sizes, "counters": np.zeros_like(sizes["counters"]), "groups": sizes["groups"][:1]}
        )

    patch.setattr(kernels, "count_codes", twice)


@caught_by(privacy.record_changes_at_most_its_sensitivity)
def counts_wrap_at_16_bits(patch: pytest.MonkeyPatch) -> None:
    """Blocks of more rows than the 16-bit counters of a block hold."""
    patch.setattr(privhp.collect.tally, "_MAX_BLOCK_ROWS", 2**17)
    count_codes = kernels.count_codes

    def narrow(codes: Any, weights: Any, *, counters: Counts, **sizes: Any) -> None:
        counted = np.zeros_like(counters)
        count_codes(codes, weights, counters=counted, **sizes)
        counters += counted.astype(np.uint16)

    patch.setattr(privhp.collect.tally, "_MAX_BLOCK_ROWS", 1 << 17)  # more than 16 bits hold
    patch.setattr(kernels, "count_codes", narrow)


@caught_by(privacy.record_changes_at_most_its_sensitivity)
def counts_squared(patch: pytest.MonkeyPatch) -> None:
    as_counts = privhp.collect.tally.as_counts
    patch.setattr(privhp.collect.tally, "as_counts", lambda counts, *, records: as_counts(counts, records=records) ** 2)


@caught_by(privacy.record_changes_at_most_its_sensitivity)
def record_on_edge_in_two_cells(patch: pytest.MonkeyPatch) -> None:
    encode = Interval.encode

    def generous(self: Interval, records: Any, *, level: int) -> Any:
        codes = encode(self, records, level=level)
        left = encode(self, np.nextafter(conversion.as_floats(records), -np.inf), level=level)
        edge = (left != codes) & (left != OUTSIDE) & (codes != OUTSIDE)
        return np.concatenate([codes, left[edge]])

    patch.setattr(Interval, "encode", generous)


@caught_by(privacy.record_changes_at_most_its_sensitivity)
def bounds_from_batch(patch: pytest.MonkeyPatch) -> None:
    encode = Interval.encode

    def stretched(self: Interval, records: Any, *, level: int) -> Any:
        values = conversion.as_floats(records)
        values = values[np.isfinite(values)]
        low, high = (values.min(), values.max()) if values.size else (0.0, 0.0)
        return encode(Interval(low, high) if low < high else self, values, level=level)

    patch.setattr(Interval, "encode", stretched)


@caught_by(privacy.record_changes_at_most_its_sensitivity)
def invalid_value_changes_type_of_batch(patch: pytest.MonkeyPatch) -> None:
    as_floats = numbers.as_floats

    def together(records: Any) -> Any:
        values = to_column(records).values
        if isinstance(values, list):
            kinds = {type(value) for value in values}
            records = records if kinds <= {int, float} else np.full(len(values), np.nan)
        return as_floats(records)

    patch.setattr(numbers, "as_floats", together)


@caught_by(privacy.record_changes_at_most_its_sensitivity)
def missing_value_converts_integers_to_floats(patch: pytest.MonkeyPatch) -> None:
    as_integers = numbers.as_integers

    def together(records: Any) -> Any:
        values = to_column(records).values
        if isinstance(values, list) and None in values:
            records = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        return as_integers(records)

    patch.setattr(numbers, "as_integers", together)


@caught_by(privacy.record_changes_at_most_its_sensitivity)
def missing_value_read_as_last_of_dictionary(patch: pytest.MonkeyPatch) -> None:
    def take_last(values: Any, column: Column) -> Any:
        gone = np.zeros(len(column), dtype=np.bool_) if column.missing is None else column.missing
        return values[:-1].take(np.where(gone, -1, np.asarray(column.values)), mode="wrap")

    patch.setattr(conversion, "take", take_last)
    patch.setattr(lookup, "take", take_last)


@caught_by(privacy.record_changes_at_most_its_sensitivity)
def unknown_category_imputed(patch: pytest.MonkeyPatch) -> None:
    each = Lookup._look_up_each

    def imputed(self: Lookup, values: list[Any]) -> Any:
        indices = each(self, values)
        known = indices[indices != NOT_FOUND]
        return np.where(indices == NOT_FOUND, np.bincount(known).argmax(), indices) if known.size else indices

    patch.setattr(Lookup, "_look_up_each", imputed)


@caught_by(privacy.record_changes_at_most_its_sensitivity)
def unknown_text_imputed(patch: pytest.MonkeyPatch) -> None:
    look_up_texts = kernels.look_up_texts

    def imputed(*batch: Any, default: int) -> Any:
        found = look_up_texts(*batch, default=default)
        known = found[found != OUTSIDE]
        return np.where(found == OUTSIDE, known[0], found) if known.size else found

    patch.setattr(kernels, "look_up_texts", imputed)


@caught_by(privacy.record_changes_at_most_its_sensitivity)
def value_out_of_bounds_drops_column(patch: pytest.MonkeyPatch) -> None:
    interleave = kernels.interleave

    def all_or_nothing(own: Any, mask: int, codes: Any) -> None:
        interleave(np.full_like(own, OUTSIDE) if (own == OUTSIDE).any() else own, mask, codes)

    patch.setattr(kernels, "interleave", all_or_nothing)


@caught_by(privacy.record_changes_at_most_its_sensitivity)
def skipped_record_counts_in_columns(patch: pytest.MonkeyPatch) -> None:
    """A record with an invalid value in one column counts in the other columns."""

    def apart(self: Table, records: Any, *, level: int, columns: Any) -> Any:
        rows, found = self.as_batch(records), {}
        values = iter(rows.columns)
        for column in self.columns:
            own = [next(values) for _ in column.names]
            if column.label in columns:
                found[column.label] = column.encode(own, level=columns[column.label])
        return encode_columns(self, records, level=level, columns={})[0], found

    encode_columns = Table.encode_columns
    patch.setattr(Table, "encode_columns", apart)


@caught_by(privacy.record_changes_at_most_its_sensitivity)
def record_counts_twice_in_columns(patch: pytest.MonkeyPatch) -> None:
    count_codes, columns = kernels.count_codes, set[int]()
    start = privhp.collect.tally.Tally.__init__

    def noting(self: Any, plan: Any) -> None:
        start(self, plan)
        columns.update(id(array) for own in self.columns.values() for array in own.arrays())

    def twice(codes: Any, weights: Any, **sizes: Any) -> None:
        count_codes(codes, weights, **sizes)
        if id(sizes["counters"]) in columns:
            count_codes(codes, weights, **sizes)

    patch.setattr(privhp.collect.tally.Tally, "__init__", noting)
    patch.setattr(kernels, "count_codes", twice)


@caught_by(privacy.record_changes_at_most_its_sensitivity)
def date_changes_type_of_all_times(patch: pytest.MonkeyPatch) -> None:
    read = Time._read

    def together(self: Time, records: Any) -> Any:
        ticks, readable = read(self, records)
        dates = any(type(value) is dt.date for value in to_column(records).values)
        return (np.where(readable, self._ticks.low, ticks) if dates else ticks), readable

    patch.setattr(Time, "_read", together)


@caught_by(leaks.invalid_records_are_skipped_without_messages)
def invalid_address_raises(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ip, "attempt", lambda value, convert, fallback: convert(value))


@caught_by(privacy.record_changes_at_most_its_sensitivity)
def counts_change_at_a_record_number(patch: pytest.MonkeyPatch) -> None:
    update = Summary.update

    def decaying(self: Summary, records: Any, *, counts: Any = None) -> None:
        update(self, records, counts=counts)
        self._seen = getattr(self, "_seen", 0) + len(records)
        if self._seen >= 3:
            self._tally.counters //= 2

    patch.setattr(Summary, "update", decaying)


@caught_by(privacy.record_changes_at_most_its_sensitivity, leaks.invalid_records_are_skipped_without_messages)
def nan_raises(patch: pytest.MonkeyPatch) -> None:
    def refuse(records: Any) -> None:
        if np.isnan(records).any():
            raise ValueError("expected no NaN")

    _inspect_floats(patch, refuse)


@caught_by(privacy.record_changes_at_most_its_sensitivity, leaks.invalid_records_are_skipped_without_messages)
def nan_warns(patch: pytest.MonkeyPatch) -> None:
    def warn(records: Any) -> None:
        if np.isnan(records).any():
            warnings.warn("some records are not numbers", stacklevel=2)

    _inspect_floats(patch, warn)


@caught_by(privacy.record_changes_at_most_its_sensitivity, leaks.invalid_records_are_skipped_without_messages)
def nan_is_reported(patch: pytest.MonkeyPatch) -> None:
    _inspect_floats(patch, lambda records: print(f"dropped {np.isnan(records).sum()} records"))  # noqa: T201 - the defect


def _inspect_floats(patch: pytest.MonkeyPatch, inspect: Callable[[Any], None]) -> None:
    as_floats = numbers.as_floats

    def inspected(records: Any) -> Any:
        values = as_floats(records)
        inspect(values)
        return values

    patch.setattr(numbers, "as_floats", inspected)


@caught_by(privacy.record_changes_at_most_its_sensitivity, leaks.invalid_records_are_skipped_without_messages)
def invalid_count_raises(patch: pytest.MonkeyPatch) -> None:
    def strict(counts: Any, *, records: int) -> Any:
        values = np.asarray(counts)
        if values.dtype.kind not in "iu":
            raise TypeError("expected integers")
        return np.maximum(values, 0)

    patch.setattr(privhp.collect.tally, "as_counts", strict)


@caught_by(leaks.invalid_records_are_skipped_without_messages)
def numpy_warning_about_record(patch: pytest.MonkeyPatch) -> None:
    as_integers = numbers.as_integers

    def speaking(records: Any) -> Any:
        values = to_column(records).values
        if isinstance(values, np.ndarray) and values.dtype.kind == "f":
            with np.errstate(all="warn"):
                np.floor(values)
        return as_integers(records)

    patch.setattr(numbers, "as_integers", speaking)


@caught_by(privacy.record_changes_at_most_its_sensitivity)
def null_converts_column_to_floats(patch: pytest.MonkeyPatch) -> None:
    as_batch = Nullable.as_batch

    def together(self: Nullable, records: Any) -> Column:
        values = to_column(records).values
        if isinstance(values, list) and any(value is None for value in values):
            records = [float(value) if isinstance(value, int) else value for value in values]
        return as_batch(self, records)

    patch.setattr(Nullable, "as_batch", together)


@caught_by(privacy.record_changes_at_most_its_sensitivity, leaks.invalid_records_are_skipped_without_messages)
def invalid_row_drops_batch(patch: pytest.MonkeyPatch) -> None:
    to_batch = table.to_batch

    def all_or_nothing(records: Any, names: Any) -> Any:
        rows = to_batch(records, names)
        if rows.invalid is not None and rows.invalid.any():
            rows.invalid[:] = True
        return rows

    patch.setattr(table, "to_batch", all_or_nothing)


@caught_by(privacy.record_changes_at_most_its_sensitivity)
def invalid_value_shifts_column(patch: pytest.MonkeyPatch) -> None:
    to_batch = table.to_batch

    def moved_up(records: Any, names: Any) -> Any:
        rows = to_batch(records, names)
        first = rows.columns[0].values
        if isinstance(first, list):
            kept = [value for value in first if isinstance(value, int | float)]
            rows.columns[0] = Column(kept + [None] * (len(first) - len(kept)))
        return rows

    patch.setattr(table, "to_batch", moved_up)

"""Domain of datetimes and dates, encoded as integers: units since 1970 in UTC."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import datetime as dt
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Codes, Counts, Floats
from privhp.core.number_format import format_duration
from privhp.domains.column import take
from privhp.domains.comparisons import discrete_range, ranges_region
from privhp.domains.conversion import floor_int64, read_each, values_of_kind
from privhp.domains.fields import Field, FieldKind, OutputForm
from privhp.domains.integer_ranges import IntegerRangeDomain
from privhp.domains.numbered_times import DayTicks, Ticks
from privhp.domains.numpy_times import SECOND, TICKS, counts_and_step
from privhp.domains.plot_scale import PlotScale
from privhp.domains.single_times import TimeReader, month_advice, month_days
from privhp.domains.time_formats import TimeFormat
from privhp.domains.time_zones import local_times, time_texts
from privhp.domains.to_column import to_column
from privhp.domains.unions import Ends
from privhp.domains.validation import Outside, check_dtype, check_ends, outside_argument, quote
from privhp.errors import DomainError

if TYPE_CHECKING:
    from privhp.domains.condition_grammar import Predicate

Unit = Literal["D", "s", "ms", "us", "ns"]

_WHAT = 'times, or numbers in a declared format such as "epoch"'
_EXAMPLE = '"2020-02-29" or "2020-02-29T19:30"'

YEAR_1, YEAR_10000 = -62_135_596_800 * SECOND, 253_402_300_800 * SECOND
"""Nanoseconds from 1970 to the first time that ISO 8601 text of four-digit years can write, and to the first after."""

WEEKENDS = 0.1
"""Mean squared imbalance of spans of two and of four days by weekends: half as much as if these had no records."""


class Time(IntegerRangeDomain):
    """Times, or dates with `unit="D"`, between two declared bounds, both included.

    Times are rounded down to the unit. Distances are in seconds, those of dates
    in days. Records are NumPy, pandas or Arrow arrays, or sequences of
    datetimes, dates and ISO 8601 text. Records with an offset or a zone are
    converted to UTC; the date of one is its local date. Times of NumPy and pandas
    without a zone are UTC; other times without an offset are in the declared
    zone, UTC by default. There are no leap seconds. Other text, and numbers,
    need a declared `format`.

    Samples are datetime64 in UTC; in data frames and files they have the zone.
    A region is a pair (low, high) of times in any form that records have, both
    included, with None for an open end. In bounds and regions, "2020-02-29" and
    `datetime.date` are the whole day, from its first time to its last; a record
    that is a date is its midnight.

    Args:
        low: Lower bound, public knowledge: ISO text, a datetime or a date.
        high: Upper bound, public knowledge.
        unit: "s", "ms", "us" or "ns"; or "D" for dates.
        zone: Time zone, such as "Europe/Berlin" or "+02:00", of bounds, datetimes, dates and text without one, and of
            samples in data frames and files. Times of NumPy and pandas remain UTC. A local time that occurs twice is
            the earlier one unless its `fold` is set.
        outside: Treatment of times out of bounds: "drop" or "clamp" to the nearer bound. NaT is always dropped.
        dtype: Type of samples, public knowledge, where it is finer than the unit: "datetime64[ns]" for seconds that
            are stored as nanoseconds.
        format: How records write times, if not in ISO 8601: directives of strptime, such as "%d.%m.%Y" or "%m/%d/%Y
            %H:%M"; "epoch" for seconds since 1970, or "epoch_ms", "epoch_us", "epoch_ns". A record that is not in
            the format is read as ISO 8601. Bounds, regions and samples have no format.
    """

    kind: ClassVar[str] = "time"
    ordered: ClassVar[bool] = True
    is_line = True
    accepts = frozenset({"times", "text"})

    def __init__(
        self,
        low: Any,
        high: Any,
        *,
        unit: Unit = "s",
        zone: str | None = None,
        outside: Outside = "drop",
        dtype: Any = None,
        format: str | None = None,  # noqa: A002 - the name of the parameter in the public API
    ) -> None:
        if not isinstance(unit, str) or unit not in TICKS:
            raise DomainError(f'expected unit="s", "ms", "us", "ns" or "D", got {quote(unit)}')
        self.unit, self.zone, self.outside = unit, zone, outside
        self.format = None if format is None else TimeFormat(format)
        if self.format is not None:
            self.accepts = frozenset({"times", "text", "integers", "numbers"})
        if zone is not None and unit == "D":
            raise DomainError(
                f'dates have no time zone, got zone={quote(zone)} with unit="D"; leave it out: the date of a time with '
                "a zone is its local date"
            )
        self._reader = TimeReader(zone, unit)
        self._reader.note_utc(low, high)
        (first, _), (_, last) = self._bound(low, "the lower bound"), self._bound(high, "the upper bound")
        if first >= last:
            raise DomainError(f"expected a lower bound before the upper, got {quote(low)} and {quote(high)}")
        if first * TICKS[unit] < YEAR_1 or last * TICKS[unit] >= YEAR_10000:
            raise DomainError(
                f"expected bounds in the years 1 to 9999 of UTC, got {quote(low)} and {quote(high)} with "
                f"zone={quote(zone)}; declare them a day nearer"
            )
        if max(-first, last) > Ticks.LIMIT - 1 or last - first >= 2**62:
            raise DomainError(
                f'the bounds {quote(low)} and {quote(high)} exceed the range of unit="{unit}"; choose a coarser unit'
            )
        self._ticks = self._make_ticks(first, last)
        finer = [f"datetime64[{other}]" for other in TICKS if TICKS[other] <= TICKS[unit]]
        self.dtype = check_dtype(finer[0] if dtype is None else dtype, finer)
        ratio = TICKS[unit] // TICKS[np.datetime_data(self.dtype)[0]]
        if max(-first, last) >= 2**63 // ratio:
            raise DomainError(f"expected a dtype that holds {quote(low)} and {quote(high)}, got {self.dtype}")

    def _make_ticks(self, first: int, last: int) -> Ticks:
        """Dates, or the ticks of days that begin at midnight in the zone, by its offset at the lower bound."""
        if self.unit == "D":
            return Ticks(first, last, outside=self.outside)
        low = self._times(np.array([first]))
        ahead = 0 if self.zone is None else int((local_times(low, self.zone) - low.astype("M8[s]")).view(np.int64)[0])
        day, second = TICKS["D"] // TICKS[self.unit], SECOND // TICKS[self.unit]
        return DayTicks(first, last, day=day, midnight=-ahead * second, outside=self.outside)

    def _bound(self, value: Any, name: str) -> tuple[int, int]:
        """First and last tick of a declared time, or of a whole day."""
        try:
            first, last = self._reader.span(value)
            return first // TICKS[self.unit], last // TICKS[self.unit]
        except Exception:  # noqa: BLE001 - objects of other types may raise anything
            raise DomainError(
                f"expected a time such as {_EXAMPLE} for {name}, year first, got {quote(value)}{month_advice(value)}"
            ) from None

    def __repr__(self) -> str:
        zone = "" if self.zone is None else f", zone={self.zone!r}"
        low, high = map(self.format_value, self._times(np.array([self._ticks.low, self._ticks.high])))
        dtype = "" if self._is_plain else f', dtype="{self.dtype}"'
        form = "" if self.format is None else f", format={self.format.text!r}"
        return f'Time("{low}", "{high}", unit="{self.unit}"{zone}{outside_argument(self.outside)}{dtype}{form})'

    @property
    def _is_plain(self) -> bool:
        """Whether samples have the type of the unit."""
        return np.datetime_data(self.dtype)[0] == self.unit

    @property
    def depth(self) -> int:
        return self._ticks.depth

    def fields(self) -> tuple[Field, ...]:
        in_utc = self.zone in (None, "UTC") and self.unit != "ns"  # these the compiled CSV scanner reads
        times = FieldKind.DATE if self.unit == "D" else FieldKind.TIME
        kind = times if in_utc else FieldKind.TEXT
        if self.format is not None:
            kind = FieldKind.DICTIONARY if self.format.step is None else FieldKind.INTEGER
        repeats = kind is FieldKind.DICTIONARY  # strptime is slow, and dates repeat
        return (Field("value", kind, repeats=repeats, accepts=self.accepts, declared_as=self.kind, zone=self.zone),)

    def output_forms(self) -> tuple[OutputForm, ...]:
        return (OutputForm(zone=self.zone),)

    def ticks_around(self, value: Any) -> tuple[np.datetime64, np.datetime64]:
        """Last tick at or before a time and first tick at or after it, at most one tick out of bounds.

        Of a whole day, its last tick and its first.
        """
        self._reader.note_utc(value)
        try:
            first, last = self._reader.span(value)
        except Exception:  # noqa: BLE001 - objects of other types may raise anything
            expected = f"expected a time such as {_EXAMPLE}, year first"
            raise DomainError(f"{expected}, got {quote(value)}{month_advice(value)}") from None
        step = TICKS[self.unit]
        before, after = self._times(np.array([self._clip(last // step), self._clip(-(-first // step))]))
        return before, after

    def _clip(self, tick: int) -> int:
        """The nearest tick that is at most one tick out of bounds."""
        return min(max(tick, self._ticks.low - 1), self._ticks.high + 1)

    def _near_tick(self, value: Any, form: TimeFormat | None) -> int:
        """Tick of one time, at most one tick out of bounds."""
        read = self._reader.nanoseconds
        nanoseconds = read(value) if form is None else form.nanoseconds(value, read)
        return self._clip(nanoseconds // TICKS[self.unit])

    def _read(self, records: Any, form: TimeFormat | None = None) -> tuple[Counts, NDArray[np.bool_]]:
        """Tick of each time, clipped for times far out of bounds, and a mask of the valid times."""
        column = to_column(records)
        if column.dictionary is not None:
            ticks, valid = self._read_each(column.dictionary, form)
            return take(np.append(ticks, 0), column), take(np.append(valid, False), column)
        batch = values_of_kind(column, kinds="M" if form is None else "Miuf", what=_WHAT)
        if not isinstance(batch, np.ndarray):
            return self._read_each(batch, form)
        readable = np.ones(batch.shape, dtype=np.bool_) if column.missing is None else ~column.missing
        if batch.dtype.kind == "M":
            readable &= ~np.isnat(batch)
            counts, step = counts_and_step(
                local_times(batch, column.zone) if self.unit == "D" and column.zone is not None else batch
            )
        elif form is not None and form.step is not None and batch.dtype.kind in "iu":
            counts, step = floor_int64(batch), form.step
        else:
            distinct, places = np.unique(batch, return_inverse=True)
            ticks, valid = self._read_each(distinct.tolist(), form)
            return ticks[places], valid[places] & readable
        return self._as_ticks(counts, step), readable

    def _read_each(self, values: Sequence[Any], form: TimeFormat | None) -> tuple[Counts, NDArray[np.bool_]]:
        """Tick of each value and a mask of the valid ones: those of fixed width at once, the others one by one."""
        read = partial(self._near_tick, form=form)
        if form is None or form.fixed is None or not (form.fixed.has_offset or self._reader.zone is dt.UTC):
            return read_each(values, read)
        ticks, valid = np.zeros(len(values), dtype=np.int64), np.zeros(len(values), dtype=np.bool_)
        places, seconds = form.fixed.read(values, local=self.unit == "D")
        ticks[places], valid[places] = self._as_ticks(seconds, SECOND), True
        others = np.flatnonzero(~valid)
        ticks[others], valid[others] = read_each([values[place] for place in others.tolist()], read)
        return ticks, valid

    def _as_ticks(self, counts: Counts, step: int) -> Counts:
        """Ticks of counts of steps of some nanoseconds, clipped for times far out of bounds."""
        ratio, finer = divmod(step, TICKS[self.unit])
        if finer:
            return counts // (TICKS[self.unit] // step)
        if ratio > 1:  # times far out of bounds would overflow int64
            counts = np.clip(counts, (self._ticks.low - 1) // ratio, self._ticks.high // ratio + 1) * ratio
        return counts

    def encode(self, records: Any, *, level: int) -> Codes:
        return self._ticks.encode_readable(*self._read(records, self.format), level=level)

    def rhythms(self, axis: int) -> Mapping[int, float]:
        """Those of weeks and of days: weekends and nights may be as uneven as if they had no records."""
        day = self._ticks.day_cuts
        weeks = {day - 2: WEEKENDS, day - 1: WEEKENDS}
        return weeks if self.unit == "D" else {**weeks, day: 1.0, day + 1: 1.0, day + 2: 1.0}

    def _times(self, ticks: Counts) -> NDArray[Any]:
        return ticks.view(f"M8[{self.unit}]")

    def _ranges(self, codes: Codes, levels: NDArray[np.int64] | int) -> tuple[Counts, Counts]:
        return self._ticks._ranges(codes, levels)

    def _records_at(self, numbers: Counts) -> NDArray[Any]:
        return self._times(self._ticks._records_at(numbers))

    def to_output(self, records: NDArray[Any]) -> NDArray[Any]:
        """Times as the declared type."""
        return records.astype(self.dtype, copy=False)

    def diameter(self, level: int) -> float:
        return self._ticks.diameter(level) * self._tick_length

    @property
    def _tick_length(self) -> float:
        """Distance of neighbouring times: in days for dates, else in seconds."""
        return 1.0 if self.unit == "D" else TICKS[self.unit] / SECOND

    def measure(self, codes: Codes, *, level: int) -> Floats:
        return self._ticks.measure(codes, level=level)

    def _region(self, region: Any) -> tuple[int, int]:
        """First and last tick of a region."""
        days = month_days(region) or ("2020-02-29", "2020-03-31")
        first, last = check_ends(region, example=(f'"{days[0]}"', f'"{days[1]}"'))
        self._reader.note_utc(first, last)
        low = self._ticks.low if first is None else self._bound(first, "the lower end of the region")[0]
        high = self._ticks.high if last is None else self._bound(last, "the upper end of the region")[1]
        if low > high and first is not None and last is not None:
            raise DomainError(f"expected a region whose lower end is not after its upper, got {quote(region)}")
        return low, high

    def overlap(self, region: Any, codes: Codes, *, level: int) -> Floats:
        return self._ticks.between(*self._region(region), codes, level=level)

    def decode_within(self, region: Any, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        return self._times(self._ticks.draw_between(*self._region(region), codes, level=level, rng=rng))

    def describe(self, code: int, *, level: int) -> tuple[np.datetime64, np.datetime64]:
        first, last = self._times(np.array(self._ticks.describe(code, level=level)))
        return first, last

    def cell_cdf(self, records: Any, codes: Codes, *, level: int) -> Floats:
        ticks, readable = self._read(records)
        if not readable.all():
            raise DomainError(f"expected times such as {_EXAMPLE} for a cdf, got other values")
        return self._ticks.cell_cdf(ticks, codes, level=level)

    def upper_ends(self, values: NDArray[Any]) -> NDArray[Any]:
        """Times; a date is the last time of its day."""
        if values.dtype.kind == "M":
            return values
        return np.array([self.ticks_around(value)[0] for value in values.tolist()], dtype=f"M8[{self.unit}]")

    def cell_quantile(self, shares: Floats, codes: Codes, *, level: int) -> NDArray[Any]:
        return self._times(self._ticks.cell_quantile(shares, codes, level=level))

    def format_distance(self, distance: float) -> str:
        return format_duration(distance * (86_400 if self.unit == "D" else 1))

    def format_resolution(self, level: int) -> str:
        """Duration of a cell, its last tick included."""
        ticks = self._ticks.diameter(level) + 1.0
        return "exact" if ticks == 1 else self.format_distance(ticks * self._tick_length)

    def format_value(self, value: Any) -> str:
        return str(time_texts(np.array([value]), self.zone)[0])

    def parse_region(self, comparisons: Sequence[Predicate], names: Sequence[str]) -> Any:
        return ranges_region(comparisons, self._comparison_range)

    def _comparison_range(self, sign: str, value: str) -> Ends:
        return discrete_range(sign, value, around=self.ticks_around(value), step=np.timedelta64(1, self.unit))

    def format_region(self, region: Any, label: str) -> str:
        low, high = region
        return f"{label} = {self.format_value(low)}" if low == high else super().format_region((low, high), label)

    def everything(self) -> Any:
        return None, None

    def plot_scale(self, coordinate: int = 0) -> PlotScale:
        note = "" if self.zone is None else "UTC"  # bins and ticks are round numbers in UTC
        return PlotScale("time", self._ticks.low, self._ticks.high + 1, integer=True, unit=self.unit, note=note)

    def parameters(self) -> dict[str, Any]:
        low, high = time_texts(self._times(np.array([self._ticks.low, self._ticks.high])), None).tolist()
        zone = {} if self.zone is None else {"zone": self.zone}
        dtype = {} if self._is_plain else {"dtype": str(self.dtype)}
        form = {} if self.format is None else {"format": self.format.text}
        return {"low": low, "high": high, "unit": self.unit, **zone, "outside": self.outside, **dtype, **form}

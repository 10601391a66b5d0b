"""Domain of the texts of a declared pattern, such as postcodes. Cells are prefixes and ranges of the next character."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import OUTSIDE, Codes, Counts, Floats
from privhp.domains.column import Column, attempt, take
from privhp.domains.conversion import single_value, values_of_kind
from privhp.domains.fields import Field, FieldKind
from privhp.domains.integer_ranges import IntegerRangeDomain
from privhp.domains.lookup import is_plain_text, text_characters
from privhp.domains.pattern_automaton import Automaton, Span, common_prefix, other_case
from privhp.domains.presentation import TRANSPORT
from privhp.domains.shares import ALMOST_ONE
from privhp.domains.text_list import TextList
from privhp.domains.to_column import to_column
from privhp.domains.validation import listed_values, null_hint, quote
from privhp.errors import DomainError

if TYPE_CHECKING:
    from privhp.domains.condition_grammar import Predicate

ANY = "*"
"""End of a region that is a prefix."""


class Pattern(IntegerRangeDomain):
    """Texts of a declared pattern, such as postcodes, product codes and codes of diseases.

    A pattern is a regular expression of finitely many texts: characters,
    classes such as `[A-Z0-9]`, {n} and {least,most} repetitions, ?, groups and
    alternatives. The next character decides between the cells of a prefix: k
    possible characters take log2(k) levels, rounded up, in their order, and
    one more level comes first if the text may end. Two texts whose longest
    common prefix has l characters, without those that are the same in all texts
    with their beginning, are at distance 2**-l.

    Texts that do not match the pattern are dropped. Samples match it. A region
    is a text, a prefix such as "E11*", or a collection of these, each written as
    in the pattern or as in records.

    Args:
        pattern: The pattern, such as `"[A-Z][0-9]{2}"`, or a list of all texts. Public knowledge.
        ignore: Characters to leave out of records before they are matched, such as " -".
        ignore_case: Whether records may have letters in the other case than that of the pattern.
    """

    kind: ClassVar[str] = "pattern"
    accepts = frozenset({"text"})

    def __init__(self, pattern: str | Sequence[str], *, ignore: str = "", ignore_case: bool = False) -> None:
        if not isinstance(ignore, str) or not isinstance(ignore_case, bool) or "\0" in ignore:
            raise DomainError(
                f"expected ignore as a text and ignore_case as a boolean, got {quote(ignore)} and {quote(ignore_case)}"
            )
        self._texts: Automaton | TextList
        if isinstance(pattern, list | tuple):
            self._texts = TextList(pattern, ignored=ignore, ignore_case=ignore_case)
            self.pattern: str | list[str] = sorted(map(str, pattern))
        elif isinstance(pattern, str):
            self._texts = Automaton(pattern, ignored=ignore, ignore_case=ignore_case)
            self.pattern = str(pattern)
        else:
            raise DomainError(f"expected a pattern as a text, or a list of all texts, got {quote(pattern)}")
        if ANY in self._texts.alphabet:
            raise DomainError(f"expected texts without {ANY}, which ends a prefix in conditions")
        self.ignore, self.ignore_case = ignore, ignore_case
        others = other_case(self._texts.alphabet) if ignore_case else {}
        self._as_declared = str.maketrans({**others, **dict.fromkeys(ignore, "")})

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.parameters().items() if name != "pattern")
        pattern = repr(self.pattern) if isinstance(self.pattern, str) else quote(self.pattern)
        return f"Pattern({pattern}{options})"

    @property
    def depth(self) -> int:
        return self._texts.depth

    def fields(self) -> tuple[Field, ...]:
        field = Field("value", FieldKind.DICTIONARY, repeats=True, accepts=self.accepts, declared_as=self.kind)
        listed = frozenset() if isinstance(self.pattern, str) else frozenset(self.pattern)
        return (field._replace(declared_texts=listed),)

    def encode(self, records: Any, *, level: int) -> Codes:
        column = to_column(records)
        if column.dictionary is not None:
            deepest = take(np.append(self._encode_each(column.dictionary), OUTSIDE), column)
        else:
            deepest = self._encode_values(column)
            if column.missing is not None:
                deepest[column.missing] = OUTSIDE
        return np.where(deepest == OUTSIDE, OUTSIDE, deepest >> np.uint64(self.depth - level))

    def _encode_values(self, column: Column) -> Codes:
        if isinstance(column.values, np.ndarray) and is_plain_text(column.values):
            characters = text_characters(column.values)
            return self._texts.encode(characters if self.ignore else characters[:, : self._texts.longest + 1])
        return self._encode_each(list(values_of_kind(column, kinds="", what="texts")))

    def _encode_each(self, values: list[Any]) -> Codes:
        texts = [value if type(value) is str else attempt(value, _read_text, "") for value in values]
        if self.ignore:
            texts = [text.translate(self._as_declared) for text in texts]
        longest = self._texts.longest
        short = [text if len(text) <= longest and "\0" not in text else "" for text in texts]  # "" is in no domain
        return self._texts.encode(text_characters(np.array(short, dtype=f"U{longest}")))

    def _ranges(self, codes: Codes, levels: NDArray[np.int64] | int) -> tuple[Counts, Counts]:
        shift = np.asarray(self.depth - levels, dtype=np.uint64)
        first = self._texts.ranks_below(codes << shift)
        return first, self._texts.ranks_below((codes + np.uint64(1)) << shift) - first

    def _records_at(self, numbers: Counts) -> NDArray[Any]:
        return self._texts.texts(np.minimum(numbers, self._texts.size - 1))

    def diameter(self, level: int) -> float:
        return self._texts.diameters[level]

    def measure(self, codes: Codes, *, level: int) -> Floats:
        share: Floats = self._ranges(codes, level)[1] / self._texts.size
        return share

    def overlap(self, region: Any, codes: Codes, *, level: int) -> Floats:
        spans = self._spans(region)
        first, sizes = self._ranges(codes, level)
        inside = spans.count_below(first + sizes) - spans.count_below(first)
        share: Floats = np.where(inside < sizes, np.minimum(inside / np.maximum(sizes, 1), ALMOST_ONE), inside > 0)
        return share

    def decode_within(self, region: Any, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        spans = self._spans(region)
        first, sizes = self._ranges(codes, level)
        drawn = rng.integers(spans.count_below(first), spans.count_below(first + sizes))
        return self._records_at(spans.ranks(drawn))

    def _spans(self, region: Any) -> _Spans:
        return _Spans([self._span(text) for text in listed_values(region)])

    def _span(self, text: Any) -> Span:
        span, begins = None, False
        if isinstance(text, str):
            prefix = text.removesuffix(ANY).translate(self._as_declared)
            begins = self._texts.span_of_prefix(prefix) is not None
            span = self._texts.span_of_prefix(prefix) if text.endswith(ANY) else self._texts.span_of_text(prefix)
        if span is None:
            example = self._records_at(np.zeros(1, dtype=np.int64)).tolist()[0]
            hint = f'; write "{text}{ANY}" for all texts that begin with it' if begins else ""
            raise DomainError(
                f'expected a text of the domain, such as "{example}", or a prefix such as "{example[:1]}{ANY}", '
                f"got {quote(text)}{hint}{null_hint(text)}"
            )
        return span

    def describe(self, code: int, *, level: int) -> Any:
        (first,), (size,) = self._ranges(np.array([code], dtype=np.uint64), level)
        regions = self._regions(Span(first, first + size))
        return regions[0] if len(regions) == 1 else regions

    def _regions(self, chosen: Span, prefix: str = "") -> list[str]:
        """The fewest texts and prefixes for all texts of a span that begin with a prefix."""
        own = self._texts.span_of_prefix(prefix) or Span(0, 0)
        first, after = max(own.first, chosen.first), min(own.after, chosen.after)
        if first >= after:
            return []
        if (first, after) == own:
            ends = self._records_at(np.array([first, after - 1])).tolist()
            return [common_prefix(*ends) + ANY if after - first > 1 else str(ends[0])]
        ended = [prefix] if first == own.first and self._texts.span_of_text(prefix) else []
        longer = (prefix + character for character in self._texts.next_characters(prefix) if character)
        return ended + [region for prefix in longer for region in self._regions(chosen, prefix)]

    def is_reportable(self, codes: Codes, *, level: int) -> NDArray[np.bool_]:
        """Mask of the largest cell of each prefix and of each text."""
        sizes = self._ranges(codes, level)[1]
        above = self._ranges(codes >> np.uint64(1), level - 1)[1] if level else sizes
        whole = [isinstance(self.describe(code, level=level), str) for code in codes.tolist()]
        named: NDArray[np.bool_] = np.array(whole, dtype=np.bool_) & (above > sizes)
        return named

    def region_kind(self, region: Any) -> str:
        """Length of a prefix."""
        if not isinstance(region, str):
            return ""
        length = len(region) - 1
        prefix = "first character" if length == 1 else f"first {length} characters"
        return prefix if region.endswith("*") else "whole texts"

    @property
    def distance_meaning(self) -> str:
        return f"{TRANSPORT}: two texts with a common prefix of l characters are 2 to the power of -l apart."

    def format_resolution(self, level: int) -> str:
        """Length of the prefixes that cells of a level distinguish."""
        diameter = self.diameter(level)
        if diameter == 0:
            return "exact"
        length = int(-np.log2(diameter))
        return f"{length} character{'s' * (length != 1)}"

    def parse_region(self, comparisons: Sequence[Predicate], names: Sequence[str]) -> Any:
        """Text or prefix after `=` or `in`, or a list of those that meet all comparisons."""
        for comparison in comparisons:
            if comparison.sign == "like":
                from privhp.domains.condition_grammar import quote_word  # slow to import, and needed here only

                prefix = quote_word(comparison.values[0].rstrip("%") + ANY)
                raise DomainError(f"like is not read; write in {prefix} for texts that begin so")
        if len(comparisons) == 1 and comparisons[0].sign != "!=":
            return super().parse_region(comparisons, names)
        excluded = _Spans([])
        for comparison in comparisons:
            allowed = comparison._replace(sign="=") if comparison.sign == "!=" else comparison
            spans = self._spans(super().parse_region([allowed], names))
            own = spans if comparison.sign == "!=" else spans.complement(self._texts.size)
            excluded = _Spans([*excluded.merged, *own.merged])
        chosen = [region for span in excluded.complement(self._texts.size).merged for region in self._regions(span)]
        if not chosen:
            raise DomainError("no text meets all conditions; correct them")
        return chosen

    def unite(self, regions: Sequence[Any]) -> Any:
        """The list of all texts and prefixes."""
        return [text for region in regions for text in (region if isinstance(region, list) else [region])]

    def parameters(self) -> dict[str, Any]:
        ignored = {"ignore": self.ignore} if self.ignore else {}
        return {"pattern": self.pattern, **ignored, **({"ignore_case": True} if self.ignore_case else {})}


def _read_text(value: Any) -> str:
    """Text of one value; the empty text for another object. Raises if bytes are not UTF-8."""
    value = single_value(value)
    text = value.decode("utf-8") if isinstance(value, bytes) else value
    return str(text) if isinstance(text, str) else ""


class _Spans:
    """Union of spans of ranks."""

    def __init__(self, spans: list[Span]) -> None:
        self.merged: list[Span] = []
        """The same ranks as disjoint spans, in order."""
        for span in sorted(spans):
            if self.merged and span.first <= self.merged[-1].after:
                self.merged[-1] = Span(self.merged[-1].first, max(self.merged[-1].after, span.after))
            else:
                self.merged.append(span)
        ends = np.array(self.merged, dtype=np.int64).reshape(-1, 2)
        self._first, self._sizes = ends[:, 0], ends[:, 1] - ends[:, 0]
        self._before = np.cumsum(self._sizes) - self._sizes

    def complement(self, size: int) -> _Spans:
        """All other ranks below a size."""
        firsts = [0, *(span.after for span in self.merged)]
        afters = [*(span.first for span in self.merged), size]
        return _Spans([Span(*ends) for ends in zip(firsts, afters, strict=True) if ends[0] < ends[1]])

    def count_below(self, ranks: Counts) -> Counts:
        """Number of ranks of the union below each rank."""
        if not self._first.size:
            return np.zeros(ranks.shape, dtype=np.int64)
        index = np.maximum(np.searchsorted(self._first, ranks, side="right") - 1, 0)
        count: Counts = self._before[index] + np.clip(ranks - self._first[index], 0, self._sizes[index])
        return count

    def ranks(self, numbers: Counts) -> Counts:
        """The ranks with these numbers in the union."""
        index = np.searchsorted(self._before, numbers, side="right") - 1
        ranks: Counts = self._first[index] + numbers - self._before[index]
        return ranks

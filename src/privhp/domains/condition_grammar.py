"""Parser of conditions: comparisons joined by `and`, without knowledge of domains.

condition   conjunction or conjunction or ...
conjunction comparison and comparison and ...
comparison  names sign value | names between value and value | names in value,value | names in [value, value]
            | names is [not] null
names       name,name
sign        < <= > >= = !=; == is =
name, value a word, or anything in quotes; a quote inside is doubled
"""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from privhp.domains.validation import number_advice
from privhp.errors import DomainError

SIGNS = ("<=", ">=", "<", ">", "=", "!=")
_MISTAKEN = {"=>": ">=", "=<": "<=", "<>": "!="}
_KEYWORDS = ("and", "or", "not", "in", "is", "null", "between")
_WORD = r"""[^\s<>=!\[\],'"]+"""
_TOKEN = re.compile(
    rf"""\s*(?:(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*")|(?P<sign><=|>=|==|!=|[<>=\[\],])|(?P<word>{_WORD}))"""
)


class Predicate(NamedTuple):
    """One comparison of a condition.

    Args:
        names: Name of a column, or of each coordinate of a point.
        sign: One of `SIGNS`, "in" for a region, "among" for a list, "null" or "not null".
        values: Values to compare with, as text.
    """

    names: tuple[str, ...]
    sign: str
    values: list[str]

    @property
    def has_sign(self) -> bool:
        """Whether it compares with a value by one of `SIGNS`."""
        return self.sign in SIGNS

    @property
    def is_null_test(self) -> bool:
        """Whether it tests for null."""
        return self.sign in ("null", "not null")

    def __str__(self) -> str:
        """Sign and values as written in a condition."""
        if self.sign == "among":
            return f"in [{', '.join(self.values)}]"
        return f"is {self.sign}" if self.is_null_test else f"{self.sign} {','.join(self.values)}"


class _Token(NamedTuple):
    text: str
    kind: str

    def is_word(self, *words: str) -> bool:
        return self.kind == "word" and self.text.lower() in words

    def is_sign(self, *signs: str) -> bool:
        return self.kind == "sign" and self.text in signs


_END = _Token("", "end")


def parse(text: str) -> list[list[Predicate]]:
    """Alternatives of a condition, each of which is a list of comparisons that must all hold."""
    reader = _Reader(_tokens(text))
    found = [reader.read_conjunction()]
    while reader.take_word("or"):
        found.append(reader.read_conjunction())
    reader.finish()
    return found


def quote_word(text: str) -> str:
    """A name or value as written in a condition: in quotes, unless it is a plain word."""
    if re.fullmatch(_WORD, text) and text.lower() not in _KEYWORDS:
        return text
    return "'" + text.replace("'", "''") + "'"


def _tokens(text: str) -> list[_Token]:
    tokens, position = [], 0
    text = text.rstrip()
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise DomainError(
                f"expected a condition such as fare < 10 and kind = cash, got {text!r}, which cannot be read from "
                f"{text[position:].strip()!r} on; close quotes, and quote names with special characters"
            )
        kind = str(found.lastgroup)
        word = found[kind]
        if kind == "quoted":
            word = word[1:-1].replace(word[0] * 2, word[0])
        tokens.append(_Token(word, kind))
        position = found.end()
    return tokens


class _Reader:
    """Reader of a list of tokens."""

    def __init__(self, tokens: Sequence[_Token]) -> None:
        self._tokens, self._position = [*tokens, _END], 0

    @property
    def _next(self) -> _Token:
        return self._tokens[self._position]

    def _take(self) -> _Token:
        token = self._next
        self._position += token is not _END
        return token

    def take_word(self, *words: str) -> bool:
        """Consume the next token if it is one of these words."""
        found = self._next.is_word(*words)
        self._position += found
        return found

    def _take_sign(self, *signs: str) -> bool:
        found = self._next.is_sign(*signs)
        self._position += found
        return found

    def finish(self) -> None:
        """Refuse further tokens."""
        if self._next is not _END:
            advice = self._decimal_advice() or "; quote names and values with spaces"
            raise DomainError(f"expected and, or, or the end of the condition, got {self._next.text!r}{advice}")

    def read_conjunction(self) -> list[Predicate]:
        """The next comparisons, up to `or` or the end."""
        found = self._read_comparison()
        while self.take_word("and"):
            found += self._read_comparison()
        return found

    def _read_comparison(self) -> list[Predicate]:
        """The next comparison; `between` is two."""
        names = tuple(self._read_list("expected the name of a column"))
        label = ",".join(names)
        if self.take_word("is"):
            sign = "not null" if self.take_word("not") else "null"
            if not self.take_word("null"):
                raise DomainError(f"column {label!r}: expected is null or is not null, got {self._describe_next()}")
            return [Predicate(names, sign, [])]
        if self.take_word("in"):
            if not self._take_sign("["):
                return [Predicate(names, "in", self._read_list(f"column {label!r}: expected a region"))]
            values = self._read_list(f"column {label!r}: expected a value")
            if not self._take_sign("]"):
                raise DomainError(f"column {label!r}: expected a list that ends in ], got {self._describe_next()}")
            return [Predicate(names, "among", values)]
        if self.take_word("between"):
            low = self._read_value(f"column {label!r}: expected a value")
            if not self.take_word("and"):
                found = f"{self._describe_next()}{self._decimal_advice()}"
                raise DomainError(f"column {label!r}: expected between LOW and HIGH, got {found}")
            high = self._read_value(f"column {label!r}: expected a value")
            return [Predicate(names, ">=", [low]), Predicate(names, "<=", [high])]
        if not self._next.is_sign(*SIGNS, "=="):
            spaced = "; quote names with spaces" if self._next.kind == "word" else ""
            raise DomainError(
                f"column {label!r}: expected one of {' '.join(SIGNS)} in between is, "
                f"got {self._describe_next()}{spaced}"
            )
        sign = self._take().text.replace("==", "=")
        if meant := _MISTAKEN.get(sign + self._next.text * self._next.is_sign("<", ">")):
            raise DomainError(f"column {label!r}: expected one of {' '.join(SIGNS)}; write {meant}")
        return [Predicate(names, sign, [self._read_value(f"column {label!r}: expected a value")])]

    def _read_list(self, what: str) -> list[str]:
        found = [self._read_value(what)]
        while self._take_sign(","):
            found.append(self._read_value(what))
        return found

    def _read_value(self, what: str) -> str:
        if self._next.kind not in ("word", "quoted"):
            raise DomainError(f"{what}, got {self._describe_next()}")
        return self._take().text

    def _decimal_advice(self) -> str:
        """End of a message if commas after a number are followed by digits."""
        if not self._next.is_sign(","):
            return ""
        rest = takewhile(lambda token: token.is_sign(",") or token.text[:1].isdigit(), self._tokens[self._position :])
        return number_advice(self._tokens[self._position - 1].text + "".join(token.text for token in rest))

    def _describe_next(self) -> str:
        return "the end" if self._next is _END else repr(self._next.text)

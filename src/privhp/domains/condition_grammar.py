"""Parser of conditions: comparisons joined by `and`, without knowledge of domains.

condition   comparison and comparison and ...
comparison  names sign value | names in value,value | names in [value, value] | names is [not] null
names       name,name
sign        < <= > >= =
name, value a word, or anything in quotes; a quote inside is doubled
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from privhp.errors import DomainError

SIGNS = ("<=", ">=", "<", ">", "=")
_KEYWORDS = ("and", "or", "not", "in", "is", "null")
_WORD = r"""[^\s<>=!\[\],'"]+"""
_TOKEN = re.compile(
    rf"""\s*(?:(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*")|(?P<sign><=|>=|==|!=|[<>=\[\],])|(?P<word>{_WORD}))"""
)


class Comparison(NamedTuple):
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
    def is_null_test(self) -> bool:
        """Whether it tests for null."""
        return self.sign in ("null", "not null")

    def __str__(self) -> str:
        """The sign and the values as they stand in a condition."""
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


def parse(text: str) -> list[Comparison]:
    """The comparisons of a condition."""
    reader = _Reader(_tokens(text))
    found = [reader.comparison()]
    while reader.takes_word("and"):
        found.append(reader.comparison())
    reader.finish()
    return found


def quote_word(text: str) -> str:
    """A name or value as it stands in a condition: in quotes, unless it is a plain word."""
    if re.fullmatch(_WORD, text) and text.lower() not in _KEYWORDS:
        return text
    return "'" + text.replace("'", "''") + "'"


def _tokens(text: str) -> list[_Token]:
    tokens, place = [], 0
    text = text.rstrip()
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise DomainError(
                f"expected a condition such as fare < 10 and kind = cash, got {text!r}, which breaks off at "
                f"{text[place:].strip()!r}; write anything but a plain word in closed quotes"
            )
        kind = str(found.lastgroup)
        part = found[kind]
        if kind == "quoted":
            part = part[1:-1].replace(part[0] * 2, part[0])
        tokens.append(_Token(part, kind))
        place = found.end()
    return tokens


class _Reader:
    """Reader of a list of tokens."""

    def __init__(self, tokens: Sequence[_Token]) -> None:
        self._tokens, self._place = [*tokens, _END], 0

    @property
    def _next(self) -> _Token:
        return self._tokens[self._place]

    def _take(self) -> _Token:
        token = self._next
        self._place += token is not _END
        return token

    def takes_word(self, *words: str) -> bool:
        """Consume the next token if it is one of these words."""
        found = self._next.is_word(*words)
        self._place += found
        return found

    def _takes_sign(self, *signs: str) -> bool:
        found = self._next.is_sign(*signs)
        self._place += found
        return found

    def finish(self) -> None:
        """Refuse further tokens."""
        if self._next.is_word("or"):
            raise DomainError("conditions cannot be joined by or; ask for each by itself")
        if self._next is not _END:
            raise DomainError(f"expected and or the end of the condition, got {self._next.text!r}")

    def comparison(self) -> Comparison:
        """The next comparison."""
        names = tuple(self._listed("expected the name of a column"))
        label = ",".join(names)
        if self.takes_word("is"):
            sign = "not null" if self.takes_word("not") else "null"
            if not self.takes_word("null"):
                raise DomainError(f"column {label!r}: expected is null or is not null, got {self._shown()}")
            return Comparison(names, sign, [])
        if self.takes_word("in"):
            if not self._takes_sign("["):
                return Comparison(names, "in", self._listed(f"column {label!r}: expected a region"))
            values = self._listed(f"column {label!r}: expected a value")
            if not self._takes_sign("]"):
                raise DomainError(f"column {label!r}: expected a list that ends in ], got {self._shown()}")
            return Comparison(names, "among", values)
        if not self._next.is_sign(*SIGNS):
            raise DomainError(f"column {label!r}: expected one of {' '.join(SIGNS)} in is, got {self._shown()}")
        return Comparison(names, self._take().text, [self._value(f"column {label!r}: expected a value")])

    def _listed(self, what: str) -> list[str]:
        found = [self._value(what)]
        while self._takes_sign(","):
            found.append(self._value(what))
        return found

    def _value(self, what: str) -> str:
        if self._next.kind not in ("word", "quoted"):
            raise DomainError(f"{what}, got {self._shown()}")
        return self._take().text

    def _shown(self) -> str:
        return "the end" if self._next is _END else repr(self._next.text)

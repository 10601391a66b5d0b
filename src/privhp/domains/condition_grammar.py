"""Parser of conditions: comparisons joined by `and`, without knowledge of domains.

condition   conjunction or conjunction or ...
conjunction comparison and comparison and ...
comparison  names sign value | value sign names sign value | names between value and value | names in value,value
            | names [not] in [value, value] | names [not] in (value, value) | names not in value | names is [not] null
            | names like value
names       name,name
sign        < <= > >= = !=; == is =, <> is !=, && is and, || is or
name, value a word, or anything in quotes; a quote inside is doubled

Domains refuse `like`; those of prefixes say what to write. Parentheses around conditions are refused.
"""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from privhp.domains.validation import number_advice
from privhp.errors import DomainError

SIGNS = ("<=", ">=", "<", ">", "=", "!=")
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}
"""The sign of a comparison that is turned around."""
_MISTAKEN = {"=>": ">=", "=<": "<="}
_SYNONYMS = {"==": "=", "<>": "!=", ")": "]"}
_KEYWORDS = ("and", "or", "not", "in", "is", "null", "between")
_JUNCTIONS = {"&&": "and", "||": "or"}
_WORD = r"""(?:(?!&&|\|\|)[^\s<>=!\[\],'"])+"""
_TOKEN = re.compile(
    rf"""\s*(?:(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*")|(?P<sign><=|>=|==|!=|<>|[<>=\[\],])"""
    rf"""|(?P<word>&&|\|\||[iI][nN](?=\()|{_WORD}))"""
)
_LIST_BEGIN, _LIST_WORD = re.compile(r"\s*\("), re.compile(r"""\s*(?:(?P<sign>\))|(?P<word>[^\s<>=!\[\],'")]+))""")
"""Beginning of a list in parentheses after `in`; its end, and words inside it. Elsewhere words may have parentheses."""
_PARENTHESIS = re.compile(r"(and|in|not|or)?\(", re.IGNORECASE)
"""Beginning of a word that is no name, unless it is quoted."""


class Predicate(NamedTuple):
    """One comparison of a condition.

    Args:
        names: Name of a column, or of each coordinate of a point.
        sign: One of `SIGNS`, "in" for a region, "among" for a list, "like", "null" or "not null".
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
    if re.fullmatch(_WORD, text) and text.lower() not in _KEYWORDS and not _PARENTHESIS.match(text):
        return text
    return "'" + text.replace("'", "''") + "'"


def _label(names: Sequence[str]) -> str:
    """Names as written in a condition."""
    return ",".join(map(quote_word, names))


def _tokens(text: str) -> list[_Token]:
    tokens, position, listed = list[_Token](), 0, False
    text = text.rstrip()
    while position < len(text):
        if tokens and tokens[-1].is_word("in") and (begin := _LIST_BEGIN.match(text, position)):
            tokens.append(_Token("[", "sign"))
            position, listed = begin.end(), True
            continue
        found = (_LIST_WORD.match(text, position) if listed else None) or _TOKEN.match(text, position)
        if found is None:
            raise DomainError(
                f"expected a condition such as fare < 10 and kind = cash, got {text!r}, which cannot be read from "
                f"{text[position:].strip()!r} on; close quotes, and quote names with special characters"
            )
        kind = str(found.lastgroup)
        word = found[kind]
        if kind == "quoted":
            word = word[1:-1].replace(word[0] * 2, word[0])
        if kind == "sign":
            listed, word = listed and word != ")", _SYNONYMS.get(word, word)
        tokens.append(_Token(_JUNCTIONS.get(word, word) if kind == "word" else word, kind))
        position = found.end()
    return tokens


class _Reader:
    """Reader of a list of tokens."""

    def __init__(self, tokens: Sequence[_Token]) -> None:
        self._tokens, self._position = [*tokens, _END], 0

    @property
    def _next(self) -> _Token:
        return self._tokens[self._position]

    @property
    def _following(self) -> _Token:
        """The token after the next one."""
        return self._tokens[min(self._position + 1, len(self._tokens) - 1)]

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
        self._refuse_parenthesis()
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
        """The next comparison; `between`, `not in` and a chain such as 0 < x < 18 are several."""
        self._refuse_parenthesis()
        if self._next.is_word("not") and self._following.kind in ("word", "quoted"):
            name = quote_word(self._following.text)
            raise DomainError(f"not is not read before a condition; write {name} != VALUE, or {name} is not null")
        names = tuple(self._read_list("expected the name of a column"))
        column = f"column {','.join(names)!r}"
        if self.take_word("is"):
            sign = "not null" if self.take_word("not") else "null"
            if not self.take_word("null"):
                raise DomainError(f"{column}: expected is null or is not null, got {self._describe_next()}")
            return [Predicate(names, sign, [])]
        negated = self.take_word("not")
        if self.take_word("in"):
            return self._read_membership(names, column, negated=negated)
        if self.take_word("between"):
            return self._read_range(names, column, negated=negated)
        if negated:
            label = _label(names)
            found = f"not {self._next.text}".strip()
            raise DomainError(f"{column}: {found} is not read; write {label} != VALUE, or {label} is not null")
        if self.take_word("like"):
            return [Predicate(names, "like", [self._read_value(f"{column}: expected a value")])]
        sign = self._read_sign(column)
        value = self._read_value(f"{column}: expected a value")
        return self._read_chain(names, sign, value) if self._next.is_sign(*SIGNS) else [Predicate(names, sign, [value])]

    def _read_membership(self, names: tuple[str, ...], column: str, *, negated: bool) -> list[Predicate]:
        """What follows `in`; after `not`, each value is excluded."""
        if not self._take_sign("["):
            if negated:
                return [Predicate(names, "!=", [self._read_value(f"{column}: expected a value")])]
            return [Predicate(names, "in", self._read_list(f"{column}: expected a region"))]
        values = self._read_list(f"{column}: expected a value")
        if not self._take_sign("]"):
            raise DomainError(f"{column}: expected a list that ends in ] or ), got {self._describe_next()}")
        return [Predicate(names, "!=", [value]) for value in values] if negated else [Predicate(names, "among", values)]

    def _read_range(self, names: tuple[str, ...], column: str, *, negated: bool) -> list[Predicate]:
        """What follows `between`."""
        low = self._read_value(f"{column}: expected a value")
        if not self.take_word("and"):
            found = f"{self._describe_next()}{self._decimal_advice()}"
            raise DomainError(f"{column}: expected between LOW and HIGH, got {found}")
        high = self._read_value(f"{column}: expected a value")
        if negated:
            label, below, above = _label(names), quote_word(low), quote_word(high)
            raise DomainError(f"{column}: not between is not read; write {label} < {below} or {label} > {above}")
        return [Predicate(names, ">=", [low]), Predicate(names, "<=", [high])]

    def _read_chain(self, low: tuple[str, ...], sign: str, name: str) -> list[Predicate]:
        """The rest of a chain such as 0 < x < 18, from its second sign on: a comparison with each end."""
        column = f"column {name!r}"
        second = self._read_sign(column)
        high = self._read_value(f"{column}: expected a value")
        if sign[0] not in "<>" or second[0] != sign[0]:
            raise DomainError(f"{column}: expected two signs in one direction, such as 0 < {quote_word(name)} < 18")
        if len(low) > 1:
            before = ",".join(low)
            raise DomainError(f"{column}: expected a value before it, got {before!r}{number_advice(before)}")
        return [Predicate((name,), MIRRORED[sign], [*low]), Predicate((name,), second, [high])]

    def _read_sign(self, column: str) -> str:
        """The next sign."""
        if not self._next.is_sign(*SIGNS):
            spaced = "; quote names with spaces" if self._next.kind == "word" else ""
            raise DomainError(
                f"{column}: expected one of {' '.join(SIGNS)} in between is, got {self._describe_next()}{spaced}"
            )
        sign = self._take().text
        if meant := _MISTAKEN.get(sign + self._next.text * self._next.is_sign("<", ">")):
            raise DomainError(f"{column}: expected one of {' '.join(SIGNS)}; write {meant}")
        return sign

    def _refuse_parenthesis(self) -> None:
        """Refuse a parenthesis around conditions."""
        found = self._following if self._next.is_word("not") else self._next
        if found.kind == "word" and _PARENTHESIS.match(found.text):
            raise DomainError(
                f'expected conditions without parentheses around them, got {found.text!r}; "and" binds before '
                '"or"; quote a name that begins with a parenthesis'
            )

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

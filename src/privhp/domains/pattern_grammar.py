r"""Parser of patterns: regular expressions of finitely many texts, without knowledge of domains.

pattern   sequence|sequence|...
sequence  element element ...
element   atom, atom?, atom{n} or atom{least,most}
atom      a character, \ and a character, [A-Z0-9] or (pattern)

A pattern matches the same texts as `re.fullmatch`. Other constructs of regular expressions are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from privhp.domains.validation import quote
from privhp.errors import DomainError

MAX_PATTERN = 1000
"""Characters of a pattern, at most."""
MAX_CHARACTERS = 256
"""Characters of a class such as [A-Z], at most."""
MAX_TIMES = 63
MAX_NESTING = 20
MAX_STATES = 2000

END = 0
"""State in which a text may end."""

_SPECIAL = "()[]{}|?*+.^$\\"
_TIMES = re.compile(r"\{([0-9]{1,3})(?:,([0-9]{1,3}))?\}")


@dataclass(frozen=True)
class Characters:
    """One character of a set."""

    allowed: frozenset[str]


@dataclass(frozen=True)
class Sequence:
    """Parts one after another."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Choice:
    """One of several alternatives."""

    alternatives: tuple[Node, ...]


@dataclass(frozen=True)
class Repetition:
    """A part several times."""

    part: Node
    least: int
    most: int


Node: TypeAlias = Characters | Sequence | Choice | Repetition


class _Move(NamedTuple):
    """Move to another state with one of these characters; without characters, to any of several states."""

    allowed: frozenset[str]
    after: tuple[int, ...]


class States:
    """Nondeterministic automaton of a pattern. Every transition leads to a state with a smaller number.

    Args:
        pattern: The pattern.
    """

    def __init__(self, pattern: str) -> None:
        self._moves = [_Move(frozenset(), ())]
        self.start = self.closure(self._add(parse(pattern), END))

    def _add(self, node: Node, after: int) -> int:
        """State before a part of the pattern that leads to the state after it."""
        match node:
            case Characters(allowed):
                return self._append(allowed, after)
            case Sequence(parts):
                for part in reversed(parts):
                    after = self._add(part, after)
                return after
            case Choice(alternatives):
                return self._append(frozenset(), *(self._add(own, after) for own in alternatives))
            case Repetition(part, least, most):
                end = after
                for _ in range(most - least):
                    after = self._append(frozenset(), self._add(part, after), end)
                for _ in range(least):
                    after = self._add(part, after)
                return after

    def _append(self, allowed: frozenset[str], *after: int) -> int:
        if len(self._moves) == MAX_STATES:
            raise DomainError(f"the pattern has more than {MAX_STATES:,} positions; repeat fewer characters")
        self._moves.append(_Move(allowed, after))
        return len(self._moves) - 1

    def closure(self, *states: int) -> frozenset[int]:
        """States of a character, and `END`, that some states lead to without a character."""
        found, open_states = set(), {*states}
        while open_states:
            state = open_states.pop()
            allowed, after = self._moves[state]
            if state == END or allowed:
                found.add(state)
            else:
                open_states.update(after)
        return frozenset(found)

    def moves(self, states: frozenset[int]) -> dict[str, frozenset[int]]:
        """States after each possible character, in the order of the characters."""
        found: dict[str, set[int]] = {}
        for allowed, after in (self._moves[state] for state in states):
            for character in allowed:
                found.setdefault(character, set()).update(after)
        return {character: self.closure(*found[character]) for character in sorted(found)}


def parse(pattern: str) -> Node:
    """Syntax tree of a pattern."""
    if not 0 < len(pattern) <= MAX_PATTERN:
        raise DomainError(
            f'expected a pattern of at most {MAX_PATTERN:,} characters, such as "[A-Z][0-9]{{2}}", got {quote(pattern)}'
        )
    reader = _Reader(pattern)
    node = reader.read_choice(0)
    if not reader.is_finished:
        raise reader.refusal("a ( before this )")
    return node


class _Reader:
    """Reader of the characters of a pattern."""

    def __init__(self, pattern: str) -> None:
        self._pattern, self._position = pattern, 0

    @property
    def is_finished(self) -> bool:
        return self._position == len(self._pattern)

    @property
    def _next(self) -> str:
        return self._pattern[self._position : self._position + 1]

    def _take(self) -> str:
        character = self._next
        self._position += 1
        return character

    def refusal(self, expected: str) -> DomainError:
        """Error at the current position."""
        rest = f"at {quote(self._pattern[self._position :])}" if not self.is_finished else "at its end"
        return DomainError(f"the pattern {quote(self._pattern)}: expected {expected}, {rest}")

    def read_choice(self, depth: int) -> Node:
        """Alternatives up to a closing parenthesis or the end."""
        if depth > MAX_NESTING:
            raise self.refusal(f"at most {MAX_NESTING} nested parentheses")
        found = [self._read_sequence(depth)]
        while self._next == "|":
            self._take()
            found.append(self._read_sequence(depth))
        return found[0] if len(found) == 1 else Choice(tuple(found))

    def _read_sequence(self, depth: int) -> Node:
        parts = []
        while self._next not in ("", "|", ")"):
            parts.append(self._read_times(self._read_atom(depth)))
        if not parts:
            raise self.refusal("a character, or ? behind what may be absent")
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _read_times(self, atom: Node) -> Node:
        if self._next == "?":
            self._take()
            least, most = 0, 1
        elif self._next == "{":
            found = _TIMES.match(self._pattern, self._position)
            least, most = (-1, -1) if found is None else (int(found[1]), int(found[2] or found[1]))
            if found is None or not least <= most or not 1 <= most <= MAX_TIMES:
                raise self.refusal(f"{{n}} or {{least,most}} with at most {MAX_TIMES} repetitions")
            self._position = found.end()
        else:
            return atom
        if self._next and self._next in "?{*+":
            raise self.refusal("one number of repetitions; write ( ) around what is repeated again")
        return Repetition(atom, least, most)

    def _read_atom(self, depth: int) -> Node:
        if self._next == "(":
            self._take()
            node = self.read_choice(depth + 1)
            if self._next != ")":
                raise self.refusal("a closing )")
            self._take()
            return node
        if self._next == "[":
            self._take()
            return Characters(self._read_class())
        if self._next == ".":
            raise self.refusal("[.] for a point, or a list such as [A-Z] for other characters")
        if self._next in ("*", "+"):
            raise self.refusal("a largest number of repetitions, such as {1,5}")
        return Characters(frozenset(self._read_character(_SPECIAL)))

    def _read_class(self) -> frozenset[str]:
        """Characters up to the closing bracket."""
        found: set[str] = set()
        if self._next == "^":
            raise self.refusal("the possible characters, not those that are impossible")
        while self._next != "]" or not found:
            first = last = self._read_character("[]")
            if self._next == "-" and self._pattern[self._position + 1 : self._position + 2] not in ("]", ""):
                self._take()
                last = self._read_character("[]")
            if not 0 <= ord(last) - ord(first) < MAX_CHARACTERS:
                raise self.refusal(f"a range of at most {MAX_CHARACTERS} characters in increasing order before this")
            found.update(map(chr, range(ord(first), ord(last) + 1)))
            if len(found) > MAX_CHARACTERS:
                raise self.refusal(f"at most {MAX_CHARACTERS} characters in a class")
        self._take()
        return frozenset(found)

    def _read_character(self, special: str) -> str:
        escaped = self._next == "\\"
        if escaped:
            self._take()
        character = self._next
        if character in ("", "\0") or (character in special and not escaped):
            raise self.refusal("a character, with \\ before one of " + _SPECIAL)
        if escaped and (character.isalnum() or not character.isascii()):
            raise self.refusal("a list such as [0-9] in place of \\ and this letter")
        self._take()
        return character

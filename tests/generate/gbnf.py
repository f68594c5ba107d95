"""A small reader of llama.cpp's grammars: what a text must look like to be accepted, and texts that are."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

_TOKEN = re.compile(
    r'\s*(?:(?P<text>"(?:\\.|[^"\\])*")|(?P<set>\[\^?(?:\\.|[^\]\\])*\])|(?P<count>\{\d+(?:,\d*)?\})|(?P<sign>[()|*+?])|(?P<name>[\w-]+))'
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}

# A node is ("text", str), ("set", ranges, negated), ("name", str), ("all", nodes), ("any", nodes) or
# ("times", node, low, high).
Node = tuple[Any, ...]


@dataclass(frozen=True)
class Gbnf:
    """A grammar. Its rules may be recursive at their ends only, as those under test are."""

    text: str

    @cached_property
    def rules(self) -> dict[str, Node]:
        lines = [line for line in self.text.splitlines() if line.strip()]
        return {name.strip(): _Reader(body).choice() for name, body in (line.split("::=", 1) for line in lines)}

    def accepts(self, text: str) -> bool:
        """Whether the grammar accepts the whole text."""
        return None in self._after(text)

    def allows(self, text: str) -> bool:
        """Whether a text that begins like this may be accepted."""
        return bool(self._after(text))

    def _after(self, text: str) -> set[Any]:
        stacks = self._closed({(("name", "root"), None)})
        for char in text:
            moved = {rest for node, rest in filter(None, stacks) if _matches(node, char)}
            stacks = self._closed(moved)
            if not stacks:
                return set()
        return stacks

    def _closed(self, stacks: set[Any]) -> set[Any]:
        """The stacks with a character set on top, or None where the text may end."""
        done: set[Any] = set()
        seen: set[Any] = set()
        todo = list(stacks)
        while todo:
            stack = todo.pop()
            if stack in seen:
                continue
            seen.add(stack)
            if stack is None or stack[0][0] == "set":
                done.add(stack)
            else:
                todo += self._opened(*stack)
        return done

    def _opened(self, node: Node, rest: Any) -> list[Any]:
        kind = node[0]
        if kind == "text":
            for char in reversed(node[1]):
                rest = (("set", ((char, char),), False), rest)
            return [rest]
        if kind == "name":
            return [(self.rules[node[1]], rest)]
        if kind == "any":
            return [(each, rest) for each in node[1]]
        if kind == "all":
            for each in reversed(node[1]):
                rest = (each, rest)
            return [rest]
        _, inner, low, high = node
        found = [rest] if low == 0 else []
        if high is None or high > 0:
            again = ("times", inner, max(0, low - 1), None if high is None else high - 1)
            found.append((inner, (again, rest)))
        return found

    def sample(self, chance: random.Random, most: int = 6, odd: float = 0.5) -> str:
        """A text that is accepted; ``most`` bounds repetitions where the grammar lets them go on, ``odd`` recursion."""
        return self._sampled(("name", "root"), chance, most, odd)

    def _sampled(self, node: Node, chance: random.Random, most: int, odd: float) -> str:
        kind = node[0]
        if kind == "text":
            return node[1]
        if kind == "set":
            return _drawn(node, chance)
        if kind == "name":
            return self._sampled(self.rules[node[1]], chance, most, odd)
        if kind == "any":
            return self._sampled(chance.choice(node[1]), chance, most, odd)
        if kind == "all":
            return "".join(self._sampled(each, chance, most, odd) for each in node[1])
        _, inner, low, high = node
        if (low, high) == (0, 1):
            count = int(chance.random() < odd)
        else:
            count = chance.randint(low, max(low, min(high if high is not None else most, most)))
        return "".join(self._sampled(inner, chance, most, odd) for _ in range(count))


class _Reader:
    def __init__(self, body: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        place = 0
        while place < len(body.rstrip()):
            match = _TOKEN.match(body, place)
            assert match is not None and match.lastgroup is not None, f"cannot read {body[place : place + 40]!r}"
            self._tokens.append((match.lastgroup, match[match.lastgroup]))
            place = match.end()

    def choice(self) -> Node:
        ways = [self._sequence()]
        while self._next("sign", "|"):
            ways.append(self._sequence())
        return ways[0] if len(ways) == 1 else ("any", tuple(ways))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while self._tokens and self._tokens[0] not in (("sign", "|"), ("sign", ")")):
            parts.append(self._repeated(self._atom()))
        return parts[0] if len(parts) == 1 else ("all", tuple(parts))

    def _atom(self) -> Node:
        kind, text = self._tokens.pop(0)
        if kind == "text":
            return ("text", "".join(_characters(text[1:-1])))
        if kind == "set":
            negated = text.startswith("[^")
            return ("set", _ranges(text[2 if negated else 1 : -1]), negated)
        if kind == "name":
            return ("name", text)
        assert (kind, text) == ("sign", "("), (kind, text)
        inside = self.choice()
        assert self._next("sign", ")")
        return inside

    def _repeated(self, node: Node) -> Node:
        signs = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        if self._tokens and self._tokens[0][0] == "sign" and self._tokens[0][1] in signs:
            low, high = signs[self._tokens.pop(0)[1]]
            return ("times", node, low, high)
        if self._tokens and self._tokens[0][0] == "count":
            bounds = self._tokens.pop(0)[1][1:-1].split(",")
            low = int(bounds[0])
            high = low if len(bounds) == 1 else int(bounds[1]) if bounds[1] else None
            return ("times", node, low, high)
        return node

    def _next(self, kind: str, text: str) -> bool:
        if self._tokens and self._tokens[0] == (kind, text):
            self._tokens.pop(0)
            return True
        return False


def _characters(text: str) -> list[str]:
    return [
        _ESCAPES.get(found[1], found[1]) if len(found) > 1 else found for found in re.findall(r"\\.|.", text, re.DOTALL)
    ]


def _ranges(text: str) -> tuple[tuple[str, str], ...]:
    characters = _characters(text)
    found: list[tuple[str, str]] = []
    while characters:
        first = characters.pop(0)
        if len(characters) > 1 and characters[0] == "-":
            characters.pop(0)
            found.append((first, characters.pop(0)))
        else:
            found.append((first, first))
    return tuple(found)


def _matches(node: Node, char: str) -> bool:
    return any(low <= char <= high for low, high in node[1]) != node[2]


def _drawn(node: Node, chance: random.Random) -> str:
    if node[2]:
        return chance.choice("abcXYZ 0123,;")
    low, high = chance.choice(node[1])
    return chr(chance.randint(ord(low), ord(high)))

"""Every regular expression of the package, and texts that are hard for each."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

import vericite
from vericite.errors import VeriCiteError

SOURCE = Path(vericite.__file__).parent
_METHODS = {"compile", "sub", "subn", "search", "match", "fullmatch", "split", "findall", "finditer"}


def used_by() -> dict[tuple[str, str], set[str]]:
    """With which methods a pattern is used, by the module that uses it and its name there."""
    found: dict[tuple[str, str], set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        own = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in _METHODS and (name := _name_of(node.value)):
                found.setdefault((own, name), set()).add(node.attr)
    return found


def _name_of(base: ast.expr) -> str | None:
    while isinstance(base, ast.Subscript):
        base = base.value
    if isinstance(base, ast.Attribute):
        return base.attr
    return base.id if isinstance(base, ast.Name) else None


@dataclass(frozen=True)
class Used:
    """A pattern, where it is first met, and with which methods it is used; none are known of a few."""

    name: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]

    @property
    def anchored(self) -> bool:
        """Whether it is only tried at one place, and not looked for throughout a text."""
        return bool(self.methods) and self.methods <= {"match", "fullmatch"}


def patterns() -> list[Used]:
    """The package's compiled patterns, each once."""
    uses = used_by()
    names: dict[tuple[str | bytes, int], list[str]] = {}
    found: dict[tuple[str | bytes, int], re.Pattern[Any]] = {}
    methods: dict[tuple[str | bytes, int], set[str]] = {}
    for info in pkgutil.walk_packages([str(SOURCE)], "vericite."):
        if info.name.endswith("__main__"):
            continue
        try:
            module = importlib.import_module(info.name)
        except (ImportError, VeriCiteError):
            continue  # it needs a package that is not installed
        for name, own, pattern in _in_module(module):
            key = (pattern.pattern, pattern.flags)
            found[key] = pattern
            names.setdefault(key, []).append(f"{info.name}.{name}")
            methods.setdefault(key, set()).update(uses.get((info.name, own), ()))
    for path in sorted(SOURCE.rglob("*.py")):
        for name, method, pattern in _in_source(path):
            key = (pattern.pattern, pattern.flags)
            found[key] = pattern
            names.setdefault(key, []).append(name)
            methods.setdefault(key, set()).add(method)
    return [Used(names[key][0], pattern, frozenset(methods[key] - {"compile"})) for key, pattern in found.items()]


def _in_module(module: ModuleType) -> Iterator[tuple[str, str, re.Pattern[Any]]]:
    for name, value in vars(module).items():
        for full, pattern in _in_value(name, value, module.__name__):
            yield full, full.rpartition(".")[2], pattern


def _in_value(name: str, value: Any, home: str, depth: int = 0) -> Iterator[tuple[str, re.Pattern[Any]]]:
    if isinstance(value, re.Pattern):
        yield name, value
    elif depth > 3:
        return
    elif isinstance(value, dict):
        for item in [*value.keys(), *value.values()]:
            yield from _in_value(name, item, home, depth + 1)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _in_value(name, item, home, depth + 1)
    elif isinstance(value, type) and value.__module__ == home:
        for own, item in vars(value).items():
            yield from _in_value(f"{name}.{own}", item, home, depth + 1)


def _in_source(path: Path) -> Iterator[tuple[str, str, re.Pattern[Any]]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS):
            continue
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "re" and node.args):
            continue
        first = node.args[0]
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield f"{path.relative_to(SOURCE)}:{node.lineno}", node.func.attr, re.compile(first.value)


# Texts that are hard for a pattern: samples of its parts, repeated.


def _sample_in(items: Any) -> str:
    for op, value in items:
        if op is codes.LITERAL:
            return chr(value)
        if op is codes.RANGE:
            return chr(value[0])
        if op is codes.CATEGORY:
            return {codes.CATEGORY_DIGIT: "1", codes.CATEGORY_SPACE: " ", codes.CATEGORY_WORD: "a"}.get(value, "-")
    return "a"


def _negated(items: Any) -> str:
    pattern = set()
    for op, value in items:
        if op is codes.LITERAL:
            pattern.add(chr(value))
        elif op is codes.RANGE:
            pattern |= {chr(code) for code in range(value[0], min(value[1], value[0] + 300) + 1)}
        elif op is codes.CATEGORY:
            pattern |= {
                sign
                for sign in map(chr, range(128))
                if (value is codes.CATEGORY_SPACE and sign.isspace())
                or (value is codes.CATEGORY_DIGIT and sign.isdigit())
                or (value is codes.CATEGORY_WORD and (sign.isalnum() or sign == "_"))
            }
    return next((sign for sign in "a -.(" if sign not in pattern), "x")


def sample(tree: Any) -> str:
    """A text that a parsed pattern matches, or nearly."""
    return "".join(_sample_of(op, value) for op, value in tree)


_SAMPLES: dict[Any, Callable[[Any], str]] = {
    codes.LITERAL: chr,
    codes.NOT_LITERAL: lambda value: "b" if chr(value) == "a" else "a",
    codes.ANY: lambda _: "a",
    codes.IN: lambda value: _negated(value[1:]) if value[0][0] is codes.NEGATE else _sample_in(value),
    codes.SUBPATTERN: lambda value: sample(value[3]),
    codes.ATOMIC_GROUP: lambda value: sample(value),
    codes.BRANCH: lambda value: sample(value[1][0]),
    codes.CATEGORY: lambda value: {codes.CATEGORY_DIGIT: "1", codes.CATEGORY_SPACE: " "}.get(value, "a"),
}
for _repeat in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
    _SAMPLES[_repeat] = lambda value: sample(value[2]) * max(1, min(value[0], 3))


def _sample_of(op: Any, value: Any) -> str:
    return _SAMPLES[op](value) if op in _SAMPLES else ""


def _parts(tree: Any) -> Iterator[str]:
    """Samples of every part at every depth, and of each beginning of a sequence."""
    items = list(tree)
    for end in range(1, len(items) + 1):
        yield sample(items[:end])
    for op, value in items:
        yield _sample_of(op, value)
        if op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            yield from _parts(value[2])
        elif op is codes.SUBPATTERN:
            yield from _parts(value[3])
        elif op is codes.BRANCH:
            for branch in value[1]:
                yield from _parts(branch)


def pumps(pattern: re.Pattern[Any]) -> list[str]:
    """Short texts which, repeated, may take a pattern long."""
    tree = parser.parse(
        pattern.pattern, pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    )
    parts = list(dict.fromkeys(part for part in _parts(tree) if part and len(part) < 60))[:24]
    whole = sample(tree)
    ends = ["", " ", "a", "a ", "\n", "1"]
    made = [part + end for part in [*parts, whole[: len(whole) // 2 or 1]] for end in ends]
    made += [parts[0] + part for part in parts[1:8]] if parts else []
    return [pump for pump in dict.fromkeys(made) if pump]


def seconds(pattern: re.Pattern[Any], text: str, anchored: bool = False) -> float:
    """Processor time to find all matches in a text, or the one at its start."""
    given: Any = text.encode("utf-8", "replace") if isinstance(pattern.pattern, bytes) else text
    start = time.thread_time()
    if anchored:
        pattern.match(given)
        pattern.fullmatch(given)
    else:
        for _ in pattern.finditer(given):
            pass
    return time.thread_time() - start

"""What stands over a text between rows of three hyphens: its title, its date, its authors."""

from __future__ import annotations

import re
from collections.abc import Mapping

_BLOCK = re.compile(
    r"\A---[ \t]*\n(?P<said>(?:(?!(?:---|\.{3})[ \t]*$).*\n){0,200})(?:---|\.{3})[ \t]*$\n?", re.MULTILINE
)
_PAIR = re.compile(r"([A-Za-z][\w -]{0,60}?)[ \t]*:(?:[ \t]+(.*))?\Z")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.+)\Z")


def front_matter(text: str) -> tuple[Mapping[str, object], str]:
    """What it says, and the text without it.

    Of YAML only the plain is read: ``key: value``, lists in brackets or one item a line. All else is passed over;
    nothing in it is ever run or looked up.
    """
    block = _BLOCK.match(text)
    if not block:
        return {}, text
    said: dict[str, object] = {}
    items: list[object] = []
    for line in block["said"].split("\n"):
        if pair := _PAIR.match(line):
            items = []
            said[pair[1].strip().lower()] = _value(pair[2] or "") or items
        elif item := _ITEM.match(line):
            items.append(_unquoted(item[1]))
    return said, text[block.end() :]


def _value(written: str) -> object:
    bare = written.strip()
    if bare.startswith("[") and bare.endswith("]"):
        return [_unquoted(part) for part in bare[1:-1].split(",")]
    return _unquoted(bare)


def _unquoted(written: str) -> str:
    bare = written.strip()
    return bare[1:-1] if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'" else bare

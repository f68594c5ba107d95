"""Text as programs export it, made plain: tags of HTML, named characters, control characters."""

from __future__ import annotations

import html
import re

from vericite.records import storable

# An "a<b" is no tag: those of one letter have nothing beside their name, the others only attributes.
_TAG = re.compile(
    r"</?(?P<name>p|br|b|i|u|em|strong|sub|sup|small|span|div|ul|ol|li|h[1-6]|title|sec|italic|bold|a|jats:[a-z]{1,20})"
    r"""(?:\s+[\w:-]{1,40}\s*=\s*(?:"[^"<>]{0,300}"|'[^'<>]{0,300}')){0,9}\s*/?>""",
    re.IGNORECASE,
)
_RAISED = re.compile(
    r"(?P<before>\d)<(?P<kind>sup|sub)>(?P<script>[^<>]{1,20})</(?:sup|sub)>(?P<behind>\d?)", re.IGNORECASE
)
_BLOCKS = frozenset("p br div ul ol li title sec h1 h2 h3 h4 h5 h6".split())
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b\ufeff]")
_SIGNED_DIGIT = re.compile(r"\s*[-+−–]?\s*\d")


def plain(text: str) -> str:
    r"""A text without markup, its lines joined; what blank lines kept apart is kept apart by ``\n``."""
    if "<" in text:
        text = _TAG.sub(_unmarked, _RAISED.sub(_set_apart, text))
    text = without_controls(html.unescape(text) if "&" in text else text)
    if "\n" not in text and "\r" not in text:
        return " ".join(text.split())
    paragraphs: list[list[str]] = [[]]
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if words := line.split():
            paragraphs[-1] += words
        elif paragraphs[-1]:
            paragraphs.append([])
    return "\n".join(" ".join(words) for words in paragraphs if words)


def without_controls(text: str) -> str:
    """A text without characters that cannot be seen, but for spaces and ends of lines."""
    return _CONTROLS.sub("", storable(text))


def one_line(text: str) -> str:
    """A text without markup, on one line."""
    return plain(text).replace("\n", " ")


def _set_apart(match: re.Match[str]) -> str:
    """10 and a raised 3 are 10^3, as in what is read from PubMed's XML; 103 would be another number."""
    apart = _SIGNED_DIGIT.match(match["script"])
    mark = ("^" if match["kind"].lower() == "sup" else "_") if apart else ""
    return f"{match['before']}{mark}{match['script']}{' ' if match['behind'] else ''}{match['behind']}"


def _unmarked(match: re.Match[str]) -> str:
    return "\n\n" if match["name"].lower().removeprefix("jats:") in _BLOCKS else ""

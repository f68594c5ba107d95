"""The forms in which a secret may come back: as it is, escaped for JSON, addresses or HTML, or in base64."""

from __future__ import annotations

import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Generator
from html.entities import codepoint2name

_LONGEST_ESCAPE = 12
"""Characters of the longest way to write one: ``\\\\\\\\u002f``, ``&#x0002f;`` ..."""

_CUT_OFF = re.compile(r"(?:\\{1,4}(?:u[0-9a-fA-F]{0,3})?|%[0-9a-fA-F]{0,3}|&\#?[0-9a-zA-Z]{0,9})\Z")
"""An escape that has begun and can become any character."""


class Disguises:
    """Finds a secret in whatever form. Like the secret, it has no readable form itself.

    Escapes may be mixed: services escape some characters only, and not all the same ones.
    """

    __slots__ = ("__beginnings", "__forms", "__pattern")

    def __init__(self, secret: str) -> None:
        # The longest first: one form may be the beginning of another.
        forms = sorted({secret, *_in_base64(secret)}, key=len, reverse=True)
        self.__forms = [[(character, re.compile(_written(character))) for character in form] for form in forms]
        self.__beginnings = frozenset(form[0] for form in forms) | set("\\%&")
        self.__pattern = re.compile("|".join("".join(map(_written, form)) for form in forms))

    def replace(self, text: str, mark: str) -> str:
        """The text with the mark in every place of the secret."""
        return self.__pattern.sub(lambda _: mark, text)

    def begun(self, text: str) -> int:
        """How many of the text's last characters may be the beginning of the secret, whose rest is yet to come."""
        longest = max(len(form) for form in self.__forms) * _LONGEST_ESCAPE
        for start in range(max(0, len(text) - longest), len(text)):
            if text[start] in self.__beginnings and any(_may_go_on(form, text, start) for form in self.__forms):
                return len(text) - start
        return 0


def _may_go_on(form: list[tuple[str, re.Pattern[str]]], text: str, start: int) -> bool:
    """Whether the text ends before the form does, and fits it up to there."""
    places = {start}
    for character, written in form:
        after: set[int] = set()
        for place in places:
            if place == len(text) or _CUT_OFF.match(text, place):
                return True
            # Where an ampersand is meant, "&amp;" begins with one.
            if text[place] == character:
                after.add(place + 1)
            if found := written.match(text, place):
                after.add(found.end())
        places = after
    return False


def _written(character: str) -> str:
    """A pattern of the ways in which a character is written. They begin differently, so that little is tried twice."""
    code = f"{ord(character):02x}"
    name = codepoint2name.get(ord(character))
    named = f"|{name}" if name else "|apos" if character == "'" else ""
    digits = "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in code)
    # Escaped again, a backslash is two, and a percent sign %25.
    return (
        rf"(?:%(?:25)?{digits}|&(?:\#0{{0,4}}{ord(character)}|\#[xX]0{{0,4}}{digits}{named});"
        rf"|\\{{0,4}}(?:{re.escape(character)}|u00{digits}))"
    )


def _in_base64(secret: str) -> Generator[str]:
    """What base64 makes of it, whatever stands around it: those of its characters that hold nothing else."""
    for before in range(3):
        whole = b"\0" * before + secret.encode()
        inside = slice((before * 8 + 5) // 6, len(whole) * 8 // 6)
        yield b64encode(whole).decode()[inside]
        yield urlsafe_b64encode(whole).decode()[inside]

"""A line of Markdown as it is read: without the signs that dress it."""

from __future__ import annotations

import re
from collections.abc import Container

from vericite.corpus.sources.markup import plain

_PRIVATE = 0xE000  # signs that are to be let be stay here meanwhile
_SIGN = re.compile(r"[!-/:-@\[-`{-~]")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_CODE = re.compile(r"(`{1,3})(?!`)([^\n]{1,2000}?)(?<!`)\1(?!`)")
_LABEL = r"((?:[^\[\]]|\[[^\[\]]{0,200}\]){0,500})"
_ADDRESS = r"(?:<[^<>]{0,2000}>|(?:[^\s()]|\([^\s()]{0,500}\)){0,2000})"
_TARGET = rf"""\(\s{{0,3}}{_ADDRESS}(?:\s{{1,3}}(?:"[^"]{{0,300}}"|'[^']{{0,300}}'))?\s{{0,3}}\)"""
_IMAGE = re.compile(rf"!\[{_LABEL}\](?:{_TARGET}|\[[^\[\]]{{0,200}}\])?")
_LINK = re.compile(rf"\[{_LABEL}\]{_TARGET}")
_REFERRED = re.compile(rf"\[{_LABEL}\]\[([^\[\]]{{0,200}})\]")
_NAMED = re.compile(r"\[([^\[\]^][^\[\]]{0,199})\]")
_FOOTNOTE = re.compile(r"\s?\[\^[^\[\]\s]{1,99}\]")
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^<>\s]{1,2000})>")
_STRUCK = re.compile(r"~~(?=\S)[^~]{1,1000}(?<=\S)~~")
# Between letters a "*" is one of their signs: HLA-B*27 and DRB1*15.
_STRONG = re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*]{1,2000}?)(?<=[^\s*])\1(?![\w*])")
_UNDERLINED = re.compile(r"(?<![\w_])(_{1,3})(?=[^\s_])([^\n]{1,2000}?)(?<=[^\s_])\1(?![\w_])")


def spoken(text: str, definitions: Container[str] = ()) -> str:
    """The words of a text in Markdown.

    Links are their words, images and what is struck out are nothing, marks of footnotes are left out.

    Args:
        text: The text, without what makes blocks of it.
        definitions: The names, in small letters, of links whose address stands elsewhere.
    """

    def referred(match: re.Match[str]) -> str:
        return match[1] if (match[2] or match[1]).lower() in definitions else match[0]

    def named(match: re.Match[str]) -> str:
        return match[1] if match[1].lower() in definitions else match[0]

    text = _ESCAPED.sub(lambda match: _hidden(match[1]), text)
    text = _CODE.sub(lambda match: _hidden(match[2].strip()), text)
    text = _IMAGE.sub("", text)
    text = _LINK.sub(r"\1", text)
    text = _NAMED.sub(named, _REFERRED.sub(referred, text))
    text = _STRUCK.sub("", _FOOTNOTE.sub("", _AUTOLINK.sub(r"\1", text)))
    for _ in range(2):
        text = _UNDERLINED.sub(r"\2", _STRONG.sub(r"\2", text))
    return _shown(" ".join(plain(text).split()))


def _hidden(text: str) -> str:
    return _SIGN.sub(lambda match: chr(_PRIVATE + ord(match[0])), text)


def _shown(text: str) -> str:
    return "".join(chr(ord(sign) - _PRIVATE) if _PRIVATE < ord(sign) < _PRIVATE + 128 else sign for sign in text)

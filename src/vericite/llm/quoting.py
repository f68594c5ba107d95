"""Texts of others inside a prompt: delimited by tags, and unable to leave them.

A source, a question or a demonstration may hold anything, also what looks like the end of its own block, another
block, or a turn of the conversation. What is shown to a model goes through here.
"""

from __future__ import annotations

import re
import unicodedata

from vericite.records import storable

_TAG = re.compile(r"[<＜﹤](?=[\s/]*[|｜<＜﹤A-Za-z_])")
"""What may open a tag of ours, or a control token of a model: ``<|im_end|>``, ``</s>``, ``<start_of_turn>``.
``p < 0.05`` and ``<5 mg`` do not."""

_TURN = re.compile(
    r"\[(?=\s*/?\s*(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|gMASK)\b)",
    re.IGNORECASE,
)

_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]",
)
"""What Unicode lets a reader ignore, beside format characters."""

_LINE_END = re.compile("\r\n?|[\v\f\x85\u2028\u2029]")


def as_data(text: str) -> str:
    """The text with tags and control tokens of models made harmless; it looks the same to a reader."""
    # Characters that are not seen could hide a tag from the patterns and not from a model.
    seen = "".join(map(_seen, _UNSEEN.sub("", _LINE_END.sub("\n", storable(text)))))
    return _TURN.sub("⟦", _TAG.sub("‹", seen))


def _seen(char: str) -> str:
    kind = "" if char.isalnum() or char in "\n\t" else unicodedata.category(char)
    return "" if kind == "Cf" else " " if kind == "Cc" else char


def as_block(tag: str, text: str) -> str:
    """The text as data between tags of their own lines."""
    return f"<{tag}>\n{as_data(text)}\n</{tag}>"

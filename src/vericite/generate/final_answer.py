"""The last line of a reply that was to end in ``FINAL ANSWER:``: what it says, and what stands before it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from vericite.records import QuestionType
from vericite.text.markers import parse_markers

Exact = tuple[tuple[str, ...], ...]

_FINAL = re.compile(
    r"^[\s>#*_-]*(?:the\s+)?final\s+answer\b[*_\s]*(?:is\b)?[\s*_]*[:：]?(.*)$", re.IGNORECASE | re.MULTILINE
)
_UNAVAILABLE = re.compile(r"^\W*answer\s+(?:is\s+)?unavailable\W*$", re.IGNORECASE | re.MULTILINE)
_SAYS_UNAVAILABLE = re.compile(r"\W*answer\s+(?:is\s+)?unavailable\b", re.IGNORECASE)
_LETTER = re.compile(r"\(?([A-Z])(?:\)|[.:)]|\Z)\s*", re.IGNORECASE)
_DRESSING = " \t*_`\"'"
_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")


@dataclass(frozen=True)
class FinalAnswer:
    """How a reply ends.

    Attributes:
        body: What stands before the final answer.
        said: The words of the final answer, None where the reply has none.
        exact: The same as ``Answer.exact`` has it; None where it is none of the options, or cannot be told.
        unavailable: Whether the reply says that there is no answer.
    """

    body: str
    said: str | None = None
    exact: Exact | None = None
    unavailable: bool = False


def read_final_answer(
    reply: str, options: Mapping[str, str] | None = None, type: QuestionType | None = None
) -> FinalAnswer:
    """Take a reply apart at its last final answer.

    Args:
        reply: What the model wrote.
        options: Letters and the answers they stand for, where the answer must be one of them.
        type: Of the question: a list is one item per semicolon, a summary has no exact answer.
    """
    finals = list(_FINAL.finditer(reply))
    if not finals:
        lines = list(_UNAVAILABLE.finditer(reply))
        return (
            FinalAnswer(reply[: lines[-1].start()].strip(), unavailable=True) if lines else FinalAnswer(reply.strip())
        )
    last = finals[-1]
    body = reply[: finals[0].start()].strip()
    said = _said(last[1].strip(_DRESSING) or reply[last.end() :].strip(), type)
    if _SAYS_UNAVAILABLE.match(said):
        return FinalAnswer(body, said, unavailable=True)
    if not said:
        return FinalAnswer(body)
    return FinalAnswer(body, said, _exact(said, options, type))


def _said(words: str, type: QuestionType | None) -> str:
    """The final answer itself: one line, but for a list."""
    lines = [_ITEM.sub("", line).strip(_DRESSING) for line in words.splitlines() if line.strip()]
    chosen = lines if type == "list" else lines[:1]
    text = "; ".join(chosen)
    for group in reversed(parse_markers(text)):
        text = text[: group.span.start].rstrip() + text[group.span.end :]
    return text.strip(_DRESSING)


def _exact(said: str, options: Mapping[str, str] | None, type: QuestionType | None) -> Exact | None:
    if options:
        chosen = _option(said, options)
        return None if chosen is None else ((chosen,),)
    if type == "summary":
        return None
    if type == "list":
        parts = said.split(";") if ";" in said else said.split(", ")
        items = tuple((item,) for part in parts if (item := part.strip(" .")))
        return items or None
    bare = said.rstrip(" .")
    return ((bare.lower() if type == "yesno" else bare,),) if bare else None


def _option(said: str, options: Mapping[str, str]) -> str | None:
    """The option that is meant; None where it is none of them, or two at once."""
    letter = _LETTER.match(said)
    rest = said[letter.end() :] if letter else said
    worded = next(
        (answer for answer in options.values() if re.match(rf"{re.escape(answer)}\b", rest, re.IGNORECASE)), None
    )
    if letter is None:
        return worded
    lettered = options.get(letter[1].upper())
    return lettered if worded is None or worded == lettered else None

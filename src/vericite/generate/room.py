"""Room in a prompt: which sentences of the evidence a model sees, where it cannot see them all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from vericite.generate.prompt import Shown
from vericite.llm import Message
from vericite.llm.chat import estimated_tokens
from vericite.records import Evidence, Trimmed

TURNS = 64
"""Tokens that a model's own template may put around the messages."""


@dataclass(frozen=True)
class Fitted:
    """The evidence as far as there was room for it.

    Attributes:
        shown: The documents a model sees, in the order of the evidence and with their numbers in it.
        trimmed: Those it does not see whole.
    """

    shown: tuple[Shown, ...]
    trimmed: tuple[Trimmed, ...] = ()


def cautious_tokens(text: str) -> int:
    """Tokens that a text hardly exceeds: numbers and names of drugs take more of them than plain English does."""
    beyond = 0 if text.isascii() else len(text.encode("utf-8", "replace")) - len(text)
    return -(-4 * estimated_tokens(text) // 3) + beyond


def tokens_of(messages: Iterable[Message]) -> int:
    """Tokens that messages hardly exceed, with what a model's template puts around them."""
    return TURNS + sum(cautious_tokens(message.text) for message in messages)


def fitted(evidence: Sequence[Evidence], room: int) -> Fitted:
    """The evidence in so many tokens.

    Whole sentences go, the last of the lowest ranked document first. A document without sentences is not shown, and a
    retracted one never is: numbers stay those of the evidence.
    """
    whole = {
        place: Shown.of(hit.document, place)
        for place, hit in enumerate(evidence, start=1)
        if not hit.document.retracted and hit.document.text.strip()
    }
    kept = dict(whole)
    taken = sum(map(_cost, kept.values()))
    for place in sorted(kept, key=lambda place: (evidence[place - 1].rank, place), reverse=True):
        while taken > room and kept[place].sentences:
            taken -= _cost(kept[place])
            kept[place] = replace(kept[place], sentences=kept[place].sentences[:-1])
            taken += _cost(kept[place])
    return Fitted(
        tuple(document for document in kept.values() if document.sentences),
        tuple(
            Trimmed(
                document=evidence[place - 1].document.id,
                shown=len(kept[place].sentences),
                sentences=len(document.sentences),
            )
            for place, document in whole.items()
            if len(kept[place].sentences) < len(document.sentences)
        ),
    )


def _cost(document: Shown) -> int:
    # With the line end behind it.
    return cautious_tokens(f"{document.text}\n") if document.sentences else 0

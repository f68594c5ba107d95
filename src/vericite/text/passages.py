"""Notes and entries of lists that hold a passage of their source in place of a reference to it."""

from __future__ import annotations

import re
from typing import NamedTuple

from vericite.text.sentences import split_sentences


class Passage(NamedTuple):
    """A passage of a source; ``is_quoted`` if it stands in quotation marks, so that it is no remark of the author."""

    text: str
    is_quoted: bool


_YEAR = r"(?:1[89]|20)\d\d"
_REFERENCE = re.compile(
    r"\b10\.\d{4,9}/|\bPM(?:C?ID|C\d)|https?://|\bwww\.|\bdoi:|\b(?:[Vv]ol|[Pp]p?|[Nn]o|[Ee]ds?|[Ee]dn)\. ?[\dA-Z]"
    rf"|\b{_YEAR}[a-z]?\)?\s?[;:]|\b\d{{1,4}} ?\(\d{{1,4}}\) ?[:,] ?\w?\d|\b\d{{1,4}} ?: ?\w?\d{{1,5}} ?[-–] ?\w?\d"
    # Smith J, Doe A
    r"|\A\W*(?!(?:Vitamin|Hepatitis|Influenza|Factor|Protein|Group|Arm|Type)\b)"
    r"[A-Z][\w'’-]{1,30},? (?:[A-Z]\.?[ -]?){1,3}[,.;:&]"
)
"""What only a reference has: identifiers, volumes, authors with initials."""
_LIKE_A_REFERENCE = re.compile(
    rf"\bet al\b|\b[Ee]dition\b|\b(?:Press|Publish\w+|Journal of)\b|\({_YEAR}[a-z]?\)|\b{_YEAR}[a-z]?[.)]?\s*\Z"
)
"""What a reference of one sentence has, and whole sentences may have."""
_QUOTED = re.compile(r"\s*[\"“„«](?P<inside>[^\"“”„«»]+)[\"”“»](?P<after>.*)\Z", re.DOTALL)
_REMARK = re.compile(
    r"\W*(?:see|cf|compare|ibid|idem|op\b|note|nb|adapted|available|personal communication|unpublished|data on file"
    r"|we thank|(?:the|both|all) authors?|these|unless|ages?|values|data are|figures are|numbers are|abbreviations?)\b",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|had|have|did|does|do|can|could|may|might|will|would|should|showed|found|led|rose|fell|grew"
    r"|became|gave|took|saw|occurred"
    r"|(?!randomi[sz]ed|controlled|blinded|masked|advanced|induced|related|based|pooled|nested|matched)[a-z]{3,}ed)\b"
)
_END = re.compile(r"[.!…][\"”’)\]]*\s*\Z")
_SECOND = re.compile(r"[.!?] +[A-Z]")
_FEWEST, _FEWEST_OF_SEVERAL = 4, 6
"""Words that a passage has at least, and each of several sentences: an author or a journal is shorter."""
_SHORTEST, _LONG = 3, 60
"""Words that a text given as a source has at least, and more of them than any reference."""


def passage_in(text: str) -> Passage | None:
    """Return the passage of a source that a note or an entry of a list holds; None for a reference or a remark.

    A passage is in quotation marks, or it is whole sentences with a verb, and without what only references have.
    """
    text = " ".join(text.split())
    if quoted := _QUOTED.match(text):
        inside, after = quoted["inside"].strip(), quoted["after"]
        # References quote a title, which is one sentence.
        told = _REFERENCE.search(after) or _LIKE_A_REFERENCE.search(after)
        if _is_prose(inside) and (_SECOND.search(inside) or not told):
            return Passage(inside, True)
    if _REMARK.match(text) or _REFERENCE.search(text) or not _END.search(text) or not _is_prose(text):
        return None
    return Passage(text, False) if _is_running(text) or not _LIKE_A_REFERENCE.search(text) else None


def holds_text(text: str) -> bool:
    """Whether a text given as a source is more than its name, address or reference."""
    words = len(text.split())
    if words > _LONG:
        return True
    if words < _SHORTEST or _REFERENCE.search(text):
        return False
    # A title alone has no end, or no verb of a sentence.
    told = _is_prose(text) and _END.search(text) is not None and not _LIKE_A_REFERENCE.search(text)
    return told or _is_running(text)


def _is_running(text: str) -> bool:
    """Whether a text is several sentences, none of them as short as an author or a journal."""
    parts = [text[span.slice] for span in split_sentences(text)]
    return len(parts) > 1 and all(len(part.split()) >= _FEWEST_OF_SEVERAL for part in parts)


def _is_prose(text: str) -> bool:
    return len(text.split()) >= _FEWEST and _VERB.search(text) is not None

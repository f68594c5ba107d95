"""Notes and entries of lists that hold a passage of their source, in place of a reference to it or after it."""

from __future__ import annotations

import re
from typing import NamedTuple

from vericite.text.sentences import split_sentences


class Passage(NamedTuple):
    """A passage of a source; ``is_quoted`` if it stands in quotation marks, so that it is no remark of the author."""

    text: str
    is_quoted: bool


class ListedEntry(NamedTuple):
    """A note or an entry of a list: its reference, empty if it has none, and the passage of the source."""

    reference: str
    passage: Passage | None


_YEAR = r"(?:1[89]|20)\d\d"
_AUTHORS = re.compile(
    # Smith J, Doe A
    r"\W*(?!(?:Vitamin|Hepatitis|Influenza|Factor|Protein|Group|Arm|Type)\b)"
    r"[A-Z][\w'’-]{1,30},? (?:[A-Z]\.?[ -]?){1,3}[,.;:&]"
)
_REFERENCE = re.compile(
    r"\b10\.\d{4,9}/|\bPM(?:C?ID|C\d)|https?://|\bwww\.|\bdoi:|\b(?:[Vv]ol|[Pp]p?|[Nn]o|[Ee]ds?|[Ee]dn)\. ?[\dA-Z]"
    rf"|\b{_YEAR}[a-z]?\)?\s?[;:]|\b\d{{1,4}} ?\(\d{{1,4}}\) ?[:,] ?\w?\d|\b\d{{1,4}} ?: ?\w?\d{{1,5}} ?[-–] ?\w?\d"
    rf"|\A{_AUTHORS.pattern}"
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

_LABEL = re.compile(
    r"(?:\A|(?<=[.;,)\]*_\d])\s)[*_]{0,3}(?:(?i:abstract|summary|excerpt|extract|quot(?:e|ation)|passage|text)[*_]{0,3}[:.]"
    r"|(?:Abstract|ABSTRACT)[*_]{0,3}(?= [*_]{0,3}[A-Z]))[*_]{0,3}\s"
)
"""What stands between a reference and its abstract."""
_JOURNAL_PLACE = re.compile(
    rf"\b{_YEAR}[^.;:]{{0,12}}[;:] ?\w{{0,2}}\d{{1,4}}(?: ?\([^()]{{1,20}}\))?(?: ?[:,] ?\w{{0,4}}\d\S*|\.?(?=\s|\Z))"
    r"|\b\d{1,4} ?\(\w{1,12}\) ?[:,] ?\w{0,2}\d{1,6}(?: ?[-–] ?\w?\d+)?|\b\d{1,4}, ?e\d{2,}|\bpp?\. ?\d{1,5} ?[-–] ?\d+"
)
"""Year, volume and pages, which no sentence of an abstract has."""
_END_OF_REFERENCE = re.compile(
    rf"(?:{_JOURNAL_PLACE.pattern}|\b\d{{1,4}}: ?\w?\d{{1,6}} ?[-–] ?\w?\d+"
    rf"|\b10\.\d{{4,9}}/\S{{1,300}}+|\bPMC?(?:ID)?:? ?\d+"
    rf"|https?://\S{{1,300}}+|(?<=[;,.:]) ?(?:[A-Z][a-z]{{2,8}} )?{_YEAR}(?=\.)"
    rf"|(?P<year>\({_YEAR}[a-z]?\)))[\])]?[.,;]?(?=\s)"
)
"""What a reference may end with, before its abstract; ``year`` may also be in the middle of one."""
_AFTER_REFERENCE = re.compile(
    r"\s*(?:(?:Epub|Available|Accessed|Retrieved|Cited|Published|Erratum|Retract(?:ed|ion)|Correct(?:ed|ion)|Comment"
    r"|In press|Open access)\b[^.]{0,80}\.\s|\[?(?:PubMed|CrossRef|Google Scholar|Internet)\]?\.?\s)"
)
_IDS_AT_END = re.compile(
    r"(?:\s[(\[]?(?:(?i:doi|pmid|pmcid)[: ] ?\S{1,200}|https?://\S{1,300}|10\.\d{4,9}/\S{1,200}|PMC\d+)){1,4}\s*\Z"
)
_AN_ID = re.compile(r"\s*(?:(?i:doi|pmid|pmcid)\b|https?://|10\.\d{4,9}/|PMC\d|•)")
_FEWEST_OF_ABSTRACT, _LONGEST_REFERENCE = 12, 150
"""Words that an abstract has at least, and a reference at most."""


def entry_in(text: str) -> ListedEntry:
    """Return the reference and the passage of a note or an entry of a list; a reference alone has no passage.

    After a reference, a passage is what follows the word "Abstract", a quotation, or several whole sentences.
    """
    text = " ".join(text.split())
    if (label := _LABEL.search(text)) and (passage := _labelled(text[label.end() :])):
        ids = text[label.end() + len(passage) :]
        return ListedEntry(" ".join(f"{text[: label.start()]} {ids}".split()), Passage(passage.strip(), False))
    for match in _END_OF_REFERENCE.finditer(text):
        end = match.end()
        while after := _AFTER_REFERENCE.match(text, end):
            end = after.end()
        if len(text[:end].split()) > _LONGEST_REFERENCE:
            break
        quoted = _QUOTED.match(text, end)
        if quoted and not quoted["after"].strip(" .") and _is_prose(quoted["inside"]):
            return ListedEntry(text[:end].strip(), Passage(quoted["inside"].strip(), True))
        rest = _without_ids(text[end:])
        if _is_abstract(rest, match["year"] is not None):
            ids = text[end + len(rest) :]
            return ListedEntry(" ".join(f"{text[:end]} {ids}".split()), Passage(rest.strip(), False))
    passage = passage_in(text)
    return ListedEntry("" if passage else text, passage)


def _without_ids(text: str) -> str:
    ids = _IDS_AT_END.search(text)
    return text[: ids.start()] if ids else text


def _labelled(text: str) -> str | None:
    """Return the text behind the word "Abstract", without the identifiers at its end; None if it is no sentence."""
    text = _without_ids(text)
    is_long = len(text.split()) >= _FEWEST_OF_SEVERAL
    return text if is_long and _is_prose(text) and not _JOURNAL_PLACE.search(text) else None


def _is_abstract(text: str, is_strict: bool) -> bool:
    """Whether what follows a reference is several whole sentences; ``is_strict``: the title may follow, too."""
    if _AN_ID.match(text) or _REMARK.match(text) or not _END.search(text):
        return False
    if _JOURNAL_PLACE.search(text) or _AUTHORS.match(text):
        return False
    parts = [text[span.slice] for span in split_sentences(text)]
    if len(text.split()) < _FEWEST_OF_ABSTRACT or any(len(part.split()) < _SHORTEST for part in parts):
        return False
    stated = sum(_VERB.search(part) is not None for part in parts)
    return stated == len(parts) > 1 if is_strict else stated > 1


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

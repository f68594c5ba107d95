"""Saying the same in other words, so that a claim which holds is not always a copy of its premise."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable

_SAME: tuple[tuple[str, str], ...] = (
    (r"\bwas associated with\b", "was linked to"),
    (r"\bwere associated with\b", "were linked to"),
    (r"\bis associated with\b", "is linked to"),
    (r"\bare associated with\b", "are linked to"),
    (r"\bcompared (?:with|to)\b", "relative to"),
    (r"\bin comparison (?:with|to)\b", "compared with"),
    (r"\bpatients with\b", "people with"),
    (r"\bparticipants\b", "subjects"),
    (r"\bsubjects\b", "participants"),
    (r"\bmortality\b", "death rate"),
    (r"\bdemonstrated\b", "showed"),
    (r"\bexhibited\b", "showed"),
    (r"\bimproved\b", "bettered"),
    (r"\bsignificantly\b", "markedly"),
    (r"\bhad a (?=higher|lower|greater)", "showed a "),
    (r"\bdue to\b", "because of"),
    (r"\bbecause of\b", "owing to"),
    (r"\bprior to\b", "before"),
    (r"\bapproximately\b", "about"),
    (r"\bin addition to\b", "besides"),
    (r"\bmoreover\b", "also"),
    (r"\bplay(s?) (?:an? )?(?:important|critical|key|crucial|essential) role\b", r"play\1 a major part"),
    (r"\bis required for\b", "is necessary for"),
    (r"\bare required for\b", "are necessary for"),
    (r"\bresulted in\b", "led to"),
    (r"\bleads to\b", "results in"),
    (r"\bled to\b", "resulted in"),
    (r"\bdid not differ\b", "were not different"),
    (r"\bno (?:statistically )?significant differences?\b", "no clear difference"),
    (r"\bphysicians\b", "doctors"),
    (r"\btherapy\b", "treatment"),
    (r"\binfants\b", "babies"),
    (r"\bchildren\b", "kids"),
    (r"\bcardiac\b", "heart"),
    (r"\brenal\b", "kidney"),
    (r"\bhepatic\b", "liver"),
    (r"\bpulmonary\b", "lung"),
    (r"\bmyocardial infarction\b", "heart attack"),
    (r"\bhypertension\b", "high blood pressure"),
    (r"\bneoplasms?\b", "tumour"),
    (r"\badverse events\b", "side effects"),
    (r"\bwell tolerated\b", "tolerated well"),
    (r"\bindividuals\b", "people"),
    (r"\butili[sz]ation\b", "use"),
    (r"\butili[sz]ed\b", "used"),
    (r"\badministration of\b", "giving"),
    (r"\bwhereas\b", "while"),
    (r"\bvs\.?(?=\s)", "versus"),
    (r"\bpredominantly\b", "mostly"),
    (r"\bthe majority of\b", "most"),
    (r"\bdecreased\b", "lowered"),
    (r"\bconsist(?:s|ed) of\b", "comprised"),
    (r"\bassessed\b", "evaluated"),
    (r"\bsufficient\b", "enough"),
    (r"\bsimilar\b", "comparable"),
)
# One wording that would not fit everywhere is left to the few places where it does.
_SPOILED = re.compile(r"\b(?:premature|newborn|pre-?school) (?:babies|kids)|\blowered (?:from|by \w+ in|in)\b")
_DEFINED = re.compile(r"\b(?P<long>(?:[A-Za-z0-9'-]+ ){1,6}[A-Za-z0-9'-]+) \((?P<short>[A-Z][A-Za-z0-9-]{1,7}?)s?\)")


def reworded(claim: str, dice: random.Random, most: int = 3) -> str:
    """The claim with up to ``most`` phrases said otherwise; the same claim if there are none."""
    for pattern, new in dice.sample(_SAME, len(_SAME)):
        if most and re.search(pattern, claim):
            text = re.sub(pattern, new, claim, count=1)
            if not _SPOILED.search(text):
                claim, most = text, most - 1
    return claim[:1].upper() + claim[1:]


def abbreviations(sentences: Iterable[str]) -> dict[str, str]:
    """The abbreviations a text defines, with what they stand for."""
    found: dict[str, str] = {}
    for sentence in sentences:
        for match in _DEFINED.finditer(sentence):
            short = match["short"]
            if long := _stands_for(match["long"].split(), short):
                found.setdefault(short, long)
    return found


def _stands_for(words: list[str], short: str) -> str:
    """The last words whose first letters are those of the abbreviation, if there are such."""
    letters = [letter.lower() for letter in short if letter.isalpha()]
    if not 2 <= len(letters) <= len(words):
        return ""
    parts = [part for word in words[-len(letters) :] for part in word.split("-") if part]
    initials = [part[0].lower() for part in parts]
    return " ".join(words[-len(letters) :]) if initials[-len(letters) :] == letters == initials else ""


def expanded(claim: str, defined: dict[str, str]) -> str:
    """The claim with its abbreviations written out, or the other way round where it has the long forms."""
    text = claim
    for short, long in defined.items():
        if re.search(rf"(?<![\w-]){re.escape(short)}(?![\w-])", text):
            text = re.sub(rf"(?<![\w-]){re.escape(short)}(?![\w-])", long, text)
            text = text.replace(f"{long} ({long})", long)
        elif long in text:
            text = re.sub(rf"{re.escape(long)}(?: \({re.escape(short)}\))?", short, text)
    return text[:1].upper() + text[1:]

"""The content words of a text, brought to one form where different words mean the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from vericite.verify.checks.meanings import MEANINGS, PHRASES

_STOP = frozenset(
    """
    a about above across after again all along also although among amongst an and any are as at be because been
    before being between both but by can compared comparison could despite did do does done during each either
    for from further given had has have having here how however if in into is it its itself may might more most
    much must nor of off on once one only onto or other our out over own per rather relative same shall should
    since so some such than that the their them then there these they this those through thus to toward towards
    under until up down upon use used using very via was we were what when where whereas whether which while who
    whose will with within would yet you your not no never none without neither cannot non too quite among
    versus vs according study trial patient patients people participant participants subject subjects person
    persons individual individuals group groups arm arms showed shown show shows found find finds reported
    report reports resulted results result observed seen associated association receiving received taking took
    take takes treated given who whom got get those had percent significantly significant statistically average
    mean median even just still about roughly approximately nearly almost overall respectively year years month
    months week weeks day days hour hours many few several lot made make makes making led lead leads leading due
    clearly markedly substantially considerably slightly modestly greatly strongly likely chance level levels
    rate rates proportion number numbers amount value values risk odds incidence frequency occurrence degree
    became become becomes becoming brought bring brings
    saw sees go goes went gone going came come comes coming ended ending put puts remained remain remains kept keep
    stayed once whom whose left leaving least
    effect effects tended tend appears appeared seem seemed enrolled assigned randomised randomized
    """.split()
)
_TOKEN = re.compile(r"[^\W_]+(?:'[a-z]{1,2}(?![\w]))?", re.IGNORECASE)
_ENDINGS = (
    ("isations", "ise"),
    ("izations", "ise"),
    ("isation", "ise"),
    ("ization", "ise"),
    ("ational", "ate"),
    ("fulness", ""),
    ("iveness", "ive"),
    ("ations", "ate"),
    ("ation", "ate"),
    ("ities", ""),
    ("ments", ""),
    ("ically", "ic"),
    ("ment", ""),
    ("ness", ""),
    ("ions", ""),
    ("ion", ""),
    ("ity", ""),
    ("ies", "y"),
    ("ing", ""),
    ("ive", ""),
    ("ally", ""),
    ("ely", ""),
    ("ed", ""),
    ("es", ""),
    ("ly", ""),
    ("al", ""),
    ("ic", ""),
    ("s", ""),
    ("e", ""),
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: its form as written in small letters, its stem, and where it stands."""

    lower: str
    stem: str
    start: int
    end: int

    @property
    def content(self) -> bool:
        """Whether it tells what the text is about."""
        return self.stem != ""


def words(text: str) -> list[Word]:
    """The words of a text in order; words without content of their own have no stem."""
    return list(_words(text))


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[Word, ...]:
    found: list[Word] = []
    small = text.lower()
    aligned = len(small) == len(text)
    end = 0
    for match in _TOKEN.finditer(text):
        if match.start() < end:
            continue
        lower = match[0].lower()
        phrase = _phrase_at(small, match.start(), lower) if aligned and lower in PHRASES else ""
        end = match.start() + len(phrase) if phrase else match.end()
        stem = MEANINGS[phrase] if phrase else _lettered(text, match) or stem_of(lower)
        found.append(Word(phrase or lower, stem, match.start(), end))
    return tuple(found)


def _phrase_at(small: str, start: int, first: str) -> str:
    """The phrase of one meaning that begins at a word of a text in small letters, if one does."""
    for phrase in PHRASES[first]:
        end = start + len(phrase)
        if small.startswith(phrase, start) and not small[end : end + 1].isalnum():
            return phrase
    return ""


def _lettered(text: str, match: re.Match[str]) -> str:
    """The stem of a capital letter that is a name: "drug A"."""
    named = (
        len(match[0]) == 1 and match[0] in "ABCDEXYZ" and text[max(0, match.start() - 2) : match.start()][:1].isalpha()
    )
    return match[0].lower() if named else ""


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """The stems of a text's content words."""
    return frozenset(word.stem for word in words(text) if word.stem)


@lru_cache(maxsize=4096)
def stem_of(lower: str) -> str:
    """The stem of a word in small letters, or the name of what it means; empty for a word without content."""
    concept = MEANINGS.get(lower)
    if concept:
        return concept
    if lower in _STOP or lower.isdigit() or (len(lower) < 2 and lower.isascii()):
        return ""
    stem = lower.removesuffix("'s")
    if len(stem) > 4:
        stem = stem.replace("ae", "e").replace("oe", "e").replace("our", "or").replace("yse", "yze")
    for ending, instead in _ENDINGS:
        if stem.endswith(ending) and not (ending == "s" and stem.endswith("ss")) and len(stem) - len(ending) >= 4:
            stem = stem[: len(stem) - len(ending)] + instead
            break
    if len(stem) > 6 and stem.endswith(("at", "ate")):
        stem = stem.removesuffix("e").removesuffix("at")  # "eliminate" beside "elimination", "continue" beside both
    return stem.removesuffix("e") if len(stem) > 4 else stem


_SENTENCE = re.compile(r"(?<=[\w%)\]]{2}[.!?])\s+(?=[A-Z0-9(\"])|;\s+", re.ASCII)
_CLAUSE = re.compile(
    r",?\s+(?:but|whereas|while|although|though|however|yet|whilst)\b(?! not only)"
    r"|(?<=[\w%)\]]{2}[.!?])\s+(?=[A-Z0-9(\"])|;\s+"
    r"|,\s+and\s+(?=(?:the|there|it|they|no|neither|did|was|were|had|has)\b)|,\s+(?=with\s+(?:no|a|an"
    r"|little)\b)|\.\s*$"
)


def sentences(text: str) -> list[str]:
    """The sentences of a plain text, roughly; parts between semicolons count as sentences."""
    return [part for part in _SENTENCE.split(text) if part.strip()]


def clauses(text: str) -> list[str]:
    """The parts of a plain text that say one thing each, roughly."""
    return [part for part in _CLAUSE.split(text) if part and part.strip()]

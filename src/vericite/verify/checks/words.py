"""The words of a text, their stems, and how much of a claim one sentence of its source speaks of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from vericite.text import split_sentences

_STOP = frozenset(
    """
    a about above across after again all along also although am among amongst an and any are as at be because been
    before being below between both but by can compared comparison could despite did do does done down during each
    either for from further given got had has have having here hers his how however if in into is it its itself
    least less like made make makes making may might more most much must near never no none nor not of off often on
    once only onto or other our out over overall own per rather relative respectively same several shall should
    show showed showing shown shows since so some such than that the their them then there these they this those
    through thus to too total toward towards under until up upon use used uses using versus very via vs was we were
    what when where whereas whether which while who whom whose will with within without would yet you your
    approximately around nearly almost roughly mean median average percent percentage rate rates proportion share
    level levels risk risks odds likelihood chance chances number numbers amount incidence occurrence frequency
    ratio likely unlikely group groups arm arms study studies trial trials found find finds finding reported report
    reports observed seen result results resulted significant significantly statistically substantially markedly
    considerably slightly modestly strongly respectively new well cannot neither ci ors hr hrs
    day days week weeks month months year years hour hours minute minutes daily weekly monthly annually mg kg ml
    time times
    """.split()
)
_TOKEN = re.compile(r"[^\W_]+(?:'[a-z]{1,2}(?!\w))?", re.IGNORECASE)
_ENDINGS = (
    "isations izations isation ization ations ation ments ment ness ities ity ically ional ions ion ies ing ive"
    " ively ally ely ed es ly al ic y s e"
).split()
_CLAUSE = re.compile(
    r",?\s(?:but|whereas|while|although|though|however|yet|whilst|despite)\s|[;:]\s|,\s(?=and\s|with\s|no\s|which\s)"
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: in small letters, its stem (empty where it tells nothing of its own), and where it stands."""

    lower: str
    stem: str
    start: int
    end: int


def words(text: str) -> list[Word]:
    """The words of a text in order."""
    return [
        Word(match[0].lower(), stem_of(match[0].lower()), match.start(), match.end()) for match in _TOKEN.finditer(text)
    ]


@lru_cache(maxsize=8192)
def stem_of(lower: str) -> str:
    """The stem of a word in small letters; empty for a number and for a word without content."""
    stem = lower.removesuffix("'s")
    if stem in _STOP or lower[0].isdigit() or (len(stem) < 2 and stem.isascii()):
        return ""
    if len(stem) > 4:
        stem = stem.replace("ae", "e").replace("oe", "e").replace("our", "or")
    for ending in _ENDINGS:
        if stem.endswith(ending) and not stem.endswith("ss") and len(stem) - len(ending) >= 4:
            return stem.removesuffix(ending)
    return stem


def stems(text: str) -> frozenset[str]:
    """The stems of a text's content words."""
    return frozenset(word.stem for word in words(text) if word.stem)


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [text[span.slice] for span in split_sentences(text)]


def clauses(sentence: str) -> list[str]:
    """The parts of a sentence that say one thing each, roughly."""
    return [part for part in _CLAUSE.split(sentence) if part.strip()]


def shared(told: frozenset[str], given: frozenset[str]) -> float:
    """What part of the stems of the one the other has; 0 where there are none."""
    return len(told & given) / len(told) if told else 0.0

"""When evidence is so poor that a question is searched for in other words: Reason and Verify's two triggers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from unicodedata import normalize

from vericite.corpus.entrez.query import STOPWORDS
from vericite.errors import InputError

_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"(?<=\w)['\u2019]s\b", re.IGNORECASE)
_ASKING = frozenset("who whom whose where why".split())
"""What questions begin with and PubMed's list of stopwords lacks."""

NO_EVIDENCE = "no evidence"


class Sufficiency(NamedTuple):
    """How far evidence suffices, and every reason to say that it does not."""

    coverage: float
    relevance: float | None
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Trigger:
    """Fires where evidence covers too few of a question's words, or its best documents are of too little relevance.

    Attributes:
        coverage: The least share of the question's words that is enough; 0 never fires.
        relevance: The least mean of the best documents' scores that is enough; 0 never fires.
        best: How many documents that mean is of.
    """

    coverage: float = 0.3
    relevance: float = 0.5
    best: int = 3

    def __post_init__(self) -> None:
        for name, value in (("coverage", self.coverage), ("relevance", self.relevance)):
            if not 0 <= value <= 1:
                raise InputError(f"expected a trigger's {name} from 0 to 1; found {value}. Correct it.")
        if self.best < 1:
            raise InputError(f"expected a trigger's best to be at least 1; found {self.best}. Raise it.")

    @property
    def signature(self) -> str:
        """The rules and thresholds, for provenance."""
        return f"trigger.v1(coverage={self.coverage:g}, relevance={self.relevance:g}, best={self.best})"

    def reasons(self, question: str, evidence: Iterable[str], scores: Sequence[float] | None = None) -> Sufficiency:
        """How far evidence suffices for a question. That there is none is always a reason.

        Args:
            question: The question.
            evidence: The documents' texts.
            scores: Their scores from 0 to 1, as a reranker gives them; None where nothing has.

        Raises:
            InputError: A score is not from 0 to 1.
        """
        texts = [text for text in evidence if text.strip()]
        covered = coverage(question, texts)
        if not texts:
            return Sufficiency(0.0, None, (NO_EVIDENCE,))
        mean = relevance(scores, self.best) if scores else None
        found: list[str] = []
        if covered < self.coverage:
            found.append(f"coverage {covered:.3g} is below {self.coverage:g}")
        if mean is not None and mean < self.relevance:
            found.append(f"relevance {mean:.3g} is below {self.relevance:g}")
        return Sufficiency(covered, mean, tuple(found))


def question_words(text: str) -> frozenset[str]:
    """The words of a text without stopwords: PubMed's list, and who, whom, whose, where, why.

    A word is a run of letters and digits in small letters, unstemmed: "IL-6" is two of them, and of "Crohn's" the
    possessive s is none.
    """
    plain = _POSSESSIVE.sub("", normalize("NFKC", text)).lower()
    return frozenset(_WORD.findall(plain)) - STOPWORDS - _ASKING


def coverage(question: str, evidence: Iterable[str]) -> float:
    """The share of a question's words, each counted once, that are in the evidence as a whole.

    A question of stopwords only is covered by anything.
    """
    wanted = question_words(question)
    missing = set(wanted)
    for text in evidence:
        missing -= question_words(text)
    return 1 - len(missing) / len(wanted) if wanted else 1.0


def relevance(scores: Sequence[float], best: int) -> float:
    """The mean of the best scores, or of all where there are fewer.

    Raises:
        InputError: There is none, or one is not from 0 to 1.
    """
    strange = [score for score in scores if not 0 <= score <= 1]
    if strange or not scores:
        found = strange[0] if strange else "none"
        raise InputError(f"expected scores from 0 to 1, as a reranker gives them; found {found}. Rerank first.")
    top = sorted(scores, reverse=True)[:best]
    # Sums of floats may be a hair beyond 1.
    return min(1.0, sum(top) / len(top))

"""Yes or no: what the sentences that answer say to a closed question, taken together.

The judge tells of each whether it entails or contradicts what the question asks, and its words of denial and direction
tell the same in another way. A logistic model over both, fitted in ``recipes/answers``, gives the probability of yes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from vericite.generate.selection import Candidate, sigmoid, weights_of
from vericite.models.contracts import Judge, Pair
from vericite.records import Question

VOTERS = 8
"""Sentences that are asked, those that answer best."""
_SPEAKS = 0.5
"""How far a sentence has to lean to be shown as speaking for yes or for no."""

_DIRECTIONS = {
    "negated": ("without", "lack", "absen", "unaffected", "ineffective", "failed"),
    "up": ("increas", "rais", "rose", "rise", "higher", "more", "wors", "elevat", "promot", "harms", "greater"),
    "down": ("reduc", "decreas", "lower", "fewer", "less", "declin", "fell", "prevent", "protect", "diminish"),
}
_NEGATIONS = frozenset({"no", "not", "nor", "neither", "never", "cannot", "fails", "fail"})


def polarity(text: str) -> frozenset[str]:
    """Any of ``negated``, ``up`` and ``down``."""
    words = [word.strip(".,;:()").lower() for word in text.split()]
    found = {way for way, stems in _DIRECTIONS.items() if any(word.startswith(stems) for word in words)}
    negated = any(word in _NEGATIONS or word.endswith(("n't", "n’t")) for word in words)
    return frozenset(found | {"negated"} if negated else found)


_BE = "is|are|was|were"
_DO = "do|does|did"
_OTHER = "can|could|has|have|had|should|will|would|may|might|must"
_CLOSED = re.compile(rf"\s*(?P<auxiliary>{_BE}|{_DO}|{_OTHER})\s+(?P<rest>\S.*)", re.IGNORECASE | re.DOTALL)
_CHOICE = re.compile(r"\bor\b", re.IGNORECASE)
# What follows the subject of a question with "is": a participle, an article, a word that only a predicate begins with.
_PREDICATE = re.compile(
    r"(?:been|\w{2,}[^aeious\W]ed|known|found|seen|shown|given|a|an|the|effective|efficacious|beneficial|safe|useful|able|"
    r"better|worse|superior|inferior|more|less|as|contraindicated|responsible|necessary|sufficient|possible|available|"
    r"there|present|common|rare|due|part|similar|different|equivalent|predictive|prognostic|independent|reliable|valid|"
    r"feasible|helpful|harmful|important|in|on|at|of|for|with)",
    re.IGNORECASE,
)


def is_closed(question: Question) -> bool:
    """Whether it is answered with yes or no; by its form where its type is not told."""
    if question.type is not None:
        return question.type == "yesno"
    return _CLOSED.match(question.text) is not None and not _CHOICE.search(question.text)


def statement_of(text: str) -> str:
    """What a yes/no question would state if the answer were yes.

    "Is X associated with Y?" gives "X is associated with Y."; "Does X reduce Y?" gives "X reduce Y.", which a judge
    reads as well as the form with its s. A question of another form is taken without its mark.
    """
    bare = re.sub(r"\s+", " ", text).strip().rstrip("?").strip()
    asked = _CLOSED.match(bare)
    if asked is None:
        return f"{bare}."
    auxiliary, words = asked["auxiliary"].lower(), asked["rest"].split()
    if auxiliary not in _DO.split("|"):
        position = next((index for index in range(1, len(words)) if _PREDICATE.fullmatch(words[index])), None)
        if words[0].lower() == "there":
            position = 1
        words = words if position is None else [*words[:position], auxiliary, *words[position:]]
    stated = " ".join(words)
    return f"{stated[:1].upper()}{stated[1:]}."


NAMES = (
    "entailed", "contradicted", "most entailed", "most contradicted", "words",
    "concluding entailed", "concluding contradicted", "concluding words",
)  # fmt: skip
"""What is read of all sentences together, in order."""


@dataclass(frozen=True)
class Stance:
    """What the sources say to a yes/no question.

    Attributes:
        yes: The probability that the answer is yes.
        votes: Of each sentence that was asked, by its index among the candidates: from -1, no, to 1, yes.
    """

    yes: float
    votes: dict[int, float]

    @property
    def answer(self) -> Literal["yes", "no"]:
        """The likelier one."""
        return "yes" if self.yes >= 0.5 else "no"

    @property
    def deciding(self) -> int:
        """The sentence that speaks for the answer most."""
        return max(self.votes, key=lambda index: self._side * self.votes[index])

    @property
    def opposing(self) -> int | None:
        """The one that speaks against it most, where one does."""
        most = min(self.votes, key=lambda index: self._side * self.votes[index])
        return most if self._side * self.votes[most] <= -_SPEAKS else None

    @property
    def _side(self) -> int:
        return 1 if self.answer == "yes" else -1

    def markers(self, candidates: Sequence[Candidate], side: int) -> list[int]:
        """The sources that speak for yes (1) or for no (-1): by the sentence of theirs that leans furthest."""
        furthest: dict[int, float] = {}
        for index, vote in self.votes.items():
            for marker in candidates[index].markers:
                furthest[marker] = max(furthest.get(marker, 0.0), vote, key=abs)
        return sorted(marker for marker, vote in furthest.items() if side * vote >= _SPEAKS)


def stance_of(question: str, candidates: Sequence[Candidate], judge: Judge | None) -> Stance:
    """What the sentences that answer best say; the likelier one answers, the more it counts."""
    order = sorted(range(len(candidates)), key=lambda index: -candidates[index].answers)[:VOTERS]
    asked = [candidates[index] for index in order]
    entailed, contradicted = judged(question, asked, judge)
    words = [lexical_vote(question, candidate.text) for candidate in asked]
    weights = weights_of("stance")
    figures = stance_figures(asked, entailed, contradicted, words)
    yes = sigmoid(weights["bias"] + sum(weights[name] * value for name, value in zip(NAMES, figures, strict=True)))
    leanings = [e - c for e, c in zip(entailed, contradicted, strict=True)] if judge else words
    return Stance(yes, dict(zip(order, leanings, strict=True)))


def stance_figures(
    asked: Sequence[Candidate], entailed: Sequence[float], contradicted: Sequence[float], words: Sequence[float]
) -> list[float]:
    """The figures that a decision is made by."""
    answering = np.array([max(candidate.answers, 0.01) for candidate in asked])
    concluding = np.array([2.0 if candidate.role == "conclusion" else candidate.lateness**2 for candidate in asked])
    (e, c, w), (e2, c2, w2) = (
        [float(np.average(values, weights=by)) for values in (entailed, contradicted, words)]
        for by in (answering, answering * concluding + 1e-6)
    )
    return [e, c, max(entailed), max(contradicted), w, e2, c2, w2]


def judged(question: str, asked: Sequence[Candidate], judge: Judge | None) -> tuple[list[float], list[float]]:
    """How far each sentence entails, and how far it contradicts, what is asked; 0 where that could not be judged."""
    if judge is None:
        return [0.0] * len(asked), [0.0] * len(asked)
    statement = statement_of(question)
    rows = [
        (0.0, 0.0) if found.failure else (float(found.probabilities[0]), float(found.probabilities[1]))
        for found in judge.judge([Pair(candidate.text, statement) for candidate in asked])
    ]
    return [row[0] for row in rows], [row[1] for row in rows]


def lexical_vote(question: str, text: str) -> float:
    """1 where a sentence points the way the question does, -1 where it denies or turns round what is asked."""
    asked, said = polarity(question), polarity(text)
    directions = {"up", "down"}
    turned = len(asked & directions) == len(said & directions) == 1 and asked & directions != said & directions
    denied = ("negated" in asked) != ("negated" in said)
    return -1.0 if turned != denied else 1.0

"""The sources that stand out, for sentences that no verifier finds supported: to look at, not to rely on.

A small verifier seldom takes a source for support whose words are all other ones than the sentence's, and yet ranks it
before the rest: it is that order which counts here, not the verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, product
from math import log
from typing import NamedTuple

from vericite.attribute.attributor import Attributor, Found
from vericite.attribute.verified import VerifierAttributor
from vericite.models import Pair
from vericite.records import Answer, Document
from vericite.text.instructions import evidence_sentences, instructs
from vericite.verify import Judge, Judgement, Protocol, get_protocol, load_judge
from vericite.verify.asking import ask
from vericite.verify.fitting import room_for
from vericite.verify.judging import ENTAILS, Inquiring

FLOOR = 0.08
"""Less than this is what the judge says of most texts on another matter (the bundled one: 0.02)."""

LOSS = 0.6
"""What the logit of two sources together may lie below that of the likelier one alone: more, and that one is cited."""

BESIDE = 0.05
"""How likely another source must be that is cited beside one that seems to suffice: a small verifier takes half of a
sentence for the whole."""

_SOURCES, _PASSAGES = 6, 2
"""Sources that are paired, and passages of each."""

_LEAST = 1e-3
REASON = "the likeliest of the sources; they were not found to support it"
REASON_BESIDE = "one source was found to support it; the other stands out beside it"


class _Asked(NamedTuple):
    """A sentence, and the question where the judge reads it."""

    sentence: str
    question: str | None


class _Set(NamedTuple):
    """One or two sources by their places, how likely they entail the sentence, and how likely each of them does."""

    sources: tuple[int, ...]
    entailed: float
    alone: tuple[float, ...]

    @property
    def worth(self) -> float:
        """By which sets of two are compared: what they say together, and each of them."""
        return sum(map(_logit, (self.entailed, *self.alone)))


class LikeliestAttributor(Attributor):
    """Cites each source that the verifier finds to support a sentence; where there is none, those that stand out.

    One that stands out, too, is cited beside a single one that was found. It asks the judge of hundreds of pairs a
    sentence, and one that says a label and no more of nothing beyond what the verifier asks.

    Args:
        protocol: As for ``VerifierAttributor``.
    """

    def __init__(self, protocol: Protocol | None = None) -> None:
        protocol = protocol or get_protocol("default")
        judge: Judge = load_judge(protocol.judge) if isinstance(protocol.judge, str) else protocol.judge
        self._judge = judge
        self._asks_question = isinstance(judge, Inquiring) and judge.reads_question
        self._sure = VerifierAttributor(replace(protocol, judge=judge))

    @property
    def signature(self) -> str:
        """What the sure ones were found by."""
        return f"likeliest.v2({self._sure.signature})"

    def find(self, answers: Sequence[Answer]) -> Iterator[list[Found]]:
        """Of sentences that have two sources and more, or failed, nothing else is asked."""
        for answer, found in zip(answers, self._sure.find(answers), strict=True):
            yield list(self._likeliest(answer, found))

    def _likeliest(self, answer: Answer, found: Sequence[Found]) -> Iterator[Found]:
        sources = [_passages(document) for document in answer.documents]
        for claim, sure in zip(answer.claims, found, strict=True):
            asked = _Asked(claim.text, answer.question if self._asks_question else None)
            best = None if sure.failed or len(sure.chosen) > 1 else self._best(asked, sources, sure.chosen)
            if best is None:
                yield sure
            else:
                reason = REASON_BESIDE if sure.chosen else REASON
                yield replace(sure, chosen=best.sources, likeliest=True, reasons=(*sure.reasons, reason))

    def _best(self, asked: _Asked, sources: Sequence[_Passages], sure: tuple[int, ...]) -> _Set | None:
        """What stands out, with ``sure`` in it."""
        said = self._said(asked, (text for own in sources for text in own.all))
        alone = [max((said[text] for text in own.all), default=0.0) for own in sources]
        if not alone:
            return None
        first = sure[0] if sure else max(range(len(alone)), key=lambda place: alone[place])
        likely = sorted(range(len(alone)), key=lambda place: -alone[place])[:_SOURCES]
        pairs = [
            pair
            for pair in combinations(sorted(likely), 2)
            if not sure or (first in pair and min(alone[place] for place in pair) >= BESIDE)
        ]
        sets = self._sets(asked, pairs, [own.parts for own in sources], said, alone)
        best = max((one for one in sets if one.entailed >= FLOOR), key=lambda one: one.worth, default=None)
        if best and _logit(best.entailed) >= _logit(alone[first]) - LOSS:
            return best
        return _Set((first,), alone[first], (alone[first],)) if not sure and alone[first] >= FLOOR else None

    def _sets(
        self,
        asked: _Asked,
        pairs: Sequence[tuple[int, int]],
        passages: Sequence[Sequence[str]],
        said: Mapping[str, float],
        alone: Sequence[float],
    ) -> Iterator[_Set]:
        """These pairs of sources, each source with the passages that say most."""
        most = {
            place: sorted(passages[place], key=lambda text: -said[text])[:_PASSAGES] for pair in pairs for place in pair
        }
        groups = {pair: list(product(most[pair[0]], most[pair[1]])) for pair in pairs}
        read = self._said(asked, (text for group in groups.values() for both in group for text in _orders(both)))
        for pair, group in groups.items():
            entailed = max((sum(read[text] for text in _orders(both)) / 2 for both in group), default=0.0)
            yield _Set(pair, entailed, (alone[pair[0]], alone[pair[1]]))

    def _said(self, asked: _Asked, texts: Iterable[str]) -> dict[str, float]:
        """How likely each text entails the sentence; 0 where that could not be judged."""
        pairs = {text: Pair(text, asked.sentence, asked.question) for text in texts}
        fits = room_for((asked.sentence,), self._judge)
        heard = [text for text in pairs if fits(text)]
        judged = zip(heard, ask(self._judge, [pairs[text] for text in heard]), strict=True)
        told = {text: _entailed(judgement) for text, judgement in judged}
        return {text: told.get(text, 0.0) for text in pairs}


def _entailed(judgement: Judgement) -> float:
    # A label and no more has no order to go by.
    if judgement.failure is not None or not judgement.graded:
        return 0.0
    return float(judgement.probabilities[ENTAILS])


class _Passages(NamedTuple):
    """Parts of a document that may be put together with those of another, and what is evidence in it as a whole."""

    parts: tuple[str, ...]
    whole: str

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.parts, self.whole) if self.whole else self.parts


def _passages(document: Document) -> _Passages:
    """Its sentences, each two that follow each other, with the title before them and without."""
    texts = evidence_sentences(document)
    spans = [*texts, *(f"{one} {other}" for one, other in pairwise(texts))]
    title = "" if instructs(document.title) else document.title.rstrip(".")
    # A sentence of its own: read on into the text, a title takes half of what the judge finds in it.
    titled = [f"{title}. {text}" for text in (*spans, " ".join(texts))] if title and texts else []
    return _Passages((*spans, *titled[:-1]), titled[-1] if titled else " ".join(texts))


def _orders(both: tuple[str, str]) -> tuple[str, str]:
    return f"{both[0]} {both[1]}", f"{both[1]} {both[0]}"


def _logit(probability: float) -> float:
    held = min(max(probability, _LEAST), 1 - _LEAST)
    return log(held / (1 - held))

"""Attributors that use a verifier to find the sources of a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, product
from typing import NamedTuple

from vericite.attribution.attributor import Attributor, SourcesFound
from vericite.errors import InputError
from vericite.models.contracts import ENTAILS, Judge, Judgement, Pair, traits_of
from vericite.records import Answer, Document, Verdict, VerificationFailure
from vericite.text.injection import evidence_sentences, instructs
from vericite.verify.judges.registry import load_judge
from vericite.verify.judging import ask, log_odds
from vericite.verify.premises import Context, fits_budget
from vericite.verify.protocol import Protocol, get_protocol
from vericite.verify.verifier import ClaimsToJudge, Verifier


class VerifierAttributor(Attributor):
    """Cites each source that, by a protocol, supports the sentence by itself.

    Args:
        protocol: The protocol; it must judge the documents that a claim cites. None: the default protocol.

    Raises:
        InputError: The protocol judges against everything that was retrieved.
    """

    def __init__(self, protocol: Protocol | None = None) -> None:
        protocol = protocol or get_protocol("default")
        if isinstance(protocol.premise, Context):
            raise InputError(
                f"expected a protocol that judges cited documents; found {protocol.name}, which reads all documents at "
                "once. Use default."
            )
        self._verifier = Verifier(protocol)

    @property
    def signature(self) -> str:
        """The protocol and its judge."""
        return f"verifier.v1({self._verifier.provenance.protocol})"

    def find(self, answers: Sequence[Answer]) -> Iterator[list[SourcesFound]]:
        """Judge each sentence with each source. Each distinct pair in all answers is judged once."""
        batches = [
            ClaimsToJudge(
                answer.documents,
                tuple((claim.text, (place,)) for claim in answer.claims for place in range(len(answer.documents))),
                answer.question,
            )
            for answer in answers
        ]
        for answer, results in zip(answers, self._verifier.judge_claims(batches), strict=True):
            count = len(answer.documents)
            yield [_found(results[row * count : (row + 1) * count]) for row in range(len(answer.claims))]


def _found(by_source: Sequence[Sequence[Verdict | VerificationFailure]]) -> SourcesFound:
    """Combine the results of one sentence, source by source."""
    results = [of_source[-1] for of_source in by_source]
    judged = [item if isinstance(item, Verdict) and not item.abstained else None for item in results]
    chosen = tuple(place for place, item in enumerate(judged) if item is not None and item.label == "supported")
    reasons = dict.fromkeys(_reason(item) for item, usable in zip(results, judged, strict=True) if usable is None)
    return SourcesFound(
        scores=tuple(None if item is None else item.probabilities.get("supported") for item in judged),
        chosen=chosen,
        reasons=tuple(reasons),
        failed=not chosen and any(isinstance(item, VerificationFailure) for item in results),
    )


def _reason(result: Verdict | VerificationFailure) -> str:
    if isinstance(result, VerificationFailure):
        return result.reason
    return result.reasons[0] if result.reasons else "abstained"


FLOOR = 0.08
"""Most texts about other subjects get less than this from the judge (the bundled one: 0.02)."""

LOSS = 0.6
"""How far the logit of two sources together may be below that of the likelier one. Beyond that, only the likelier
one is cited."""

MIN_SECOND = 0.05
"""Minimum probability of a source cited in addition to one that seems to suffice: a small verifier takes half of a
sentence for the whole."""

_SOURCES, _PASSAGES = 6, 2
"""Number of sources to combine in pairs, and of passages of each."""

REASON = "the likeliest of the sources; they were not found to support it"
REASON_WITH = "one source was found to support it; the other only stands out"


class _Sentence(NamedTuple):
    """A sentence, with the question if the judge reads it."""

    sentence: str
    question: str | None


class _Sources(NamedTuple):
    """One or two sources by place, with their probability of entailing the sentence together and each alone."""

    sources: tuple[int, ...]
    entailed: float
    alone: tuple[float, ...]

    @property
    def score(self) -> float:
        """Score that ranks pairs: the log odds of the two together and of each alone."""
        return sum(map(log_odds, (self.entailed, *self.alone)))


class LikeliestAttributor(Attributor):
    """Cites each source that the verifier finds to support a sentence, or the ones that stand out if there is none.

    A source that stands out is also cited in addition to a single one that was found. This asks the judge about
    hundreds of pairs per sentence. A judge that only gives labels is asked nothing beyond what the verifier asks.

    Args:
        protocol: As for ``VerifierAttributor``.
    """

    def __init__(self, protocol: Protocol | None = None) -> None:
        protocol = protocol or get_protocol("default")
        judge: Judge = load_judge(protocol.judge) if isinstance(protocol.judge, str) else protocol.judge
        self._judge = judge
        self._asks_question = traits_of(judge).reads_question
        self._sure = VerifierAttributor(replace(protocol, judge=judge))

    @property
    def signature(self) -> str:
        """The signature of the verifying attributor."""
        return f"likeliest.v2({self._sure.signature})"

    def find(self, answers: Sequence[Answer]) -> Iterator[list[SourcesFound]]:
        """Ask nothing more about sentences that have two or more sources or failed."""
        for answer, found in zip(answers, self._sure.find(answers), strict=True):
            yield list(self._likeliest(answer, found))

    def _likeliest(self, answer: Answer, found: Sequence[SourcesFound]) -> Iterator[SourcesFound]:
        sources = [_passages(document) for document in answer.documents]
        for claim, sure in zip(answer.claims, found, strict=True):
            asked = _Sentence(claim.text, answer.question if self._asks_question else None)
            best = None if sure.failed or len(sure.chosen) > 1 else self._best(asked, sources, sure.chosen)
            if best is None:
                yield sure
            else:
                reason = REASON_WITH if sure.chosen else REASON
                yield replace(sure, chosen=best.sources, likeliest=True, reasons=(*sure.reasons, reason))

    def _best(self, asked: _Sentence, sources: Sequence[_Passages], sure: tuple[int, ...]) -> _Sources | None:
        """Return the sources that stand out, including ``sure``."""
        entailed_by = self._probabilities(asked, (text for own in sources for text in own.all))
        alone = [max((entailed_by[text] for text in own.all), default=0.0) for own in sources]
        if not alone:
            return None
        first = sure[0] if sure else max(range(len(alone)), key=lambda place: alone[place])
        likely = sorted(range(len(alone)), key=lambda place: -alone[place])[:_SOURCES]
        pairs = [
            pair
            for pair in combinations(sorted(likely), 2)
            if not sure or (first in pair and min(alone[place] for place in pair) >= MIN_SECOND)
        ]
        sets = self._sets(asked, pairs, [own.parts for own in sources], entailed_by, alone)
        best = max((pair for pair in sets if pair.entailed >= FLOOR), key=lambda pair: pair.score, default=None)
        if best and log_odds(best.entailed) >= log_odds(alone[first]) - LOSS:
            return best
        return _Sources((first,), alone[first], (alone[first],)) if not sure and alone[first] >= FLOOR else None

    def _sets(
        self,
        asked: _Sentence,
        pairs: Sequence[tuple[int, int]],
        passages: Sequence[Sequence[str]],
        entailed_by: Mapping[str, float],
        alone: Sequence[float],
    ) -> Iterator[_Sources]:
        """Yield these pairs of sources, using the passages of each that entail most."""
        most = {
            place: sorted(passages[place], key=lambda text: -entailed_by[text])[:_PASSAGES]
            for pair in pairs
            for place in pair
        }
        groups = {pair: list(product(most[pair[0]], most[pair[1]])) for pair in pairs}
        read = self._probabilities(
            asked, (text for group in groups.values() for both in group for text in _orders(both))
        )
        for pair, group in groups.items():
            entailed = max((sum(read[text] for text in _orders(both)) / 2 for both in group), default=0.0)
            yield _Sources(pair, entailed, (alone[pair[0]], alone[pair[1]]))

    def _probabilities(self, asked: _Sentence, texts: Iterable[str]) -> dict[str, float]:
        """Return the probability that each text entails the sentence; 0 for failed judgements."""
        pairs = {text: Pair(text, asked.sentence, asked.question) for text in texts}
        fits = fits_budget((asked.sentence,), self._judge)
        short = [text for text in pairs if fits(text)]
        judged = zip(short, ask(self._judge, [pairs[text] for text in short]), strict=True)
        found = {text: _entailed(judgement) for text, judgement in judged}
        return {text: found.get(text, 0.0) for text in pairs}


def _entailed(judgement: Judgement) -> float:
    # Labels alone cannot be ranked.
    if judgement.failure is not None or not judgement.graded:
        return 0.0
    return float(judgement.probabilities[ENTAILS])


class _Passages(NamedTuple):
    """Parts of a document that may be combined with those of another, and all of its evidence as one text."""

    parts: tuple[str, ...]
    whole: str

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.parts, self.whole) if self.whole else self.parts


def _passages(document: Document) -> _Passages:
    """Return its sentences and each two adjacent sentences, with and without the title in front."""
    texts = evidence_sentences(document)
    spans = [*texts, *(f"{first} {second}" for first, second in pairwise(texts))]
    title = "" if instructs(document.title) else document.title.rstrip(".")
    # The title is a sentence of its own. Run into the text, it halves the judge's probabilities.
    titled = [f"{title}. {text}" for text in (*spans, " ".join(texts))] if title and texts else []
    return _Passages((*spans, *titled[:-1]), titled[-1] if titled else " ".join(texts))


def _orders(both: tuple[str, str]) -> tuple[str, str]:
    return f"{both[0]} {both[1]}", f"{both[1]} {both[0]}"

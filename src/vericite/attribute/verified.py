"""Sources found by a verifier: each by itself, and where none suffices the smallest set that does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from vericite.attribute.asking import Asked, Said, ask_verifier
from vericite.attribute.attributor import Attributor, Found
from vericite.attribute.once import OnceJudge
from vericite.attribute.together import Candidate, candidates, covering, parts_of
from vericite.errors import InputError
from vericite.models import Pair
from vericite.records import Answer
from vericite.text.instructions import evidence_sentences
from vericite.verify import Context, Judgement, Protocol, Verifier, get_protocol, load_judge
from vericite.verify.asking import ask
from vericite.verify.checks import findings
from vericite.verify.fitting import room_for
from vericite.verify.judging import ENTAILS, NEUTRAL

LARGEST_SET = 3
NEUTRAL_AT_MOST = 0.3
"""How neutral the judge may be on what the sources of a set say one after the other."""


@dataclass
class _Sentence:
    """A sentence on its way: what each source says of it alone, and the set that says it together."""

    text: str
    alone: list[Said]
    parts: list[list[float | None]] = field(default_factory=list[list[float | None]])
    set: tuple[int, ...] = ()
    tried: list[Candidate] = field(default_factory=list[Candidate])

    @property
    def supporting(self) -> tuple[int, ...]:
        return tuple(place for place, said in enumerate(self.alone) if said.supported)

    @property
    def found(self) -> Found:
        reasons = dict.fromkeys(said.reason for said in self.alone if said.reason)
        chosen = tuple(sorted({*self.supporting, *self.set}))
        failed = not chosen and any(said.failed for said in self.alone)
        scores = tuple(said.probability for said in self.alone)
        return Found(scores, chosen, self.set, tuple(reasons), failed)


class VerifierAttributor(Attributor):
    """Cites each source that a protocol finds to support the sentence.

    With ``joint``, a sentence that no source supports is given the smallest set of sources that do so together: one
    source supports one statement of the sentence and another the other; or they complete each other's words, and the
    protocol finds that they support it, or the judge so reads the sentences that they give. One that a source supports
    is given another beside it where that one completes its words by far (``together.MORE``). No source of a set can be
    left out: without it the others lack a statement, or words, of the sentence.

    Args:
        protocol: The protocol; it must judge the documents that a claim cites. The default one if None.
        joint: See above.

    Raises:
        InputError: The protocol judges whatever was retrieved.
    """

    def __init__(self, protocol: Protocol | None = None, *, joint: bool = False) -> None:
        protocol = protocol or get_protocol("default")
        if isinstance(protocol.premise, Context):
            raise InputError(
                f"expected a protocol that judges what is cited; found {protocol.name}, which reads all documents at "
                "once. Use default."
            )
        self._judge = OnceJudge(load_judge(protocol.judge) if isinstance(protocol.judge, str) else protocol.judge)
        self._verifier = Verifier(replace(protocol, judge=self._judge))
        self._checks = protocol.checks
        self.joint = joint

    @property
    def signature(self) -> str:
        """The protocol and its judge."""
        parts = self._verifier.provenance
        kind = "verifier-joint.v1" if self.joint else "verifier.v1"
        return f"{kind}({parts.protocol})"

    def find(self, answers: Sequence[Answer]) -> Iterator[list[Found]]:
        """Each distinct pair of all the answers is judged once."""
        try:
            states = self._alone(answers)
            if self.joint:
                self._parts(answers, states)
                for size in range(2, LARGEST_SET + 1):
                    self._together(answers, states, size)
        finally:
            self._judge.forget()
        for sentences in states:
            yield [sentence.found for sentence in sentences]

    def _alone(self, answers: Sequence[Answer]) -> list[list[_Sentence]]:
        asked = [
            [Asked(claim.text, (place,)) for claim in answer.claims for place in range(len(answer.documents))]
            for answer in answers
        ]
        states: list[list[_Sentence]] = []
        for answer, said in zip(answers, ask_verifier(self._verifier, answers, asked), strict=True):
            places = range(len(answer.documents))
            states.append(
                [
                    _Sentence(claim.text, [said[Asked(claim.text, (place,))] for place in places])
                    for claim in answer.claims
                ]
            )
        return states

    def _together(self, answers: Sequence[Answer], states: Sequence[list[_Sentence]], size: int) -> None:
        """Give sentences the best set of this size, where one supports them."""
        for answer, sentences in zip(answers, states, strict=True):
            texts = [evidence_sentences(document) for document in answer.documents]
            for sentence in sentences:
                sentence.set = sentence.set or self._covering(sentence, size)
                sentence.tried = list(self._tried(sentence, texts, size))
        asked = [[Asked(it.text, one.sources) for it in sentences for one in it.tried] for sentences in states]
        read = self._read([sentence for sentences in states for sentence in sentences])
        for sentences, said in zip(states, ask_verifier(self._verifier, answers, asked), strict=True):
            for it in sentences:
                if it.set:
                    continue
                held = [
                    (one.covered, read[it.text, one], one.sources)
                    for one in it.tried
                    if said[Asked(it.text, one.sources)].supported or read[it.text, one] > 0
                ]
                it.set = max(held)[2] if held else it.set

    def _parts(self, answers: Sequence[Answer], states: Sequence[list[_Sentence]]) -> None:
        """What each source says alone of each part of the sentences that have several."""
        asked = [
            [Asked(part, (place,)) for it in sentences for part in parts_of(it.text) for place in range(len(it.alone))]
            for sentences in states
        ]
        for sentences, said in zip(states, ask_verifier(self._verifier, answers, asked), strict=True):
            for it in sentences:
                it.parts = [
                    [_held(said[Asked(part, (place,))]) for part in parts_of(it.text)] for place in range(len(it.alone))
                ]

    def _covering(self, sentence: _Sentence, size: int) -> tuple[int, ...]:
        """The sources that each support a part; none where one that supports the sentence supports every part."""
        supporting = sentence.supporting
        if (size > 2 and supporting) or any(None not in sentence.parts[place] for place in supporting):
            return ()
        return covering(sentence.parts, size, supporting)

    def _tried(self, sentence: _Sentence, texts: Sequence[Sequence[str]], size: int) -> Iterator[Candidate]:
        """The sets worth judging. Sources that were abstained from or failed are in none."""
        heard = [() if said.reason else tuple(own) for said, own in zip(sentence.alone, texts, strict=True)]
        if not sentence.set and not (size > 2 and sentence.supporting):
            yield from candidates(sentence.text, heard, size, sentence.supporting)

    def _read(self, sentences: Sequence[_Sentence]) -> dict[tuple[str, Candidate], float]:
        """How surely what the sources of each set give, read on end, entails the sentence; 0 where it does not."""
        pairs = {
            (sentence.text, one): [Pair(text, sentence.text) for text in _orders(one)]
            for sentence in sentences
            for one in sentence.tried
        }
        asked = list(dict.fromkeys(pair for found in pairs.values() for pair in found if self._fits(pair)))
        said = dict(zip(asked, ask(self._judge, asked), strict=True))
        return {
            key: self._entailed([said[pair] for pair in found], found[0])
            if all(pair in said for pair in found)
            else 0.0
            for key, found in pairs.items()
        }

    def _fits(self, pair: Pair) -> bool:
        return room_for((pair.claim,), self._judge)(pair.premise)

    def _entailed(self, judgements: Sequence[Judgement], pair: Pair) -> float:
        """The mean over the orders that the passages were read in; what the checks find speaks against it."""
        if any(judgement.failure is not None for judgement in judgements):
            return 0.0
        mean = np.mean([judgement.probabilities for judgement in judgements], axis=0)
        if mean.argmax() != ENTAILS or mean[NEUTRAL] > NEUTRAL_AT_MOST:
            return 0.0
        if self._checks and findings(pair.claim, pair.premise):
            return 0.0
        return float(mean[ENTAILS])


def _held(said: Said) -> float | None:
    """How likely it is, where it is supported; a quotation is certain."""
    return (1.0 if said.probability is None else said.probability) if said.supported else None


def _orders(candidate: Candidate) -> tuple[str, str]:
    return " ".join(candidate.passages), " ".join(reversed(candidate.passages))

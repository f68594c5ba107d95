"""Other sources of an answer that support a sentence where the cited ones do not: a misattributed citation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from vericite.attribution.verified import VerifierAttributor
from vericite.pipeline.repair.proposals import Citing, Proposal, RejectedSentence, diagnoses
from vericite.pipeline.search import Search
from vericite.records import Answer, CheckedAnswer, Claim, Document, OtherSource, Summary
from vericite.retrieve.local import BM25
from vericite.text.sentences import document_sentences
from vericite.verify.explaining import at_once
from vericite.verify.judging import MemoizedJudge
from vericite.verify.premises import Context
from vericite.verify.verifier import Verifier

ASKED_OTHERS = "other sources"
"""The part of the provenance that says that other sources were asked."""

_MOST, _NEAREST = 20, 5
"""An answer with more documents than the first number, such as a manuscript, asks only those nearest to a sentence."""

_Found = dict[tuple[int, int], tuple[Document, ...]]
"""The other sources of sentences, by their places in the answer."""


class OtherSources:
    """Looks for other sources that support rejected sentences, in the way that repair cites them again.

    Args:
        verifier: Made the verdicts; a source supports a sentence if it says so.
        search: Where to look if no other source of the answer supports a sentence. None: nowhere.
    """

    def __init__(self, verifier: Verifier, search: Search | None = None) -> None:
        self._judge = MemoizedJudge(verifier.judge)
        # Protocols that judge against everything that was retrieved leave no other source.
        reads_all = isinstance(verifier.protocol.premise, Context)
        attributor = None if reads_all else VerifierAttributor(replace(verifier.protocol, judge=self._judge))
        self._stages = [] if attributor is None else [Citing(attributor)]
        if attributor is not None and search is not None:
            self._stages.append(Citing(attributor, search))
        searched = "" if search is None else f", {search.retriever.signature}"
        self.signature = f"others.v1({'none' if attributor is None else attributor.signature}{searched})"

    def added(self, checked: Iterable[tuple[Answer, CheckedAnswer]]) -> Iterator[CheckedAnswer]:
        """Add the other sources to the verdicts on a stream of answers, in order."""
        nearest = _Nearest()
        for batch in at_once(checked):
            found = self._found([list(_rejected(*item, nearest)) for item in batch])
            yield from (self._with(*item, places) for item, places in zip(batch, found, strict=True))
            self._judge.forget()

    def _found(self, rejected: Sequence[Sequence[RejectedSentence]]) -> list[_Found]:
        """Return the other sources of each rejected sentence, by its place in each answer."""
        found: list[_Found] = [{} for _ in rejected]
        for stage in self._stages:
            waiting = [
                (places, sentence)
                for places, sentences in zip(found, rejected, strict=True)
                for sentence in sentences
                if _place(sentence) not in places
            ]
            proposed = stage.propose([sentence for _, sentence in waiting]) if waiting else []
            for (places, sentence), proposals in zip(waiting, proposed, strict=True):
                if sources := _sources(sentence, proposals):
                    places[_place(sentence)] = sources
        return found

    def _with(self, answer: Answer, checked: CheckedAnswer, places: _Found) -> CheckedAnswer:
        numbers = {document.id: number for number, document in enumerate(answer.documents, start=1)}
        sources = {
            place: tuple(OtherSource(document=document.id, marker=numbers.get(document.id)) for document in documents)
            for place, documents in places.items()
        }
        verdicts = tuple(
            verdict.model_copy(update={"supported_by": sources.get((verdict.start, verdict.end), ())})
            for verdict in checked.verdicts
        )
        made = checked.provenance
        return checked.model_copy(
            update={
                "verdicts": verdicts,
                "summary": Summary.of(answer, verdicts, checked.failures),
                "provenance": made.model_copy(update={"parts": {**made.parts, ASKED_OTHERS: self.signature}}),
            }
        )


class _Nearest:
    """The documents of an answer with the sentences that share most words with a claim."""

    def __init__(self) -> None:
        self._documents: tuple[Document, ...] = ()
        self._words = BM25(())
        self._owners = np.zeros(0, dtype=np.int64)

    def of(self, answer: Answer, claim: Claim) -> tuple[Document, ...]:
        """Return the documents that the claim cites, and those nearest to it; all, if they are few."""
        if len(answer.documents) <= _MOST:
            return answer.documents
        if self._documents is not answer.documents:
            sentences = [
                (number, sentence.text_in(document))
                for number, document in enumerate(answer.documents)
                for sentence in document_sentences(document)
            ]
            self._documents, self._words = answer.documents, BM25(text for _, text in sentences)
            self._owners = np.array([number for number, _ in sentences], dtype=np.int64)
        best = np.zeros(len(answer.documents))
        np.maximum.at(best, self._owners, self._words.scores(claim.text))
        cited = {citation.document for citation in claim.citations}
        others = [
            place for place in map(int, np.argsort(-best, kind="stable")) if answer.documents[place].id not in cited
        ]
        near = {place for place in others[:_NEAREST] if best[place] > 0}
        return tuple(document for at, document in enumerate(answer.documents) if at in near or document.id in cited)


def _rejected(answer: Answer, checked: CheckedAnswer, nearest: _Nearest) -> Iterator[RejectedSentence]:
    """Yield the sentences of which no citation is supported or undecided, with the documents to ask."""
    if answer.failed is not None:
        return
    for found in diagnoses(answer, checked):
        if found.state == "broken":
            documents = nearest.of(answer, found.claim)
            yield RejectedSentence(answer.model_copy(update={"documents": documents}), found)


def _place(sentence: RejectedSentence) -> tuple[int, int]:
    return sentence.claim.span.start, sentence.claim.span.end


def _sources(sentence: RejectedSentence, proposals: Sequence[Proposal]) -> tuple[Document, ...]:
    """Return the documents of the first proposal to cite others, without those that the sentence cites."""
    cited = {citation.document for citation in sentence.claim.citations}
    again = next((proposal for proposal in proposals if proposal.action == "re-cited"), None)
    return tuple(document for document in (again.documents if again else ()) if document.id not in cited)

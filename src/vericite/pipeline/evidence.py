"""What a corpus says for and against each sentence of an answer: its articles that support and that contradict it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import log

from vericite.corpus.retractions import pmid_of_document
from vericite.errors import EntrezError, InputError
from vericite.generate.subjects import is_opposite, match_of, subjects_of
from vericite.models.contracts import Judge
from vericite.pipeline.search import Search
from vericite.records import (
    Answer,
    AnswerEvidence,
    Article,
    Evidence,
    Provenance,
    Question,
    SentenceEvidence,
    Verdict,
)
from vericite.retrieve import CANDIDATES
from vericite.retrieve.retriever import fused
from vericite.text.names import drugs_in, unnamed
from vericite.text.reversals import reversed_forms
from vericite.text.strength import Strength, retraction_of
from vericite.verify.judging import log_odds
from vericite.verify.verifier import ClaimsToJudge, Verifier
from vericite.version import __version__

MOST = 3
"""Articles of each kind for a sentence, as in BioGen 2025, task A."""

DEPTH = 30
"""Documents to find with the sentence, and with each of its reversed forms."""

SURE = 0.5
"""Minimum probability of an article that contradicts a sentence."""

NEAR_BEST = 0.5
"""Minimum share of a sentence's subjects in an article's title and passages, relative to the best article.

``NEAR_BEST``, and the rule that title and passages must have the subjects, were chosen on 52 claims of the train parts
of SciFact and HealthVer. With 0.2 for ``NEAR_BEST``, and subjects that may be anywhere in the article, 34 labelled
contradictions are listed instead of 32, with 78 other documents instead of 47.
"""

PRIOR = 0.5
"""Weight of the rank in the search when articles are ranked."""

_AT_ONCE = 8
"""Sentences judged together: enough to fill the judge's batches, few enough that results keep coming."""


@dataclass(frozen=True)
class JudgedDocument:
    """A document that was found for a sentence and judged.

    Attributes:
        hit: The document and its rank.
        verdict: The verdict on the sentence by this document; None if it could not be judged.
        about: What the sentence is about: itself, after the question if it points elsewhere.
    """

    hit: Evidence
    verdict: Verdict | None
    about: str

    @property
    def deciding_text(self) -> str:
        """The document's title, and the passages that decided."""
        passages = () if self.verdict is None else (span.text or "" for span in self.verdict.evidence)
        return " ".join([f"{self.hit.document.title}.", *passages])

    @property
    def label(self) -> str | None:
        """The verdict's label; None if there is none."""
        return None if self.verdict is None or self.verdict.abstained else self.verdict.label

    def probability(self, label: str) -> float:
        """Return the probability of a label; for a judge without probabilities, 1 for the verdict's own."""
        if self.verdict is None:
            return 0.0
        return self.verdict.probabilities.get(label, float(self.label == label))

    def score(self, label: str) -> float:
        """Return what articles are ranked by: the log odds of the label, less for a document that was found later."""
        return log_odds(self.probability(label), least=1e-4) - PRIOR * log(self.hit.rank)


class EvidenceFinder:
    """Finds the articles of a corpus that support and contradict sentences.

    A sentence is searched for in its own words and in its reversed forms, the rankings are fused, and the verifier
    judges the first documents one by one. An article must also be about the same thing as the sentence.

    Args:
        search: Finds documents.
        verifier: Judges them.
        most: Articles of each kind for a sentence.
        candidates: Documents to judge for a sentence: the first of the fused rankings.
    """

    def __init__(self, search: Search, verifier: Verifier, most: int = MOST, candidates: int = CANDIDATES) -> None:
        self._most, self._candidates = most, candidates
        self._search = replace(search, rerank=None, rewrite=None)
        self._rerank = search.rerank
        self._verifier = verifier
        parts = {
            **verifier.provenance.parts,
            **search.parts,
            "evidence": f"evidence.v2({candidates} of {DEPTH}, from {SURE})",
        }
        self.provenance = Provenance(version=__version__, protocol=verifier.provenance.protocol, parts=parts)

    @property
    def judge(self) -> Judge:
        """The judge that reads the documents."""
        return self._verifier.judge

    def find(self, answers: Iterable[Answer]) -> Iterator[AnswerEvidence]:
        """Find the articles of each sentence of a stream of answers, in order."""
        for answer in answers:
            yield AnswerEvidence(
                id=answer.id,
                question=answer.question,
                sentences=tuple(self._sentences(answer)),
                provenance=self.provenance,
            )

    def _sentences(self, answer: Answer) -> Iterator[SentenceEvidence]:
        claims = iter(answer.claims)
        while batch := list(islice(claims, _AT_ONCE)):
            judged = self.candidates([claim.text for claim in batch], answer.question)
            for claim, found in zip(batch, judged, strict=True):
                known = () if isinstance(found, str) else found
                yield SentenceEvidence(
                    text=claim.text,
                    start=claim.span.start,
                    end=claim.span.end,
                    supporting=supporting(known)[: self._most],
                    contradicting=contradicting(known)[: self._most],
                    failed=found if isinstance(found, str) else None,
                )

    def candidates(self, sentences: Sequence[str], question: str | None = None) -> list[list[JudgedDocument] | str]:
        """Return the judged documents of each sentence, or why there are none."""
        about = [_about(sentence, question) for sentence in sentences]
        hits = [self._hits(text) for text in about]
        known = [() if isinstance(found, str) else found for found in hits]
        batches = [
            ClaimsToJudge(
                tuple(hit.document for hit in found),
                tuple((sentence, (place,)) for place in range(len(found))),
                question,
            )
            for sentence, found in zip(sentences, known, strict=True)
        ]
        judged = list(self._verifier.judge_claims(batches))
        return [
            found
            if isinstance(found, str)
            else [JudgedDocument(hit, _verdict(of_hit), text) for hit, of_hit in zip(found, results, strict=True)]
            for text, found, results in zip(about, hits, judged, strict=True)
        ]

    def _hits(self, sentence: str) -> tuple[Evidence, ...] | str:
        """Return the documents to judge, or why they could not be found."""
        if not any(sign.isalnum() for sign in sentence):
            return "it has no words to search for"
        problems: list[str] = []
        try:
            rankings = list(self._rankings((sentence, *reversed_forms(sentence)), problems))
            subjects = " ".join(subjects_of(sentence))
            if subjects and sum(map(len, rankings)) < self._candidates:
                rankings += self._rankings((subjects,), problems)
        except EntrezError as error:
            return str(error)
        if not rankings:
            return problems[0]
        found = fused(rankings, self._candidates)
        if self._rerank is not None:
            found = self._rerank(sentence, found)
        return tuple(hit for hit in found if retraction_of(hit.document) in (None, "expression of concern"))

    def _rankings(self, texts: Iterable[str], problems: list[str]) -> Iterator[tuple[Evidence, ...]]:
        """Yield what is found with each text, and note why one cannot be searched for."""
        for text in texts:
            try:
                yield self._search.find(Question(id="sentence", text=text), DEPTH).evidence
            except InputError as error:
                problems.append(str(error))


def _about(sentence: str, question: str | None) -> str:
    """Return what to search for: a sentence such as "It helps most of them" means nothing without its question."""
    points = _POINTS.search(sentence) is not None or not subjects_of(sentence)
    return f"{question} {sentence}" if question and points else sentence


_POINTS = re.compile(r"\b(?:it|its|they|them|their|these|this|those|both|such)\b", re.IGNORECASE)


def supporting(judged: Sequence[JudgedDocument]) -> tuple[Article, ...]:
    """Return the articles that support a sentence, best first."""
    return _articles(judged, "supported", 0.0)


def contradicting(judged: Sequence[JudgedDocument]) -> tuple[Article, ...]:
    """Return the articles that contradict a sentence, best first."""
    return _articles(judged, "contradicted", SURE)


def _articles(judged: Sequence[JudgedDocument], label: str, least: float) -> tuple[Article, ...]:
    same = on_same_subject([(item.about, item.deciding_text) for item in judged])
    chosen = [
        item
        for item, is_same in zip(judged, same, strict=True)
        if is_same and item.label == label and item.probability(label) >= least
    ]
    chosen.sort(key=lambda item: -item.score(label))
    return tuple(
        Article(
            id=document.id,
            pmid=pmid_of_document(document),
            title=document.title,
            year=document.year,
            design=strength.design,
            n=strength.n,
            retraction=strength.retraction,
            probability=item.probability(label),
            passages=item.verdict.evidence if item.verdict else (),
        )
        for item in chosen
        for document in [item.hit.document]
        for strength in [Strength.of(document)]
    )


def on_same_subject(pairs: Sequence[tuple[str, str]]) -> list[bool]:
    """Whether each text has most subjects of its sentence, compared with the best one.

    It must also have one of the sentence's drugs, and not the opposite of its subject. Other patients lower its share.
    """
    shares = [match_of(sentence, text) if subjects_of(sentence) else 0.0 for sentence, text in pairs]
    least = NEAR_BEST * max(shares, default=0.0)
    return [
        share > 0 and share >= least and _is_possible(sentence, text)
        for share, (sentence, text) in zip(shares, pairs, strict=True)
    ]


def _is_possible(sentence: str, text: str) -> bool:
    drugs = drugs_in(sentence)
    return not is_opposite(sentence, text) and (not drugs or len(unnamed(sentence, text)) < len(drugs))


def _verdict(results: Sequence[object]) -> Verdict | None:
    return next((result for result in results if isinstance(result, Verdict)), None)

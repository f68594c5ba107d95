"""Gold answers as cited answers: each sentence with the one document whose words it shares most.

No model takes part. A sentence that no document has the words of is left out: what is demonstrated must be supported.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from vericite.records import Document
from vericite.text.citations import parse_markers, render_markers
from vericite.text.references import parse_pmids
from vericite.text.sentences import document_sentences, split_sentences
from vericite.text.terms import terms

ATTRIBUTION = "gold-answer.v1"
"""Signature of the rules; it changes whenever they would cite otherwise."""

SHARE = 0.6
"""Share of a sentence's words that one sentence of the document must have.

Of 120 reference answers of BioASQ's training questions 113 keep a sentence at 0.6 (115 at 0.5, 108 at 0.7), and the
bundled verifier finds 172 of the 179 sentences supported by the document they cite then (175 of 182, 167 of 172). Their
documents were in part put together from the gold snippets, which makes this look easier than it is.
"""

_FEWEST = 3
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_BARE = re.compile(r"(yes|no|maybe)[.,!]?", re.IGNORECASE)


@dataclass(frozen=True)
class Attributed:
    """A sentence of a gold answer, and the place of its source among the documents; None where it has none."""

    text: str
    source: int | None


class Sources:
    """Documents that sentences are looked for in."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._sentences = [_words(document) for document in documents]
        self._numbers = [frozenset(_NUMBER.findall(document.titled_text)) for document in documents]

    def best(self, sentence: str) -> int | None:
        """The place of the document with the most of a sentence's words in one sentence, and all its numbers."""
        words = frozenset(terms(sentence))
        numbers = set(_NUMBER.findall(sentence))
        if len(words) < _FEWEST:
            return None
        shares = [
            max((len(words & other) for other in sentences), default=0) / len(words) if numbers <= known else 0.0
            for sentences, known in zip(self._sentences, self._numbers, strict=True)
        ]
        best = max(shares, default=0.0)
        return shares.index(best) if best >= SHARE else None


def attributed(answer: str, documents: Sequence[Document]) -> list[Attributed]:
    """The sentences of a gold answer with their sources."""
    sources = Sources(documents)
    found: list[Attributed] = []
    front = ""
    for span in split_sentences(answer):
        text = re.sub(r"\s+", " ", answer[span.slice])
        if _BARE.fullmatch(text):
            # "Yes." has no source of its own; it is shown with that of the sentence that says why.
            front = f"{text.rstrip('.,!')}: "
            continue
        # What looks like a citation already would be read as one of ours.
        own = bool(parse_markers(text) or parse_pmids(text))
        source = None if own else sources.best(text)
        found.append(Attributed(front + text, source))
        front = front if source is None else ""
    return found


def evidence_for(answers: Sequence[str], documents: Sequence[Document], most: int) -> tuple[Document, ...]:
    """The documents to show: those that the gold answers rest on, then the first others, in their given order."""
    counts = Counter(
        sentence.source
        for answer in answers
        for sentence in attributed(answer, documents)
        if sentence.source is not None
    )
    ranked = sorted(range(len(documents)), key=lambda place: (-counts[place], place))
    return tuple(documents[place] for place in sorted(ranked[:most]))


def cited_answer(answers: Sequence[str], documents: Sequence[Document]) -> str | None:
    """The first gold answer of which any sentence has a source, with its citations; None where there is none."""
    for answer in answers:
        cited = [
            _cited(sentence.text, sentence.source)
            for sentence in attributed(answer, documents)
            if sentence.source is not None
        ]
        if cited:
            return " ".join(cited)
    return None


def _cited(text: str, source: int) -> str:
    stop = text[-1] if text[-1] in ".!?" else "."
    return f"{text.rstrip('.!?')} {render_markers([source + 1])}{stop}"


def _words(document: Document) -> list[frozenset[str]]:
    sentences = (sentence.text_in(document) for sentence in document_sentences(document))
    return [frozenset(terms(text)) for text in (document.title, *sentences)]

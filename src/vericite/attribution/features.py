"""Features of a sentence and its possible sources: the input of a learned head.

Sources are considered together. Besides the verifier's output for each alone, there is its output for two at once
and for all but one, and which words of the sentence are in no other source. So a source with half of a sentence can be
distinguished from one with none of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, pairwise
from math import log

import numpy as np
from numpy.typing import NDArray

from vericite.models.contracts import CONTRADICTS, ENTAILS, Embeds, Judge, Pair
from vericite.records import Answer, Document
from vericite.text.injection import evidence_sentences, instructs
from vericite.text.statements import split_statements
from vericite.text.terms import terms
from vericite.verify.judging import ask, log_odds

Floats = NDArray[np.float64]

FEATURES = (
    "entailed", "contradicted", "entailed by one sentence", "entailed by its gist", "entailed, second best",
    "cosine", "cosine, second best", "cosine of the title",
    "words", "words of one sentence", "words in no other", "words lost without it", "words the best other lacks",
    "numbers", "has numbers", "word for word",
    "statements, most", "statements, mean", "statements, least", "statement that is its own", "statements it leads",
    "together with another", "gain together", "behind the best pair", "best pair of gists", "gain of gists",
    "all together", "lost without it",
    "entailed, best other", "entailed, mean of others", "entailed, margin", "entailed, rank",
    "cosine, margin", "cosine, rank", "words, margin", "words, rank",
    "sources", "length of the sentence", "statements in it", "length of the source",
)  # fmt: skip
"""The columns, in order."""

VERSION = "set-features.v1"
"""Changes whenever a feature is computed differently."""

MOST_SOURCES = 16
"""Maximum number of sources that are judged for a sentence: the most similar ones."""

_SENTENCES, _WINDOWS, _GIST, _STATEMENTS = 6, 3, 3, 4
_LEAST = 1e-3
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass
class _Source:
    """The sentences of a document that may be evidence, and their words."""

    document: Document

    @cached_property
    def sentences(self) -> list[str]:
        return evidence_sentences(self.document)

    @cached_property
    def title(self) -> str:
        title = self.document.title.strip()
        return "" if not title or instructs(title) else title

    @cached_property
    def words(self) -> list[frozenset[str]]:
        return [frozenset(terms(text)) for text in (*self.sentences, self.title)]

    @cached_property
    def plain(self) -> str:
        return " ".join(" ".join([self.title, *self.sentences]).lower().split())

    @property
    def texts(self) -> list[str]:
        return [*self.sentences, self.title] if self.title else self.sentences


@dataclass
class _Candidate:
    """A sentence with one source, and the source's passages to judge."""

    source: _Source
    cosines: Floats
    title: float
    judged: dict[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    statements: list[float] = field(default_factory=list[float])

    @cached_property
    def order(self) -> list[int]:
        """Positions of the source's sentences, the most similar first."""
        return [int(place) for place in np.argsort(-self.cosines, kind="stable")]

    @cached_property
    def single(self) -> list[str]:
        return [self.source.sentences[place] for place in self.order[:_SENTENCES]]

    @cached_property
    def windows(self) -> list[str]:
        near = set(self.order[:_WINDOWS])
        sentences = list(enumerate(self.source.sentences))
        return [f"{first} {second}" for (at, first), (to, second) in pairwise(sentences) if at in near or to in near]

    def gist_of(self, count: int) -> str:
        """Return the title and the most similar sentences, in text order."""
        chosen = [self.source.sentences[place] for place in sorted(self.order[:count])]
        title = f"{self.source.title.rstrip('.')}." if self.source.title else ""
        return " ".join([title, *chosen]).strip()

    @cached_property
    def passages(self) -> list[str]:
        found = [*self.single, *self.windows, self.gist_of(_GIST)]
        return [text for text in dict.fromkeys(found) if text]

    def best(self, column: int, among: Collection[str] | None = None) -> list[float]:
        """Return the judge's values for the passages, the highest first."""
        values = [
            probabilities[column] for text, probabilities in self.judged.items() if among is None or text in among
        ]
        return sorted(values, reverse=True)

    @cached_property
    def best_passage(self) -> str:
        return max(self.judged, key=lambda text: self.judged[text][0], default="")


@dataclass
class _Sentence:
    """A sentence with its sources."""

    text: str
    statements: list[str]
    candidates: list[_Candidate]
    read: dict[str, float] = field(default_factory=dict[str, float])
    failed: int = 0

    def pairs(self) -> list[tuple[int, int]]:
        """Return the sources to read in pairs: the likeliest ones, by the verifier and by their words."""
        alone = [(candidate.best(0) or [0.0])[0] for candidate in self.candidates]
        covered = [float(value) for value in _shares(self)[0]]
        rank = sorted(range(len(alone)), key=lambda place: -(log_odds(alone[place]) + 4 * covered[place]))
        return list(combinations(sorted(rank[:5]), 2))

    def joined(self, places: Iterable[int], count: int) -> str:
        """Return the gists of several sources, one after the other."""
        return " ".join(filter(None, (self.candidates[place].gist_of(count) for place in places)))

    def best_joined(self, one: int, other: int) -> str:
        return f"{self.candidates[one].best_passage} {self.candidates[other].best_passage}".strip()

    def without(self, place: int | None) -> str:
        """Join the most similar sentence of each source, except one source."""
        places = (at for at in range(len(self.candidates)) if at != place)
        return " ".join(filter(None, (" ".join(self.candidates[at].single[:1]) for at in places)))


class FeatureMaker:
    """Computes the features of sentences and their sources.

    Args:
        judge: Judges whether a text entails a sentence.
        embedder: Computes the similarity of texts.
    """

    def __init__(self, judge: Judge, embedder: Embeds) -> None:
        self._judge = judge
        self._embedder = embedder

    @property
    def signature(self) -> str:
        """The version, the judge and the embedder."""
        return f"{VERSION}({self._judge.signature}, {self._embedder.signature})"

    def of(self, answers: Sequence[Answer]) -> Iterator[list[Known]]:
        """Yield the features of each sentence of each answer. Each distinct pair in all answers is judged once."""
        sources = [[_Source(document) for document in answer.documents] for answer in answers]
        plain = {claim.text: _plain(claim.text) for answer in answers for claim in answer.claims}
        statements = {text: _statements(text) for text in plain.values()}
        texts = dict.fromkeys(text for own in sources for source in own for text in source.texts)
        texts |= dict.fromkeys(plain.values())
        rows = {text: row for row, text in enumerate(texts)}
        vectors = self._embedder.embed(list(texts))

        def like(texts: Sequence[str], other: str) -> Floats:
            return np.asarray(vectors[[rows[text] for text in texts]] @ vectors[rows[other]], dtype=np.float64)

        asked: list[list[tuple[_Sentence, list[int]]]] = []
        for answer, own in zip(answers, sources, strict=True):
            sentences: list[tuple[_Sentence, list[int]]] = []
            for claim in answer.claims:
                text = plain[claim.text]
                candidates = [_candidate(source, text, like) for source in own]
                kept = _most_similar(candidates)
                chosen = _Sentence(text, statements[text], [candidates[place] for place in kept])
                sentences.append((chosen, kept))
            asked.append(sentences)
        self._judged([sentence for group in asked for sentence, _ in group])
        for answer, group in zip(answers, asked, strict=True):
            yield [Known.of(sentence, kept, len(answer.documents)) for sentence, kept in group]

    def _judged(self, sentences: Sequence[_Sentence]) -> None:
        """Judge in two rounds: each source alone, then several together and the statements."""
        alone = self._ask(
            Pair(text, sentence.text)
            for sentence in sentences
            for candidate in sentence.candidates
            for text in candidate.passages
        )
        for sentence in sentences:
            for candidate in sentence.candidates:
                judged = {text: alone[Pair(text, sentence.text)] for text in candidate.passages}
                sentence.failed += sum(value is None for value in judged.values())
                candidate.judged = {text: value for text, value in judged.items() if value is not None}
        wanted = {id(sentence): (_together(sentence), _by_statement(sentence)) for sentence in sentences}
        more = self._ask(
            pair for together, by_statement in wanted.values() for pair in (*together.values(), *by_statement)
        )
        for sentence in sentences:
            together, _ = wanted[id(sentence)]
            sentence.read = {name: (more[pair] or (0.0, 0.0))[0] for name, pair in together.items()}
            for candidate in sentence.candidates:
                candidate.statements = [
                    max(((more[Pair(text, part)] or (0.0, 0.0))[0] for text in _texts_to_judge(candidate)), default=0.0)
                    for part in sentence.statements
                ]

    def _ask(self, pairs: Iterable[Pair]) -> dict[Pair, tuple[float, float] | None]:
        """Return the probabilities of entailment and contradiction; None for failed judgements."""
        distinct = list(dict.fromkeys(pairs))
        return {
            pair: None
            if judgement.failure is not None
            else (float(judgement.probabilities[ENTAILS]), float(judgement.probabilities[CONTRADICTS]))
            for pair, judgement in zip(distinct, ask(self._judge, distinct), strict=True)
        }


@dataclass(frozen=True)
class Known:
    """The features of a sentence.

    Attributes:
        values: A row for each judged source, with the columns of ``FEATURES``.
        places: Positions of the rows' documents in the answer.
        failed: Whether nothing could be judged.
    """

    values: Floats
    places: tuple[int, ...]
    documents: int
    failed: bool = False

    @classmethod
    def of(cls, sentence: _Sentence, places: Sequence[int], documents: int) -> Known:
        """Return the features of a judged sentence."""
        judged = sum(len(candidate.judged) for candidate in sentence.candidates)
        values = _numbers(sentence) if sentence.candidates else np.zeros((0, len(FEATURES)))
        return cls(values, tuple(places), documents, failed=bool(sentence.failed) and not judged)


def _candidate(source: _Source, sentence: str, like: Callable[[Sequence[str], str], Floats]) -> _Candidate:
    cosines = like(source.sentences, sentence) if source.sentences else np.zeros(0)
    return _Candidate(source, cosines, float(like([source.title], sentence)[0]) if source.title else 0.0)


_ANSWER = re.compile(r"(?:yes|no)\b\s*[,.;:!]\s*(?=\S+\s\S+\s\S)", re.IGNORECASE)


def _plain(sentence: str) -> str:
    """Return the sentence without the "Yes," that answers the question: no source says that."""
    bare = _ANSWER.sub("", sentence, count=1) if _ANSWER.match(sentence) else sentence
    return bare[:1].upper() + bare[1:]


def _most_similar(candidates: Sequence[_Candidate]) -> list[int]:
    """Return the positions of the candidates to judge."""
    nearest = [max((*candidate.cosines, candidate.title)) for candidate in candidates]
    order = sorted(range(len(candidates)), key=lambda place: -nearest[place])
    return sorted(order[:MOST_SOURCES])


def _statements(text: str) -> list[str]:
    found = [text[span.slice] for span in split_statements(text)]
    return found if 1 < len(found) <= _STATEMENTS else []


def _together(sentence: _Sentence) -> dict[str, Pair]:
    """Return texts of several sources by name."""
    found: dict[str, str] = {}
    for one, other in sentence.pairs():
        found[f"best {one} {other}"] = sentence.best_joined(one, other)
        found[f"gist {one} {other}"] = sentence.joined((one, other), 2)
    if len(sentence.candidates) > 1:
        found["all"] = sentence.without(None)
        found |= {f"without {place}": sentence.without(place) for place in range(len(sentence.candidates))}
    return {name: Pair(text, sentence.text) for name, text in found.items() if text}


def _texts_to_judge(candidate: _Candidate) -> list[str]:
    return list(dict.fromkeys(filter(None, [*candidate.single[:2], candidate.best_passage, candidate.gist_of(_GIST)])))


def _by_statement(sentence: _Sentence) -> list[Pair]:
    return [
        Pair(text, part)
        for candidate in sentence.candidates
        for text in _texts_to_judge(candidate)
        for part in sentence.statements
    ]


def _shares(sentence: _Sentence) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Return shares of the sentence's words. A word weighs more the fewer sources have it.

    The shares are those in each source, in its best sentence, in no other source, lost without it, and missing in the
    best other source.
    """
    wanted = sorted(set(terms(sentence.text)))
    sources = [candidate.source for candidate in sentence.candidates]
    held = np.array(
        [[any(word in part for part in source.words) for word in wanted] for source in sources], dtype=float
    )
    held = held.reshape(len(sources), len(wanted))
    spread = held.sum(axis=0)
    weights = np.log(1 + len(sources) / (1 + spread)) + 0.1
    total = float(weights.sum()) or 1.0
    covered = held @ weights / total
    best = np.array(
        [max((_weighed(part, wanted, weights) for part in source.words), default=0.0) / total for source in sources]
    )
    alone = (held * (spread == 1)) @ weights / total
    lacked = np.zeros(len(sources))
    for place in range(len(sources)):
        others = [other for other in range(len(sources)) if other != place]
        if others:
            leader = max(others, key=lambda other: covered[other])
            lacked[place] = (held[place] * (1 - held[leader])) @ weights / total
        else:
            lacked[place] = covered[place]
    lost = alone / max(float((spread > 0) @ weights) / total, _LEAST)
    return covered, best, alone, lost, lacked


def _weighed(part: frozenset[str], wanted: Sequence[str], weights: Floats) -> float:
    return float(sum(weight for word, weight in zip(wanted, weights, strict=True) if word in part))


def _numbers(sentence: _Sentence) -> Floats:
    """Return the table of features of a sentence."""
    candidates = sentence.candidates
    entailed = np.array([log_odds((candidate.best(0) or [0.0])[0]) for candidate in candidates])
    cosine = np.array([max(candidate.cosines, default=0.0) for candidate in candidates], dtype=np.float64)
    shares = _shares(sentence)
    columns = [
        entailed,
        *_alone(candidates),
        cosine,
        np.array([sorted(candidate.cosines)[-2] if len(candidate.cosines) > 1 else 0.0 for candidate in candidates]),
        np.array([candidate.title for candidate in candidates]),
        *shares,
        *_copied(sentence),
        *_statement_columns(sentence, entailed),
        *_pair_columns(sentence, entailed),
        *_left_out_columns(sentence),
        *_among(entailed)[:2],
        *_among(entailed)[2:],
        *_among(cosine)[2:],
        *_among(shares[0])[2:],
        *_sizes(sentence),
    ]
    return np.stack(columns, axis=1).astype(np.float64)


def _alone(candidates: Sequence[_Candidate]) -> Iterator[Floats]:
    yield np.array([log_odds((candidate.best(1) or [0.0])[0]) for candidate in candidates])
    yield np.array([log_odds((candidate.best(0, candidate.single) or [0.0])[0]) for candidate in candidates])
    yield np.array([log_odds((candidate.best(0, (candidate.gist_of(_GIST),)) or [0.0])[0]) for candidate in candidates])
    yield np.array([log_odds((*candidate.best(0), 0.0, 0.0)[1]) for candidate in candidates])


def _copied(sentence: _Sentence) -> Iterator[Floats]:
    numbers = set(_NUMBER.findall(sentence.text))
    held = [set(_NUMBER.findall(candidate.source.plain)) for candidate in sentence.candidates]
    yield np.array([len(numbers & own) / len(numbers) if numbers else 0.0 for own in held])
    yield np.full(len(held), float(bool(numbers)))
    plain = " ".join(sentence.text.lower().split()).rstrip(".")
    yield np.array([float(len(plain) > 20 and plain in candidate.source.plain) for candidate in sentence.candidates])


def _statement_columns(sentence: _Sentence, entailed: Floats) -> Iterator[Floats]:
    """Yield the columns of the sentence's statements. A single statement gets the values of the whole sentence."""
    if not sentence.statements:
        leads = entailed - _others(entailed, np.max)
        yield from (entailed, entailed, entailed, leads, (leads > 0).astype(np.float64))
        return
    table = np.array([[log_odds(value) for value in candidate.statements] for candidate in sentence.candidates])
    others = np.stack([_others(table[:, column], np.max) for column in range(table.shape[1])], axis=1)
    yield table.max(axis=1)
    yield table.mean(axis=1)
    yield table.min(axis=1)
    yield (table - others).max(axis=1)
    yield (table > others).mean(axis=1)


def _pair_columns(sentence: _Sentence, entailed: Floats) -> Iterator[Floats]:
    """Yield the values of each source's best pair."""
    count = len(entailed)
    low = log_odds(0.0)
    together, gain, score, gist, gist_gain = (np.full(count, value) for value in (low, 0.0, 3 * low, low, 0.0))
    for one, other in sentence.pairs():
        both, gists = (log_odds(sentence.read.get(f"{kind} {one} {other}", 0.0)) for kind in ("best", "gist"))
        better = max(entailed[one], entailed[other])
        for place in (one, other):
            together[place] = max(together[place], both)
            gain[place] = max(gain[place], both - better)
            score[place] = max(score[place], max(both, gists) + entailed[one] + entailed[other])
            gist[place] = max(gist[place], gists)
            gist_gain[place] = max(gist_gain[place], gists - better)
    yield together
    yield gain
    yield score - (score.max() if count else 0.0)
    yield gist
    yield gist_gain


def _left_out_columns(sentence: _Sentence) -> Iterator[Floats]:
    count = len(sentence.candidates)
    whole = log_odds(sentence.read.get("all", 0.0))
    yield np.full(count, whole)
    yield np.array([whole - log_odds(sentence.read.get(f"without {place}", 0.0)) for place in range(count)])


def _others(values: Floats, what: Callable[[Floats], float]) -> Floats:
    """Return an aggregate of the others for each value; without others, the lowest possible value."""
    if len(values) < 2:
        return np.full(len(values), log_odds(0.0))
    return np.array([what(np.delete(values, place)) for place in range(len(values))])


def _among(values: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the best and the mean of the others, the margin to the best other, and the rank."""
    best = _others(values, np.max)
    order = np.argsort(np.argsort(-values, kind="stable"), kind="stable")
    return best, _others(values, np.mean), values - best, order / max(len(values), 1)


def _sizes(sentence: _Sentence) -> Iterator[Floats]:
    count = len(sentence.candidates)
    yield np.full(count, log(count) if count else 0.0)
    yield np.full(count, log(1 + len(sentence.text.split())))
    yield np.full(count, float(len(sentence.statements) or 1))
    yield np.array([log(1 + len(candidate.source.sentences)) for candidate in sentence.candidates])

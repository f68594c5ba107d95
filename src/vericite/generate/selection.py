"""Which sentences answer a question: figures of every sentence, and how likely each is to answer.

A sentence is read in five ways: how relevant the reranker finds it, how near it is to the question, what it is in its
abstract (a result, an aim ...), whether it has the kind of thing that is asked for (a number, a drug ...), and how
relevant its document is. A logistic model over these gives the probability that it answers; ``recipes/answers`` fits
its weights.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vericite.models.contracts import Embeds, Reranks
from vericite.records import Document, Evidence, Section
from vericite.text.acronyms import Acronym, acronym_pairs
from vericite.text.injection import instructing
from vericite.text.marks import without_marks
from vericite.text.quotable import addresses_reader
from vericite.text.roles import Role, document_roles, unlabelled
from vericite.text.sentences import document_sentences
from vericite.text.statements import looks_dependent
from vericite.text.terms import terms

Floats = NDArray[np.float32]

_POINTS_ELSEWHERE = re.compile(
    r"\b(?:these|such(?!\s+as\b)|those(?!\s+(?:who|whose|that|with|without|of|in|on|at|from|given|receiving|taking|"
    r"treated|assigned|aged|not|under|over)\b))\b",
    re.IGNORECASE,
)
_FEWEST, _MOST = 5, 60
"""Words of a sentence that can be read alone."""
_FEWEST_OF_SHORT = 3
"""The fewest where a source has no sentence that long."""


@dataclass
class Candidate:
    """A sentence that may be taken.

    Attributes:
        text: Its words, with single spaces, without a section label and the source's own reference marks.
        marker: The number of its source.
        place: Its number in the source.
        sentences: How many sentences the source has.
        role: What it is in its abstract.
        answers: The probability that it answers the question.
        others: Markers of other sources that have it word for word.
        year: When its source appeared.
    """

    text: str
    marker: int
    place: int
    sentences: int
    role: Role
    answers: float = 0.0
    others: list[int] = field(default_factory=list[int])
    year: int | None = None

    @property
    def lateness(self) -> float:
        """How near the end of its source it stands, where the conclusions are: up to 1, the last sentence."""
        return (self.place + 1) / self.sentences

    @property
    def markers(self) -> list[int]:
        """All sources that have it."""
        return sorted({self.marker, *self.others})


def candidates_of(evidence: Sequence[Evidence]) -> list[Candidate]:
    """The sentences that stand alone and state something, of sources that can be answered from.

    What several sources have word for word is one candidate. Retracted sources, and those that give orders to
    whoever answers, stay among the documents and are not quoted; nor is a sentence that speaks to its reader.
    """
    found: dict[str, Candidate] = {}
    for marker, hit in enumerate(evidence, start=1):
        document = hit.document
        sentences = document_sentences(document)
        # Who gives orders to whoever answers may also have made up what stands before the order.
        if document.retracted or instructing(document, sentences):
            continue
        texts = [_quotation(sentence.text_in(document)) for sentence in sentences]
        fewest = _FEWEST if any(len(text.split()) >= _FEWEST for text in texts) else _FEWEST_OF_SHORT
        for sentence, role, text in zip(sentences, document_roles(document, sentences), texts, strict=True):
            if not stands_alone(text, fewest) or addresses_reader(text):
                continue
            candidate = Candidate(text, marker, sentence.index, len(sentences), role, year=document.year)
            same = found.setdefault(text.rstrip(" .!"), candidate)
            if marker not in same.markers:
                same.others.append(marker)
    return list(found.values())


def _quotation(text: str) -> str:
    """A sentence as it is quoted: in one line, without its section label and the source's own reference marks."""
    return unlabelled(without_marks(re.sub(r"\s+", " ", text)))[1]


def stands_alone(text: str, fewest: int = _FEWEST) -> bool:
    """Whether a sentence can be read without its neighbours and states something."""
    points_elsewhere = _POINTS_ELSEWHERE.search(text) is not None or looks_dependent(text)
    return fewest <= len(text.split()) <= _MOST and not text.endswith("?") and not points_elsewhere


@dataclass(frozen=True)
class Slot:
    """A kind of thing that a question may ask for, and what a sentence looks like that has one."""

    name: str
    asked: re.Pattern[str]
    met: re.Pattern[str]


@cache
def slots() -> tuple[Slot, ...]:
    """All kinds, from ``slots.toml``."""
    table = tomllib.loads(resources.files("vericite.generate").joinpath("slots.toml").read_text(encoding="utf-8"))
    return tuple(
        Slot(
            name,
            re.compile("|".join(lists["asked"]), re.IGNORECASE),
            re.compile("|".join(lists["met"]), re.NOFLAG if name == "gene" else re.IGNORECASE),
        )
        for name, lists in table.items()
    )


NAMES = (
    "relevance", "cosine", "document", "rank", "shared", "rare", "result", "conclusion", "background", "aim", "method",
    "slot met", "slot open", "defines", "background for definition", "length", "late", "hedged figure",
)  # fmt: skip
"""The figures of a sentence, in their order."""
_FIGURES_ONLY = re.compile(r"\b(?:p\s*[<=>]|95\s*%|CI\b)")


def asked_for(question: str) -> list[str]:
    """The kinds of things that a question asks for."""
    return [slot.name for slot in slots() if slot.asked.search(question)]


_ROLE_FACTORS = {"aim": 0.3, "method": 0.5, "background": 0.75}
_BACKGROUND_ANSWERS = frozenset({"definition", "mechanism", "cause", "gene"})
"""What background sections tell as well as findings do."""


def role_factor(role: Role, question: str, text: str) -> float:
    """What a sentence's probability is multiplied by: what was found comes before what was meant, done or known before.

    Annotators of snippets take aims and methods too, so that no weight learnt from them would do this. A method that
    has what is asked for, as the dose that was given, counts whole.
    """
    if role == "method" and any(slot.met.search(text) for slot in slots() if slot.asked.search(question)):
        return 1.0
    if role == "background" and _BACKGROUND_ANSWERS & set(asked_for(question)):
        return 1.0
    return _ROLE_FACTORS.get(role, 1.0)


READ = 20
"""Sentences that the models read; the others are told apart by their words alone."""


def first_look(question: str, candidates: Sequence[Candidate], documents: Floats) -> list[Candidate]:
    """The candidates that the models read, in their order: by words of the question, role, place and document."""
    if len(candidates) <= READ:
        return list(candidates)
    wanted = set(terms(question))
    every = [set(terms(candidate.text)) for candidate in candidates]
    weights = {word: 1 / (1 + sum(word in words for words in every)) for word in wanted}
    whole = max(1e-9, sum(weights.values()))
    best = float(documents.max())

    def promise(index: int) -> float:
        candidate = candidates[index]
        shared = (
            len(wanted & every[index]) / max(1, len(wanted)) + sum(weights[w] for w in wanted & every[index]) / whole
        )
        role = {"conclusion": 0.4, "result": 0.2, "background": 0.1}.get(candidate.role, 0.0)
        return shared + role + 0.2 * candidate.lateness - 0.05 * min(8.0, best - float(documents[candidate.marker - 1]))

    kept = sorted(range(len(candidates)), key=lambda index: -promise(index))[:READ]
    return [candidates[index] for index in sorted(kept)]


_ENDINGS = (
    "e|es|ed|s|d|n|t|th|ing|ings|er|ers|or|ors|al|als|ally|ly|y|ies|ied|ying|ion|ions|ation|ations|ication|ications|ive|ives|"
    "ively|ment|ments|able|ance|ances|ant|ants|ent|ents|ence|ences|ently|ity|ities|ic|ics|ical|ically|ous|ously|ness|ful|ise|"
    "ised|ises|ising|ize|ized|izes|izing|ate|ates|ated|ating|sis|ses|ued|ues|uing"
)


@cache
def _generic() -> re.Pattern[str]:
    """Words that any question may have, from ``subjects.toml``: from four letters on with any usual ending."""
    words = _subject_table()["generic"].split()
    beginnings = "|".join(word for word in words if len(word) >= 4)
    whole = "|".join(word for word in words if len(word) < 4)
    return re.compile(rf"(?:{beginnings})(?:{_ENDINGS})?|{whole}")


@cache
def _subject_table() -> dict[str, Any]:
    return tomllib.loads(resources.files("vericite.generate").joinpath("subjects.toml").read_text(encoding="utf-8"))


@cache
def _same() -> list[tuple[str, ...]]:
    """Groups of beginnings of words that mean the same, as ``_spelt`` writes them."""
    return [tuple(_spelt(word) for word in group) for group in _subject_table()["same"]]


_WORD = re.compile(r"[^\W_]{3,}")


def subjects_of(question: str) -> list[str]:
    """What a question is about: its words without those that any question may have. Of those in capitals all count."""
    found = dict.fromkeys(_WORD.findall(question))
    loud = question.isupper()
    return [
        word
        for word in found
        if not word.isdigit() and ((word.isupper() and not loud) or not _generic().fullmatch(word.lower()))
    ]


def unmentioned(subjects: Sequence[str], text: str) -> list[str]:
    """The subjects that a text does not have: by their first letters, by a word of the same meaning, or spelt out.

    A long word may have a letter too many or too few, or two that changed places. Another letter in place of one makes
    another word: nephrotic, nephritic.
    """
    text = _spelt(text)
    words = frozenset(re.findall(r"[^\W\d_]{6,}", text))
    return [subject for subject in subjects if not (_mentions(text, subject) or _is_misspelt(_spelt(subject), words))]


def absent(question: str, text: str) -> list[str]:
    """What a question is about and a text does not have. Of a term and its abbreviation either will do."""
    lacking = unmentioned(subjects_of(question), text)
    told: set[str] = set()
    for pair in acronym_pairs(question):
        long, short = set(_WORD.findall(pair.long)), set(_WORD.findall(pair.short))
        # As it is written: in small letters ALL, WAS and CAT are words.
        if re.search(rf"(?<!\w){re.escape(pair.singular)}s?(?!\w)", text):
            told |= long
        if long and not unmentioned(sorted(long), text):
            told |= short
    return [word for word in lacking if word not in told]


def outcomes_of(question: str) -> list[str]:
    """An outcome that is no subject of a question, as any may have it: mortality, survival."""
    subjects = subjects_of(question)
    every = dict.fromkeys(_WORD.findall(question))
    return [word for word in every if word not in subjects and _spelt(word).startswith(tuple(chain(*_same())))]


def about_the_asked(question: str, asked: Sequence[Candidate], evidence: Sequence[Evidence]) -> list[bool]:
    """Whether each sentence is about what is asked, so that it may speak for yes or for no.

    It is not where an outcome that is asked for is neither in it nor in its source's title; where another sentence of
    its source has twice as much of what is asked ("cytomegalovirus was not followed by multiple sclerosis" says nothing
    of Epstein-Barr virus); or where its source has nothing of what is named first, as a drug, and another source does.
    Abbreviations that the source explains count as what they stand for.
    """
    outcomes, wanted = outcomes_of(question), subjects_of(question)
    sources = {it.marker: evidence[it.marker - 1].document for it in asked}
    explained = {marker: acronym_pairs(source.titled_text) for marker, source in sources.items()}
    texts = [" ".join([it.text, *_long_forms(it.text, explained[it.marker])]) for it in asked]
    had = [
        len(wanted) + len(outcomes) - len(absent(question, text)) - len(unmentioned(outcomes, text)) for text in texts
    ]
    most = {it.marker: max(n for other, n in zip(asked, had, strict=True) if other.marker == it.marker) for it in asked}
    lacking = {marker for marker, source in sources.items() if {*wanted[:1]} & {*absent(question, source.titled_text)}}
    others = lacking if lacking != sources.keys() else set[int]()
    return [
        it.marker not in others
        and (not most[it.marker] or 2 * n > most[it.marker])
        and not unmentioned(outcomes, f"{sources[it.marker].title} {text}")
        for it, text, n in zip(asked, texts, had, strict=True)
    ]


def _long_forms(text: str, explained: Iterable[Acronym]) -> Iterator[str]:
    return (it.long for it in explained if re.search(rf"(?<!\w){re.escape(it.singular)}s?(?!\w)", text))


_LONG_WORD = 8
"""Letters from which a word may be misspelt."""


def _is_misspelt(subject: str, words: Iterable[str]) -> bool:
    """Whether one of these words is the subject with a letter more or less, or with two that changed places."""
    return len(subject) >= _LONG_WORD and any(_is_slip(subject, word) for word in words)


def _is_slip(one: str, other: str) -> bool:
    if one[0] != other[0] or abs(len(one) - len(other)) > 1:
        return False
    least = min(len(one), len(other))
    head = next((place for place in range(least) if one[place] != other[place]), least)
    tail = next((place for place in range(least - head) if one[-1 - place] != other[-1 - place]), least - head)
    if len(one) == len(other):
        return head + tail == least - 2 and one[head : head + 2] == other[head + 1] + other[head]
    return head + tail >= least


def _spelt(text: str) -> str:
    """Small letters, one spelling for British and American words, and names for Greek letters."""
    text = text.lower().replace("ae", "e").replace("oe", "e").replace("our", "or")
    return text.replace("α", "alpha").replace("β", "beta").replace("γ", "gamma")


def _mentions(text: str, subject: str) -> bool:
    bare = _spelt(subject)
    single = bare[:-1] if len(bare) > 3 and re.search(r"[^isu]s$", bare) else bare
    stem = single if len(single) < 6 else single[: max(5, len(single) - 3)]
    if subject[:-1].isupper() and len(single) <= 6:
        # An abbreviation, or the words whose first letters it is.
        spelt_out = r"\w*[\s-]+".join(single)
        return re.search(rf"\b(?:{single}s?\b|{spelt_out})", text) is not None
    if len(stem) < 4:
        return re.search(rf"\b{stem}\b", text) is not None
    # What is long is looked for within words too: statin in atorvastatin.
    same = [word for group in _same() if bare.startswith(group) for word in group]
    begins = "|".join([stem, *same])
    return (len(single) >= 6 and single in text) or re.search(rf"\b(?:{begins})", text) is not None


@cache
def weights_of(model: str) -> dict[str, float]:
    """The weights of ``answers``, ``enough`` or ``stance``, by the names of their figures; ``bias`` is among them."""
    return json.loads(resources.files("vericite.generate").joinpath("selection.json").read_text(encoding="utf-8"))[
        model
    ]


def sigmoid(value: float) -> float:
    """A probability from log odds."""
    return float((1 + np.tanh(value / 2)) / 2)


def odds_of(figures: Floats) -> Floats:
    """The log odds of each candidate to answer."""
    weights = weights_of("answers")
    return (figures @ np.array([weights[name] for name in NAMES], dtype=np.float32) + weights["bias"]).astype(
        np.float32
    )


def sufficiency(odds: Floats, documents: Floats, missing: float) -> float:
    """The probability that the evidence answers the question; see ``enough_figures``."""
    weights = weights_of("enough")
    figures = enough_figures(odds, documents, missing)
    return sigmoid(weights["bias"] + sum(weights[name] * value for name, value in zip(ENOUGH, figures, strict=True)))


@dataclass(frozen=True)
class Weighed:
    """What was found of the candidates.

    Attributes:
        figures: A row a candidate, a column a name of ``NAMES``.
        cosines: The cosine of each candidate to each.
    """

    figures: Floats
    cosines: Floats


def weigh(
    question: str, candidates: Sequence[Candidate], documents: Floats, embedder: Embeds, reranker: Reranks
) -> Weighed:
    """The figures of every candidate.

    Args:
        question: What is asked.
        candidates: The sentences to read.
        documents: The relevance of each document, as ``document_relevance`` gives it.
        embedder: For nearness in meaning.
        reranker: Reads each sentence with the question.
    """
    vectors = embedder.embed([question, *(candidate.text for candidate in candidates)])
    relevance = logits(reranker.relevance(question, [candidate.text for candidate in candidates]))
    wanted = set(terms(question))
    every = [set(terms(candidate.text)) for candidate in candidates]
    counts = {word: sum(word in words for words in every) for word in wanted}
    wanted_slots = [slot for slot in slots() if slot.asked.search(question)]
    definition = next((slot for slot in wanted_slots if slot.name == "definition"), None)
    best = float(documents.max())
    rows: list[list[float]] = []
    for index, (candidate, words) in enumerate(zip(candidates, every, strict=True)):
        shared = wanted & words
        weights = {word: 1 / (1 + counts[word]) for word in wanted}
        met = [bool(slot.met.search(candidate.text)) for slot in wanted_slots]
        document = float(documents[candidate.marker - 1])
        rows.append([
            float(relevance[index]), float(vectors[0] @ vectors[index + 1]), document, best - document,
            len(shared) / max(1, len(wanted)), sum(weights[word] for word in shared) / max(1e-9, sum(weights.values())),
            *(float(candidate.role == name) for name in ("result", "conclusion", "background", "aim", "method")),
            float(any(met)), float(bool(met) and not any(met)),
            float(definition is not None and bool(definition.met.search(candidate.text))),
            float(definition is not None and candidate.role == "background"),
            min(len(candidate.text.split()), _MOST) / 30, candidate.lateness,
            float(bool(_FIGURES_ONLY.search(candidate.text))),
        ])  # fmt: skip
    figures = np.array(rows, dtype=np.float32).reshape(len(rows), len(NAMES))
    return Weighed(figures, vectors[1:] @ vectors[1:].T)


_SURE = 1e-7


def logits(probabilities: Floats) -> Floats:
    """Log odds, kept finite."""
    sure = np.clip(probabilities.astype(np.float64), _SURE, 1 - _SURE)
    return np.log(sure / (1 - sure)).astype(np.float32)


def document_relevance(question: str, evidence: Sequence[Evidence], reranker: Reranks) -> Floats:
    """How relevant each document is, as log odds: what the search found, else the reranker is asked."""
    if all("rerank" in hit.scores for hit in evidence):
        return logits(np.array([hit.scores["rerank"] for hit in evidence], dtype=np.float32))
    return logits(reranker.relevance(question, [hit.document.titled_text for hit in evidence]))


@dataclass(frozen=True)
class Excerpts:
    """Cuts evidence to the sentences that answer best, so that a language model reads fewer tokens.

    Attributes:
        embedder: For nearness in meaning.
        reranker: Reads each sentence with the question.
        most: Sentences that are kept, of all documents together.
    """

    embedder: Embeds
    reranker: Reranks
    most: int = 8

    @property
    def signature(self) -> str:
        """How many, by which models."""
        return f"excerpts{self.most}({self.embedder.signature}, {self.reranker.signature})"

    def of(self, question: str, evidence: Sequence[Evidence]) -> list[Evidence]:
        """The same documents in the same order; one without such a sentence has no text left.

        Where no sentence can be read alone, the evidence stays whole.
        """
        candidates = candidates_of(evidence)
        if not candidates:
            return list(evidence)
        documents = document_relevance(question, evidence, self.reranker)
        candidates = first_look(question, candidates, documents)
        odds = odds_of(weigh(question, candidates, documents, self.embedder, self.reranker).figures)
        kept: dict[int, set[int]] = {}
        for index in sorted(range(len(candidates)), key=lambda index: -float(odds[index]))[: self.most]:
            kept.setdefault(candidates[index].marker, set()).add(candidates[index].place)
        return [
            hit.model_copy(update={"document": _excerpt(hit.document, kept.get(marker, set()))})
            for marker, hit in enumerate(evidence, start=1)
        ]


def _excerpt(document: Document, places: set[int]) -> Document:
    texts = [it.text_in(document) for it in document_sentences(document) if it.index in places]
    return document.model_copy(update={"sections": (Section(text=" ".join(texts)),) if texts else ()})


ENOUGH = ("best", "document", "missing")
"""What is read of all candidates together to tell whether they answer: the best sentence, the best document, and the
share of the question's subjects that the document which has most of them lacks."""


_ABSTRACT = 100
"""Words from which a document may be held to name all that it is about."""


def missing_of(question: str, evidence: Sequence[Evidence]) -> Floats:
    """The share of the question's subjects that each document lacks. Of a short one it says less, and counts less."""
    texts = [hit.document.titled_text for hit in evidence]
    lacking = np.array([len(absent(question, text)) for text in texts]) / max(1, len(subjects_of(question)))
    room = np.array([min(1.0, len(text.split()) / _ABSTRACT) for text in texts])
    return (lacking * room).astype(np.float32)


def enough_figures(odds: Floats, documents: Floats, missing: float) -> list[float]:
    """The figures that tell whether the evidence answers.

    Args:
        odds: The log odds of each candidate to answer.
        documents: The relevance of each document, as log odds.
        missing: The least of ``missing_of``, among the documents that can be quoted.
    """
    return [float(odds.max()), float(documents.max()), missing]

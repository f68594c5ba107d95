"""Sentences that answer a question: features of every sentence, and its probability to answer.

Five features of a sentence are used: its relevance by the reranker, its similarity to the question, its role in the
abstract (a result, an aim ...), whether it has the kind of thing that is asked for (a number, a drug ...), and the
relevance of its document. A logistic model over these gives the probability that it answers; ``recipes/answers`` fits
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
"""Numbers of words of a sentence that can be read alone."""
_FEWEST_OF_SHORT = 3
"""The minimum if a source has no sentence that long."""


@dataclass
class Candidate:
    """A sentence that may be selected.

    Attributes:
        text: Its words, with single spaces, without a section label and the source's own reference marks.
        marker: Number of its source.
        place: Its number in the source.
        sentences: Number of sentences of the source.
        role: Its role in the abstract.
        answers: Probability that it answers the question.
        others: Markers of other sources with the same sentence.
        year: Year of its source.
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
        """Position in the source; 1 is the last sentence, where the conclusions are."""
        return (self.place + 1) / self.sentences

    @property
    def markers(self) -> list[int]:
        """Markers of all sources that have this sentence."""
        return sorted({self.marker, *self.others})


def candidates_of(evidence: Sequence[Evidence]) -> list[Candidate]:
    """Return the sentences of usable sources that can be read alone and state something.

    A sentence that several sources have word for word is one candidate. Retracted sources and sources that give orders
    to the reader stay among the documents but are not quoted. Sentences that address the reader are not quoted either.
    """
    found: dict[str, Candidate] = {}
    for marker, hit in enumerate(evidence, start=1):
        document = hit.document
        sentences = document_sentences(document)
        # A source that gives orders to the reader may also have made up the text before them.
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
    """Prepare a sentence for quotation: on one line, without its section label and the source's own reference marks."""
    return unlabelled(without_marks(re.sub(r"\s+", " ", text)))[1]


def stands_alone(text: str, fewest: int = _FEWEST) -> bool:
    """Whether a sentence can be read without its neighbours and states something."""
    points_elsewhere = _POINTS_ELSEWHERE.search(text) is not None or looks_dependent(text)
    return fewest <= len(text.split()) <= _MOST and not text.endswith("?") and not points_elsewhere


@dataclass(frozen=True)
class Slot:
    """A kind of thing that a question may ask for, and the form of sentences that have one."""

    name: str
    asked: re.Pattern[str]
    met: re.Pattern[str]


@cache
def slots() -> tuple[Slot, ...]:
    """Read all kinds from ``slots.toml``."""
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
"""The features of a sentence, in order."""
_FIGURES_ONLY = re.compile(r"\b(?:p\s*[<=>]|95\s*%|CI\b)")


def asked_for(question: str) -> list[str]:
    """Return the kinds of things that a question asks for."""
    return [slot.name for slot in slots() if slot.asked.search(question)]


_ROLE_FACTORS = {"aim": 0.3, "method": 0.5, "background": 0.75}
_BACKGROUND_ANSWERS = frozenset({"definition", "mechanism", "cause", "gene"})
"""Kinds of answers that background sections give as well as findings do."""


def role_factor(role: Role, question: str, text: str) -> float:
    """Return the factor of a sentence's probability: findings come before aims, methods and background.

    Annotators of snippets also choose aims and methods, so learnt weights would not do this. A method that has what is
    asked for, such as the dose, is not reduced.
    """
    if role == "method" and any(slot.met.search(text) for slot in slots() if slot.asked.search(question)):
        return 1.0
    if role == "background" and _BACKGROUND_ANSWERS & set(asked_for(question)):
        return 1.0
    return _ROLE_FACTORS.get(role, 1.0)


READ = 20
"""Number of sentences that the models read; the others are ranked by their words alone."""


def first_look(question: str, candidates: Sequence[Candidate], documents: Floats) -> list[Candidate]:
    """Choose the candidates that the models read: by words of the question, role, position and document."""
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
    """Words that any question may have, from ``subjects.toml``; those of four letters or more with any usual ending."""
    words = _subject_table()["generic"].split()
    beginnings = "|".join(word for word in words if len(word) >= 4)
    whole = "|".join(word for word in words if len(word) < 4)
    return re.compile(rf"(?:{beginnings})(?:{_ENDINGS})?|{whole}")


@cache
def _subject_table() -> dict[str, Any]:
    return tomllib.loads(resources.files("vericite.generate").joinpath("subjects.toml").read_text(encoding="utf-8"))


@cache
def _same() -> list[tuple[str, ...]]:
    """Groups of word beginnings with the same meaning, in the spelling of ``_spelt``."""
    return [tuple(_spelt(word) for word in group) for group in _subject_table()["same"]]


_WORD = re.compile(r"[^\W_]{3,}")


def subjects_of(question: str) -> list[str]:
    """Return the subjects of a question: its words, except those that any question may have."""
    found = dict.fromkeys(_WORD.findall(question))
    loud = question.isupper()
    return [
        word
        for word in found
        if not word.isdigit() and ((word.isupper() and not loud) or not _generic().fullmatch(word.lower()))
    ]


def unmentioned(subjects: Sequence[str], text: str) -> list[str]:
    """Return the subjects that a text lacks. A subject is found by its beginning, a synonym or its long form.

    A long word may have one letter more or less, or two that are swapped. With another letter in place of one it is
    another word: nephrotic, nephritic.
    """
    text = _spelt(text)
    words = frozenset(re.findall(r"[^\W\d_]{6,}", text))
    return [subject for subject in subjects if not (_mentions(text, subject) or _is_misspelt(_spelt(subject), words))]


def absent(question: str, text: str) -> list[str]:
    """Return the subjects of a question that a text lacks. For a term and its abbreviation, either is enough."""
    lacking = unmentioned(subjects_of(question), text)
    told: set[str] = set()
    for pair in acronym_pairs(question):
        long, short = set(_WORD.findall(pair.long)), set(_WORD.findall(pair.short))
        # In the original case: in lower case, ALL, WAS and CAT are plain words.
        if re.search(rf"(?<!\w){re.escape(pair.singular)}s?(?!\w)", text):
            told |= long
        if long and not unmentioned(sorted(long), text):
            told |= short
    return [word for word in lacking if word not in told]


def outcomes_of(question: str) -> list[str]:
    """Return the general outcomes in a question, which are not among its subjects: mortality, survival."""
    subjects = subjects_of(question)
    every = dict.fromkeys(_WORD.findall(question))
    return [word for word in every if word not in subjects and _spelt(word).startswith(tuple(chain(*_same())))]


def about_the_asked(question: str, asked: Sequence[Candidate], evidence: Sequence[Evidence]) -> list[bool]:
    """Whether each sentence is about what is asked, so that it may vote for yes or for no.

    A sentence is excluded in three cases. An outcome that is asked for is neither in it nor in its source's title.
    Another sentence of its source has at least twice as much of what is asked ("cytomegalovirus was not followed by
    multiple sclerosis" says nothing about Epstein-Barr virus). Or its source lacks the first subject, such as a drug,
    and another source has it. Abbreviations that the source explains count as their long forms.
    """
    outcomes, wanted = outcomes_of(question), subjects_of(question)
    sources = {candidate.marker: evidence[candidate.marker - 1].document for candidate in asked}
    explained = {marker: acronym_pairs(source.titled_text) for marker, source in sources.items()}
    texts = [
        " ".join([candidate.text, *_long_forms(candidate.text, explained[candidate.marker])]) for candidate in asked
    ]
    had = [
        len(wanted) + len(outcomes) - len(absent(question, text)) - len(unmentioned(outcomes, text)) for text in texts
    ]
    most = {
        marker: max(count for candidate, count in zip(asked, had, strict=True) if candidate.marker == marker)
        for marker in sources
    }
    lacking = {marker for marker, source in sources.items() if {*wanted[:1]} & {*absent(question, source.titled_text)}}
    others = lacking if lacking != sources.keys() else set[int]()
    return [
        candidate.marker not in others
        and (not most[candidate.marker] or 2 * count > most[candidate.marker])
        and not unmentioned(outcomes, f"{sources[candidate.marker].title} {text}")
        for candidate, text, count in zip(asked, texts, had, strict=True)
    ]


def _long_forms(text: str, explained: Iterable[Acronym]) -> Iterator[str]:
    return (pair.long for pair in explained if re.search(rf"(?<!\w){re.escape(pair.singular)}s?(?!\w)", text))


_LONG_WORD = 8
"""Minimum length of a word that may be misspelt."""


def _is_misspelt(subject: str, words: Iterable[str]) -> bool:
    """Whether one of these words is the subject with one letter more or less, or with two letters swapped."""
    return len(subject) >= _LONG_WORD and any(_is_slip(subject, word) for word in words)


def _is_slip(word: str, other: str) -> bool:
    if word[0] != other[0] or abs(len(word) - len(other)) > 1:
        return False
    least = min(len(word), len(other))
    head = next((place for place in range(least) if word[place] != other[place]), least)
    tail = next((place for place in range(least - head) if word[-1 - place] != other[-1 - place]), least - head)
    if len(word) == len(other):
        return head + tail == least - 2 and word[head : head + 2] == other[head + 1] + other[head]
    return head + tail >= least


def _spelt(text: str) -> str:
    """Lower the case, unify British and American spelling, and name Greek letters."""
    text = text.lower().replace("ae", "e").replace("oe", "e").replace("our", "or")
    return text.replace("α", "alpha").replace("β", "beta").replace("γ", "gamma")


def _mentions(text: str, subject: str) -> bool:
    bare = _spelt(subject)
    single = bare[:-1] if len(bare) > 3 and re.search(r"[^isu]s$", bare) else bare
    stem = single if len(single) < 6 else single[: max(5, len(single) - 3)]
    if subject[:-1].isupper() and len(single) <= 6:
        # An abbreviation, or the words that it abbreviates.
        spelt_out = r"\w*[\s-]+".join(single)
        return re.search(rf"\b(?:{single}s?\b|{spelt_out})", text) is not None
    if len(stem) < 4:
        return re.search(rf"\b{stem}\b", text) is not None
    # Long subjects are also found within words: statin in atorvastatin.
    same = [word for group in _same() if bare.startswith(group) for word in group]
    begins = "|".join([stem, *same])
    return (len(single) >= 6 and single in text) or re.search(rf"\b(?:{begins})", text) is not None


@cache
def weights_of(model: str) -> dict[str, float]:
    """Return the weights of ``answers``, ``enough`` or ``stance``, by feature; ``bias`` is among them."""
    return json.loads(resources.files("vericite.generate").joinpath("selection.json").read_text(encoding="utf-8"))[
        model
    ]


def sigmoid(value: float) -> float:
    """Convert log odds to a probability."""
    return float((1 + np.tanh(value / 2)) / 2)


def odds_of(figures: Floats) -> Floats:
    """Return the log odds that each candidate answers."""
    weights = weights_of("answers")
    return (figures @ np.array([weights[name] for name in NAMES], dtype=np.float32) + weights["bias"]).astype(
        np.float32
    )


def sufficiency(odds: Floats, documents: Floats, missing: float) -> float:
    """Return the probability that the evidence answers the question; see ``enough_figures``."""
    weights = weights_of("enough")
    figures = enough_figures(odds, documents, missing)
    return sigmoid(weights["bias"] + sum(weights[name] * value for name, value in zip(ENOUGH, figures, strict=True)))


@dataclass(frozen=True)
class Weighed:
    """Features of the candidates.

    Attributes:
        figures: One row per candidate, one column per name of ``NAMES``.
        cosines: Cosine of each pair of candidates.
    """

    figures: Floats
    cosines: Floats


def weigh(
    question: str, candidates: Sequence[Candidate], documents: Floats, embedder: Embeds, reranker: Reranks
) -> Weighed:
    """Compute the features of every candidate.

    Args:
        question: The question.
        candidates: The sentences to read.
        documents: Relevance of each document, from ``document_relevance``.
        embedder: Measures similarity.
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
    """Convert to log odds, clipped to stay finite."""
    sure = np.clip(probabilities.astype(np.float64), _SURE, 1 - _SURE)
    return np.log(sure / (1 - sure)).astype(np.float32)


def document_relevance(question: str, evidence: Sequence[Evidence], reranker: Reranks) -> Floats:
    """Return the relevance of each document as log odds: from the search, else from the reranker."""
    if all("rerank" in hit.scores for hit in evidence):
        return logits(np.array([hit.scores["rerank"] for hit in evidence], dtype=np.float32))
    return logits(reranker.relevance(question, [hit.document.titled_text for hit in evidence]))


@dataclass(frozen=True)
class Excerpts:
    """Cuts evidence to the sentences that answer best, so that a language model reads fewer tokens.

    Attributes:
        embedder: Measures similarity.
        reranker: Reads each sentence with the question.
        most: Number of sentences to keep, of all documents together.
    """

    embedder: Embeds
    reranker: Reranks
    most: int = 8

    @property
    def signature(self) -> str:
        """Number of sentences and models."""
        return f"excerpts{self.most}({self.embedder.signature}, {self.reranker.signature})"

    def of(self, question: str, evidence: Sequence[Evidence]) -> list[Evidence]:
        """Return the same documents in the same order; a document without a kept sentence has an empty text.

        If no sentence can be read alone, the evidence stays whole.
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
    texts = [sentence.text_in(document) for sentence in document_sentences(document) if sentence.index in places]
    return document.model_copy(update={"sections": (Section(text=" ".join(texts)),) if texts else ()})


ENOUGH = ("best", "document", "missing")
"""Features of all candidates together that indicate whether they answer: the best sentence, the best document, and the
share of the question's subjects missing from the document that has most of them."""


_ABSTRACT = 100
"""Number of words from which a document can be expected to name all its subjects."""


def missing_of(question: str, evidence: Sequence[Evidence]) -> Floats:
    """Return the share of the question's subjects that each document lacks, weighted down for short documents."""
    texts = [hit.document.titled_text for hit in evidence]
    lacking = np.array([len(absent(question, text)) for text in texts]) / max(1, len(subjects_of(question)))
    room = np.array([min(1.0, len(text.split()) / _ABSTRACT) for text in texts])
    return (lacking * room).astype(np.float32)


def enough_figures(odds: Floats, documents: Floats, missing: float) -> list[float]:
    """Compute the features that indicate whether the evidence answers.

    Args:
        odds: Log odds that each candidate answers.
        documents: Relevance of each document, as log odds.
        missing: Minimum of ``missing_of`` over the documents that can be quoted.
    """
    return [float(odds.max()), float(documents.max()), missing]

"""Right answers, and assessors' labels of answers: gold, labels, labelled citations.

Each is a line of a JSON Lines file, and belongs to a question by its ``id``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from vericite.records.base import FloatMap, FrozenDict, Names, Record
from vericite.records.values import Question, QuestionType

CitationLabel = Literal["supports", "contradicts", "neutral", "irrelevant"]
"""An assessor's label of a citation, as in BioGen; neutral and irrelevant are counted alike."""
_VERDICTS_WORDS: dict[object, CitationLabel] = {"supported": "supports", "contradicted": "contradicts"}
"""The same labels in the words of verdicts and of labels for calibration."""
SentenceLabel = Literal["required", "borderline", "unnecessary", "inappropriate"]
"""An assessor's label of a sentence, as in BioGen."""

_TOP_GRADE = 100
"""The library that computes nDCG counts documents by integer grade."""


class GoldSentence(Record):
    """The documents that a sentence of an answer should cite; ``sentence`` is its number, from 0."""

    sentence: int = Field(ge=0)
    documents: tuple[str, ...]


class GoldNugget(Record):
    """A piece of information in a good answer; ``vital`` ones are required.

    ``documents`` are those that a sentence with this information should cite; None: not known. It may or may not cite
    the ``unknown`` ones.
    """

    id: str = Field(min_length=1)
    text: str = ""
    vital: bool = True
    documents: tuple[str, ...] | None = None
    unknown: tuple[str, ...] = ()


class Gold(Record):
    """The right answer to a question, as far as it is known.

    Attributes:
        documents: Documents that answer it, by id, with their grades; 0 is irrelevant, negative is harmful.
        exact: One entry per item of the answer, each with its synonyms, as in ``Question.gold_exact``.
        ideal: Reference answers.
        citations: What each sentence of the answer should cite.
        nuggets: What a good answer says.
        category: Category of the whole answer, if there is a closed set of them (yes, no, maybe).
        groups: Groups by which scores may be shown, such as ``{"specialty": "cardiology"}``.
    """

    id: str = Field(min_length=1)
    question: str | None = None
    type: QuestionType | None = None
    documents: FloatMap = FrozenDict()
    exact: tuple[tuple[str, ...], ...] = ()
    ideal: tuple[str, ...] = ()
    citations: tuple[GoldSentence, ...] | None = None
    nuggets: tuple[GoldNugget, ...] | None = None
    category: str | None = None
    groups: Names = FrozenDict()

    @field_validator("documents", mode="before")
    @classmethod
    def _graded(cls, value: object) -> object:
        """In a plain list of documents, all have grade 1."""
        return {str(id): 1.0 for id in value} if isinstance(value, list | tuple) else value  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]

    @field_validator("documents")
    @classmethod
    def _whole(cls, value: Mapping[str, float]) -> Mapping[str, float]:
        for id, grade in value.items():
            if grade != int(grade) or abs(grade) > _TOP_GRADE:
                raise ValueError(
                    f"expected grades of documents to be whole numbers up to {_TOP_GRADE}; found {grade} for {id!r}"
                )
        return value

    @model_validator(mode="after")
    def _one_each(self) -> Self:
        sentences = [str(gold.sentence) for gold in self.citations or ()]
        nuggets = [nugget.id for nugget in self.nuggets or ()]
        for what, found in (("sentence", sentences), ("nugget", nuggets)):
            if len(set(found)) < len(found):
                twice = next(name for name in found if found.count(name) > 1)
                raise ValueError(f"expected each {what} once; found {twice!r} twice")
        return self

    @classmethod
    def of(cls, question: Question) -> Self:
        """Return the gold that a question record itself has."""
        return cls(
            id=question.id,
            question=question.text,
            type=question.type,
            documents=dict.fromkeys(question.gold_documents, 1.0),
            exact=question.gold_exact,
            ideal=question.gold_ideal,
        )


def _as_assessors_say(label: object) -> object:
    return _VERDICTS_WORDS.get(label, label) if isinstance(label, str) else label


class CitationJudgement(Record):
    """An assessor's label of one citation: a sentence of the answer (from 0) and a document.

    The labels of verdicts, ``supported`` and ``contradicted``, are accepted too. ``evidence`` has the spans of the
    document that the assessor marked.
    """

    sentence: int = Field(ge=0)
    document: str
    label: Annotated[CitationLabel, BeforeValidator(_as_assessors_say)]
    evidence: tuple[str, ...] = ()


class NuggetMatch(Record):
    """A nugget of the answer (by number, from 0) that says the same as a gold one (by id); pairs may overlap."""

    answer: int = Field(ge=0)
    gold: str


class Labels(Record):
    """Labels of an answer by people or models.

    Attributes:
        citations: Labels of its citations.
        sentences: Labels of its sentences, in order; None for a sentence that was not judged.
        correct: Whether each sentence is correct; None for a sentence that was not judged.
        nuggets: Number of nuggets that the answer was split into.
        matches: Nuggets that say the same as a gold nugget.
        entailed: Whether the answer entails each gold claim (claim recall).
        rationale: Category of each statement of the rationale, by Reason and Verify's names.
        by: The person or model who gave them; part of the signature of scores based on them.
    """

    id: str = Field(min_length=1)
    citations: tuple[CitationJudgement, ...] | None = None
    sentences: tuple[SentenceLabel | None, ...] | None = None
    correct: tuple[bool | None, ...] | None = None
    nuggets: int | None = Field(default=None, ge=0)
    matches: tuple[NuggetMatch, ...] | None = None
    entailed: tuple[bool | None, ...] | None = None
    rationale: tuple[str | None, ...] | None = None
    by: str | None = None

    @model_validator(mode="after")
    def _within(self) -> Self:
        for match in self.matches or ():
            if self.nuggets is None or match.answer >= self.nuggets:
                raise ValueError(
                    f"expected matches of the answer's {self.nuggets or 0} nuggets, counted from 0; found "
                    f"{match.answer}"
                )
        judged = [(judgement.sentence, judgement.document) for judgement in self.citations or ()]
        if len(set(judged)) < len(judged):
            sentence, document = next(place for place in judged if judged.count(place) > 1)
            raise ValueError(f"expected one label for each citation; found two for {document!r} in sentence {sentence}")
        return self


PairLabel = Literal["supported", "contradicted", "irrelevant"]
"""Label of a sentence by a source, as in verdicts."""


class LabelledCitation(Record):
    """A sentence and a source with a person's label; ``vericite calibrate`` reads files of these.

    Attributes:
        id: Id of the question or claim.
        claim: The sentence.
        premise: The text of the source; may be empty if the data only name the document.
        label: The label in common terms.
        native: The label in the data's own words.
        documents: Ids of the documents of the premise.
        evidence: Sentences of the premise that were given as reasons, from 0.
        group: What it shares with citations that are not independent of it, such as the question.
    """

    id: str = Field(min_length=1)
    claim: str
    premise: str
    label: PairLabel
    native: str | None = None
    documents: tuple[str, ...] = ()
    evidence: tuple[int, ...] = ()
    group: str | None = None

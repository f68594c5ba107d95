"""What is known of a right answer, and what assessors said of answers: gold, labels, labelled citations.

Each is a line of a JSON Lines file and belongs to a question by its ``id``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from vericite.records.base import FloatMap, FrozenDict, Names, Record
from vericite.records.values import Question, QuestionType

CitationLabel = Literal["supports", "contradicts", "neutral", "irrelevant"]
"""What an assessor says of a citation, as BioGen's assessors do; neutral and irrelevant are counted alike."""
_VERDICTS_WORDS: dict[object, CitationLabel] = {"supported": "supports", "contradicted": "contradicts"}
"""What verdicts and labels to calibrate by call the same."""
SentenceLabel = Literal["required", "borderline", "unnecessary", "inappropriate"]
"""What an assessor says of a sentence of an answer, as BioGen's assessors do."""

_TOP_GRADE = 100
"""What nDCG is computed with counts documents of each whole grade."""


class GoldSentence(Record):
    """The documents that a sentence of an answer ought to cite; ``sentence`` is its number in the answer, from 0."""

    sentence: int = Field(ge=0)
    documents: tuple[str, ...]


class GoldNugget(Record):
    """A piece of information that a good answer has; ``vital`` ones it must have."""

    id: str = Field(min_length=1)
    text: str = ""
    vital: bool = True


class Gold(Record):
    """The right answer to a question, as far as it is known.

    Attributes:
        documents: Documents that answer it, by id, each with its grade; 0 is judged irrelevant, negative harmful.
        exact: One entry an item of the answer, each with its synonyms, as in ``Question.gold_exact``.
        ideal: Reference answers.
        citations: What each sentence of the answer ought to cite.
        nuggets: What a good answer says.
        category: The category of the whole answer, where there is a closed set of them (yes, no, maybe).
        groups: What scores may be shown by, such as ``{"specialty": "cardiology"}``.
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
        """A plain list of documents has all of the grade 1."""
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
                twice = next(it for it in found if found.count(it) > 1)
                raise ValueError(f"expected each {what} once; found {twice!r} twice")
        return self

    @classmethod
    def of(cls, question: Question) -> Self:
        """What a question record knows itself."""
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
    """An assessor's word on one citation: that sentence of the answer (from 0) and that document.

    The words of verdicts, ``supported`` and ``contradicted``, are taken for the assessors' own.
    """

    sentence: int = Field(ge=0)
    document: str
    label: Annotated[CitationLabel, BeforeValidator(_as_assessors_say)]


class NuggetMatch(Record):
    """An answer's nugget (by number, from 0) that says the same as a gold one (by id); may be one of several pairs."""

    answer: int = Field(ge=0)
    gold: str


class Labels(Record):
    """What people or models said of an answer.

    Attributes:
        citations: Assessors' words on its citations.
        sentences: Their words on its sentences, in order; None for one not judged.
        correct: Whether each sentence is correct; None for one not judged.
        nuggets: How many nuggets the answer was split into.
        matches: Which of these say the same as a gold nugget.
        entailed: Whether the answer entails each gold claim (claim recall).
        rationale: The category of each statement of the rationale, by Reason and Verify's names.
        by: Who gave them, a person or a model, which scores made of them are signed with.
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
        judged = [(one.sentence, one.document) for one in self.citations or ()]
        if len(set(judged)) < len(judged):
            sentence, document = next(it for it in judged if judged.count(it) > 1)
            raise ValueError(f"expected one label a citation; found two of {document!r} in sentence {sentence}")
        return self


PairLabel = Literal["supported", "contradicted", "irrelevant"]
"""What a source says of a sentence, as verdicts have it."""


class LabelledCitation(Record):
    """A sentence and a source, and what people say of the two; ``vericite calibrate`` reads files of these.

    Attributes:
        id: Of the question or claim that it is of.
        claim: The sentence.
        premise: The text of the source. It may be empty where the data name the document only.
        label: The label in common terms.
        native: The label in the data's own words.
        documents: The documents that the premise is of, by id.
        evidence: Which sentences of the premise were given as reasons, from 0.
        group: What it shares with others that are not independent of it, such as its question.
    """

    id: str = Field(min_length=1)
    claim: str
    premise: str
    label: PairLabel
    native: str | None = None
    documents: tuple[str, ...] = ()
    evidence: tuple[int, ...] = ()
    group: str | None = None

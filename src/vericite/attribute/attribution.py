"""What an attributor found: the answer with its citations, and what each source was worth to each sentence."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from vericite.attribute.citing import cited, uncited
from vericite.records import Answer, Record

How = Literal["alone", "together", "likeliest", "kept", "none", "failed"]
"""Each source supports the sentence by itself; some only together; not all were found to, but stand out; the
citations were there before; nothing supports it; it could not be judged whether anything does."""


class SentenceSources(Record):
    """A sentence and its sources.

    ``scores`` has a number for each document of the answer: a probability of support, for ``cosine`` a cosine, for
    ``random`` a draw. It is None where there is none: the source was not judged, its judgement failed, it has the
    sentence word for word, or whoever judged only says yes or no. ``cited`` are the markers of what supports the
    sentence or stands out, ``together`` those among them that support it only as a set. ``reasons`` say what failed,
    was abstained from or left out.
    """

    text: str
    scores: tuple[float | None, ...]
    cited: tuple[int, ...] = ()
    how: How = "none"
    together: tuple[int, ...] = ()
    reasons: tuple[str, ...] = ()


class Attribution(Record):
    """An answer cited after it was written: ``sentences`` are those of ``answer.claims``, ``by`` found the sources."""

    answer: Answer
    sentences: tuple[SentenceSources, ...]
    by: str = Field(min_length=1)

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if len(self.sentences) != len(self.answer.claims):
            raise ValueError(
                f"expected a sentence for each of the answer's {len(self.answer.claims)} claims; "
                f"found {len(self.sentences)}"
            )
        return self

    @property
    def uncited(self) -> tuple[SentenceSources, ...]:
        """The sentences that no source supports."""
        return tuple(sentence for sentence in self.sentences if sentence.how == "none")

    @property
    def likeliest(self) -> tuple[SentenceSources, ...]:
        """The sentences that cite sources which stand out, though they were not found to support them."""
        return tuple(sentence for sentence in self.sentences if sentence.how == "likeliest")

    @property
    def failed(self) -> tuple[SentenceSources, ...]:
        """The sentences of which it could not be told."""
        return tuple(sentence for sentence in self.sentences if sentence.how == "failed")

    def above(self, threshold: float) -> Attribution:
        """The same scores, with another bar: a source is cited if it has a score of at least ``threshold``.

        What has no score stays as it is, and so do citations that were there before. Sets that support a sentence
        together, or stand out, are kept where no source reaches the bar. Retracted sources are still not cited.
        """
        sentences = tuple(self._above(sentence, threshold) for sentence in self.sentences)
        return Attribution(answer=recited(self.answer, sentences), sentences=sentences, by=self.by)

    def _above(self, sentence: SentenceSources, threshold: float) -> SentenceSources:
        if sentence.how in ("kept", "failed"):
            return sentence
        pairs = enumerate(zip(sentence.scores, self.answer.documents, strict=True), start=1)
        reached = {
            number for number, (score, document) in pairs if _reaches(score, threshold) and not document.retracted
        }
        unscored = {number for number in sentence.cited if sentence.scores[number - 1] is None}
        chosen = reached | unscored
        if not chosen and sentence.how in ("together", "likeliest"):
            return sentence
        changes = {"cited": tuple(sorted(chosen)), "how": "alone" if chosen else "none", "together": ()}
        return sentence.model_copy(update=changes)


def _reaches(score: float | None, threshold: float) -> bool:
    return score is not None and score >= threshold


def recited(answer: Answer, sentences: tuple[SentenceSources, ...]) -> Answer:
    """The answer with the citations of these sentences in place of its own; those that were kept stay."""
    loose = {index for index, sentence in enumerate(sentences) if sentence.how != "kept"}
    bare = uncited(answer, loose)
    return cited(bare, {index: sentences[index].cited for index in loose})

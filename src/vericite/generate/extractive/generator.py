"""The extractive generator."""

from __future__ import annotations

from collections.abc import Sequence

from vericite.generate.extractive.candidates import Candidate, candidates_of
from vericite.generate.extractive.choosing import choose, ordered
from vericite.generate.extractive.closed_answers import Decision, Judges, decide
from vericite.generate.extractive.lists import entries_of
from vericite.generate.extractive.questions import is_closed, number_wanted, wants_list
from vericite.generate.extractive.settings import ExtractiveSettings
from vericite.generate.extractive.worth import Reads, Scale
from vericite.generate.generator import INSUFFICIENT
from vericite.models import Embedder
from vericite.records import Answer, Evidence, Question
from vericite.text.citations import parse_answer


class ExtractiveGenerator:
    """Takes the sentences that answer the question best, leaves out what repeats, and cites each.

    To a yes/no question ``Answer.exact`` has the decision, and the answer begins with the sentence that speaks for it
    most; the one that speaks against it most, where one does, is in it too. To a question for a list ``Answer.exact``
    has what the sentences taken enumerate, and is None where they enumerate nothing.

    Args:
        embedder: For nearness in meaning.
        settings: How sentences are chosen and questions decided.
        reranker: Reads every sentence with the question; without one, nearness and words decide.
        judge: Tells whether a sentence entails what a yes/no question asks; without one, its words of denial and
            direction decide.
    """

    def __init__(
        self,
        embedder: Embedder,
        settings: ExtractiveSettings | None = None,
        reranker: Reads | None = None,
        judge: Judges | None = None,
    ) -> None:
        self.settings = settings or ExtractiveSettings()
        self._parts = [part for part in (embedder, reranker, judge) if part is not None]
        self._scale = Scale(embedder, reranker, self.settings)
        self._judge = judge

    @property
    def signature(self) -> str:
        """Version, models and the settings that are not the usual."""
        return f"extractive.v2({', '.join([*(part.signature for part in self._parts), *self.settings.changed])})"

    def generate(self, question: Question, evidence: Sequence[Evidence]) -> Answer:
        """An answer of cited sentences, six at most, or one that says the evidence is insufficient."""
        candidates = candidates_of(evidence)
        weighed = self._scale.weigh(question.text, candidates, evidence)
        if not candidates or weighed.nearest < self.settings.sufficient:
            return self._insufficient(question, evidence)
        decision = decide(question.text, candidates, self._judge, self.settings) if is_closed(question) else None
        must = [] if decision is None else [decision.deciding]
        if decision is not None and decision.opposing is not None:
            must.append(decision.opposing)
        taken = [candidates[index] for index in choose(candidates, weighed.likeness, self.settings, must)]
        sure = decision is not None and abs(decision.leaning) >= self.settings.sure
        first = candidates[decision.deciding] if decision is not None and sure else None
        text = " ".join(candidate.cited for candidate in ordered(taken, first))
        documents = [hit.document for hit in evidence]
        answer = parse_answer(question.id, text, documents, question.text, self.signature)
        return answer.model_copy(update={"exact": self._exact(question, taken, decision if sure else None)})

    def _exact(
        self, question: Question, taken: Sequence[Candidate], decision: Decision | None
    ) -> tuple[tuple[str, ...], ...] | None:
        if decision is not None:
            return ((decision.answer,),)
        if not self.settings.lists or not wants_list(question) or is_closed(question):
            return None
        most = number_wanted(question.text) or self.settings.entries
        return entries_of(question.text, [(item.text, item.worth) for item in taken], most) or None

    def _insufficient(self, question: Question, evidence: Sequence[Evidence]) -> Answer:
        return Answer(
            id=question.id,
            text=INSUFFICIENT,
            claims=(),
            documents=tuple(hit.document for hit in evidence),
            question=question.text,
            generator=self.signature,
            insufficient=True,
        )

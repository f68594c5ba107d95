"""Prompts for answers word for word: for those who reproduce a paper's own setting.

What is sent is the file's text; documents stand where the file puts them, as it says (``document``), whole and
unmarked. Nothing is taken out of the reply either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict

from vericite.generate.prompt import AnswerPrompt, Demonstration
from vericite.generate.reply import ReadReply, failed, read_final_answer
from vericite.llm import Message
from vericite.llm.prompts import read_prompt
from vericite.llm.verbatim import Turn, expect_slots, fill_turns, fill_verbatim, sign_verbatim, with_turns
from vericite.records import Document, Evidence, Question, Rationale, RationaleStep
from vericite.text.citations import parse_answer


@dataclass(frozen=True)
class VerbatimAnswerPrompt(AnswerPrompt):
    """A prompt that is sent as it stands. Of its turns one has ``{question}``.

    Slots are ``{question}``, ``{documents}``, ``{demonstrations}``, ``{options}`` and ``{answer}``, the question's
    known answer for those who make data of it.

    Attributes:
        turns: The conversation.
        document: How a document is shown: ``{number}``, ``{title}``, ``{abstract}``, ``{id}``, ``{year}``,
            ``{journal}``.
        between: What stands between two documents.
    """

    # Not a space is stripped.
    __pydantic_config__ = ConfigDict(extra="forbid")

    verbatim: Literal[True] = True
    turns: tuple[Turn, ...] = ()
    document: str = "[{number}] {abstract}"
    between: str = "\n"

    def __post_init__(self) -> None:
        expect_slots(self.name, self.turns, ["question"])

    def __hash__(self) -> int:
        return hash(self.signature)

    @property
    def signature(self) -> str:
        """Name, version, that it is verbatim, and the hash of all that is fixed in it."""
        own = [[it.question, [d.text for d in it.documents], it.answer, it.rationale] for it in self.demonstrations]
        return sign_verbatim(self.name, [asdict(replace(self, demonstrations=())), own])

    def conversation(
        self, question: Question, evidence: Sequence[Evidence], demonstrations: Sequence[Demonstration] = ()
    ) -> tuple[Message, ...]:
        """What is sent for a question. Retracted documents are not shown; numbers are those of the evidence."""
        usable = [(place, hit.document) for place, hit in enumerate(evidence, start=1) if not hit.document.retracted]
        known = question.gold_ideal[0] if question.gold_ideal else "; ".join(it[0] for it in question.gold_exact)
        given = {
            "question": question.text,
            "documents": self._documents(usable),
            "demonstrations": "".join(self._demonstrated(place, it) for place, it in enumerate(demonstrations, 1)),
            "options": self.how_to_answer(question),
            "answer": known,
        }
        return fill_turns(self.turns, given)

    def _documents(self, documents: Sequence[tuple[int, Document]]) -> str:
        return self.between.join(self._one(number, document) for number, document in documents)

    def _one(self, number: int, document: Document) -> str:
        given = {
            "number": str(number),
            "title": document.title,
            "abstract": document.text,
            "id": document.pmid or document.id,
            "year": str(document.year or ""),
            "journal": document.journal or "",
        }
        return fill_verbatim(self.document, given)

    def _demonstrated(self, number: int, item: Demonstration) -> str:
        given = {
            "number": str(number),
            "question": item.question,
            "documents": self._documents(list(enumerate(item.documents, start=1))),
            "rationale": item.rationale or "",
            "answer": item.answer,
        }
        return fill_verbatim(self.demonstration or "", given)


def read_answer_prompt(path: Path, demonstrations: Callable[[object], list[Demonstration]]) -> VerbatimAnswerPrompt:
    """The prompt in a file; ``demonstrations`` makes those of what the file has for them.

    Raises:
        InputError: It is none.
    """

    def prepare(found: dict[str, Any]) -> dict[str, Any]:
        own = demonstrations(found.get("demonstrations", []))
        return {**with_turns(found), "system": "", "user": "", "demonstrations": own}

    return read_prompt(path, VerbatimAnswerPrompt, prepare)


def read_as_it_stands(
    prompt: AnswerPrompt,
    question: Question,
    documents: Sequence[Document],
    reply: str,
    *,
    cut_off: bool = False,
    reasoned: bool = False,
) -> ReadReply:
    """The answer in a reply, of which nothing is left out: all its sentences, repeats and citations count.

    Args:
        prompt: What was asked for; it says whether a final answer is to be looked for.
        question: What was asked.
        documents: The evidence that markers count.
        reply: What the model wrote.
        cut_off: Whether it reached its limit of tokens.
        reasoned: Whether the reply is a rationale too, whose sentences before the final answer are its steps.
    """
    notes = ("the reply reached max_tokens; it is kept as it stands",) if cut_off else ()
    if not reply.strip():
        return ReadReply(failed(question, documents, "the reply holds no answer"), notes)
    answer = parse_answer(question.id, reply, documents, question.text)
    fields: dict[str, object] = {}
    body, provisional = reply, None
    if prompt.final_answer:
        final = read_final_answer(reply, prompt.options, question.type)
        body, provisional = final.body, final.text
        fields |= {"exact": final.exact, "insufficient": final.unavailable}
    if reasoned:
        said = parse_answer(question.id, body, documents, question.text)
        steps = tuple(
            RationaleStep(
                statement=claim.text,
                documents=tuple(dict.fromkeys(it.document for it in claim.citations if it.document is not None)),
            )
            for claim in said.claims
            if any(map(str.isalnum, claim.text))
        )
        fields["rationale"] = Rationale(steps=steps, provisional=provisional, raw=reply)
    return ReadReply(answer.model_copy(update=fields), notes)

"""Answers and verdicts in the forms of other programs: BioGen's runs, AutoJudge's reports, ALCE's JSON, a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

from vericite.formats.registry import AnswerToCheck
from vericite.records import Answer, CheckedAnswer, Claim, Verdict
from vericite.text.references import render_markers


def to_vericite(answer: Answer) -> str:
    """An answer as ``check`` takes it: a line of JSON with markers in the text."""
    return AnswerToCheck.of(with_markers(answer)).model_dump_json(exclude_none=True)


def with_markers(answer: Answer) -> Answer:
    """The answer with its citations written in its text, where they were only known beside it.

    Its sentences are then joined by spaces. An answer that has its markers in its text stays as it is.
    """
    if all(_written(answer, claim) for claim in answer.claims):
        return answer
    numbers = {document.id: number for number, document in enumerate(answer.documents, start=1)}
    return answer.model_copy(update={"text": " ".join(_marked(claim, numbers) for claim in answer.claims)})


def _written(answer: Answer, claim: Claim) -> bool:
    """Whether each citation stands in the text apart from the words of the sentence, as ``[1]`` does."""
    return all(citation.span != claim.span and answer.text[citation.span.slice] for citation in claim.citations)


def _marked(claim: Claim, numbers: dict[str, int]) -> str:
    cited = [numbers[it.document] if it.document else it.marker for it in claim.citations]
    text = claim.text.rstrip()
    if not cited:
        return text
    stop = text[-1] if text[-1:] in tuple(".!?") else ""
    return f"{text.removesuffix(stop)} {render_markers(list(dict.fromkeys(cited)))}{stop}"


def to_alce(answer: Answer) -> dict[str, Any]:
    """An answer as ALCE's runs have it: question, passages, and the output with markers that count them."""
    documents = [{"id": it.id, "title": it.title, "text": it.text} for it in answer.documents]
    return {"id": answer.id, "question": answer.question or "", "docs": documents, "output": with_markers(answer).text}


def to_biogen(answer: Answer, run: str, topic: str | None = None) -> dict[str, Any]:
    """An answer as a line of a run of BioGen's task B; ``formats.biogen`` says whether the track would take it."""
    names = {document.id: document.pmid or document.id for document in answer.documents}
    responses = [{"text": claim.text, "citations": _cited(claim, names)} for claim in answer.claims]
    references = list(dict.fromkeys(pmid for response in responses for pmid in response["citations"]))
    metadata = {"run_name": run, "topic_id": topic or answer.id, "question": answer.question or ""}
    return {"metadata": metadata, "references": references, "responses": responses}


def _cited(claim: Claim, names: dict[str, str]) -> list[str]:
    return list(dict.fromkeys(names[it.document] for it in claim.citations if it.document))


def to_autojudge(answer: Answer, run: str, team: str = "vericite", topic: str | None = None) -> dict[str, Any]:
    """An answer as a report of TREC's AutoJudge, with the documents that it cites; see ``formats.tracks``."""
    documents = {document.id: document for document in answer.documents}
    responses = [
        {
            "text": claim.text,
            "citations": list(dict.fromkeys(it.document for it in claim.citations if it.document)),
        }
        for claim in answer.claims
    ]
    references = list(dict.fromkeys(id for response in responses for id in response["citations"]))
    metadata = {"team_id": team, "run_id": run, "topic_id": topic or answer.id}
    if answer.question:
        metadata["narrative"] = answer.question
    texts = {
        id: {"id": id, "title": documents[id].title, "text": documents[id].text}
        for id in references
        if id in documents and documents[id].text
    }
    return {"metadata": metadata, "responses": responses, "references": references, "documents": texts}


VERDICT_COLUMNS = (
    "answer",
    "sentence",
    "claim",
    "document",
    "label",
    "native",
    "supported",
    "contradicted",
    "abstained",
    "reasons",
    "protocol",
)
"""The columns of a table of verdicts."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


SOURCE_COLUMNS = ("title", "evidence", "retracted")
"""What a row says of the source beside that, where the answer is at hand."""


def verdict_rows(checked: CheckedAnswer) -> Iterator[list[str]]:
    """A row a citation: of documents that were judged together each has one, with the label it has by itself."""
    return (row for row, _ in _cited_rows(checked))


def source_rows(checked: CheckedAnswer, answer: Answer | None) -> Iterator[list[str]]:
    """The same with the title of the source, the words of it that decided, and whether it is retracted."""
    documents = {} if answer is None else {it.id: it for it in answer.documents}
    for row, verdict in _cited_rows(checked):
        document = documents.get(row[3])
        spans = [it for it in verdict.evidence if it.document == row[3]] if verdict else []
        words = [it.text or (document.text[it.start : it.end] if document else "") for it in spans]
        retracted = row[3] in verdict.retracted if verdict else bool(document and document.retracted)
        yield [*row, document.title if document else "", " ... ".join(words), "yes" if retracted else ""]


def _cited_rows(checked: CheckedAnswer) -> Iterator[tuple[list[str], Verdict | None]]:
    judged = [*checked.verdicts, *checked.failures, *checked.uncited]
    sentences = {start: number for number, start in enumerate(sorted({it.start for it in judged}), start=1)}
    for verdict in checked.verdicts:
        for id in verdict.documents or ("",):
            yield _row(checked.id, sentences[verdict.start], verdict, id), verdict
    for failure in checked.failures:
        for id in failure.documents:
            start = [checked.id, str(sentences[failure.start]), failure.claim, id, "failed"]
            yield [*start, "", "", "", "", failure.reason, ""], None
    for claim in checked.uncited:
        yield [checked.id, str(sentences[claim.start]), claim.claim, "", "uncited", "", "", "", "", "", ""], None


def _row(answer: str, sentence: int, verdict: Verdict, document: str) -> list[str]:
    label = verdict.apart.get(document, verdict.label)
    probabilities = [verdict.probabilities.get(name) for name in ("supported", "contradicted")]
    shown = ["" if it is None else f"{it:.4f}" for it in probabilities]
    reasons = "; ".join(verdict.reasons)
    abstained = "yes" if verdict.abstained else ""
    first = [answer, str(sentence), verdict.claim, document, label, verdict.native]
    return [*first, *shown, abstained, reasons, verdict.protocol]


def to_table(rows: Iterable[Iterable[str]]) -> str:
    """Rows as CSV. A cell that a spreadsheet would run as a formula gets an apostrophe before it."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in row] for row in rows)
    return text.getvalue()

"""Answers and verdicts in the forms of other programs: ours, BioGen's runs, ALCE's JSON, a table of verdicts."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from vericite.formats.registry import AnswerToCheck
from vericite.records import Answer, CheckedAnswer, Claim, Verdict
from vericite.text.references import render_markers

BIOGEN_WORDS = 250
"""Words that an answer of a BioGen run has at most."""
BIOGEN_PMIDS = 3
"""PubMed ids that a sentence of one cites at most."""


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
    """An answer as a line of a run of BioGen's task B; ``biogen_problems`` says whether the track would take it."""
    names = {document.id: document.pmid or document.id for document in answer.documents}
    responses = [{"text": claim.text, "citations": _cited(claim, names)} for claim in answer.claims]
    references = list(dict.fromkeys(pmid for response in responses for pmid in response["citations"]))
    metadata = {"run_name": run, "topic_id": topic or answer.id, "question": answer.question or ""}
    return {"metadata": metadata, "references": references, "responses": responses}


def _cited(claim: Claim, names: dict[str, str]) -> list[str]:
    return list(dict.fromkeys(names[it.document] for it in claim.citations if it.document))


def biogen_problems(run: dict[str, Any], topics: Collection[str] = ()) -> list[str]:
    """What the track's rules have against an answer: words, citations a sentence, ids that are none, unknown topics.

    Args:
        run: An answer as ``to_biogen`` gives it.
        topics: The topics of the track; any if none are given.
    """
    found: list[str] = []
    responses: list[dict[str, Any]] = run["responses"]
    words = sum(len(str(response["text"]).split()) for response in responses)
    if words > BIOGEN_WORDS:
        found.append(f"expected {BIOGEN_WORDS} words at most; found {words}")
    if not responses:
        found.append("expected sentences; found none")
    for number, response in enumerate(responses, start=1):
        cited: list[str] = response["citations"]
        if len(cited) > BIOGEN_PMIDS:
            found.append(f"expected {BIOGEN_PMIDS} PMIDs at most in sentence {number}; found {len(cited)}")
        wrong = [name for name in cited if not (name.isascii() and name.isdecimal() and len(name) <= 8)]
        if wrong:
            found.append(f"expected PMIDs in sentence {number}; found {wrong[0]!r}")
    topic = str(run["metadata"]["topic_id"])
    if topics and topic not in topics:
        found.append(f"expected a topic of the track; found {topic!r}")
    return found


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


def verdict_rows(checked: CheckedAnswer) -> Iterator[list[str]]:
    """A row a citation: of documents that were judged together each has one, with the label it has by itself."""
    judged = [*checked.verdicts, *checked.failures, *checked.uncited]
    sentences = {start: number for number, start in enumerate(sorted({it.start for it in judged}), start=1)}
    for verdict in checked.verdicts:
        yield from (_row(checked.id, sentences[verdict.start], verdict, id) for id in verdict.documents or ("",))
    for failure in checked.failures:
        for id in failure.documents:
            start = [checked.id, str(sentences[failure.start]), failure.claim, id, "failed"]
            yield [*start, "", "", "", "", failure.reason, ""]
    for claim in checked.uncited:
        yield [checked.id, str(sentences[claim.start]), claim.claim, "", "uncited", "", "", "", "", "", ""]


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

"""Write answers and verdicts in formats of other programs: BioGen runs, AutoJudge reports, ALCE's JSON, tables.

A validator checks BioGen's rules for runs of task B: the guidelines of 2025 (``trec-biogen.github.io/docs``)
and the page on the submission format of 2024 (``dmice.ohsu.edu/trec-biogen/submission_format.html``). An answer has at
most 250 words. A sentence cites at most three PubMed ids. ``references`` has each cited id exactly once and no other
ids. Each topic of the track is answered once. The track discards malformed content.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from vericite.errors import Problems, RecordError, UnknownNameError
from vericite.formats.files import raw_records
from vericite.formats.registry import AnswerToCheck
from vericite.records import Answer, AnswerEvidence, Article, CheckedAnswer, Claim, Verdict
from vericite.text.references import render_markers
from vericite.text.strength import Strength


def to_vericite(answer: Answer) -> str:
    """Return an answer as a JSON line for ``check``, with markers in its text."""
    return AnswerToCheck.of(with_markers(answer)).model_dump_json(exclude_none=True)


def with_markers(answer: Answer) -> Answer:
    """Write an answer's citations into its text as markers.

    The sentences are then joined by spaces. An answer whose text already has its markers is not changed.
    """
    if all(_written(answer, claim) for claim in answer.claims):
        return answer
    numbers = {document.id: number for number, document in enumerate(answer.documents, start=1)}
    return answer.model_copy(update={"text": " ".join(_marked(claim, numbers) for claim in answer.claims)})


def _written(answer: Answer, claim: Claim) -> bool:
    """Whether the text has each citation as a marker of its own, such as ``[1]``."""
    return all(citation.span != claim.span and answer.text[citation.span.slice] for citation in claim.citations)


def _marked(claim: Claim, numbers: dict[str, int]) -> str:
    cited = [numbers[citation.document] if citation.document else citation.marker for citation in claim.citations]
    text = claim.text.rstrip()
    if not cited:
        return text
    stop = text[-1] if text[-1:] in tuple(".!?") else ""
    return f"{text.removesuffix(stop)} {render_markers(list(dict.fromkeys(cited)))}{stop}"


def to_alce(answer: Answer) -> dict[str, Any]:
    """Convert an answer to a record of an ALCE run: question, passages, and the output with numbered markers."""
    documents = [{"id": document.id, "title": document.title, "text": document.text} for document in answer.documents]
    return {"id": answer.id, "question": answer.question or "", "docs": documents, "output": with_markers(answer).text}


def to_biogen(answer: Answer, run: str, topic: str | None = None) -> dict[str, Any]:
    """Convert an answer to a line of a run of BioGen's task B; ``answer_problems`` checks the track's rules."""
    names = {document.id: document.pmid or document.id for document in answer.documents}
    responses = [{"text": claim.text, "citations": _cited(claim, names)} for claim in answer.claims]
    references = list(dict.fromkeys(pmid for response in responses for pmid in response["citations"]))
    metadata = {"run_name": run, "topic_id": topic or answer.id, "question": answer.question or ""}
    return {"metadata": metadata, "references": references, "responses": responses}


def to_biogen_evidence(found: AnswerEvidence, run: str) -> dict[str, Any]:
    """Convert the articles for and against an answer to a line of a run of BioGen's task A.

    Articles without a PubMed id are left out.
    """

    def pmids(articles: Sequence[Article]) -> list[str]:
        return list(dict.fromkeys(article.pmid for article in articles if article.pmid))[:PMIDS]

    sentences = [
        {
            "text": sentence.text,
            "supported_citations": pmids(sentence.supporting),
            "contradicted_citations": pmids(sentence.contradicting),
        }
        for sentence in found.sentences
    ]
    return {"metadata": {"run_name": run, "qa_id": found.id, "question": found.question or ""}, "answer": sentences}


def _cited(claim: Claim, names: dict[str, str]) -> list[str]:
    return list(dict.fromkeys(names[citation.document] for citation in claim.citations if citation.document))


def to_autojudge(answer: Answer, run: str, team: str = "vericite", topic: str | None = None) -> dict[str, Any]:
    """Convert an answer to a TREC AutoJudge report with the documents that it cites; see ``formats.tracks``."""
    documents = {document.id: document for document in answer.documents}
    responses = [
        {
            "text": claim.text,
            "citations": list(dict.fromkeys(citation.document for citation in claim.citations if citation.document)),
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
    "verdict",
    "native",
    "supported",
    "contradicted",
    "abstained",
    "reasons",
    "protocol",
    "words",
    "because",
    "supported_by",
)
"""The columns of a table of verdicts; docs/report.md explains each."""

MARKS = {
    "supported": "supported",
    "differs": "supported, another figure in the source",
    "quoted": "quoted",
    "contradicted": "contradicted",
    "partial": "not found, partly supported",
    "irrelevant": "not found in the source",
    "dangling": "no such source",
    "abstained": "undecided",
    "failed": "not judged",
    "uncited": "cites nothing",
}
"""What was found of a citation, in the words of the page, by its mark there."""


def mark_of(verdict: Verdict, kind: str) -> str:
    """Return the mark of a verdict that is counted as ``kind``: a name in ``MARKS``."""
    if kind == "supported" and verdict.has_other_figure:
        return "differs"
    return "partial" if kind == "irrelevant" and verdict.is_partly_supported else kind


_FORMULA = ("=", "+", "-", "@", "\t", "\r")


SOURCE_COLUMNS = ("title", "evidence", "retracted", "design", "participants", "year", "depth")
"""Additional columns about the source, for rows with an answer."""


def answers_as(
    form: str,
    answers: Iterable[Answer],
    run: str = "vericite",
    team: str = "vericite",
    problems: Problems | None = None,
    topics: Collection[str] = (),
    place: str | Path = "answers",
) -> str:
    """Return the text of a file with answers in another program's format.

    Args:
        form: ``vericite``, ``biogen``, ``autojudge`` or ``alce``.
        answers: The answers.
        run: Name of a BioGen or AutoJudge run.
        team: Team of an AutoJudge run.
        problems: Receives the errors of answers that break BioGen's rules; these answers are left out.
        topics: Allowed ids for answers of a BioGen run. Default: any.
        place: Origin of the answers, for messages.

    Raises:
        UnknownNameError: The format is unknown.
    """
    match form:
        case "vericite":
            return "".join(f"{to_vericite(answer)}\n" for answer in answers)
        case "alce":
            data = [to_alce(answer) for answer in answers]
            return json.dumps({"args": {}, "data": data}, ensure_ascii=False, indent=1) + "\n"
        case "autojudge":
            return "".join(_line(to_autojudge(answer, run, team)) for answer in answers)
        case "biogen":
            lines: list[str] = []
            for answer in answers:
                made = to_biogen(answer, run)
                found = answer_problems(made, topics)
                if problems is not None:
                    problems += [RecordError(place, 0, answer.id, problem) for problem in found]
                lines += [] if found else [_line(made)]
            return "".join(lines)
        case _:
            raise UnknownNameError("output format", form, ("vericite", "biogen", "autojudge", "alce"))


def _line(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def verdict_rows(checked: CheckedAnswer) -> Iterator[list[str]]:
    """Yield a row per citation. Documents that were judged together get a row each, with their individual labels."""
    return (row for row, _ in _cited_rows(checked))


def source_rows(checked: CheckedAnswer, answer: Answer | None) -> Iterator[list[str]]:
    """Yield the rows of ``verdict_rows`` with the source's title, the evidence, and its strength."""
    documents = {} if answer is None else {document.id: document for document in answer.documents}
    for row, verdict in _cited_rows(checked):
        document = documents.get(row[3])
        spans = [span for span in verdict.evidence if span.document == row[3]] if verdict else []
        nearest = verdict.nearest if verdict else None
        is_near = not spans and nearest is not None and nearest.document == row[3]
        spans = [nearest] if is_near and nearest is not None else spans
        words = [span.text or (document.text[span.start : span.end] if document else "") for span in spans]
        retracted = row[3] in verdict.retracted if verdict else bool(document and document.retracted)
        strength = Strength.of(document) if document else Strength()
        facts = (strength.design, strength.n, strength.year, strength.depth)
        doubt = "yes" if retracted else strength.retraction or ""
        yield [
            *row,
            document.title if document else "",
            f"{'Nearest: ' if is_near else ''}{' ... '.join(words)}",
            doubt,
            *("" if fact is None else str(fact) for fact in facts),
        ]


def _cited_rows(checked: CheckedAnswer) -> Iterator[tuple[list[str], Verdict | None]]:
    judged = [*checked.verdicts, *checked.failures, *checked.uncited]
    sentences = {start: number for number, start in enumerate(sorted({item.start for item in judged}), start=1)}
    for verdict in checked.verdicts:
        for id in verdict.documents or ("",):
            yield _row(checked, sentences[verdict.start], verdict, id), verdict
    for failure in checked.failures:
        for id in failure.documents:
            start = [checked.id, str(sentences[failure.start]), failure.claim, id, "failed", MARKS["failed"]]
            yield [*start, "", "", "", "", failure.reason, *[""] * 4], None
    for claim in checked.uncited:
        yield [checked.id, str(sentences[claim.start]), claim.claim, "", "uncited", MARKS["uncited"], *[""] * 9], None


def _row(checked: CheckedAnswer, sentence: int, verdict: Verdict, document: str) -> list[str]:
    is_quoted = checked.kind_of(verdict) == "quoted"
    label = "quoted" if is_quoted else verdict.label_by_source.get(document, verdict.label)
    probabilities = [verdict.probabilities.get(name) for name in ("supported", "contradicted")]
    shown = ["" if probability is None else f"{probability:.4f}" for probability in probabilities]
    reasons = "; ".join(verdict.reasons)
    abstained = "yes" if verdict.abstained else ""
    mark = mark_of(verdict, "abstained" if verdict.abstained else label)
    first = [checked.id, str(sentence), verdict.claim, document, label, MARKS.get(mark, mark), verdict.native]
    others = " ".join(source.document for source in verdict.supported_by)
    words = "; ".join(f"{words.kind}: {words.text}" for words in verdict.words)
    explained = [words, verdict.because, others]
    return [*first, *shown, abstained, reasons, verdict.protocol, *explained]


def to_table(rows: Iterable[Iterable[str]]) -> str:
    """Return rows as CSV. A cell that a spreadsheet would run as a formula is prefixed with an apostrophe."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in row] for row in rows)
    return text.getvalue()


WORDS = 250
"""Maximum words of an answer."""
PMIDS = 3
"""Maximum PubMed ids that a sentence cites."""
_DIGITS = 8
"""Maximum digits of a PubMed id."""


def answer_problems(run: object, topics: Collection[str] = ()) -> list[str]:
    """Return the violations of the track's rules by an answer.

    Args:
        run: A line of a run; any JSON value.
        topics: The topics of the track. Default: any.
    """
    if not isinstance(run, dict):
        return [f"expected an object; found {type(run).__name__}"]
    fields = cast("dict[str, Any]", run)
    found = _metadata_problems(fields.get("metadata"), topics)
    sentences = fields.get("responses")
    if not isinstance(sentences, list) or not sentences:
        return [*found, f"expected sentences under responses; found {'none' if sentences == [] else 'no list'}"]
    cited: list[str] = []
    words = 0
    for number, sentence in enumerate(cast("list[object]", sentences), start=1):
        problems, ids, length = _sentence(sentence, number)
        found += problems
        cited += ids
        words += length
    if words > WORDS:
        found.insert(0, f"expected at most {WORDS} words; found {words}")
    return [*found, *_reference_problems(fields.get("references"), cited)]


def _metadata_problems(metadata: object, topics: Collection[str]) -> list[str]:
    if not isinstance(metadata, dict):
        return ["expected metadata with topic_id and run_name; found none"]
    fields = cast("dict[str, Any]", metadata)
    found = [
        f"expected metadata.{name} to be a text; found {fields.get(name)!r:.40}"
        for name in ("topic_id", "run_name")
        if not isinstance(fields.get(name), str | int) or not str(fields[name]).strip()
    ]
    topic = str(fields.get("topic_id", ""))
    if topics and topic not in topics:
        found.append(f"expected a topic of the track; found {topic!r:.40}")
    return found


def _sentence(sentence: object, number: int) -> tuple[list[str], list[str], int]:
    """Return the problems of a sentence, the PubMed ids that it cites, and its number of words."""
    fields = cast("dict[str, Any]", sentence) if isinstance(sentence, dict) else {}
    text, citations = fields.get("text"), fields.get("citations", [])
    if not isinstance(text, str) or not text.strip():
        return [f"expected a text in sentence {number}; found none"], [], 0
    if not isinstance(citations, list | dict):
        return [f"expected a list of PMIDs in sentence {number}; found {citations!r:.40}"], [], len(text.split())
    ids = [str(id) for id in cast("Collection[object]", citations)]
    found: list[str] = []
    if len(ids) > PMIDS:
        found.append(f"expected at most {PMIDS} PMIDs in sentence {number}; found {len(ids)}")
    if wrong := [id for id in ids if not _is_pmid(id)]:
        found.append(f"expected PMIDs in sentence {number}; found {wrong[0]!r:.40}")
    if twice := [id for id, count in Counter(ids).items() if count > 1]:
        found.append(f"expected each PMID once in sentence {number}; found {twice[0]!r:.40} twice")
    return found, ids, len(text.split())


def _is_pmid(id: str) -> bool:
    return id.isascii() and id.isdecimal() and len(id) <= _DIGITS and id[0] != "0"


def _reference_problems(references: object, cited: Sequence[str]) -> list[str]:
    if references is None:
        return []
    if not isinstance(references, list):
        return [f"expected references to be a list of PMIDs; found {references!r:.40}"]
    listed = [str(id) for id in cast("list[object]", references)]
    found: list[str] = []
    if twice := [id for id, count in Counter(listed).items() if count > 1]:
        found.append(f"expected each reference once; found {twice[0]!r:.40} twice")
    if absent := [id for id in dict.fromkeys(cited) if id not in set(listed)]:
        found.append(f"expected each cited PMID among the references; {absent[0]!r:.40} is not")
    if idle := [id for id in dict.fromkeys(listed) if id not in set(cited)]:
        found.append(f"expected each reference to be cited; {idle[0]!r:.40} is not")
    return found


def run_problems(path: Path, topics: Collection[str] = ()) -> Iterator[RecordError]:
    """Yield the violations of the track's rules by a run: in answers, repeated topics, and missing topics.

    Raises:
        InputError: The file cannot be read.
    """
    seen: dict[str, int] = {}
    for raw in raw_records(path, lambda fields: "responses" in fields or "metadata" in fields):
        if isinstance(raw, RecordError):
            yield raw
            continue
        yield from (raw.refused(None, problem) for problem in answer_problems(raw.fields, topics))
        metadata = (raw.fields or {}).get("metadata")
        topic = str(cast("dict[str, Any]", metadata).get("topic_id", "")) if isinstance(metadata, dict) else ""
        if topic in seen:
            yield raw.refused(
                "metadata.topic_id", f"expected one answer per topic; {topic!r:.40} is also in line {seen[topic]}"
            )
        seen.setdefault(topic, raw.line)
    if not seen:
        yield RecordError(path, 0, None, "expected answers, one per line; found none")
    for topic in sorted(set(topics) - seen.keys()):
        yield RecordError(path, 0, "metadata.topic_id", f"expected an answer to topic {topic!r:.40}; found none")

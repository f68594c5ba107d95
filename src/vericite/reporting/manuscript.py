"""The result of checking a manuscript: lines for the terminal, a table, Markdown with footnotes, remarks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vericite.corpus.references import in_sentences, reference_text
from vericite.formats.convert import to_table
from vericite.pipeline.manuscript import ABOUT_SOURCES, TO_REVIEW, CitingSentence, ManuscriptCheck, Outcome
from vericite.records import EvidenceSpan, Record
from vericite.records.manuscripts import ReferenceProblem, ResolvedReference
from vericite.reporting.blocks import StyledLine, escaped
from vericite.reporting.commented import Remark, with_comments
from vericite.reporting.run_lines import OTHER_FIGURE, STYLES, probability, what_is_wrong
from vericite.reporting.workbook import to_workbook

_STYLES = {**STYLES, "not found": "yellow", "partly supported": "yellow", "retracted": "bold red"}
_WORDS = {
    "supported": "Supported by its source",
    "contradicted": "Contradicted by its source",
    "partly supported": "Only partly supported by its source",
    "not found": "Not found in its source",
    "not judged": "Could not be judged",
    "source not at hand": "Source not at hand",
}
_MOST_REFERENCES = 40
"""Maximum references with problems that are listed in the terminal."""
_of = StyledLine.of


def manuscript_lines(check: ManuscriptCheck, most: int = 40) -> Iterator[StyledLine]:
    """Yield the summary, the sentences that a person should look at, the worst first, and problems of references.

    Args:
        check: The result.
        most: Maximum number of sentences. References with problems are listed in any case, up to ``_MOST_REFERENCES``.
    """
    yield _of("title", check.manuscript.title or check.manuscript.name)
    yield _of("text", check.summary)
    shown = check.to_review
    if shown and most:
        yield _of("heading", "Sentences to look at")
    for sentence in shown[:most]:
        yield from _sentence(check, sentence)
    if len(shown) > most:
        yield _of("text", (f"... and {len(shown) - most} more sentences", "dim"))
    wrong = [(found, listed) for found in check.references if (listed := _own_problems(found))]
    if wrong:
        yield _of("heading", "References to look at")
    for found, problems in wrong[:_MOST_REFERENCES]:
        title = (found.reference.title or found.reference.text) if found.reference else ""
        if not found.reference:
            yield _of("item", f"[{found.key}] ", (_UNLISTED, "yellow"))
            continue
        yield _of("item", f"[{found.key}] {title}")
        for problem in problems:
            yield _of("detail", (str(problem), _STYLES.get(problem.kind, "yellow")))
    if len(wrong) > _MOST_REFERENCES:
        yield _of("text", (f"... and {len(wrong) - _MOST_REFERENCES} more references", "dim"))
    missing = [found.key for found in check.references if found.reference and found.key not in check.sources]
    if missing:
        yield _of("text", f"Not at hand: {', '.join(missing)}", gap=True)


def _sentence(check: ManuscriptCheck, sentence: CitingSentence) -> Iterator[StyledLine]:
    place = f" ({sentence.place})" if sentence.place else ""
    words = (sentence.outcome, _STYLES.get(sentence.outcome, "dim"))
    but = (f", {OTHER_FIGURE}" if sentence.has_other_figure else "", "yellow")
    yield _of(
        "item",
        words,
        but,
        f"{_likelihood(sentence)} [{', '.join(sentence.keys)}]",
        (place, "dim"),
        f" {sentence.text}",
        gap=True,
    )
    for line in _reasons(check, sentence):
        yield _of("detail", line)


def _likelihood(sentence: CitingSentence) -> str:
    """Return the judge's probability of the verdict in brackets; empty if it has none."""
    sure = probability(sentence.verdict) if sentence.verdict and not sentence.verdict.abstained else ""
    # The judge has no probability of partial support.
    whole = " that it is not found as a whole" if sentence.outcome == "partly supported" else ""
    return f" (p {sure}{whole})" if sure else ""


def _reasons(check: ManuscriptCheck, sentence: CitingSentence) -> Iterator[str]:
    """Yield the deciding sentence of the source, and what is wrong."""
    verdict = sentence.verdict
    if span := sentence.passage:
        yield f"“{_quoted(check, span)}” ({_source(check, span)})"
    elif verdict is not None and (span := verdict.nearest):
        yield f"Nearest: “{_quoted(check, span)}” ({_source(check, span)})"
    elif verdict is not None:
        yield f"Read: {'; '.join(_named(check, id) for id in verdict.documents)}"
    yield from _why(sentence)
    if sentence.missing and verdict is not None:
        yield f"Source not at hand: {', '.join(sentence.missing)}"


def _why(sentence: CitingSentence) -> Iterator[str]:
    """Yield what is wrong with a sentence, which other sources support it, and why."""
    if (verdict := sentence.verdict) is not None:
        yield from filter(None, (what_is_wrong(verdict), verdict.elsewhere, *verdict.reasons))


def _quoted(check: ManuscriptCheck, span: EvidenceSpan) -> str:
    return " ".join(check.answer.document(span.document).text[span.start : span.end].split())


def _source(check: ManuscriptCheck, span: EvidenceSpan) -> str:
    return _named(check, span.document) + (f", page {span.page}" if span.page else "")


def _named(check: ManuscriptCheck, id: str) -> str:
    """Return the keys of a document, and its first author, title, journal and year."""
    document = check.answer.document(id)
    keys = [key for key, source in check.sources.items() if source == id]
    return f"[{', '.join(keys)}] {reference_text(document.model_copy(update={'authors': document.authors[:1]}))}"


def _own_problems(found: ResolvedReference) -> list[ReferenceProblem]:
    """Return the problems that say something about the reference, and not about the sources."""
    return [problem for problem in found.problems if problem.kind not in ABOUT_SOURCES]


_UNLISTED = "cited but not in the list of references"


def _told(found: ResolvedReference, problem: ReferenceProblem) -> str:
    """Return a problem of a reference in a sentence."""
    return f"Reference {found.key}: {problem}." if found.reference else f"[{found.key}] is {_UNLISTED}."


def remarks(check: ManuscriptCheck) -> list[Remark]:
    """Return what to say about sentences: those that are not supported, and the first that cites a wrong reference."""
    left = {found.key: found for found in check.references}
    found: list[Remark] = []
    for sentence in check.sentences:
        cited = [reference for key in sentence.keys if (reference := left.pop(key, None))]
        lines = [_told(item, problem) for item in cited for problem in _own_problems(item)]
        if sentence.outcome != "supported" or sentence.has_other_figure:
            lines = [_head(sentence), *_reasons(check, sentence), *lines]
        if lines:
            found.append(_remark(check, sentence, lines))
    return found


def _head(sentence: CitingSentence) -> str:
    but = f", with {OTHER_FIGURE}" if sentence.has_other_figure else ""
    return f"{_WORDS[sentence.outcome]}{but}{_likelihood(sentence)}."


def _remark(check: ManuscriptCheck, sentence: CitingSentence, lines: Iterable[str]) -> Remark:
    words = check.manuscript.text[sentence.start : sentence.end]
    return Remark(words, tuple(lines), _parts(check, sentence), sentence.outcome)


def all_remarks(check: ManuscriptCheck) -> tuple[list[Remark], list[Remark]]:
    """Return what to say about every sentence that cites, and about printed references with problems."""
    sentences: list[Remark] = []
    unlisted = {found.key: found for found in check.references if found.reference is None}
    for sentence in check.sentences:
        missing = [
            _told(item, problem) for key in sentence.keys if (item := unlisted.get(key)) for problem in item.problems
        ]
        lines = [_head(sentence), *_reasons(check, sentence), *missing]
        sentences.append(_remark(check, sentence, lines))
    references = [
        Remark(found.reference.text, tuple(f"{problem}." for problem in problems), about="reference")
        for found in check.references
        if found.reference and found.reference.text and (problems := _own_problems(found))
    ]
    return sentences, references


def _parts(check: ManuscriptCheck, sentence: CitingSentence) -> tuple[str, ...]:
    """Return the words of a sentence between its marks."""
    text, parts, start = check.manuscript.text, list[str](), sentence.start
    for citation in check.manuscript.citations_within(sentence.start, sentence.end):
        parts.append(text[start : citation.span.start])
        start = citation.span.end
    return (*parts, text[start : sentence.end])


_COLUMNS = (
    "page", "section", "sentence", "cites", "outcome", "probability", "source", "source sentence",
    "source page", "because", "not at hand", "reference problems",
)  # fmt: skip


def manuscript_table(check: ManuscriptCheck) -> str:
    """Return a CSV table with a row for each sentence that cites."""
    return to_table(_rows(check))


def manuscript_workbook(check: ManuscriptCheck) -> bytes:
    """Return an Excel workbook with a row for each sentence that cites.

    Raises:
        MissingExtraError: The extra ``[tables]`` is not installed.
    """
    return to_workbook(_rows(check), numeric=("page", "probability", "source page"))


def _rows(check: ManuscriptCheck) -> list[Sequence[str]]:
    problems = {found.key: found.problems for found in check.references}
    rows: list[Sequence[str]] = [_COLUMNS]
    for sentence in check.sentences:
        verdict, span = sentence.verdict, sentence.passage
        near = verdict.nearest if verdict and not span else None
        span = span or near
        is_told = sentence.outcome != "supported" or sentence.has_other_figure
        wrong = [f"{key}: {problem}" for key in sentence.keys for problem in problems.get(key, ())]
        rows.append(
            (
                str(sentence.page or ""),
                sentence.section,
                sentence.text,
                ", ".join(sentence.keys),
                sentence.outcome,
                probability(verdict) if verdict else "",
                _source(check, span) if span else "",
                f"{'Nearest: ' if near else ''}{_quoted(check, span)}" if span else "",
                str(span.page or "") if span else "",
                what_is_wrong(verdict) if verdict and is_told else "",
                ", ".join(sentence.missing),
                "; ".join(wrong),
            )
        )
    return rows


def with_footnotes(check: ManuscriptCheck) -> str:
    """Return the text in Markdown, with a footnote at each sentence that has a remark, and the references."""
    text, manuscript = check.manuscript.text, check.manuscript
    said = remarks(check)
    waiting = iter(said)
    remark = next(waiting, None)
    notes: list[str] = []
    levels = {heading.start: min(heading.level, 6) for heading in manuscript.headings}
    pieces: list[str] = [f"{escaped(check.summary)}\n\n"]
    position = 0
    cuts = sorted({*levels, *(sentence.end for sentence in check.sentences), len(text)})
    ends = {sentence.end: text[sentence.start : sentence.end] for sentence in check.sentences}
    for cut in cuts:
        pieces.append(escaped(text[position:cut]))
        position = cut
        if remark is not None and ends.get(cut) == remark.sentence:
            notes.append(f"[^v{len(notes) + 1}]: " + "\n    ".join(f"{escaped(line)}  " for line in remark.lines))
            pieces.append(f"[^v{len(notes)}]")
            remark = next(waiting, None)
        if cut in levels:
            pieces.append("#" * levels[cut] + " ")
    listed = [f"- \\[{escaped(item.key)}\\] {escaped(item.text or item.title)}" for item in manuscript.references]
    return "\n\n".join(["".join(pieces).rstrip(), "\n".join(listed), *notes]).rstrip() + "\n"


def manuscript_figures(check: ManuscriptCheck) -> dict[str, Any]:
    """Return the counts, as JSON has them."""
    return {
        "summary": check.summary,
        "sentences": len(check.sentences),
        "outcomes": dict(check.counts),
        "references": len(check.manuscript.references),
        "problems": [
            {"reference": found.key, "problem": str(problem)}
            for found in check.references
            for problem in found.problems
        ],
    }


class SentenceFinding(Record):
    """A sentence that cites, at ``start`` to ``end`` of the manuscript's text, with what was found in words.

    ``cites`` are the keys of its references, ``missing`` those whose source is not at hand. ``source_sentence`` decided
    the outcome, or came closest to it if ``decided`` is false; it stands on ``source_page`` of ``source``.
    ``other_figure`` says that it is supported and its source has another figure, which ``reasons`` name.
    """

    text: str
    start: int
    end: int
    page: int | None = None
    section: str = ""
    cites: tuple[str, ...]
    missing: tuple[str, ...] = ()
    outcome: Outcome
    other_figure: bool = False
    degree: str | None = None
    probability: float | None = None
    source: str = ""
    source_sentence: str = ""
    source_page: int | None = None
    decided: bool = True
    reasons: tuple[str, ...] = ()


class ReferenceFinding(Record):
    """A reference with its problems in words; ``not_at_hand`` says why there is no text to judge against.

    ``cited_in`` is the number of sentences that cite it.
    """

    key: str
    text: str
    source: str | None = None
    cited_in: int = 0
    problems: tuple[str, ...] = ()
    not_at_hand: str | None = None


class ManuscriptFindings(Record):
    """What was found about a manuscript: a summary, the sentences in the order of the text, and the references."""

    name: str
    title: str = ""
    summary: str
    sentences: tuple[SentenceFinding, ...] = ()
    references: tuple[ReferenceFinding, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def to_review(self) -> tuple[SentenceFinding, ...]:
        """The sentences that a person should look at, the worst first."""
        found = [sentence for outcome in TO_REVIEW for sentence in self.sentences if sentence.outcome == outcome]
        return (*found, *(sentence for sentence in self.sentences if sentence.other_figure))


def findings_of(check: ManuscriptCheck, notes: Sequence[str] = ()) -> ManuscriptFindings:
    """Return what was found, in words; ``notes`` are added to those of the manuscript."""
    cited = Counter(key for sentence in check.sentences for key in sentence.keys)
    return ManuscriptFindings(
        name=check.manuscript.name,
        title=check.manuscript.title,
        summary=check.summary,
        sentences=tuple(_sentence_finding(check, sentence) for sentence in check.sentences),
        references=tuple(_reference_finding(check, found, cited[found.key]) for found in check.references),
        notes=(*check.manuscript.notes, *notes),
    )


def _sentence_finding(check: ManuscriptCheck, sentence: CitingSentence) -> SentenceFinding:
    verdict = sentence.verdict
    span = sentence.passage or (verdict and verdict.nearest)
    return SentenceFinding(
        text=sentence.text,
        start=sentence.start,
        end=sentence.end,
        page=sentence.page,
        section=sentence.section,
        cites=sentence.keys,
        missing=sentence.missing,
        outcome=sentence.outcome,
        other_figure=sentence.has_other_figure,
        degree=verdict.degree if verdict else None,
        probability=verdict.probabilities.get(verdict.label) if verdict else None,
        source="; ".join(_named(check, id) for id in ([span.document] if span else verdict.documents))
        if verdict
        else "",
        source_sentence=_quoted(check, span) if span else "",
        source_page=span.page if span else None,
        decided=sentence.passage is not None or span is None,
        reasons=tuple(_why(sentence)) if sentence.outcome != "supported" or sentence.has_other_figure else (),
    )


def _reference_finding(check: ManuscriptCheck, found: ResolvedReference, cited_in: int) -> ReferenceFinding:
    own = found.reference
    text = "" if own is None else own.text
    if own is not None and not text:
        text = in_sentences("; ".join(own.authors[:3]), own.title or own.url or own.key, own.journal, own.year, "")
    why = [str(problem) for problem in found.problems if problem.kind in ABOUT_SOURCES]
    lacking = "" if found.document is None else "its record has no text"
    return ReferenceFinding(
        key=found.key,
        text=text,
        source=found.source,
        cited_in=cited_in,
        problems=tuple(map(str, _own_problems(found))),
        not_at_hand=None if found.key in check.sources else "; ".join(why) or lacking or "not found",
    )


@dataclass(frozen=True)
class ManuscriptCopy:
    """A copy of a manuscript with comments: the suffix and bytes of the file, and how many comments are in it or not.

    A Word document and a PDF keep their form; other manuscripts become Markdown, as they were read, with footnotes.
    """

    suffix: str
    content: bytes
    placed: int
    unplaced: int = 0


def copy_with_comments(path: Path, check: ManuscriptCheck) -> ManuscriptCopy:
    """Return a copy of a manuscript with comments on its sentences.

    Raises:
        InputError: The file cannot be copied safely.
        MissingExtraError: It is a PDF, and the extra ``[documents]`` is not installed.
    """
    from vericite.corpus.manuscript.registry import manuscript_kind
    from vericite.reporting.annotated import with_annotations

    kind, said = manuscript_kind(path), remarks(check)
    if kind not in ("docx", "pdf"):
        return ManuscriptCopy(".md", with_footnotes(check).encode("utf-8", "replace"), len(said))
    made = with_annotations(path, *all_remarks(check)) if kind == "pdf" else with_comments(path, said)
    return ManuscriptCopy(f".{kind}", made.content, made.placed, len(made.unplaced))

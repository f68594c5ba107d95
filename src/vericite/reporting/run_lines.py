"""A run as lines to print or write: question, answer, sources, and how each sentence was chosen or judged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from vericite.corpus.references import file_name, in_sentences, links, reference_text
from vericite.formats.convert import MARKS
from vericite.records import (
    Answer,
    AnswerEvidence,
    Change,
    CheckedAnswer,
    EvidenceSpan,
    Rewriting,
    Run,
    Summary,
    Verdict,
    VerificationFailure,
)
from vericite.records.values import cut_in_words
from vericite.reporting.blocks import StyledLine, Words
from vericite.text.counted import counted
from vericite.text.strength import Strength, study_words

RETRACTED = ("RETRACTED", "bold red")
"""The mark next to retracted documents and next to the verdicts on their citations."""
PASSAGES = 3
"""Maximum passages that are shown of a verdict, here as in the page."""
OTHER_FIGURE = "another figure in the source"
"""What is said of a supported sentence whose source has another figure."""
STYLES = {"supported": "green", "contradicted": "red", "irrelevant": "yellow", "dangling": "magenta"}
_of = StyledLine.of


def run_lines(run: Run, full: bool = False) -> Iterator[StyledLine]:
    """Yield the lines of a run.

    Args:
        run: The run.
        full: Give the sources as references, with authors and links.
    """
    answer = run.answer
    yield _of("title", run.question.text)
    yield from _answer(run, brief=full)
    lines = list(_sources(run, full))
    named = _named(answer)
    first = [line for line, id in lines if id in named or answer.insufficient]
    if first and not is_foreign(answer):
        yield _of("heading", "Nearest sources" if answer.insufficient else "Sources")
        yield from first
    if answer.selected:
        yield from _quotations(answer)
    elif run.checked.verdicts:
        yield _of("heading", "Citations")
        yield from _judged(run.checked, answer, full)
    yield from _rationale(run)
    if not answer.insufficient and (rest := [line for line, id in lines if id not in named]):
        yield _of("heading", "Found and not cited")
        yield from rest
    if run.changes:
        yield _of("heading", "Repaired")
        yield from changes_blocks(run.changes)
    if not answer.selected and not answer.insufficient and answer.failed is None:
        yield _of("text", *told_counts(run.checked.summary, full), _other_figures(run.checked), gap=True)
        if full and run.checked.summary.claims:
            yield _of("text", _needing(run.checked))


def _judged(checked: CheckedAnswer, answer: Answer, in_words: bool) -> Iterator[StyledLine]:
    """Yield the verdicts, failures and sentences that cite nothing, in the order of the text."""
    if in_words and checked.verdicts:
        told = "The figure after a verdict is the judge's probability of it."
        yield _of("item", (told, "dim"))
    for item in sorted((*checked.verdicts, *checked.failures, *checked.uncited), key=lambda item: item.start):
        if isinstance(item, Verdict):
            yield from verdict_blocks(item, answer, checked.kind_of(item), in_words)
        elif isinstance(item, VerificationFailure):
            yield _of(
                "item",
                f"{markers(item.markers)} ",
                (MARKS["failed"] if in_words else "failed", "red"),
                f"  {item.claim}",
            )
            yield _of("detail", (item.reason, "dim"))
        else:
            yield _of("item", "- ", (MARKS["uncited"] if in_words else "uncited", "dim"), f"  {item.claim}")


def _needing(checked: CheckedAnswer) -> str:
    sentences = counted(checked.summary.claims, "sentence")
    return f"{checked.needing} of {sentences} {'needs' if checked.needing == 1 else 'need'} a person."


def digest(run: Run, number: int) -> Iterator[StyledLine]:
    """Yield a question of many: its answer, and the sources that it cites."""
    yield _of("title", f"{number}. {run.question.text}", gap=number > 1)
    yield from _answer(run, brief=True)
    named = _named(run.answer)
    yield from (line for line, id in _sources(run, False) if id in named)
    if run.answer.claims and not run.answer.selected:
        yield _of("text", *told_counts(run.checked.summary))


def is_foreign(answer: Answer) -> bool:
    """Whether the answer only says that the question is in another language: no source was read for it."""
    return answer.insufficient and answer.sufficiency is None and not answer.documents


def _named(answer: Answer) -> set[str | None]:
    """Return the documents that the answer names by number: those it cites, on either side, or contradicting it."""
    named = {citation.document for claim in answer.claims for citation in claim.citations}
    named |= {id for selected in answer.selected for id in selected.contradicted_by}
    if answer.stance is not None:
        named |= {*answer.stance.yes, *answer.stance.no}
    noted = (int(number) for note in answer.notes for number in _NUMBER.findall(note))
    return named | {answer.documents[number - 1].id for number in noted if 0 < number <= len(answer.documents)}


_NUMBER = re.compile(r"\[([0-9]{1,4})\]")


def _answer(run: Run, brief: bool) -> Iterator[StyledLine]:
    """Yield the answer and what is noted about it; unless ``brief``, also what may help after a refusal."""
    answer = run.answer
    if answer.failed is not None:
        yield _of("text", ("failed", "red"), "  ", answer.failed)
        yield from _notes(answer)
        return
    if answer.is_unlikely:
        told = f"The sources probably do not answer this (probability {answer.sufficiency:.2f}). The nearest they say:"
        yield _of("text", (told, "yellow"))
    for number, paragraph in enumerate(filter(str.strip, answer.text.split("\n"))):
        yield _of("text", paragraph, gap=number == 0 and answer.is_unlikely)
    if answer.insufficient and answer.sufficiency is not None:
        yield _of("text", (f"Probability that the sources together answer: {answer.sufficiency:.2f}", "dim"))
        if not brief:
            anyway = (
                " --set answer.min_answer_probability=0 answers in any case."
                if answer.sufficiency
                else " No source has a sentence to quote."
            )
            helps = "What may help: another corpus (--corpus pubmed), or other words."
            yield _of("text", helps + anyway, gap=True)
    yield from _short_answer(answer)
    if answer.trimmed:
        found = sum(not hit.document.retracted for hit in run.evidence)
        yield _of("text", (cut_in_words(found, answer.trimmed), "yellow"))
    yield from _notes(answer)
    if run.rewriting is not None and (run.rewriting.kept or run.rewriting.failed):
        yield _of("text", (rewriting_line(run.rewriting), "dim"))


def _notes(answer: Answer) -> Iterator[StyledLine]:
    for note in answer.notes:
        yield _of("text", (f"{note[:1].upper()}{note[1:]}.", "dim"))


def _short_answer(answer: Answer) -> Iterator[StyledLine]:
    """Yield which sources say yes and no, and the answer in one word."""
    if answer.stance is not None and (answer.stance.yes or answer.stance.no):
        sides = (("yes", answer.stance.yes), ("no", answer.stance.no))
        said = "; ".join(f"{side} {_markers_of(answer, ids)}" for side, ids in sides if ids)
        yield _of("text", ("By source: ", "bold"), said, gap=True)
    if answer.exact:
        # An item and its synonyms.
        items = "; ".join(" / ".join(names) for names in answer.exact)
        guess = " (a guess)" if answer.is_unlikely else ""
        yield _of("text", ("Answer: ", "bold"), items, (guess, "yellow"), gap=True)


def _markers_of(answer: Answer, ids: Iterable[str]) -> str:
    numbers = {document.id: number for number, document in enumerate(answer.documents, start=1)}
    return "".join(f"[{numbers[id]}]" for id in ids)


def _sources(run: Run, full: bool) -> Iterator[tuple[StyledLine, str]]:
    """Yield a line for each source with its id: those found, and those that repair found for a sentence.

    A cited source has the pages of the passages that decided its verdicts. Unless ``full``, a source that is not named
    has only its title, its year and its name.
    """
    named = _named(run.answer)
    hits = {hit.document.id: hit for hit in run.evidence}
    found = [hit.document for hit in run.evidence]
    # In a manuscript, and in an answer rebuilt from its verdicts, a source may have a later number than its place.
    numbers = {citation.document: citation.marker for claim in run.answer.claims for citation in claim.citations}
    for place, document in enumerate([*found, *run.answer.documents[len(found) :]], start=1):
        hit = hits.get(document.id)
        words: list[str | Words | tuple[str, str]] = [(f"[{numbers.get(document.id, place)}] ", "bold")]
        strength = Strength.of(document)
        if full:
            facts = strength.facts
            words.append(f"{reference_text(document)}{f' {facts[0].upper()}{facts[1:]}.' if facts else ''}")
            for name, address in links(document):
                words += [" ", Words(name, link=address)]
            words.append(_pages(run, document.id, ", "))
        elif run.answer.insufficient or document.id in named:
            words.append(reference_text(document, most=1).removesuffix("."))
            words.append((f"  {strength.facts}" if strength.facts else "", "dim"))
            # The file's name may stand for the title.
            is_named = not document.title and file_name(document) != document.id
            name = "" if is_named else file_name(document)
            words.append((f"  {name}{_pages(run, document.id, ', ')}", "dim"))
        else:
            words.append(in_sentences(document.title or "(no title)", document.year))
            words.append((f"  {file_name(document)}", "dim"))
        if hit is not None and hit.stage is not None:
            words.append((f"  {hit.retriever}", "dim"))
        if strength.retraction:
            words.append((f"  {strength.retraction.upper()}", "bold red"))
        yield _of("item", *words), document.id


def _pages(run: Run, id: str, before: str) -> str:
    """Return the pages of a document with the passages that decided verdicts; empty without pages."""
    spans = (span for verdict in run.checked.verdicts for span in verdict.evidence if span.document == id)
    pages = sorted({span.page for span in spans if span.page is not None})
    return f"{before}page{'s' * (len(pages) > 1)} {', '.join(map(str, pages))}" if pages else ""


def _quotations(answer: Answer) -> Iterator[StyledLine]:
    """Yield how each quoted sentence was chosen, and which sources contradict it.

    There is no share of supported citations, because a quotation supports itself.
    """
    yield _of("heading", "Quoted word for word")
    for number, chosen in enumerate(chosen_sentences(answer), start=1):
        against = f"  contradicted by {chosen.against}" if chosen.against else ""
        yield _of("item", (f"{number}. {chosen.markers} {chosen.kind}", "bold"), f"  {chosen.about}", (against, "red"))
    told = "This is the probability that the sentence answers the question on its own."
    if answer.sufficiency is not None:
        told += f" The probability that the sources together answer it is {answer.sufficiency:.2f}."
    yield _of("item", (told, "dim"))
    if any("[" in claim.text for claim in answer.claims):
        told = "Words in square brackets are added: the meaning of an abbreviation in its source."
        yield _of("item", (told, "dim"))


@dataclass(frozen=True)
class Chosen:
    """How a quoted sentence was chosen: citations, role and aspect, facts of its source, and who contradicts it."""

    markers: str
    kind: str
    about: str
    against: str


def chosen_sentences(answer: Answer) -> list[Chosen]:
    """Return how each sentence of an answer made of quotations was chosen; none for other and for repaired answers."""
    found: list[Chosen] = []
    if len(answer.selected) != len(answer.claims):
        return found
    for claim, selected in zip(answer.claims, answer.selected, strict=True):
        cited = [answer.document(citation.document) for citation in claim.citations if citation.document]
        source = cited[0] if cited else None
        facts = [] if source is None else [*Strength.of(source).study, str(source.year or "")]
        about = [", ".join(filter(None, facts)), f"answers the question: {selected.answers:.2f}"]
        found.append(
            Chosen(
                markers(citation.marker for citation in claim.citations),
                f"{selected.role} on {selected.aspect}" if selected.aspect else selected.role,
                "; ".join(filter(None, about)),
                _markers_of(answer, selected.contradicted_by),
            )
        )
    return found


def verdict_blocks(
    verdict: Verdict, answer: Answer, kind: str | None = None, in_words: bool = False
) -> Iterator[StyledLine]:
    """Yield a verdict, counted as ``kind`` (default: its label), with the claim and the passages that decided it.

    With ``in_words`` the verdict has the words of the page.
    """
    words = verdict_words(verdict, kind)
    if in_words:
        words = [(MARKS.get(words[0][0], words[0][0]), words[0][1]), *words[1:]]
    but = (f", {OTHER_FIGURE}" if verdict.has_other_figure else "", "yellow")
    yield _of("item", f"{markers(verdict.markers)} ", *words, f" {probability(verdict)}", but, f"  {verdict.claim}")
    for span in verdict.evidence[:PASSAGES]:
        quote = answer.document(span.document).text[span.start : span.end]
        yield _of("detail", "“", quote, "”", (f" ({_place(span, answer)})", "dim"))
    if (span := verdict.nearest) is not None:
        quote = answer.document(span.document).text[span.start : span.end]
        yield _of("detail", ("nearest: ", "dim"), "“", quote, "”", (f" ({_place(span, answer)})", "dim"))
    for statement in verdict.statements:
        yield _of("detail", (statement.native, "bold"), f"  {statement.text}")
    if said := what_is_wrong(verdict):
        yield _of("detail", (said, "yellow"))
    if verdict.supported_by:
        yield _of("detail", (verdict.elsewhere, "cyan"))
    for reason in (native(verdict), *verdict.reasons):
        if reason:
            yield _of("detail", (reason, "red" if reason in verdict.opposition else "dim"))


def evidence_lines(found: AnswerEvidence) -> Iterator[StyledLine]:
    """Yield each sentence of an answer with the articles that support and that contradict it."""
    yield _of("title", found.question or found.id)
    for sentence in found.sentences:
        yield _of("text", sentence.text, gap=True)
        for word, articles in (("supported", sentence.supporting), ("contradicted", sentence.contradicting)):
            for article in articles:
                about = in_sentences(article.title or "(no title)", None, article.year)
                name = f"PMID {article.pmid}" if article.pmid else article.id
                study = ", ".join(study_words(article.design, article.n))
                shown = (f"  {study}" if study else "", "dim")
                doubt = (f"  {article.retraction.upper()}" if article.retraction else "", "bold red")
                told = f" {article.probability:.2f}  {about}"
                yield _of("item", (f"{word} by", STYLES[word]), f" {name}", told, shown, doubt)
                for passage in article.passages[:1]:
                    yield _of("detail", "“", passage.text or "", "”")
        if sentence.failed:
            yield _of("item", ("failed", "red"), f" {sentence.failed}")
        elif not (sentence.supporting or sentence.contradicting):
            yield _of("item", ("nothing found for or against it", "dim"))


def what_is_wrong(verdict: Verdict) -> str:
    """Return why a sentence is not supported: the reason that was found, else the words that the judge rejects.

    Such words may well stand in the source, which then says something else of them.
    """
    if verdict.because:
        return verdict.because
    named = ", ".join(f"“{words.text}” ({words.kind})" for words in verdict.words)
    return f"Not supported by the source, as the judge reads it: {named}." if named else ""


def verdict_words(verdict: Verdict, kind: str | None = None) -> list[str | tuple[str, str]]:
    """Return how a verdict is counted (default: its label), and whether it is of a retracted document."""
    shown = kind or verdict.outcome
    words: list[str | tuple[str, str]] = [(shown, STYLES.get(shown, "dim"))]
    return [*words, " ", RETRACTED] if verdict.retracted else words


def native(verdict: Verdict) -> str:
    """Return the native verdict and the degree if they differ from the label, and the redundant documents."""
    own = [] if verdict.native in (verdict.label, "abstained") else [verdict.native]
    own += ["partly supported"] if verdict.is_partly_supported else []
    return ", ".join([*own, *(f"{document} redundant" for document in verdict.redundant or ())])


def markers(numbers: Iterable[int]) -> str:
    """Return citation markers as printed."""
    return "".join(f"[{number}]" for number in numbers) or "-"


def probability(verdict: Verdict) -> str:
    """Return the judge's probability of the verdict; empty if it has none."""
    found = verdict.probabilities.get(verdict.label)
    return "" if found is None else f"{found:.2f}"


def _place(span: EvidenceSpan, answer: Answer) -> str:
    where = "" if span.sentence_index is None else f", sentence {span.sentence_index + 1}"
    where = where if span.page is None else f"{where}, page {span.page}"
    return f"{file_name(answer.document(span.document))}{where}"


def told_counts(summary: Summary, in_words: bool = False) -> Iterator[str | tuple[str, str]]:
    """Yield how many citations are supported, and how many not, by what was found."""
    verdicts = summary.cases + summary.dangling
    if not verdicts:
        yield "No citations to check."
        return
    yield f"{summary.supported} of {verdicts} citations supported"
    for name in ("contradicted", "irrelevant", "dangling", "abstained", "failed"):
        if count := getattr(summary, name):
            yield f", {count} {MARKS[name] if in_words else name}"
    yield f"; {summary.uncited} of {summary.claims} sentences without a citation."
    if summary.retracted:
        yield f" {retracted_citations(summary)}.", "bold red"


def _other_figures(checked: CheckedAnswer) -> tuple[str, str]:
    count = sum(verdict.has_other_figure for verdict in checked.verdicts)
    has = "citation has" if count == 1 else "citations have"
    return (f" {count} supported {has} {OTHER_FIGURE}: look at it." if count else "", "yellow")


def retracted_citations(summary: Summary) -> str:
    """Describe how many citations are of retracted documents."""
    one = summary.retracted == 1
    return (
        f"{summary.retracted} of {summary.citations} citations {'is of a' if one else 'are of'} RETRACTED document"
        + ("" if one else "s")
    )


def _rationale(run: Run) -> Iterator[StyledLine]:
    """Yield the steps with their categories, and the quotations that were not found."""
    if run.answer.rationale is None or not run.answer.rationale.steps:
        return
    yield _of("heading", "Rationale")
    judged = () if run.rationale is None else run.rationale.checked.verdicts
    categories = {verdict.claim: verdict.native for verdict in judged}
    for number, step in enumerate(run.answer.rationale.steps, start=1):
        category = categories.get(step.statement, "not judged")
        yield _of("item", (f"{number}. ", "bold"), step.statement, (f"  {category}", "dim"))
        for quotation in step.unfound:
            yield _of("detail", ("not found in its source: ", "yellow"), f"“{quotation}”")
    if run.rationale is not None:
        faithful, statements = run.rationale.faith
        yield _of("item", f"Faith(R): {faithful} of {statements} statements faithful.")


def changes_blocks(changes: Iterable[Change], left: Iterable[str] = ()) -> Iterator[StyledLine]:
    """Yield the changes of a repair, each sentence before and after; then what could not be judged."""
    for change in changes:
        by = f", by {change.by}" if change.by else ""
        yield _of("text", (change.action, "bold"), (f"  {change.why}{by}", "dim"))
        yield _of("item", ("- ", "red"), change.before)
        if change.after is not None:
            yield _of("item", ("+ ", "green"), change.after)
    for reason in left:
        yield _of("text", ("left as it was", "yellow"), f"  {reason}")


def rewriting_line(rewriting: Rewriting) -> str:
    """Describe the result of a query rewriting."""
    figures = _figures((rewriting.coverage, rewriting.relevance))
    if not rewriting.fired:
        return f"Not searched again: {figures}."
    why = "; ".join(rewriting.reasons)
    if rewriting.failed is not None:
        return f"Poor evidence ({why}); looking for other words failed: {rewriting.failed}"
    if rewriting.query is None or rewriting.again is None:
        return f"Poor evidence ({why}), and no other words to search for."
    end = "these are its documents" if rewriting.kept else "the first documents were better and are kept"
    return f"Poor evidence ({why}); searched for “{rewriting.query}” ({_figures(rewriting.again)}): {end}."


def _figures(judged: tuple[float, float | None]) -> str:
    coverage, relevance = judged
    return f"coverage {coverage:.2f}" + ("" if relevance is None else f", relevance {relevance:.2f}")

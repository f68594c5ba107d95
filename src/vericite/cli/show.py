"""Output of the commands. Texts from outside are shown as plain text, without markup or control characters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from vericite.cli.io import clean, is_quiet
from vericite.cli.terminal import Terminal
from vericite.evaluate.citation_rates import CitationRates
from vericite.llm import Ledger
from vericite.records import (
    Change,
    CheckedAnswer,
    Document,
    Evidence,
    EvidenceSpan,
    Rate,
    Rewriting,
    Run,
    Summary,
    Verdict,
    VerificationFailure,
)
from vericite.records.values import cut_in_words

if TYPE_CHECKING:
    from vericite.pipeline.search import FoundEvidence


RETRACTED = ("RETRACTED", "bold red")
"""The mark next to retracted documents and next to the verdicts on their citations."""

STYLES = {"supported": "green", "contradicted": "red", "irrelevant": "yellow", "dangling": "magenta"}


def show_run(console: Terminal, run: Run) -> None:
    """Print a question, its answer, the sources and the verdict on each citation."""
    documents = {document.id: document for document in run.answer.documents}
    console.print(Text(clean(run.question.text), style="bold"))
    console.print()
    _show_answer(console, run)
    console.print()
    console.print(Text("Nearest sources" if run.answer.insufficient else "Sources", style="bold"))
    for number, hit in enumerate(run.evidence, start=1):
        console.print(_source(number, hit))
    for number, document in enumerate(run.answer.documents[len(run.evidence) :], start=len(run.evidence) + 1):
        # Found during repair of a sentence.
        console.print(_source(number, Evidence(document=document, rank=number, score=0, retriever="repair")))
    if run.answer.selected:
        _show_quotations(console, run)
    else:
        if run.checked.verdicts:
            console.print()
            console.print(Text("Citations", style="bold"))
        for verdict in run.checked.verdicts:
            show_verdict(console, verdict, documents)
    _show_rationale(console, run)
    if run.changes:
        console.print()
        console.print(Text("Repaired", style="bold"))
        show_changes(console, run.changes)
    if not run.answer.selected and not run.answer.insufficient:
        console.print()
        console.print(_counts(run.checked))


def _show_quotations(console: Terminal, run: Run) -> None:
    """Print how each quoted sentence was chosen, and which sources contradict it.

    There is no share of supported citations, because a quotation supports itself.
    """
    answer = run.answer
    numbers = {document.id: number for number, document in enumerate(answer.documents, start=1)}
    console.print()
    console.print(Text("Quoted word for word", style="bold"))
    for claim, selected in zip(answer.claims, answer.selected, strict=True):
        markers = "".join(f"[{citation.marker}]" for citation in claim.citations)
        line = Text.assemble((f"{markers} {selected.role}", "bold"), f"  answers the question: {selected.answers:.2f}")
        if selected.contradicted_by:
            against = "".join(f"[{numbers[id]}]" for id in selected.contradicted_by)
            line.append(f"  contradicted by {against}", style="red")
        console.print(Padding(line, (0, 0, 0, 2)))
    if any("[" in claim.text for claim in answer.claims):
        console.print(
            Text("  Words in square brackets are added: the meaning of an abbreviation in its source.", style="dim")
        )


def _show_nearest(console: Terminal, run: Run) -> None:
    """After a refusal, print the probability that the sources contain an answer, and what may help."""
    if run.answer.sufficiency is not None:
        console.print(Text(f"Probability that the sources answer: {run.answer.sufficiency:.2f}", style="dim"))
    console.print()
    anyway = (
        " --set answer.min_answer_probability=0 answers in any case."
        if run.answer.sufficiency
        else " No source has a sentence to quote."
    )
    console.print(f"What may help: another corpus (--corpus pubmed), or other words.{anyway}")


def _show_answer(console: Terminal, run: Run) -> None:
    answer = run.answer
    if answer.failed is not None:
        console.print(Text.assemble(("failed", "red"), "  ", clean(answer.failed)))
        return
    if answer.is_unlikely:
        told = f"The sources probably do not answer this (probability {answer.sufficiency:.2f}). The nearest they say:"
        console.print(Text(told, style="yellow"))
        console.print()
    console.print(Text(clean(answer.text)))
    if answer.insufficient and answer.sufficiency is not None:
        _show_nearest(console, run)
    if answer.stance is not None and (answer.stance.yes or answer.stance.no):
        numbers = {document.id: number for number, document in enumerate(answer.documents, start=1)}
        sides = [
            f"{side} {''.join(f'[{numbers[id]}]' for id in ids)}"
            for side, ids in (("yes", answer.stance.yes), ("no", answer.stance.no))
            if ids
        ]
        console.print()
        console.print(Text.assemble(("By source: ", "bold"), "; ".join(sides)))
    if answer.exact:
        # An item and its synonyms.
        items = [clean(" / ".join(names)) for names in answer.exact]
        console.print()
        guess = " (a guess)" if answer.is_unlikely else ""
        console.print(Text.assemble(("Answer: ", "bold"), "; ".join(items), (guess, "yellow")))
    if answer.trimmed:
        found = sum(not hit.document.retracted for hit in run.evidence)
        console.print(Text(cut_in_words(found, answer.trimmed), style="yellow"))
    for note in answer.notes:
        console.print(Text(clean(f"{note[:1].upper()}{note[1:]}."), style="dim"))
    if run.rewriting is not None and (run.rewriting.kept or run.rewriting.failed):
        console.print(Text(rewriting_line(run.rewriting), style="dim"))


def _show_rationale(console: Terminal, run: Run) -> None:
    """Print the steps with their categories, and the quotations that were not found."""
    if run.answer.rationale is None or not run.answer.rationale.steps:
        return
    console.print()
    console.print(Text("Rationale", style="bold"))
    judged = () if run.rationale is None else run.rationale.checked.verdicts
    categories = {verdict.claim: verdict.native for verdict in judged}
    for number, step in enumerate(run.answer.rationale.steps, start=1):
        category = categories.get(step.statement, "not judged")
        line = Text.assemble((f"{number}. ", "bold"), clean(step.statement), (f"  {clean(category)}", "dim"))
        console.print(Padding(line, (0, 0, 0, 2)))
        for quotation in step.unfound:
            line = Text.assemble(("not found in its source: ", "yellow"), "“", clean(quotation), "”")
            console.print(Padding(line, (0, 0, 0, 6)))
    if run.rationale is not None:
        faithful, statements = run.rationale.faith
        console.print(f"  Faith(R): {faithful} of {statements} statements faithful.")


def show_changes(console: Terminal, changes: Iterable[Change], left: Iterable[str] = ()) -> None:
    """Print the changes of a repair, each sentence before and after; then what could not be judged."""
    for change in changes:
        by = f", by {change.by}" if change.by else ""
        console.print(Text.assemble((change.action, "bold"), (clean(f"  {change.why}{by}"), "dim")))
        console.print(Text.assemble(("  - ", "red"), clean(change.before)))
        if change.after is not None:
            console.print(Text.assemble(("  + ", "green"), clean(change.after)))
    for reason in left:
        console.print(Text.assemble(("left as it was", "yellow"), "  ", clean(reason)))


def show_verdict(console: Terminal, verdict: Verdict, documents: Mapping[str, Document]) -> None:
    """Print a verdict with the claim and the passage that decided it."""
    line = Text.assemble(_label(verdict), "  ", clean(verdict.claim))
    console.print(Padding(line, (0, 0, 0, 2)))
    for span in verdict.evidence[:1]:
        document = documents[span.document]
        quote = clean(document.text[span.start : span.end])
        where = f" ({_place(span)})"
        console.print(Padding(Text.assemble("“", quote, "”", (where, "dim")), (0, 0, 0, 6)))
    for statement in verdict.statements:
        line = Text.assemble((clean(statement.native), "bold"), "  ", clean(statement.text))
        console.print(Padding(line, (0, 0, 0, 6)))
    for reason in (_native(verdict), *verdict.reasons):
        if reason:
            console.print(Padding(Text(clean(reason), style="dim"), (0, 0, 0, 6)))


def show_rates(console: Terminal, rates: CitationRates) -> None:
    """Print every rate with its count, its interval and its denominator."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, side in (
        ("", "left"),
        ("share", "right"),
        ("95% interval", "left"),
        ("n", "right"),
        ("of", "left"),
    ):
        table.add_column(name, justify="right" if side == "right" else "left")
    for name in rates.names:
        rate = rates[name]
        table.add_row(name, _share(rate), _interval(rate), _counted(rate), rates.denominator(name))
    console.print(table)


def _counted(rate: Rate) -> str:
    return str(rate.n) if rate.count is None else f"{rate.count}/{rate.n}"


Row = tuple[Text | str, ...]
"""Answer, marker, verdict, native verdict of the protocol, probability, claim."""


def verdict_rows(checked: CheckedAnswer) -> Iterator[Row]:
    """Yield rows for an answer's verdicts, then its failures and uncited claims."""
    id = clean(checked.id)
    for verdict in checked.verdicts:
        cells = (_name(verdict), _native(verdict), _probability(verdict), _short(verdict.claim))
        yield (id, _markers(verdict), *cells)
    for failure in checked.failures:
        yield (id, _markers(failure), Text("failed", "red"), "", "", _short(failure.reason))
    for claim in checked.uncited:
        yield (id, "-", Text("uncited", "cyan"), "", "", _short(claim.claim))


def show_rows(console: Terminal, rows: Sequence[Row]) -> None:
    """Print a table of verdicts, with a column of native verdicts if there are any."""
    native = any(row[3] for row in rows)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("answer", "cites", "verdict", *(["native"] if native else []), "p", "claim"):
        table.add_column(name, justify="right" if name == "p" else "left", no_wrap=name != "claim")
    for row in rows:
        table.add_row(*(row if native else (*row[:3], *row[4:])))
    console.print(table)


_WORDS = {
    "p": "the judge's probability of the verdict",
    "native": "the protocol's own word for the verdict, if it has one",
    "quoted": "taken word for word from its source; no judge was asked",
    "n of m statements": "the whole sentence failed and was split; n of its m statements passed",
    "redundant": "the other sources support the sentence without this one",
    "abstained": "no verdict: not English, no text, or too uncertain",
    "failed": "the judge gave no verdict; the reason is shown in place of the claim",
    "dangling": "the marker does not point to a source",
    "uncited": "the sentence cites nothing",
}
"""Explanations for the table of verdicts."""


def legend(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Return the words that occur in a table of verdicts, each with its meaning."""
    verdicts, natives = {str(row[2]).removesuffix(f" {RETRACTED[0]}") for row in rows}, [str(row[3]) for row in rows]
    there = {
        "p": any(row[4] for row in rows),
        "native": any(natives),
        "quoted": "quoted" in natives,
        "n of m statements": any(native.endswith(" statements") for native in natives),
        "redundant": any(native.endswith(" redundant") for native in natives),
    }
    return [(word, meaning) for word, meaning in _WORDS.items() if there.get(word, word in verdicts)]


def show_legend(console: Terminal, rows: Sequence[Row]) -> None:
    """Print the legend of a table of verdicts."""
    for word, meaning in legend(rows):
        console.print(Text(f"{word}: {meaning}", style="dim"))


def _short(text: str) -> Text:
    shown = Text(clean(text))
    shown.truncate(90, overflow="ellipsis")
    return shown


def _source(number: int, hit: Evidence) -> Text:
    document = hit.document
    parts = [clean(document.title) or "(no title)"]
    parts += [clean(part) for part in (document.journal or "", str(document.year or "")) if part]
    # PubMed's titles end with a full stop.
    shown = ". ".join(part.removesuffix(".") for part in parts)
    text = Text.assemble((f"  [{number}] ", "bold"), shown, (f"  {clean(document.id)}", "dim"))
    # PubMed is searched in stages, each wider than the previous one; the name says which.
    if hit.retriever.startswith("pubmed("):
        text.append(f"  {clean(hit.retriever)}", style="dim")
    if document.retracted:
        text = Text.assemble(text, "  ", RETRACTED)
    return text


def _name(verdict: Verdict) -> Text:
    shown = Text("abstained", "dim") if verdict.abstained else Text(verdict.label, STYLES[verdict.label])
    if verdict.retracted:
        shown = Text.assemble(shown, " ", RETRACTED)
    return shown


def _native(verdict: Verdict) -> str:
    """Return the native verdict if it differs from the label, and the redundant documents."""
    own = [] if verdict.native in (verdict.label, "abstained") else [clean(verdict.native)]
    return ", ".join([*own, *(f"{clean(document)} redundant" for document in verdict.redundant or ())])


def _markers(item: Verdict | VerificationFailure) -> str:
    return "".join(f"[{marker}]" for marker in item.markers) or "-"


def _probability(verdict: Verdict) -> str:
    found = verdict.probabilities.get(verdict.label)
    return "" if found is None else f"{found:.2f}"


def _label(verdict: Verdict) -> Text:
    return Text.assemble(_markers(verdict), " ", _name(verdict), " ", _probability(verdict))


def _place(span: EvidenceSpan) -> str:
    where = "" if span.sentence_index is None else f", sentence {span.sentence_index + 1}"
    where = where if span.page is None else f"{where}, page {span.page}"
    return f"{clean(span.document)}{where}"


def _counts(checked: CheckedAnswer) -> Text:
    summary = checked.summary
    verdicts = summary.cases + summary.dangling
    if not verdicts:
        return Text("No citations to check.")
    shown = Text(f"{summary.supported} of {verdicts} citations supported")
    for name in ("contradicted", "irrelevant", "dangling", "abstained", "failed"):
        count = getattr(summary, name)
        if count:
            shown.append(f", {count} {name}")
    shown.append(f"; {summary.uncited} of {summary.claims} sentences without a citation.")
    if summary.retracted:
        shown.append(f" {retracted_citations(summary)}.", style="bold red")
    return shown


def retracted_citations(summary: Summary) -> str:
    """Describe how many citations are of retracted documents."""
    one = summary.retracted == 1
    return (
        f"{summary.retracted} of {summary.citations} citations {'is of a' if one else 'are of'} RETRACTED document"
        + ("" if one else "s")
    )


def _share(rate: Rate) -> str:
    return "-" if rate.value is None else f"{rate.value:.3f}"


def _interval(rate: Rate) -> str:
    return "" if rate.low is None else f"[{rate.low:.3f}, {rate.high:.3f}]"


def show_ledger(used: Ledger | None) -> None:
    """Print the use of a language model, if any."""
    if used is not None and not is_quiet():
        Terminal(stderr=True).print(Text(f"language model: {used}", style="dim"))


def show_found(console: Terminal, found: FoundEvidence, explain: bool = False) -> None:
    """Print the documents, best first; with ``explain``, also the scores and times of all stages and the rewriting.

    If some documents were reranked, the scores of the others are on another scale and are not shown.
    """
    if not found.evidence:
        console.print("Nothing found.")
    again = ["rerank" in hit.scores for hit in found.evidence]
    for hit, is_again in zip(found.evidence, again, strict=True):
        console.print(_line(hit, has_score=is_again or not any(again)))
        if explain:
            scores = ", ".join(f"{name} {score:.4g}" for name, score in hit.scores.items())
            console.print(Padding(Text(f"{scores}; by {clean(hit.retriever)}", style="dim"), (0, 0, 0, 6)))
    if any(again) and not all(again):
        told = "-: not ranked again (retracted, or beyond search.candidates): its score is on another scale"
        console.print(Text(told, style="dim"))
    if found.rewriting is not None and (explain or found.rewriting.kept):
        console.print(Text(rewriting_line(found.rewriting), style="dim"))
    if explain:
        times = ", ".join(f"{stage} {seconds * 1000:.0f} ms" for stage, seconds in found.seconds.items())
        console.print(Text(times, style="dim"))


def rewriting_line(rewriting: Rewriting) -> str:
    """Describe the result of a query rewriting."""
    figures = _figures((rewriting.coverage, rewriting.relevance))
    if not rewriting.fired:
        return f"Not searched again: {figures}."
    why = "; ".join(rewriting.reasons)
    if rewriting.failed is not None:
        return f"Poor evidence ({why}); looking for other words failed: {clean(rewriting.failed)}"
    if rewriting.query is None or rewriting.again is None:
        return f"Poor evidence ({why}), and no other words to search for."
    end = "these are its documents" if rewriting.kept else "the first documents were better and are kept"
    return f"Poor evidence ({why}); searched for “{clean(rewriting.query)}” ({_figures(rewriting.again)}): {end}."


def _figures(judged: tuple[float, float | None]) -> str:
    coverage, relevance = judged
    return f"coverage {coverage:.2f}" + ("" if relevance is None else f", relevance {relevance:.2f}")


def _line(hit: Evidence, has_score: bool) -> Text:
    document = hit.document
    title = clean(document.title).removesuffix(".") or clean(document.text[:80])
    about = [clean(str(part)) for part in (document.journal, document.year) if part]
    shown = Text.assemble(
        (f"{hit.rank:3}. ", "bold"),
        ". ".join([title, *about]),
        (f"  {clean(document.id)}", "dim"),
        f"  {hit.score:.3f}" if has_score else "  -",
    )
    if document.retracted:
        shown.append("  RETRACTED", style="bold red")
    return shown

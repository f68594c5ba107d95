"""What the commands print. Texts from outside are shown as text: no markup, no control characters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from vericite.cli.remarks import clean
from vericite.evaluate import CitationRates, Rate
from vericite.evaluate.rates import SHARES
from vericite.llm import Ledger
from vericite.records import (
    Change,
    CheckedAnswer,
    Document,
    Evidence,
    EvidenceSpan,
    Run,
    Summary,
    Verdict,
    VerificationFailure,
)

RETRACTED = ("RETRACTED", "bold red")
"""What stands beside a document that is retracted, and beside the verdicts on its citations."""

STYLES = {"supported": "green", "contradicted": "red", "irrelevant": "yellow", "dangling": "magenta"}


def show_run(console: Console, run: Run) -> None:
    """A question, its answer, the sources and what was found of each citation."""
    documents = {document.id: document for document in run.answer.documents}
    console.print(Text(clean(run.question.text), style="bold"))
    console.print()
    _show_answer(console, run)
    console.print()
    console.print(Text("Sources", style="bold"))
    for number, hit in enumerate(run.evidence, start=1):
        console.print(_source(number, hit))
    for number, document in enumerate(run.answer.documents[len(run.evidence) :], start=len(run.evidence) + 1):
        # Found for a sentence when it was mended.
        console.print(_source(number, Evidence(document=document, rank=number, score=0, retriever="repair")))
    if run.checked.verdicts:
        console.print()
        console.print(Text("Citations", style="bold"))
    for verdict in run.checked.verdicts:
        show_verdict(console, verdict, documents)
    _show_rationale(console, run)
    if run.changes:
        console.print()
        console.print(Text("Mended", style="bold"))
        show_changes(console, run.changes)
    console.print()
    console.print(_counts(run.checked))


def _show_answer(console: Console, run: Run) -> None:
    answer = run.answer
    if answer.failed is not None:
        console.print(Text.assemble(("failed", "red"), "  ", clean(answer.failed)))
        return
    console.print(Text(clean(answer.text)))
    if answer.exact:
        # An item and its synonyms.
        items = [clean(" / ".join(names)) for names in answer.exact]
        console.print()
        console.print(Text.assemble(("Answer: ", "bold"), "; ".join(items)))
    if answer.trimmed:
        one = len(answer.trimmed) == 1
        told = f"{len(answer.trimmed)} {'document was' if one else 'documents were'} not shown whole, for want of room."
        console.print(Text(told, style="dim"))
    if run.rewriting is not None and (run.rewriting.kept or run.rewriting.failed):
        # It is made of this module.
        from vericite.cli.found import told as rewritten

        console.print(Text(rewritten(run.rewriting), style="dim"))


def _show_rationale(console: Console, run: Run) -> None:
    """The steps with their categories, and the quotations that were found nowhere."""
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
            told = Text.assemble(("not found in its source: ", "yellow"), "“", clean(quotation), "”")
            console.print(Padding(told, (0, 0, 0, 6)))
    if run.rationale is not None:
        faithful, statements = run.rationale.faith
        console.print(f"  Faith(R): {faithful} of {statements} statements faithful.")


def show_changes(console: Console, changes: Iterable[Change], left: Iterable[str] = ()) -> None:
    """What repair changed of an answer, a sentence before and after it; then what could not be judged."""
    for change in changes:
        by = f", by {change.by}" if change.by else ""
        console.print(Text.assemble((change.action, "bold"), (clean(f"  {change.why}{by}"), "dim")))
        console.print(Text.assemble(("  - ", "red"), clean(change.before)))
        if change.after is not None:
            console.print(Text.assemble(("  + ", "green"), clean(change.after)))
    for told in left:
        console.print(Text.assemble(("left as it was", "yellow"), "  ", clean(told)))


def show_verdict(console: Console, verdict: Verdict, documents: Mapping[str, Document]) -> None:
    """A verdict with the claim and the passage that carries it."""
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


def show_rates(console: Console, rates: CitationRates) -> None:
    """Every rate with its count, its interval and what it is a share of."""
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
        table.add_row(name, _share(rate), _interval(rate), f"{rate.count}/{rate.n}", SHARES[name].denominator)
    console.print(table)


Row = tuple[Text | str, ...]
"""Answer, marker, verdict, its protocol's own words for it, probability, claim."""


def verdict_rows(checked: CheckedAnswer) -> Iterator[Row]:
    """An answer's verdicts, then its failures and uncited claims."""
    id = clean(checked.id)
    for verdict in checked.verdicts:
        told = (_name(verdict), _native(verdict), _probability(verdict), _short(verdict.claim))
        yield (id, _markers(verdict), *told)
    for failure in checked.failures:
        yield (id, _markers(failure), Text("failed", "red"), "", "", _short(failure.reason))
    for claim in checked.uncited:
        yield (id, "-", Text("uncited", "cyan"), "", "", _short(claim.claim))


def show_rows(console: Console, rows: Sequence[Row]) -> None:
    """A table; the protocol's own words are in it where there are any."""
    native = any(row[3] for row in rows)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("answer", "cites", "verdict", *(["native"] if native else []), "p", "claim"):
        table.add_column(name, justify="right" if name == "p" else "left", no_wrap=name != "claim")
    for row in rows:
        table.add_row(*(row if native else (*row[:3], *row[4:])))
    console.print(table)


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
    # PubMed is asked in stages, each wider than the one before.
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
    """What the protocol calls the verdict, where that is not the common label; and the documents it needs not."""
    own = [] if verdict.native in (verdict.label, "abstained") else [clean(verdict.native)]
    return ", ".join([*own, *(f"{clean(document)} unneeded" for document in verdict.unneeded or ())])


def _markers(item: Verdict | VerificationFailure) -> str:
    return "".join(f"[{marker}]" for marker in item.markers) or "-"


def _probability(verdict: Verdict) -> str:
    found = verdict.probabilities.get(verdict.label)
    return "" if found is None else f"{found:.2f}"


def _label(verdict: Verdict) -> Text:
    return Text.assemble(_markers(verdict), " ", _name(verdict), " ", _probability(verdict))


def _place(span: EvidenceSpan) -> str:
    where = "" if span.sentence is None else f", sentence {span.sentence + 1}"
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
    """How many citations are of retracted documents, in words."""
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
    """What was asked of a language model; nothing where none was."""
    if used is not None:
        Console(stderr=True, highlight=False).print(Text(f"language model: {used}", style="dim"))


def ledger_of(judge: object, since: Ledger | None = None) -> Ledger | None:
    """What a judge that asks a language model has used; None for others."""
    ledger: Ledger | None = getattr(judge, "ledger", None)
    return ledger if ledger is None or since is None else ledger.since(since)

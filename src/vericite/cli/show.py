"""Output of the commands. Texts from outside are shown as plain text, without markup or control characters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from vericite.cli.io import clean, is_quiet
from vericite.cli.terminal import Terminal
from vericite.evaluate.citation_rates import CitationRates
from vericite.llm import Ledger
from vericite.records import CheckedAnswer, Evidence, Rate, Run, Verdict
from vericite.records.results import NO_TEXT, OPPOSITE
from vericite.reporting.blocks import StyledLine
from vericite.reporting.run_lines import (
    OTHER_FIGURE,
    RETRACTED,
    markers,
    native,
    probability,
    rewriting_line,
    run_lines,
    verdict_words,
    what_is_wrong,
)
from vericite.text.strength import Strength
from vericite.text.words import bounded

if TYPE_CHECKING:
    from vericite.pipeline.search import FoundEvidence


def show_run(console: Terminal, run: Run) -> None:
    """Print a question, its answer, the sources and the verdict on each citation."""
    show_blocks(console, run_lines(run))


_INDENTED = {"item": 2, "detail": 6}


def show_blocks(console: Terminal, blocks: Iterable[StyledLine]) -> None:
    """Print blocks: titles and headings in bold, with an empty line after a title and before a heading."""
    for block in blocks:
        heads = block.kind in ("title", "heading")
        line = Text.assemble(*((word.text, "bold" if heads else word.style) for word in block.words))
        if block.gap or block.kind == "heading":
            console.print()
        indent = _INDENTED.get(block.kind, 0)
        for part in line.wrap(console, max(20, console.width - indent)):
            part.rstrip()
            console.print(Text(" " * indent) + part, soft_wrap=True)
        if block.kind == "title":
            console.print()


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
    with_interval: list[str] = []
    for name in rates.names:
        rate = rates[name]
        table.add_row(name, _share(rate), _interval(rate), _counted(rate), rates.denominator(name))
        with_interval += [] if rate.low is None else [name]
    console.print(table)
    if with_interval:
        console.print(Text(_over(rates, with_interval), "dim"))


def _over(rates: CitationRates, names: Sequence[str]) -> str:
    """Say what the intervals of these rates are over."""
    many = list(filter(rates.is_over_answers, names))
    if len(many) == len(names):
        return "intervals are over answers: citations of one answer depend on each other"
    why = "there is one answer" if rates.answers == 1 else "only one answer has any"
    those = "that of" if len(many) == 1 else "those of"
    others = f"; {those} {', '.join(many)} {'is' if len(many) == 1 else 'are'} over answers" if many else ""
    return f"intervals are over citations, as if independent, because {why}{others}"


def _counted(rate: Rate) -> str:
    return str(rate.n) if rate.count is None else f"{rate.count}/{rate.n}"


Row = tuple[Text | str, ...]
"""Answer, marker, verdict, native verdict of the protocol, probability, claim."""


def verdict_rows(checked: CheckedAnswer) -> Iterator[Row]:
    """Yield rows for an answer's verdicts, then its failures and uncited claims."""
    id = clean(checked.id)
    for verdict in checked.verdicts:
        figure = OTHER_FIGURE if verdict.has_other_figure else ""
        cells = (
            Text.assemble(*verdict_words(verdict, checked.kind_of(verdict))),
            clean(", ".join(filter(None, (native(verdict), figure, *verdict.opposition, verdict.elsewhere)))),
            probability(verdict),
            _with_words(verdict),
        )
        yield (id, markers(verdict.markers), *cells)
    for failure in checked.failures:
        yield (id, markers(failure.markers), Text("failed", "red"), "", "", Text(clean(failure.reason)))
    for claim in checked.uncited:
        yield (id, "-", Text("uncited", "cyan"), "", "", Text(clean(claim.claim)))


def show_rows(console: Terminal, rows: Sequence[Row]) -> None:
    """Print a table of verdicts, with a column of native verdicts if there are any."""
    has_native = any(row[3] for row in rows)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("answer", "cites", "verdict", *(["detail"] if has_native else []), "p", "claim"):
        table.add_column(name, justify="right" if name == "p" else "left", no_wrap=name != "claim")
    for row in rows:
        table.add_row(*(row if has_native else (*row[:3], *row[4:])))
    console.print(table)


def with_details_below(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with the native verdicts below the claims, where they take no columns from them."""
    found: list[Row] = []
    for *cells, detail, sure, claim in rows:
        shown = Text.assemble(claim)
        if str(detail):
            shown.append(f"\ndetail: {detail}", "dim")
        found.append((*cells, "", sure, shown))
    return found


_WORDS = {
    "p": "the judge's probability of the verdict",
    "detail": "the protocol's own word for the verdict",
    "instead": "no cited source supports the sentence, another one does",
    "says the opposite": "a cited source supports the sentence, and another cited source contradicts it",
    OTHER_FIGURE: "the judge missed it; read the sentence and its source",
    "quoted": "taken word for word from its source; no judge was asked",
    "irrelevant": "not found in the source",
    "partly supported": "a part of the sentence may be found in its source",
    "n of m statements": "the whole sentence failed and was split; n of its m statements passed",
    "redundant": "the other sources support the sentence without this one",
    "abstained": "no verdict; the reason is below the claim",
    "failed": "the judge gave no verdict; the reason is shown in place of the claim",
    "dangling": "the marker does not point to a source",
    NO_TEXT: "the marker points to an entry of the list of references, but its text is not there; give --documents",
    "uncited": "the sentence cites nothing",
}
"""Explanations for the table of verdicts."""


_FOUND = (OTHER_FIGURE, " instead", f" {OPPOSITE}", " statements", "partly supported", " redundant", "quoted", NO_TEXT)
"""Endings of what is found in the column of native verdicts, too."""


def legend(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Return the words that occur in a table of verdicts, each with its meaning."""
    verdicts, natives = {str(row[2]).removesuffix(f" {RETRACTED[0]}") for row in rows}, [str(row[3]) for row in rows]
    there = {
        "dangling": any(str(row[2]) == "dangling" and str(row[3]) != NO_TEXT for row in rows),
        NO_TEXT: NO_TEXT in natives,
        "p": any(row[4] for row in rows),
        "detail": any(not name.endswith(_FOUND) for name in natives if name),
        "instead": any(name.endswith(" instead") for name in natives),
        OPPOSITE: any(name.endswith(OPPOSITE) for name in natives),
        OTHER_FIGURE: any(OTHER_FIGURE in name for name in natives),
        "quoted": "quoted" in natives,
        "n of m statements": any(name.endswith(" statements") for name in natives),
        "partly supported": any(name.endswith("partly supported") for name in natives),
        "redundant": any(name.endswith(" redundant") for name in natives),
    }
    return [(word, meaning) for word, meaning in _WORDS.items() if there.get(word, word in verdicts)]


def show_legend(console: Terminal, rows: Sequence[Row]) -> None:
    """Print the legend of a table of verdicts."""
    for word, meaning in legend(rows):
        console.print(Text(f"{word}: {meaning}", style="dim"))


def _with_words(verdict: Verdict) -> Text:
    """Return the claim with the words marked that no source carries, and below it why, or why there is no verdict."""
    shown = Text(clean(verdict.claim))
    for words in verdict.words:
        shown.highlight_regex(bounded(clean(words.text)), "bold red")
    if said := verdict.reasons[0] if verdict.abstained and verdict.reasons else what_is_wrong(verdict):
        shown.append(f"\n{clean(said)}", "yellow")
    return shown


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


def _line(hit: Evidence, has_score: bool) -> Text:
    document = hit.document
    strength = Strength.of(document)
    title = clean(document.title).removesuffix(".") or clean(document.text[:80])
    about = [clean(str(part)) for part in (document.journal, document.year) if part]
    shown = Text.assemble(
        (f"{hit.rank:3}. ", "bold"),
        ". ".join([title, *about]),
        (f"  {clean(document.id)}", "dim"),
        f"  {hit.score:.3f}" if has_score else "  -",
        (f"  {strength.retraction.upper()}" if strength.retraction else "", "bold red"),
        (f"  {strength.facts}" if strength.facts else "", "dim"),
    )
    return shown

"""What a search found, printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from vericite.cli.remarks import clean
from vericite.records import Evidence, Rewriting

if TYPE_CHECKING:
    from vericite.pipeline.search import FoundEvidence


def show_found(console: Console, found: FoundEvidence, explain: bool = False) -> None:
    """The documents, the best first; with ``explain`` every stage's score and time, and the rewriting."""
    if not found.evidence:
        console.print("Nothing found.")
    for hit in found.evidence:
        console.print(_line(hit))
        if explain:
            scores = ", ".join(f"{name} {score:.4g}" for name, score in hit.scores.items())
            console.print(Padding(Text(f"{scores}; by {clean(hit.retriever)}", style="dim"), (0, 0, 0, 6)))
    if found.rewriting is not None and (explain or found.rewriting.kept):
        console.print(Text(told(found.rewriting), style="dim"))
    if explain:
        times = ", ".join(f"{stage} {seconds * 1000:.0f} ms" for stage, seconds in found.seconds.items())
        console.print(Text(times, style="dim"))


def told(rewriting: Rewriting) -> str:
    """What became of a rewriting, in a sentence."""
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


def _line(hit: Evidence) -> Text:
    document = hit.document
    title = clean(document.title).removesuffix(".") or clean(document.text[:80])
    about = [clean(str(part)) for part in (document.journal, document.year) if part]
    shown = Text.assemble(
        (f"{hit.rank:3}. ", "bold"),
        ". ".join([title, *about]),
        (f"  {clean(document.id)}", "dim"),
        f"  {hit.score:.3f}",
    )
    if document.retracted:
        shown.append("  RETRACTED", style="bold red")
    return shown

"""A page to annotate in: one HTML file that opens from disk, or the same from a server that keeps what is done.

Annotators see the question, the answer, the sentence and its sources, never the system, the verdict, or each other. As
in a report, texts enter the page in one place, as JSON, and its script shows them as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from vericite.annotate.labels import Annotation
from vericite.annotate.schemes import Scheme
from vericite.annotate.units import Unit
from vericite.errors import InputError
from vericite.records import SourceText
from vericite.reporting.data import ScriptOffsets
from vericite.reporting.page import ELEMENTS, PageParts, rendered
from vericite.text.sentences import document_sentences


def make_annotation_page(
    units: Sequence[Unit],
    scheme: Scheme,
    title: str | None = None,
    rater: str = "",
    saved: Sequence[Annotation] | None = None,
) -> str:
    """The page.

    Args:
        units: What is labelled, in this order.
        scheme: What is asked.
        title: Its heading; by default the scheme's question.
        rater: Whose page it is; where that is open the page asks.
        saved: Where a server keeps the labels, those that it has.

    Raises:
        InputError: The units are of another kind than the scheme asks for.
    """
    expect_kind(units, scheme)
    values: dict[str, Any] = {
        "task": task_of(units, scheme),
        "scheme": scheme.model_dump(mode="json") | {"signature": scheme.signature},
        "rater": rater,
        "saves": saved is not None,
        "saved": [one.model_dump(mode="json") for one in saved or ()],
        "items": [_blinded(unit) for unit in units],
    }
    own = "vericite.annotate"
    parts = PageParts(((own, "annotate.css"),), (ELEMENTS, (own, "annotate.js")), asks=saved is not None)
    return rendered(own, "annotate.html.j2", parts, values, title=title or scheme.title)


def expect_kind(units: Sequence[Unit], scheme: Scheme) -> None:
    """Before anybody is asked.

    Raises:
        InputError: The units are of another kind than the scheme asks for.
    """
    other = next((unit for unit in units if unit.of != scheme.of), None)
    if other is not None:
        raise InputError(
            f"expected {scheme.of}s to label by {scheme.name}; found a {other.of} in the sample. Draw it with "
            f"--scheme {scheme.name}, or give the --scheme that it was drawn with."
        )


def task_of(units: Sequence[Unit], scheme: Scheme) -> str:
    """A name for these units under this scheme, so that a page finds its own labels again and no others."""
    parts = "\n".join([scheme.signature, *(unit.item for unit in units)])
    return sha256(parts.encode()).hexdigest()[:16]


def _blinded(unit: Unit) -> dict[str, Any]:
    """What an annotator is shown, with offsets as scripts count them."""
    units = ScriptOffsets(unit.context)
    return {
        "item": unit.item,
        "group": unit.group,
        "question": unit.question,
        "claim": unit.claim,
        "context": unit.context,
        "start": units(unit.start),
        "end": units(unit.end),
        "documents": [_shown(one) for one in unit.documents],
    }


def _shown(source: SourceText) -> dict[str, Any]:
    units = ScriptOffsets(source.text)
    spans = [one.span for one in document_sentences(source.document())]
    return {
        "id": source.id,
        "title": source.title or "",
        "text": source.text,
        "sentences": [[units(span.start), units(span.end)] for span in spans],
    }

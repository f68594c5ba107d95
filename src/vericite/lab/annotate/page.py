"""The annotation page: an HTML file that opens from disk, or is served by a server that stores the labels.

Annotators see the question, the answer, the sentence and its sources, but not the system, the verdict or other
annotators' labels. As in a report, texts enter the page as JSON in one place, and the script displays them as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from vericite.errors import InputError
from vericite.lab.annotate.labels import Annotation
from vericite.lab.annotate.schemes import Scheme
from vericite.lab.annotate.units import Unit
from vericite.records import SourceText
from vericite.reporting.data import ScriptOffsets
from vericite.reporting.page import ELEMENTS, PageParts, rendered
from vericite.text.sentences import document_sentences


def make_annotation_page(
    units: Sequence[Unit],
    scheme: Scheme,
    rater: str = "",
    saved: Sequence[Annotation] | None = None,
) -> str:
    """Make the page.

    Args:
        units: The units to label, in this order.
        scheme: The scheme of labels.
        rater: The name of the annotator; if empty, the page asks for it.
        saved: The labels stored so far, if a server stores them; None: no server.

    Raises:
        InputError: The units are of another kind than the scheme's.
    """
    expect_kind(units, scheme)
    values: dict[str, Any] = {
        "task": task_of(units, scheme),
        "scheme": scheme.model_dump(mode="json") | {"signature": scheme.signature},
        "rater": rater,
        "saves": saved is not None,
        "saved": [annotation.model_dump(mode="json") for annotation in saved or ()],
        "items": [_blinded(unit) for unit in units],
    }
    own = "vericite.lab.annotate"
    parts = PageParts(((own, "annotate.css"),), (ELEMENTS, (own, "annotate.js")), asks=saved is not None)
    return rendered(own, "annotate.html.j2", parts, values, title=scheme.title)


def expect_kind(units: Sequence[Unit], scheme: Scheme) -> None:
    """Check that the units are of the scheme's kind.

    Raises:
        InputError: A unit is of another kind.
    """
    other = next((unit for unit in units if unit.of != scheme.of), None)
    if other is not None:
        raise InputError(
            f"expected {scheme.of}s to label by {scheme.name}; found a {other.of} in the sample. Draw it again: "
            f"vericite annotate sample --scheme {scheme.name}"
        )


def task_of(units: Sequence[Unit], scheme: Scheme) -> str:
    """Return an id of these units under this scheme, by which a page finds its stored labels."""
    parts = "\n".join([scheme.signature, *(unit.item for unit in units)])
    return sha256(parts.encode()).hexdigest()[:16]


def _blinded(unit: Unit) -> dict[str, Any]:
    """Return the fields shown to annotators, with offsets in UTF-16 code units."""
    units = ScriptOffsets(unit.context)
    return {
        "item": unit.item,
        "group": unit.group,
        "question": unit.question,
        "claim": unit.claim,
        "context": unit.context,
        "start": units(unit.start),
        "end": units(unit.end),
        "documents": [_shown(document) for document in unit.documents],
    }


def _shown(source: SourceText) -> dict[str, Any]:
    units = ScriptOffsets(source.text)
    spans = [sentence.span for sentence in document_sentences(source.document())]
    return {
        "id": source.id,
        "title": source.title or "",
        "text": source.text,
        "sentences": [[units(span.start), units(span.end)] for span in spans],
    }

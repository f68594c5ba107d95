"""``vericite split``: how a text is cut, for seeing what a judge will see."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any

import typer

from vericite.cli.remarks import clean


class Parts(StrEnum):
    """What to cut a text into."""

    sentences = "sentences"
    claims = "claims"
    statements = "statements"


def split(
    text: Annotated[str, typer.Argument(help="The text; - reads it from standard input.")] = "-",
    into: Annotated[Parts, typer.Option(help="Claims are sentences with their citations taken out.")] = Parts.sentences,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object a line.")] = False,
) -> None:
    """Split a text into sentences, claims with their citations, or atomic statements."""
    for part in _parts(sys.stdin.read() if text == "-" else text, into):
        if as_json:
            typer.echo(json.dumps(part, ensure_ascii=False))
        else:
            markers = "".join(f" [{marker}]" for marker in part.get("markers", ()))
            typer.echo(f"{part['start']:>6}-{part['end']:<6}{clean(part['text'])}{markers}")


def _parts(text: str, into: Parts) -> Iterator[dict[str, Any]]:
    from vericite.text import parse_answer, split_sentences, split_statements

    if into is Parts.claims:
        for claim in parse_answer("text", text, ()).claims:
            markers = [citation.marker for citation in claim.citations]
            yield {"start": claim.span.start, "end": claim.span.end, "text": claim.text, "markers": markers}
        return
    for span in split_sentences(text) if into is Parts.sentences else split_statements(text):
        yield {"start": span.start, "end": span.end, "text": text[span.slice]}

"""Examples from published data sets, for ``--data NAME:FILE``, made as in MultiAttr (Patel et al. 2024, section 5.1).

``vj`` (Verifiability Judgments): statements that the pages they cite completely support together. Each page is cut to
400 tokens around the evidence that people copied from it. The other pages of the same response are distractors.

``msmarco`` (MS MARCO QnA): long answers with the passages that people used for them, and others of the question.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vericite.datasets.attributed import long_answers, msmarco_entry, msmarco_rows
from vericite.datasets.registry import is_named, source_named
from vericite.datasets.rows import Row, files_in, read_rows
from vericite.errors import InputError, Problems, RecordError
from vericite.lab.train.examples import AttributionExample, ExampleSource, source_of
from vericite.records import read_jsonl
from vericite.text.citations import parse_answer

SOURCES = 5
SNIPPET_TOKENS = 400
"""Tokens of a source: words and punctuation marks, whatever the tokenizer of the model that is trained."""
ANNOTATIONS = "human_evaluation_annotations.jsonl"
"""The file of Verifiability Judgments that says whether all citations of a statement support it together."""

_TOKEN = re.compile(r"\w+|[^\w\s]")
_SUPPORTS = {"complete_support": "complete", "partial_support": "partial", "no_support": "none"}


class Judged(NamedTuple):
    """A statement and a page that it cites, as a person judged them."""

    query: str
    response: str
    statement: str
    url: str
    title: str
    text: str
    evidence: tuple[str, ...]
    support: str


@dataclass
class _Response:
    """The judgements of a response, and the snippets of its pages."""

    query: str
    snippets: list[ExampleSource] = field(default_factory=list[ExampleSource])
    pages: list[str] = field(default_factory=list[str])
    statements: dict[str, dict[int, str]] = field(default_factory=dict[str, dict[int, str]])

    def add(self, judged: Judged) -> None:
        """Add a judgement."""
        place = self._known(judged)
        if place is None:
            place = len(self.snippets)
            digest = hashlib.sha256(judged.url.encode()).hexdigest()[:12]
            id = f"{digest}-{self.pages.count(judged.url) + 1}"
            text = snippet(judged.text, judged.evidence)
            self.snippets.append(ExampleSource(id=id, title=judged.title, text=text))
            self.pages.append(judged.url)
        self.statements.setdefault(judged.statement, {})[place] = judged.support

    def _known(self, judged: Judged) -> int | None:
        """Return the snippet of the same page that has the evidence; without evidence, its first snippet."""
        wanted = [f" {_words(line)} " for line in judged.evidence]
        for place, (page, known) in enumerate(zip(self.pages, self.snippets, strict=True)):
            if page == judged.url and all(line in f" {_words(known.text)} " for line in wanted):
                return place
        return None


def snippet(text: str, evidence: Sequence[str], most: int = SNIPPET_TOKENS) -> str:
    """Return the part of a page around its evidence, ``most`` tokens long; a shorter page is returned as it is.

    Evidence that is not in the page word for word is looked for where most of its words are. Without evidence, the
    part is the beginning.
    """
    tokens = list(_TOKEN.finditer(text))
    if len(tokens) <= most:
        return text.strip()
    words = [token.group().lower() for token in tokens]
    places = [_place_of(line.split(), words) for line in map(_words, evidence) if line]
    first = min((start for start, _ in places), default=0)
    last = max((end for _, end in places), default=0)
    # Evidence longer than the part begins with it.
    start = first if last - first >= most else (first + last - most) // 2
    start = max(0, min(start, len(tokens) - most))
    return text[tokens[start].start() : tokens[start + most - 1].end()]


def _words(text: str) -> str:
    return " ".join(token.lower() for token in _TOKEN.findall(text))


def _place_of(line: Sequence[str], words: Sequence[str]) -> tuple[int, int]:
    """Return the first and last position of a line of evidence in a page: the run of words with most of its words."""
    joined = f" {' '.join(words)} "
    at = joined.find(f" {' '.join(line)} ")
    if at >= 0:
        start = joined.count(" ", 0, at)
        return start, start + len(line)
    wanted = set(line)
    sums = np.cumsum([0, *(word in wanted for word in words)])
    size = min(len(line), len(words))
    start = int((sums[size:] - sums[:-size]).argmax())
    return start, start + size


def _judged(row: Row) -> Judged:
    evidence = row.optional_text("source_localized_evidence")
    return Judged(
        row.required_text("query"),
        row.optional_text("response"),
        row.required_text("statement"),
        row.optional_text("source_url") or f"page {row.number}",
        row.optional_text("source_title", "source_content_title"),
        row.text("source_raw_text", "source_text"),
        tuple(line.strip() for line in evidence.splitlines() if line.strip()),
        row.one_of("source_supports_statement", _SUPPORTS),
    )


def _unions(path: Path, problems: Problems) -> Mapping[tuple[str, str, str], bool]:
    """Return whether all citations of a statement support it together, from the annotations next to the judgements."""
    file = next(
        (folder / ANNOTATIONS for folder in (path.parent, path.parent.parent) if (folder / ANNOTATIONS).exists()), None
    )
    found: dict[tuple[str, str, str], bool] = {}
    for row in problems.kept(read_rows(file)) if file else ():
        try:
            known = row.row("annotation").row("statement_to_annotation")
            for statement in known.fields:
                said = known.row(statement).optional_text("statement_supported")
                found[row.text("query"), row.text("response"), statement.strip()] = said == "Yes"
        except RecordError as error:
            problems.append(error)
    return found


def verifiability(path: Path, problems: Problems) -> Iterator[AttributionExample]:
    """Yield the completely supported statements of Verifiability Judgments, an example each.

    A statement is completely supported if the annotations say so of all its citations together. Without the file of
    annotations it is if one of its citations supports it completely. Then partial support counts, too.
    """
    responses: dict[tuple[str, str], _Response] = {}
    for row in problems.kept(read_rows(path)):
        try:
            judged = _judged(row)
        except RecordError as error:
            problems.append(error)
            continue
        responses.setdefault((judged.query, judged.response), _Response(judged.query)).add(judged)
    unions = _unions(path, problems)
    for (query, text), response in responses.items():
        for number, (statement, cited) in enumerate(response.statements.items()):
            complete = unions.get((query, text, statement), "complete" in cited.values())
            if complete and any(support != "none" for support in cited.values()):
                yield _statement(
                    response, statement, cited, hashlib.sha256(f"{query}|{text}".encode()).hexdigest()[:12], number
                )


def _statement(
    response: _Response, statement: str, cited: Mapping[int, str], name: str, number: int
) -> AttributionExample:
    """Return an example: the sources that the statement cites, and others of the response up to five."""
    shared = len(response.snippets) <= SOURCES
    others = [place for place in range(len(response.snippets)) if place not in cited]
    chosen = sorted([*cited, *others][:SOURCES])
    own = {response.pages[place] for place, support in cited.items() if support != "none"}
    return AttributionExample(
        id=f"vj-{name}-{number}",
        question=response.query,
        sentence=statement,
        sources=tuple(response.snippets[place] for place in chosen),
        supports=tuple(at for at, place in enumerate(chosen, 1) if cited.get(place, "none") != "none"),
        # Another part of a page that supports the statement may support it as well.
        unknown=tuple(at for at, place in enumerate(chosen, 1) if place not in cited and response.pages[place] in own),
        made_from="vj",
        # Statements of a response are one answer where they have the same sources.
        group=f"vj:{name}" if shared else f"vj:{name}-{number}",
    )


def msmarco(path: Path, problems: Problems) -> Iterator[AttributionExample]:
    """Yield the sentences of long answers. Questions without a long answer or a marked passage are left out."""
    for row in problems.kept(read_rows(path)):
        try:
            for asked in msmarco_rows(row):
                yield from _long_answer(asked)
        except RecordError as error:
            problems.append(error)


def _long_answer(row: Row) -> Iterator[AttributionExample]:
    long = [text for text in long_answers(row) if text]
    if not long:
        return
    entry = msmarco_entry(row)
    question = entry.question
    assert question is not None
    marked = [place for place, document in enumerate(entry.documents) if document.id in question.gold_documents]
    if not marked:
        return
    others = [place for place in range(len(entry.documents)) if place not in marked]
    chosen = sorted([*marked, *others][:SOURCES])
    supports = tuple(at for at, place in enumerate(chosen, 1) if place in marked)
    for number, claim in enumerate(parse_answer(question.id, long[0], ()).claims):
        yield AttributionExample(
            id=f"msmarco-{question.id}-{number}",
            question=question.text,
            sentence=claim.text,
            sources=tuple(source_of(entry.documents[place]) for place in chosen),
            supports=supports,
            made_from="msmarco",
            group=f"msmarco:{question.id}",
        )


EXAMPLE_SETS: Mapping[str, Callable[[Path, Problems], Iterable[AttributionExample]]] = {
    "vj": verifiability,
    "msmarco": msmarco,
}
"""Data sets that ``--data NAME:FILE`` makes examples of."""


def examples_named(text: str, problems: Problems) -> list[AttributionExample]:
    """Return the examples of ``NAME:FILE``.

    Raises:
        InputError: The data set gives no examples, or the file cannot be read or has none.
    """
    source = source_named(text)
    if source.set.name not in EXAMPLE_SETS:
        raise InputError(
            f"expected a file of examples, or {' or '.join(EXAMPLE_SETS)} with a file; found {text}. Make examples of "
            "it with `vericite train attribution-data`."
        )
    make = EXAMPLE_SETS[source.set.name]
    paths = [file for path in source.paths for file in files_in(path)]
    found = [example for path in paths if path.name != ANNOTATIONS for example in make(path, problems)]
    if not found:
        raise InputError(
            f"expected {source.set.title} with supported answers in {text}: {source.set.shape}; found none."
            f"{problems.first_of(*paths)}"
        )
    return found


def read_examples(paths: Iterable[Path], problems: Problems | None = None) -> list[AttributionExample]:
    """Read the examples of these files in order; ``vj:FILE`` and ``msmarco:FILE`` are published data sets.

    Args:
        paths: The files.
        problems: Records of data sets that cannot be used are added here.

    Raises:
        InputError: A file cannot be read, a line is not an example, or there are none.
    """
    found: list[AttributionExample] = []
    listed = list(paths)
    for path in listed:
        if is_named(str(path)):
            found += examples_named(str(path), Problems() if problems is None else problems)
            continue
        try:
            found += read_jsonl(AttributionExample, path)
        except RecordError as error:
            raise InputError(f"{error}. Correct or remove that line; docs/training.md shows the format.") from None
    if not found:
        names = ", ".join(map(str, listed)) or "no file"
        raise InputError(f"expected examples in {names}; found none. Make some: vericite train attribution-data")
    return found

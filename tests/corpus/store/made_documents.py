"""Documents made by a rule, sources of them, and an embedder that costs nothing."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from vericite.corpus.pubmed import Deletion
from vericite.corpus.store import Source, open_store
from vericite.records import Document, Section

WORDS = (
    "aspirin fever trial patients placebo mortality renal cardiac insulin glucose therapy outcome risk dose cohort "
    "kinase receptor tumour biopsy survival infection vaccine antibody protein gene expression mouse liver lung"
).split()


def document(number: int, version: int = 1) -> Document:
    """One of them; another version of it has other words and the same id."""
    chance = random.Random(f"{number} {version}")
    pmid = str(1_000_000 + number)
    return Document(
        id=pmid,
        title=f"Study {number} of {chance.choice(WORDS)}",
        sections=tuple(
            Section(label=label, text=" ".join(chance.choices(WORDS, k=chance.randrange(5, 25))) + ".")
            for label in (None, "RESULTS")[: chance.randrange(3)]
        ),
        pmid=pmid,
        version=version,
        journal=chance.choice(("The Made Journal", "Lancet's Echo", "Annals")),
        year=chance.choice((None, *range(1990, 2025))),
        languages=(chance.choice(("eng", "fre")),),
        authors=("Doe J", "Roe R"),
        mesh=tuple(chance.sample(("Humans", "Mice", "Fever/drug therapy", "Aged, 80 and over"), k=chance.randrange(4))),
        publication_types=("Journal Article", "Randomized Controlled Trial")[: chance.randrange(3)],
        retracted=chance.random() < 0.05,
        source="made",
    )


def source(name: str, items: Iterable[object], fingerprint: str = "1") -> Source:
    """A source of these items."""
    held = list(items)
    return Source(name, fingerprint, lambda: iter(held))


def many(count: int, parts: int = 4) -> list[Source]:
    """Several sources: each but the first also updates documents of the one before, and takes some of them back."""
    size = count // parts

    def items(part: int) -> Iterator[Document | Deletion]:
        first = part * size
        for number in range(first, first + size):
            yield document(number)
            if part and number % 3 == 0:
                yield document(number - size, version=2)
        if part:
            yield Deletion(pmids=tuple(str(1_000_000 + number) for number in range(first - size, first, 17)))
        # After the deletion, one of those comes again.
        if part:
            yield document(first - size, version=1)

    return [Source(f"part {part}", "1", lambda part=part: items(part)) for part in range(parts)]


def content(place: Path | str) -> dict[str, Document]:
    """All that is in a store, by id; that no id is there twice is checked."""
    held = list(open_store(place).scan())
    by_id = {one.id: one for one in held}
    assert len(by_id) == len(held)
    return dict(sorted(by_id.items()))


def answers(place: Path | str) -> list[list[tuple[str, float]]]:
    """What a store finds for some queries, with the scores."""
    queries = [f"{one} {other}" for one, other in zip(WORDS, reversed(WORDS), strict=True)]
    store = open_store(place)
    return [[(hit.document.id, hit.score) for hit in store.search(query, 10)] for query in queries]


class WordEmbedder:
    """Words fall on coordinates by their hash."""

    signature = "words@1"

    def embed(self, texts: Iterable[str]) -> np.ndarray:
        rows = []
        for text in texts:
            row = np.full(32, 1e-3, dtype=np.float32)
            for word in text.lower().split():
                row[hashlib.md5(word.encode()).digest()[0] % 32] += 1
            rows.append(row / np.linalg.norm(row))
        return np.stack(rows)

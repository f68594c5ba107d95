"""Documents made by a rule, sources of them, and an embedder that costs nothing."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from vericite.corpus.pubmed import Deletion
from vericite.corpus.sources.registry import documents_in
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


_ARTICLE = """<PubmedArticle><MedlineCitation><PMID Version="{version}">{pmid}</PMID>
<DateRevised><Year>{year}</Year><Month>01</Month><Day>01</Day></DateRevised>
<Article><ArticleTitle>Record of {pmid} in {year}</ArticleTitle>
<Abstract><AbstractText>{words}</AbstractText></Abstract>
<PublicationTypeList><PublicationType>{type}</PublicationType></PublicationTypeList></Article>
<CommentsCorrectionsList>{links}</CommentsCorrectionsList></MedlineCitation></PubmedArticle>"""
_LINK = '<CommentsCorrections RefType="RetractionOf"><RefSource>J</RefSource><PMID>{}</PMID></CommentsCorrections>'


def pubmed_files(folder: Path, count: int, parts: int = 4) -> None:
    """Write files of PubMed's XML: versions and revisions out of order, deletions, retractions and their notices."""
    size = count // parts

    def article(number: int, year: int, version: int = 1, type: str = "Journal Article", links: str = "") -> str:
        words = " ".join(random.Random(f"{number} {year} {version}").choices(WORDS, k=12))
        pmid = 1_000_000 + number
        return _ARTICLE.format(pmid=pmid, year=year, version=version, words=words, type=type, links=links)

    folder.mkdir()
    for part in range(parts):
        first = part * size
        written = [article(number, 2020, 1 + number % 2) for number in range(first, first + size)]
        # Of the part before, and of this one: some older, some newer, some retracted, some of a lower version.
        for number in range(max(0, first - size), first + size, 5):
            type = "Retracted Publication" if number % 7 == 0 else "Journal Article"
            written.append(article(number, 2018 + number % 4, 1 + number % 3, type))
        written.append(
            article(count + part, 2021, links="".join(map(_LINK.format, (1_000_003, 1_000_000 + first + 9))))
        )
        gone = "".join(f"<PMID>{1_000_000 + number}</PMID>" for number in range(max(0, first - 50), first + size, 23))
        text = f"<PubmedArticleSet>{''.join(written)}<DeleteCitation>{gone}</DeleteCitation></PubmedArticleSet>"
        (folder / f"{part}.xml").write_text(text, encoding="utf-8")


def with_pubmed(count: int, folder: Path) -> list[Source]:
    """Files of PubMed's XML, each followed by one of ``many``, whose documents have the same PMIDs."""
    files = [
        Source(file.name, "1", lambda file=file: documents_in(file, "pubmed")) for file in sorted(folder.iterdir())
    ]
    return [one for pair in zip(files, many(count), strict=True) for one in pair]


def content(place: Path | str) -> dict[str, Document]:
    """All that is in a store, by id; that no id is there twice is checked."""
    held = list(open_store(place).scan())
    by_id = {one.id: one for one in held}
    assert len(by_id) == len(held)
    return dict(sorted(by_id.items()))


def answers(place: Path | str) -> list[list[tuple[str, float]]]:
    """What a store finds for some queries, with the scores."""
    # Of each word and its mirror image: the second half would be the first once more.
    queries = [f"{one} {other}" for one, other in zip(WORDS, reversed(WORDS), strict=True)][: len(WORDS) // 2]
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

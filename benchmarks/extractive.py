"""Extractive answers to BioASQ questions: sentences against gold snippets, text against ideal answers, yes and no.

Usage: python benchmarks/extractive.py CORPUS QUESTIONS [--count N] [--seed N] [--k K] [--full] [--plain]

CORPUS is a gzipped JSON Lines file of documents with pmid, title, abstract and full (whether the abstract is whole);
QUESTIONS a BioASQ training file. N questions are drawn by the seed; documents are found by BM25, the first 20 of them
ranked again by the bundled reranker, and K kept. A sentence is right where half of its words or more are those of a
gold snippet of its document. The baseline takes as many sentences, the first of each of the same documents in turn;
the ceiling as many, chosen by somebody who knows the snippets.

Where documents are made of BioASQ's gold snippets, the corpus is near-oracle: most have one sentence, every sentence is
gold for some question, and no choice of sentences can do much better than the first ones. So all is measured again
with such documents lengthened (``--full``): between the sentences of a whole abstract on a like subject, at a place
drawn by the document's id. What is added counts as wrong. ``--plain`` leaves out reranker and judge in generating.
Exits with 1 if the F1 is under 1.5 times the baseline's.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from vericite.evaluate.items import Item
from vericite.evaluate.measures.answer_exact import ListF1
from vericite.evaluate.measures.answer_text import RougeL
from vericite.generate import ExtractiveGenerator
from vericite.models import Embedder
from vericite.models.embedder import Reranker
from vericite.records import Answer, Document, Evidence, Gold, Question
from vericite.retrieve import CANDIDATES
from vericite.retrieve.local import MemoryRetriever
from vericite.retrieve.rerank import Rerank
from vericite.text.sentences import document_sentences
from vericite.verify import BundledJudge

BAR = 1.5
PAPER_ROUGE = (0.212, 0.256)
"""ROUGE-L of the paper's rows with oracle evidence."""
RESAMPLES = 2000
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Asked:
    """A question with its gold snippets, each with the document it is of."""

    question: Question
    snippets: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Scored:
    """Sentences chosen for a question against its snippets, over all of them and over those of the found documents."""

    right: int
    chosen: int
    found: int
    snippets: int
    reachable: int

    @property
    def precision(self) -> float:
        """Right sentences over those chosen."""
        return self.right / self.chosen if self.chosen else 0.0

    @property
    def recall(self) -> float:
        """Snippets found over all."""
        return self.found / self.snippets if self.snippets else 0.0

    @property
    def recall_within(self) -> float:
        """Snippets found over those of the documents that were found."""
        return self.found / self.reachable if self.reachable else 0.0

    @property
    def f1(self) -> float:
        """Of precision, and recall over all snippets."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def read_corpus(path: Path) -> tuple[list[Document], list[Document]]:
    """All documents with a text, and those of them that are whole abstracts."""
    documents: dict[str, Document] = {}
    whole: set[str] = set()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["abstract"].strip():
                id = str(row["pmid"])
                documents.setdefault(id, Document.from_text(id, row["abstract"], row["title"] or ""))
                if row["full"]:
                    whole.add(id)
    return list(documents.values()), [document for id, document in documents.items() if id in whole]


def read_questions(path: Path, count: int, seed: int) -> list[Asked]:
    """So many questions, drawn by the seed."""
    rows = sorted(asked_in(path), key=lambda asked: asked.question.id)
    random.Random(seed).shuffle(rows)
    return rows[:count]


def asked_in(path: Path) -> list[Asked]:
    """All questions of a BioASQ file."""
    return [_asked(row) for row in json.loads(path.read_text(encoding="utf-8"))["questions"]]


def _asked(row: dict[str, Any]) -> Asked:
    exact: Any = row.get("exact_answer") or []
    ideal: Any = row.get("ideal_answer") or []
    entries: list[list[str]] = (
        [[exact]] if isinstance(exact, str) else [[item] if isinstance(item, str) else item for item in exact]
    )
    question = Question(
        id=row["id"],
        text=row["body"],
        type=row["type"],
        gold_exact=tuple(map(tuple, entries)),
        gold_ideal=tuple([ideal] if isinstance(ideal, str) else ideal),
    )
    snippets = tuple((_pmid(item["document"]), item["text"]) for item in row.get("snippets", ()))
    return Asked(question, snippets)


def _pmid(address: str) -> str:
    return address.rstrip("/").rsplit("/", 1)[-1]


def lengthened(document: Document, asked: Asked, whole: MemoryRetriever) -> Document:
    """The document's sentences within a whole abstract on a like subject that is not gold for the question."""
    if any(document.id == other.id for other in whole.documents):
        return document
    draw = random.Random(document.id)
    gold = {id for id, _ in asked.snippets}
    near = [hit.document for hit in whole.retrieve(Question(id="near", text=document.text[:600]), 6)]
    near = [other for other in near if other.id not in gold] or [draw.choice(list(whole.documents))]
    around, own = _sentences(near[draw.randrange(min(3, len(near)))]), _sentences(document)
    place = draw.randint(0, len(around))
    texts = [text if text[-1] in ".!?" else f"{text}." for text in around[:place] + own + around[place:]]
    return Document.from_text(document.id, " ".join(texts), document.title)


def _sentences(document: Document) -> list[str]:
    return [" ".join(item.text_in(document).split()) for item in document_sentences(document)]


def scored(sentences: Sequence[tuple[str, str]], asked: Asked, documents: Sequence[str]) -> Scored:
    """Sentences, each with its document, against the snippets."""
    hits = [
        {number for number, (id, text) in enumerate(asked.snippets) if id == of and overlaps(said, text)}
        for of, said in sentences
    ]
    found = set[int]().union(*hits)
    reachable = sum(id in documents for id, _ in asked.snippets)
    return Scored(sum(map(bool, hits)), len(sentences), len(found), len(asked.snippets), reachable)


def overlaps(sentence: str, snippet: str) -> bool:
    """Whether half of a sentence's words or more are a snippet's."""
    mine, theirs = (Counter(_WORD.findall(text.lower())) for text in (sentence, snippet))
    return (mine & theirs).total() >= 0.5 * mine.total() > 0


def chosen_sentences(answer: Answer) -> list[tuple[str, str]]:
    """The sentences of an answer, each with the first document it cites."""
    return [(claim.citations[0].document or "", claim.text) for claim in answer.claims if claim.citations]


def lead_sentences(documents: Sequence[Document], count: int) -> list[tuple[str, str]]:
    """The first sentence of each document, then the second of each, until there are so many."""
    columns = [_sentences(document) for document in documents]
    deepest = max(map(len, columns), default=0)
    rows = [
        (document.id, texts[depth])
        for depth in range(deepest)
        for document, texts in zip(documents, columns, strict=True)
        if depth < len(texts)
    ]
    return rows[:count]


def best_sentences(documents: Sequence[Document], count: int, asked: Asked) -> list[tuple[str, str]]:
    """So many sentences of the documents with the most snippets in them, each the next best."""
    left = [(document.id, text) for document in documents for text in _sentences(document)]
    chosen: list[tuple[str, str]] = []
    while left and len(chosen) < count:
        # A right sentence that finds no new snippet still is right.
        best = max(left, key=lambda one: _worth([*chosen, one], asked))
        left.remove(best)
        chosen.append(best)
    return chosen


def _worth(sentences: Sequence[tuple[str, str]], asked: Asked) -> tuple[int, int]:
    told = scored(sentences, asked, ())
    return told.found, told.right


def interval(values: Sequence[float]) -> str:
    """A mean with its 95 % bootstrap interval over questions."""
    draw = random.Random(0)
    means = sorted(mean(draw.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return f"{mean(values):.3f} [{means[int(0.025 * RESAMPLES)]:.3f}, {means[int(0.975 * RESAMPLES)]:.3f}]"


@dataclass
class Made:
    """What the generator made of one question, and how it was found."""

    asked: Asked
    answer: Answer
    evidence: Sequence[Evidence]
    seconds: float

    @property
    def item(self) -> Item:
        """For the measures."""
        question = self.asked.question
        exact = self.answer.exact
        return Item(question.id, answer=self.answer, gold=Gold.of(question), exact=exact)

    def sentences(self) -> tuple[Scored, Scored, Scored]:
        """Of the answer, of the baseline, and of the ceiling."""
        documents = [hit.document for hit in self.evidence]
        ids = [document.id for document in documents]
        mine = chosen_sentences(self.answer)
        first = lead_sentences(documents, len(mine))
        best = best_sentences(documents, len(mine), self.asked)
        return scored(mine, self.asked, ids), scored(first, self.asked, ids), scored(best, self.asked, ids)


def make(asked: Sequence[Asked], generator: ExtractiveGenerator, found: Sequence[Sequence[Evidence]]) -> list[Made]:
    """An answer to each question, timed."""
    made: list[Made] = []
    for one, evidence in zip(asked, found, strict=True):
        start = time.perf_counter()
        answer = generator.generate(one.question, evidence)
        made.append(Made(one, answer, evidence, time.perf_counter() - start))
    return made


def report(title: str, made: Sequence[Made]) -> float:
    """Print all figures; the F1 in times the baseline's."""
    mine, lead, best = zip(*(one.sentences() for one in made), strict=True)
    lengths = Counter(one.chosen for one in mine)
    print(f"\n{title}: {len(made)} questions, sentences an answer {dict(sorted(lengths.items()))}")
    print(f"{'mean over questions, 95 % interval':<36}{'answer':<24}{'first sentences':<24}the best there are")
    for name in ("precision", "recall", "recall_within", "f1"):
        values = [[getattr(one, name) for one in rows] for rows in (mine, lead, best)]
        print(f"  {name:<34}{interval(values[0]):<24}{interval(values[1]):<24}{interval(values[2])}")
    ratio = mean(one.f1 for one in mine) / max(mean(one.f1 for one in lead), 1e-9)
    print(f"  F1 in times the baseline's: {ratio:.2f}")
    _report_text(made)
    return ratio


def _report_text(made: Sequence[Made]) -> None:
    rouge = [RougeL().parts(one.item) for one in made]
    values = [parts[0] for parts in rouge if parts is not None]
    print(f"  ROUGE-L to ideal answers {interval(values)}, n {len(values)}; paper, oracle evidence: {PAPER_ROUGE}")
    closed = [one for one in made if one.asked.question.type == "yesno" and one.asked.question.gold_exact]
    right = [one.answer.exact == one.asked.question.gold_exact for one in closed]
    gold = Counter(one.asked.question.gold_exact[0][0] for one in closed)
    if closed:
        (major, count), said_no = gold.most_common(1)[0], sum(one.answer.exact == (("no",),) for one in closed)
        print(f"  yes/no: {sum(right)}/{len(right)} right, always {major} {count}/{len(right)}; said no: {said_no}")
    lists = [parts for one in made if one.asked.question.type == "list" and (parts := ListF1().parts(one.item))]
    if lists:
        print(f"  ListF1 {mean(parts[0] for parts in lists):.3f}, n {len(lists)}")
    seconds = sorted(one.seconds for one in made)
    refused = sum(one.answer.insufficient for one in made)
    print(
        f"  insufficient {refused}; seconds a question: median {seconds[len(seconds) // 2]:.2f}, most {seconds[-1]:.2f}"
    )


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--full", action="store_true", help="again with the documents lengthened")
    parser.add_argument("--plain", action="store_true", help="without reranker and judge in generating")
    given = parser.parse_args()
    asked = read_questions(given.questions, given.count, given.seed)
    documents, whole = read_corpus(given.corpus)
    retriever, rerank = MemoryRetriever(documents, by="bm25"), Rerank(Reranker.shared())
    found = [rerank(one.question.text, retriever.retrieve(one.question, CANDIDATES))[: given.k] for one in asked]
    models = (None, None) if given.plain else (Reranker.shared(), BundledJudge())
    generator = ExtractiveGenerator(Embedder.shared(), None, *models)
    print(f"{generator.signature}; {len(documents)} documents, near-oracle: scores are optimistic")
    ratio = report("as the corpus has them", make(asked, generator, found))
    if given.full:
        around = MemoryRetriever(whole, by="bm25")
        longer = [
            [hit.model_copy(update={"document": lengthened(hit.document, one, around)}) for hit in hits]
            for one, hits in zip(asked, found, strict=True)
        ]
        report("documents lengthened to whole abstracts", make(asked, generator, longer))
    print(f"\nF1 at least {BAR} times that of first sentences: {'held' if ratio >= BAR else 'missed'}")
    return int(ratio < BAR)


if __name__ == "__main__":
    sys.exit(main())

"""Build a reranker's training and development lists.

    python -m vericite.train.relevance lists --data DATASETS --out DIR [--seed 0]

DIR gets ``train.jsonl``, ``dev.jsonl`` and ``manifest.json``, which counts what was left out and why.

Most documents of the corpus are stitched from gold snippets, and its whole abstracts are gold of nothing: a model
could learn that whole means irrelevant. So negatives come from where BM25 and the embedder find them among stitched
documents, texts on both sides are cut alike, and one list in seven has all of its texts put into whole abstracts.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vericite.errors import InputError, VeriCiteError
from vericite.models import Embedder
from vericite.records import Document, write_jsonl
from vericite.train.mix.files import DataFolder
from vericite.train.mix.leakage import normal
from vericite.train.mix.premises import sentences
from vericite.train.relevance.lists import Candidate, RankedList, TrainingList
from vericite.train.relevance.questions import Asked, Split, split
from vericite.train.relevance.searching import Shelf, as_document

CORPUS = "corpus/pubmed_corpus.jsonl.gz"
DEPTH = 50
LISTS_A_QUESTION = 12
BY_WORDS, BY_MEANING, BY_CHANCE = 4, 2, 1
"""Negatives of a list, by how they were found."""
TRIES = 1000
"""Draws by chance before a corpus counts as too small for negatives."""
SAME_QUESTION = 0.8
"""Cosine from which what answers one question may answer another, so that it is no negative."""
SNIPPET_SHARE, PADDED_SHARE = 0.4, 0.15


@dataclass
class Lists:
    """Makes training lists out of questions.

    Attributes:
        stitched: Documents of the corpus that may be trained on and are stitched from snippets.
        whole: Those that are whole abstracts.
        unknown: Documents by question that are no negatives of it, though not gold.
        padding: Runs of sentences of whole abstracts.
    """

    stitched: Shelf
    whole: Shelf
    unknown: dict[str, set[str]]
    padding: list[str]
    dice: random.Random
    notes: Counter[str] = field(default_factory=Counter[str])

    def of(self, asked: Asked) -> Iterator[TrainingList]:
        """The lists of a question; none where no gold document of it may be trained on."""
        if asked.context is not None:
            yield from (self._about(asked, asked.context) for _ in range(2))
            return
        gold = [pmid for pmid in asked.documents if pmid in self.stitched.places]
        if not gold:
            self.notes["questions without a document to train on"] += 1
            return
        hard = self._hard(asked, self.stitched)
        for pmid in self.dice.sample(gold, min(LISTS_A_QUESTION, len(gold))):
            yield self._around(asked, pmid, hard)

    def _around(self, asked: Asked, pmid: str, hard: tuple[list[str], list[str]]) -> TrainingList:
        positive = self.stitched.texts[self.stitched.places[pmid]]
        negatives = self._drawn(asked, hard, self.stitched)
        own = asked.snippets.get(pmid)
        kind = "whole"
        if own and self.dice.random() < SNIPPET_SHARE:
            kind, positive = "snippet", self.dice.choice(own)
            negatives = [self._cut(text) for text in negatives]
        if self.dice.random() < PADDED_SHARE:
            kind, positive = "padded", self._padded(positive)
            negatives = [self._padded(text) for text in negatives]
        return TrainingList(
            question=asked.text, positive=positive, negatives=tuple(negatives), source=asked.source, group=asked.id,
            kind=kind,
        )  # fmt: skip

    def _about(self, asked: Asked, context: str) -> TrainingList:
        """A question that is the title of its only document."""
        negatives = self._drawn(asked, self._hard(asked, self.whole), self.whole)
        return TrainingList(
            question=asked.text, positive=context, negatives=tuple(negatives), source=asked.source, group=asked.id
        )

    def _hard(self, asked: Asked, shelf: Shelf) -> tuple[list[str], list[str]]:
        """What BM25 and the embedder find that may be a negative, the best first."""
        found = (shelf.bm25(asked.text, DEPTH), shelf.dense(asked.text, DEPTH))
        usable = self._negatives(asked, shelf)
        by_words, by_meaning = ([shelf.texts[place] for place, _ in one if usable(place)] for one in found)
        return by_words, by_meaning

    def _negatives(self, asked: Asked, shelf: Shelf) -> Callable[[int], bool]:
        """Whether a document is neither gold nor says the very same as one that is."""
        gold = {*asked.documents, *self.unknown.get(asked.id, ())}
        said = {normal(shelf.texts[shelf.places[pmid]]) for pmid in asked.documents if pmid in shelf.places}
        return lambda place: shelf.documents[place].id not in gold and normal(shelf.texts[place]) not in said

    def _drawn(self, asked: Asked, hard: tuple[list[str], list[str]], shelf: Shelf) -> list[str]:
        """Negatives, the better the first stage thought of them the more often."""
        chosen: list[str] = []
        for texts, count in zip(hard, (BY_WORDS, BY_MEANING), strict=True):
            left = [text for text in texts if text not in chosen]
            for _ in range(min(count, len(left))):
                chosen.append(left.pop(int(len(left) * self.dice.random() ** 1.5)))
        usable = self._negatives(asked, shelf)
        for _ in range(TRIES):
            if len(chosen) == BY_WORDS + BY_MEANING + BY_CHANCE:
                break
            place = self.dice.randrange(len(shelf.texts))
            text = shelf.texts[place]
            chosen += [text] if usable(place) and text not in chosen else []
        else:
            raise InputError(f"expected more documents that do not answer {asked.text!r:.80}; found {len(chosen)}")
        self.dice.shuffle(chosen)
        return chosen

    def _cut(self, text: str) -> str:
        """A sentence or two, as gold snippets are."""
        held = sentences(text)
        size = self.dice.choice((1, 1, 2, 3))
        start = self.dice.randrange(max(1, len(held) - size + 1))
        return " ".join(held[start : start + size]) or text

    def _padded(self, text: str) -> str:
        parts = [self.dice.choice(self.padding) for _ in range(2)]
        return " ".join((parts[0], text, parts[1]) if self.dice.random() < 0.5 else (parts[0], parts[1], text))


def training_lists(
    questions: Sequence[Asked], stitched: Shelf, whole: Shelf, seed: int
) -> tuple[list[TrainingList], Counter[str]]:
    """All lists, in an order that follows from the seed."""
    dice = random.Random(seed)
    made = Lists(stitched, whole, _unknown(questions), list(_runs(whole.documents, dice)), dice)
    found = [one for asked in questions for one in made.of(asked)]
    dice.shuffle(found)
    return found, made.notes


def _unknown(questions: Sequence[Asked]) -> dict[str, set[str]]:
    """What answers questions of nearly the same meaning."""
    vectors = Embedder.shared().embed([asked.text for asked in questions])
    near = vectors @ vectors.T >= SAME_QUESTION
    return {
        asked.id: {pmid for other in np.flatnonzero(near[place]) for pmid in questions[int(other)].documents}
        for place, asked in enumerate(questions)
    }


def _runs(documents: Iterable[Document], dice: random.Random) -> Iterator[str]:
    for document in documents:
        held = sentences(document.text)
        size = dice.choice((1, 2, 3, 4))
        start = dice.randrange(max(1, len(held) - size + 1))
        if text := " ".join(held[start : start + size]):
            yield text


def ranked_lists(name: str, questions: Sequence[Asked], corpus: str, shelf: Shelf) -> Iterator[RankedList]:
    """What each first stage finds for the questions that have a gold document on the shelf."""
    for asked in questions:
        gold = tuple(pmid for pmid in asked.documents if pmid in shelf.places)
        for stage, search in (("bm25", shelf.bm25), ("hybrid", shelf.hybrid)) if gold else ():
            candidates = tuple(
                Candidate(id=shelf.documents[place].id, text=shelf.texts[place], score=score)
                for place, score in search(asked.text, DEPTH)
            )
            yield RankedList(
                id=asked.id, question=asked.text, set=name, stage=stage, corpus=corpus, gold=gold,
                candidates=candidates,
            )  # fmt: skip


@dataclass(frozen=True)
class Corpus:
    """The documents, their vectors, and which of them are stitched from snippets."""

    documents: list[Document]
    vectors: NDArray[np.float32]
    stitched: NDArray[np.bool_]

    def shelf(self, chosen: NDArray[np.bool_]) -> Shelf:
        """Some of them."""
        places = np.flatnonzero(chosen)
        return Shelf([self.documents[place] for place in places], self.vectors[places])


def read_corpus(data: DataFolder) -> Corpus:
    """The corpus of the data folder; PubMedQA's abstracts without titles, which are questions, and conclusions."""
    rows = data.jsonl(CORPUS)
    items = data.json("pubmedqa/ori_pqal.json")
    documents = [
        Document.from_text(row["pmid"], " ".join(items[row["pmid"]]["CONTEXTS"]))
        if row["source"] == "pubmedqa" and row["pmid"] in items
        else as_document(row)
        for row in rows
    ]
    vectors = Embedder.shared().embed(document.titled_text for document in documents)
    return Corpus(documents, vectors, np.array([not row["full"] for row in rows]))


def build(data: DataFolder, out: Path, seed: int) -> dict[str, Any]:
    """Write the files; gives the manifest."""
    questions = split(data, seed)
    corpus = read_corpus(data)
    closed = np.array([document.id in questions.closed for document in corpus.documents])
    stitched, whole = corpus.shelf(corpus.stitched & ~closed), corpus.shelf(~corpus.stitched & ~closed)
    train, notes = training_lists(questions.train, stitched, whole, seed)
    if not train:
        raise InputError(f"expected questions with gold documents in {data.root}; found none to train on")
    everything, snippets = corpus.shelf(np.ones(len(closed), dtype=np.bool_)), corpus.shelf(corpus.stitched)
    dev = [one for name, held in questions.dev.items() for one in ranked_lists(name, held, "all", everything)]
    for name, held in questions.dev.items():
        dev += ranked_lists(name, held, "stitched", snippets)
    out.mkdir(parents=True, exist_ok=True)
    for name, lists in (("train.jsonl", train), ("dev.jsonl", dev)):
        with (out / name).open("w", encoding="utf-8") as file:
            write_jsonl(lists, file)
    documents = {"trained on": int((~closed).sum()), "kept for tests and dev": int(closed.sum())}
    manifest = {"seed": seed, **_counts(train, dev), "documents": documents, **_left_out(questions), "notes": notes}
    (out / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return manifest


def _counts(train: Sequence[TrainingList], dev: Sequence[RankedList]) -> dict[str, Any]:
    return {
        "train": {"questions": len({one.group for one in train}), "lists": len(train)},
        "kinds": Counter(f"{one.source}/{one.kind}" for one in train),
        "dev": Counter(f"{one.set}/{one.corpus}/{one.stage}" for one in dev),
    }


def _left_out(questions: Split) -> dict[str, Any]:
    closed = questions.closed
    return {
        "dropped": [
            {"from": source, "reason": reason, "set": held, "count": count}
            for (source, reason, held), count in sorted(questions.dropped.items())
        ],
        "dropped gold documents of training questions": Counter(
            closed[pmid] for one in questions.train for pmid in one.documents if pmid in closed
        ),
    }


def main(arguments: list[str] | None = None) -> int:
    """Arguments, build, print."""
    parser = argparse.ArgumentParser(prog="python -m vericite.train.relevance lists", description="Build the lists.")
    parser.add_argument("--data", type=Path, required=True, help="the folder of datasets")
    parser.add_argument("--out", type=Path, required=True, help="where the files go")
    parser.add_argument("--seed", type=int, default=0)
    told = parser.parse_args(arguments)
    try:
        manifest = build(DataFolder(told.data), told.out, told.seed)
    except VeriCiteError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(json.dumps(manifest, indent=2) + "\n")
    return 0

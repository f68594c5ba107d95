"""Sentences of BioASQ's ideal answers, each with five sources of the same topic.

Questions are parted by what may be done with them. MIRAGE's yes/no questions are for the test alone: neither the
verifier nor the head has learnt from them, nor from any document that is gold for them. Of the others, a tenth was kept
out of the verifier's training as well: they choose (``dev``). The rest is for training.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mix.example import share
from mix.folder import DataFolder
from mix.guard import Guard, forbidden, mirage_bioasq
from vericite.corpus.sources.entry import pmid_of
from vericite.lab.train.examples import ExampleSource
from vericite.records import Document
from vericite.retrieve.local import BM25
from vericite.text.citations import parse_answer

Part = Literal["test", "dev", "train"]
SOURCES, GOLD = 5, 3
DEV_SHARE = 0.1  # as the verifier's mix has it, by the same draw
LEAST_WORDS = 6


def hash_of(text: str) -> str:
    """What a label knows its sentence by."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Asked:
    """A question's answer, sentence by sentence, with its sources.

    Attributes:
        sentences: Number and text of each sentence that is long enough to be asked about alone.
        whole: All of them, a bare "Yes." too.
        snippets: Gold snippets by the number of their source, from 1.
    """

    id: str
    question: str
    sentences: tuple[tuple[int, str], ...]
    whole: tuple[tuple[int, str], ...]
    sources: tuple[ExampleSource, ...]
    snippets: dict[int, list[str]]


class Pools:
    """The questions of a data folder by part, and the corpus that distractors are from."""

    def __init__(self, root: Path) -> None:
        self.data = DataFolder(root)
        self.guard = Guard(forbidden(self.data, ("healthver",)))
        self._tested = mirage_bioasq(self.data)

    @cached_property
    def questions(self) -> dict[Part, list[dict[str, Any]]]:
        """Each question once, in the order of its id."""
        folders = ("mirage/rawdata/bioasq", "bioasq12b", "bioasq13b")
        every = {q["id"]: q for folder in folders for q in self.data.questions(folder)}
        found: dict[Part, list[dict[str, Any]]] = {"test": [], "dev": [], "train": []}
        for id in sorted(every):
            part = self._part(every[id])
            if part is not None:
                found[part].append(every[id])
        return found

    def _part(self, question: dict[str, Any]) -> Part | None:
        if question["id"] in self._tested:
            return "test"
        if self.guard.refuses_claim(question["body"], "bioasq"):
            return None
        return "dev" if share(f"bioasq:{question['id']}", 0) < DEV_SHARE else "train"

    @cached_property
    def documents(self) -> list[Document]:
        """The corpus."""
        path = self.data.root / "corpus" / "pubmed_corpus.jsonl.gz"
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        return [Document.from_text(row["pmid"], row["abstract"], row["title"]) for row in rows if row["abstract"]]

    @cached_property
    def by_id(self) -> dict[str, Document]:
        """The corpus by PMID."""
        return {document.id: document for document in self.documents}

    @cached_property
    def index(self) -> BM25:
        """The corpus by its words."""
        return BM25(document.titled_text for document in self.documents)

    def neighbours(self, text: str, without: set[str], part: Part) -> Iterator[Document]:
        """Documents of the same topic, the nearest first; none that is tested, but for the test."""
        ranked = np.argsort(-self.index.scores(text), kind="stable")
        for place in ranked:
            document = self.documents[place]
            if document.id not in without and self.may_show(document.id, part):
                yield document

    def may_show(self, pmid: str, part: Part) -> bool:
        """Whether a document may be a source: for training none that a question of another part has for its gold."""
        return part == "test" or (self.usable(pmid) and (part == "dev" or pmid not in self.chosen_by))

    @cached_property
    def chosen_by(self) -> set[str]:
        """The gold documents of development questions."""
        return {pmid_of(address) or "" for question in self.questions["dev"] for address in question["documents"]}

    def usable(self, pmid: str) -> bool:
        """Whether a document may be trained on."""
        return not self.guard.refuses_document(f"pmid:{pmid}", "attribution")

    def asked(self, part: Part, seed: int = 0, answers: int = 1) -> Iterator[Asked]:
        """The questions of a part in an order of chance; those that have an answer and a gold document at hand."""
        draw = random.Random(f"{seed}|{part}")
        questions = list(self.questions[part])
        draw.shuffle(questions)
        for item in questions:
            ideal = item.get("ideal_answer") or []
            for number, text in enumerate(([ideal] if isinstance(ideal, str) else ideal)[:answers]):
                found = self._one(item, " ".join(text.split()), number, part, draw)
                if found is not None:
                    yield found

    def _one(self, item: Any, text: str, number: int, part: Part, draw: random.Random) -> Asked | None:
        told: dict[str, list[str]] = {}
        for snippet in item.get("snippets", ()):
            told.setdefault(pmid_of(snippet["document"]) or "", []).append(snippet["text"])
        gold = [id for id in told if id in self.by_id and self.may_show(id, part)]
        if not text or not gold:
            return None
        every = {pmid_of(address) or address for address in item["documents"]} | set(told)
        chosen = [self.by_id[id] for id in draw.sample(gold, min(GOLD, len(gold)))]
        near = self.neighbours(item["body"], every, part)
        chosen += [next(near) for _ in range(SOURCES - len(chosen))]
        draw.shuffle(chosen)
        id = item["id"] if number == 0 else f"{item['id']}-{number + 1}"
        claims = parse_answer(id, text, chosen, item["body"]).claims
        whole = tuple((place, claim.text) for place, claim in enumerate(claims))
        sentences = tuple((place, text) for place, text in whole if len(text.split()) >= LEAST_WORDS)
        if not sentences:
            return None
        sources = tuple(ExampleSource(id=it.id, title=it.title, text=it.text) for it in chosen)
        snippets = {place: told[it.id] for place, it in enumerate(sources, start=1) if it.id in told}
        return Asked(id, item["body"], sentences, whole, sources, snippets)


def sampled(asked: Iterator[Asked], sentences: int, most: int, seed: int) -> Iterator[Asked]:
    """Questions until there are so many sentences, at most a few of each."""
    draw = random.Random(seed)
    left = sentences
    for one in asked:
        if left <= 0:
            return
        chosen = sorted(draw.sample(one.sentences, min(most, left, len(one.sentences))))
        left -= len(chosen)
        yield replace(one, sentences=tuple(chosen))


def written(asked: Sequence[Asked]) -> Iterator[str]:
    """A task's lines."""
    for one in asked:
        yield (
            json.dumps(
                {
                    "id": one.id,
                    "question": one.question,
                    "sentences": [[number, hash_of(text), text] for number, text in one.sentences],
                    "sources": [source.model_dump(mode="json") for source in one.sources],
                    "snippets": {str(place): texts for place, texts in one.snippets.items()},
                },
                ensure_ascii=False,
            )
            + "\n"
        )

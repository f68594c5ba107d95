"""Abstracts without labels: what their title, their conclusion and their results say, as claims before the rest."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from mix.example import Example
from mix.folder import Row
from mix.passages import (
    Nearest,
    Rarity,
    abstract,
    clean,
    declarative_title,
    finding,
    joined,
    reports,
    result_window,
    sentences,
    window,
)
from mix.recipe import Harvest, MixConfig, Shelf, blank

_TRIAL = re.compile(r"\bNCT\d{8}\b")
_NUMBER = re.compile(r"\d")
_TITLE_COVERED = 0.55
_CONCLUSION_COVERED = 0.6
_APART = 0.3
_TOO_NEAR = 0.65


@dataclass(frozen=True, slots=True)
class OpenDocument:
    """A document that no test knows, sentence by sentence."""

    key: str
    title: str
    sentences: list[str]


def corpus(shelf: Shelf) -> Harvest:
    """Titles, conclusions and results of the corpus and of SciFact's abstracts."""
    harvest, dice = Harvest(), shelf.dice("corpus")
    documents = open_documents(shelf)
    texts = [(sentence, document.key) for document in documents for sentence in document.sentences]
    rarity = Rarity(text for text, _ in texts)
    nearest = Nearest([text for text, _ in texts], [key for _, key in texts])
    harvest.note("documents", len(documents))
    labelled = labelled_elsewhere(shelf)
    for document in documents:
        # A dozen groups of ten thousand suffice: these pairs are weak, their dev part only shows the twins.
        # A document that another set has labels for goes where that set's split puts it.
        apart = document.key not in labelled
        dev = "corpus_dev" if apart and shelf.is_dev(f"corpus:{document.key}", 0.3 * shelf.config.dev_share) else None
        for example in _claims(document, rarity, dice, shelf.config):
            harvest.add([example], dev)
            if example.label == "neutral":
                continue
            found = nearest.find(example.claim, document.key, 3)
            near = [texts[index][0] for index in found]
            harvest.add(_negatives(example, document, near, rarity, dice, shelf.config.near_negatives), dev)
    return harvest


def labelled_elsewhere(shelf: Shelf) -> set[str]:
    """Documents that CliniFact, Evidence Inference and SciFact have labels for: these sets' splits place them."""
    data = shelf.data
    found = {f"pmid:{row['pmid']}" for row in data.corpus if row["source"] == "clinifact"}
    found |= {f"pmid:{row['pmid']}" for row in data.jsonl("evidence_inference/v2_claims.jsonl")}
    claims = data.jsonl("scifact/data/claims_train.jsonl")
    return found | {f"scifact:{number}" for row in claims for number in row["cited_doc_ids"]}


@lru_cache(maxsize=1)
def open_documents(shelf: Shelf) -> tuple[OpenDocument, ...]:
    """The whole abstracts of the corpus, and SciFact's, that no test knows and that are not left out.

    Kept, so that drops are counted once.
    """
    return tuple(_documents(shelf))


def _documents(shelf: Shelf) -> Iterator[OpenDocument]:
    licences = {row["pmid"]: row for row in shelf.data.jsonl("evidence_inference/abstracts.jsonl")}
    left_out = {row["pmid"] for row in shelf.data.corpus if row["source"] in shelf.without}
    for row in shelf.data.corpus:
        if row["source"] == "pubmedqa" or row["pmid"] in left_out:  # PubMedQA has its own rules
            continue
        if shelf.permissive and row["source"] == "evidence_inference" and not may_ship(licences.get(row["pmid"])):
            continue
        key = f"pmid:{row['pmid']}"
        if not refused(shelf, key, row["title"], row["abstract"]):
            yield OpenDocument(key, clean(row["title"]), sentences(row["abstract"]))
    if "scifact" in shelf.without:
        return
    for row in shelf.data.jsonl("scifact/data/corpus.jsonl"):
        key = f"scifact:{row['doc_id']}"
        if not refused(shelf, key, row["title"], " ".join(row["abstract"])):
            yield OpenDocument(key, clean(row["title"]), [clean(sentence) for sentence in row["abstract"]])


def refused(shelf: Shelf, key: str, title: str, text: str) -> bool:
    """Whether a test knows the document, its title, or a trial that it names."""
    if shelf.guard.refuses_document(key, "corpus", title):
        return True
    return any(shelf.guard.refuses_document(f"nct:{trial}", "corpus") for trial in _TRIAL.findall(text))


def _claims(document: OpenDocument, rarity: Rarity, dice: random.Random, config: MixConfig) -> Iterator[Example]:
    body = document.sentences
    if len(body) < 5:
        return
    group = f"corpus:{document.key}"
    if title := declarative_title(document.title):
        yield from _weak(blank(title, "entails", "corpus", "title", group, document.key), body, rarity, _TITLE_COVERED)
    last = len(body) - 1
    if claim := finding(body[last]):
        start = blank(claim, "entails", "corpus", "conclusion", group, document.key)
        yield from _weak(start, body[:last], rarity, _CONCLUSION_COVERED)
    usable = [index for index in range(len(body) // 3, last) if finding(body[index]) and reports(body[index])]
    telling = [index for index in usable if _NUMBER.search(body[index])]
    pool = telling if telling and dice.random() < 0.6 else usable
    for index in dice.sample(pool, min(config.extracts_per_document, len(pool))):
        claim = finding(body[index])
        start = blank(claim, "entails", "corpus", "extract", group, document.key)
        # What stands beside a result is of its topic, style and length, and hardly ever says the same.
        beside = joined(body, [index - 1, index + 1])
        if beside and rarity.coverage(claim, beside) < _TOO_NEAR and dice.random() < 0.7:
            yield replace(start, premise=beside, label="neutral", kind="neighbour")
        short = dice.random() < 0.4
        yield replace(start, premise=body[index] if short else window(body, [index]))


def _weak(start: Example, body: list[str], rarity: Rarity, least: float) -> Iterator[Example]:
    """The three sentences in a row that have most of the claim, if they have enough of it."""
    best, covered = result_window(start.claim, body, rarity)
    if covered >= least:
        yield replace(start, premise=joined(body, best))


def _negatives(
    example: Example, document: OpenDocument, near: list[str], rarity: Rarity, dice: random.Random, count: int
) -> list[Example]:
    """As long as the positive, as near in topic: of other abstracts, and of the early part of its own."""
    start = replace(example, label="neutral", kind="near")
    usable = [text for text in near if rarity.coverage(example.claim, text) < _TOO_NEAR and len(text.split()) > 7]
    count = count if dice.random() < 0.35 else 0
    found = [replace(start, premise=text) for text in usable[:count]]
    early = document.sentences[: len(document.sentences) // 2]
    apart = [text for text in early if 0.05 < rarity.coverage(example.claim, text) < _APART and text != example.premise]
    if apart and dice.random() < 0.25:
        found.append(replace(start, premise=dice.choice(apart), kind="same-abstract"))
    if dice.random() < 0.1 and example.kind in ("title", "conclusion"):
        body = document.sentences if example.kind == "title" else document.sentences[:-1]
        found.append(replace(example, premise=abstract(body), kind="abstract"))
    return found


def may_ship(article: Row | None) -> bool:
    """Whether an article's licence, as far as it is stated, allows commercial use."""
    licence = ((article or {}).get("license") or "").lower().replace("-", "").replace(" ", "")
    return bool(licence) and "noncommercial" not in licence and "bync" not in licence

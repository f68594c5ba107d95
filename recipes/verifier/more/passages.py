"""Claims before passages of texts that are not their own, for teachers to judge.

The mix sets most claims before the text that they were taken from or written about. Users' claims meet what a search
finds: other texts on the same matter, which support them, contradict them or leave them open. So each claim is
searched for in the corpus, by BM25 as the package does, and stands before the best passage of each of the first ten
documents. Nobody labelled these pairs: ``release teach`` has teachers judge them, and is resumable as this is.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from mix.corpus import OpenDocument, open_documents
from mix.folder import DataFolder
from mix.guard import Guard, forbidden
from mix.passages import Rarity, joined
from mix.recipe import MixConfig, Shelf
from more.rows import Kept, Row, read_rows
from vericite.lab.train.data import UNLABELLED
from vericite.retrieve.local import BM25

SEED = 51
PASSAGES = 10
"""Documents that a claim is set before."""
LEAST_COVERED = 0.15
"""Of a claim's telling words that a passage must have: with less there is nothing to judge."""
SIZES = (1, 1, 2, 3)
"""Sentences of a passage."""
CLAIM_WORDS = range(4, 46)
SHARES = {
    "written": 0.5, "corpus": 0.5, "bioasq": 1.0, "pubmedqa": 1.0, "scifact": 1.0, "healthver": 1.0, "covidfact": 0.5,
    "clinifact": 1.0,
}  # fmt: skip
"""Of the claims of each source. Those of trials' records, web pages and Wikipedia do not fit the corpus."""
DANGLING = frozenset("it they this these those he she however thus also both such its their there".split())
"""First words of a claim that means something only behind another."""
MADE = frozenset({"conjoined", "same-text", "opposite", "denied", "other", "alike"})
QUESTIONS = ("medlfqa/MedLFQA/live_qa_test_MedLFQA.jsonl", "medlfqa/MedLFQA/medication_qa_test_MedLFQA.jsonl",
             "medlfqa/MedLFQA/kqa_silver_wogold_test_MedLFQA.jsonl")  # fmt: skip
STATEMENTS = ("Must_have", "Nice_to_have")


def claims(mix: Path, data: DataFolder) -> list[Row]:
    """Claims of the mix and statements of MedLFQA, each once, in an order that mixes the sources."""
    found: dict[str, Row] = {}
    for row in read_rows(mix / "train.jsonl"):
        drawn = random.Random(f"{SEED}|claim|{row['claim']}").random()
        made_by_rule = bool(row.get("twin")) and row["source"] != "written"
        if row["kind"] in MADE or made_by_rule or drawn >= SHARES.get(row["source"], 0.0):
            continue
        found.setdefault(row["claim"], {"claim": row["claim"], "source": row["source"], "group": row["group"]})
    for name in QUESTIONS:
        for number, asked in enumerate(data.jsonl(name)):
            for text in (text for key in STATEMENTS for text in asked.get(key) or []):
                group = f"medlfqa:{Path(name).stem}:{number}"
                found.setdefault(text, {"claim": text, "source": "medlfqa", "group": group})
    kept = [row for row in found.values() if stands_alone(row["claim"])]
    random.Random(SEED).shuffle(kept)
    return kept


def stands_alone(claim: str) -> bool:
    """Whether a claim is one that can be searched for."""
    words = claim.split()
    return len(words) in CLAIM_WORDS and words[0].lower().strip(",") not in DANGLING and not claim.endswith("?")


class Passages:
    """The corpus, searched for passages near a claim.

    Args:
        documents: Texts that no test and no dev file knows.
    """

    def __init__(self, documents: Iterable[OpenDocument]) -> None:
        self._documents = [document for document in documents if len(document.sentences) > 2]
        self._search = BM25(f"{document.title} {' '.join(document.sentences)}" for document in self._documents)
        self._rarity = Rarity(sentence for document in self._documents for sentence in document.sentences)

    def near(self, claim: str, apart: frozenset[str], dice: random.Random) -> Iterator[tuple[str, str]]:
        """The best passage of each of the first documents, with the document's key."""
        scores = self._search.scores(claim)
        first = np.argsort(-scores, kind="stable")[: PASSAGES + len(apart)]
        found = 0
        for document in (self._documents[place] for place in first if scores[place] > 0):
            if document.key in apart or found == PASSAGES:
                continue
            size = dice.choice(SIZES)
            runs = range(max(1, len(document.sentences) - size + 1))
            texts = [joined(document.sentences, list(range(start, start + size))) for start in runs]
            best = max(texts, key=lambda text: self._rarity.coverage(claim, text))
            if self._rarity.coverage(claim, best) >= LEAST_COVERED:
                found += 1
                yield document.key, best


def own_documents(row: Row) -> frozenset[str]:
    """The documents that a claim was made from, by its group."""
    key = row["group"].removeprefix("corpus:").removeprefix("written:")
    return frozenset({key, f"pmid:{key.rsplit(':', 1)[-1]}"})


def passages(data: DataFolder, mix: Path, out: Path, most: int) -> str:
    """Write up to ``most`` rows, a claim's together; run again, it continues behind the last claim that is complete."""
    kept = Kept(data, sorted((mix / "dev").glob("*.jsonl")))
    asked = [row for row in claims(mix, data) if kept.allows({**row, "premise": ""})]
    shelf = Shelf(data, MixConfig(), Guard(forbidden(data, ())), 0)
    apart = [
        OpenDocument(document.key, document.title, document.sentences)
        for document in open_documents(shelf)
        if not any(kept.premise_reason(sentence) for sentence in document.sentences)
    ]
    done = finished(out)
    search = Passages(apart)
    counts: Counter[str] = Counter()
    with out.open("a", encoding="utf-8") as file:
        for row in asked:
            if sum(done.values()) + sum(counts.values()) >= most:
                break
            if row["claim"] in done:
                continue
            dice = random.Random(f"{SEED}|passages|{row['claim']}")
            start = {**row, "label": "neutral", "kind": UNLABELLED}
            rows = [{"premise": text, **start} for _, text in search.near(row["claim"], own_documents(row), dice)]
            file.writelines(json.dumps(found, ensure_ascii=False) + "\n" for found in rows)
            counts[row["source"]] += len(rows)
    lines = [f"{source:12} {count:7} rows" for source, count in sorted(counts.items())]
    lines.append(f"{len(asked)} claims, {len(apart)} documents; {sum(done.values())} rows were there before")
    return "\n".join([*lines, kept.report()])


def finished(path: Path) -> dict[str, int]:
    """Rows of the claims that are complete; those of the last claim, which may not be, are taken out of the file."""
    if not path.is_file():
        return {}
    lines = path.read_bytes().split(b"\n")
    whole = [(line, json.loads(line)["claim"]) for line in lines[:-1]]
    last = whole[-1][1] if whole else None
    kept = [(line, claim) for line, claim in whole if claim != last]
    part = path.with_name(path.name + ".part")
    part.write_bytes(b"".join(line + b"\n" for line, _ in kept))
    os.replace(part, path)
    counts: defaultdict[str, int] = defaultdict(int)
    for _, claim in kept:
        counts[claim] += 1
    return dict(counts)

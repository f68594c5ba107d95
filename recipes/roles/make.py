"""Makes the model that tells what a sentence of an abstract is: background, aim, method, result or conclusion.

    python recipes/roles/make.py DATA OUT [--words N]

DATA is the folder of data sets. Abstracts that print their section labels give the labels: those of the corpus, of
PubMedQA's training half and of the MEDLINE sample. A fifth of them, drawn by title, is held out and scored. OUT is the
file of weights that ``vericite.text.roles`` reads.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import classification_report, f1_score

from vericite.corpus.pubmed.read import read_pubmed
from vericite.records import Document
from vericite.text.roles import ROLES, features, label_role
from vericite.text.sentences import document_sentences

LABEL = re.compile(r"(?:^|(?<=[.!?] ))([A-Z][A-Z ,&/]{3,40}):\s+")
HELD_OUT = 0.2
SHARE = 0.35
"""Of training abstracts that are also shown without their last or first sentences, as stitched abstracts are."""

Abstract = list[tuple[str, str]]
"""Sentences with their roles."""


def from_labels(text: str) -> Abstract:
    """The sentences of a text that prints its labels in it; none where it has fewer than three labels."""
    marks = list(LABEL.finditer(text))
    if len(marks) < 3 or marks[0].start() != 0:
        return []
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    parts = [(mark[1], text[mark.end() : end].strip()) for mark, end in zip(marks, ends, strict=True)]
    return from_parts(parts)


def from_parts(parts: list[tuple[str, str]]) -> Abstract:
    """The sentences of labelled parts; none where a label is none that we know."""
    found: Abstract = []
    for label, text in parts:
        role = label_role(label)
        if role is None:
            return []
        document = Document.from_text("x", text)
        for sentence in document_sentences(document):
            words = sentence.text_in(document)
            found.append((words, "aim" if role == "background" and AIM.search(words) else role))
    return found


AIM = re.compile(
    r"\b(?:aim(?:s|ed)?|objectives?|purpose|goal|hypothesi[sz]ed?)\b|\bwe (?:sought|investigated|examined|evaluated|"
    r"assessed|tested|studied|compared|conducted)\b|\bto (?:determine|investigate|evaluate|assess|examine|compare) ",
    re.IGNORECASE,
)
"""Aims that are printed under Background, as half of all abstracts have them."""


def abstracts(data: Path) -> Iterator[tuple[str, Abstract]]:
    """Every labelled abstract with its title."""
    with gzip.open(data / "corpus" / "pubmed_corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            held = json.loads(line)
            yield held["title"] or held["abstract"][:80], from_labels(held["abstract"])
    asked = json.loads((data / "pubmedqa" / "ori_pqal.json").read_text(encoding="utf-8"))
    test = json.loads((data / "pubmedqa" / "test_ground_truth.json").read_text(encoding="utf-8"))
    for pmid, entry in asked.items():
        if pmid not in test:
            parts = [*zip(entry["LABELS"], entry["CONTEXTS"], strict=True), ("CONCLUSIONS", entry["LONG_ANSWER"])]
            yield entry["QUESTION"], from_parts(parts)
    for record in read_pubmed(data / "pubmed_baseline" / "medline16n0902.xml.gz"):
        if isinstance(record, Document) and len(record.sections) > 2:
            yield record.title, from_parts([(section.label or "?", section.text) for section in record.sections])


def matrix(rows: list[list[str]], words: dict[str, int]) -> csr_matrix:
    """Features as columns."""
    pairs = [(row, words[name]) for row, names in enumerate(rows) for name in set(names) if name in words]
    ones = np.ones(len(pairs), dtype=np.float32)
    return csr_matrix((ones, tuple(zip(*pairs, strict=True))), shape=(len(rows), len(words)))


def cut(abstract: Abstract, chance: random.Random) -> Abstract:
    """A run of its sentences, as a text stitched from snippets has it."""
    length = chance.randint(1, max(1, len(abstract) // 2))
    start = chance.randint(0, len(abstract) - length)
    return abstract[start : start + length]


def rows_of(groups: list[Abstract]) -> tuple[list[list[str]], list[str]]:
    """Features and role of every sentence."""
    rows, roles = [], []
    for abstract in groups:
        for place, (text, role) in enumerate(abstract):
            rows.append(features(text, place, len(abstract)))
            roles.append(role)
    return rows, roles


def say(*parts: object) -> None:
    """A line of the report."""
    sys.stdout.write(" ".join(map(str, parts)) + "\n")


def main(arguments: list[str] | None = None) -> int:
    """Train, score and write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--words", type=int, default=4000, help="features that are kept")
    parser.add_argument("--c", type=float, default=0.3, help="inverse strength of regularisation")
    given = parser.parse_args(arguments)
    groups: dict[str, list[Abstract]] = defaultdict(list)
    seen: set[str] = set()
    for title, abstract in abstracts(given.data):
        key = re.sub(r"\W+", "", title).lower()
        if len(abstract) < 4 or key in seen:
            continue
        seen.add(key)
        held_out = int(sha256(key.encode()).hexdigest(), 16) % 100 < HELD_OUT * 100
        groups["held out" if held_out else "train"].append(abstract)
    chance = random.Random(5)
    train = groups["train"] + [cut(it, chance) for it in groups["train"] if chance.random() < SHARE]
    rows, roles = rows_of(train)
    counts = Counter(name for row in rows for name in set(row))
    words = {name: index for index, (name, _) in enumerate(counts.most_common(given.words))}
    model = LogisticRegression(C=given.c, max_iter=400)
    model.fit(matrix(rows, words), roles)
    for name, tests in (("whole", groups["held out"]), ("pieces", [cut(it, chance) for it in groups["held out"]])):
        tested, gold = rows_of(tests)
        said = model.predict(matrix(tested, words))
        say(
            name,
            len(tests),
            "abstracts",
            len(gold),
            "sentences, macro-F1",
            round(f1_score(gold, said, average="macro"), 4),
        )
        say(classification_report(gold, said, digits=3))
    order = [list(model.classes_).index(role) for role in ROLES]
    weights = {name: [round(float(model.coef_[k][index]), 2) for k in order] for name, index in words.items()}
    weights = {name: values for name, values in weights.items() if max(map(abs, values)) >= 0.05}
    weights["(bias)"] = [round(float(model.intercept_[k]), 2) for k in order]
    given.out.write_text(
        json.dumps(dict(sorted(weights.items())), ensure_ascii=False, separators=(",", ":")).replace("],", "],\n")
        + "\n",
        encoding="utf-8",
    )
    say(f"{len(groups['train'])} abstracts, {len(rows)} sentences; {len(weights)} weights")
    return 0


if __name__ == "__main__":
    sys.exit(main())

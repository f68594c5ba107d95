"""Other sources: the right source of a swapped citation, and the articles that support and contradict a claim.

    python benchmarks/otherwise.py swapped [--answers 100] [--seed 0] [--show]
    python benchmarks/otherwise.py articles [--data ../shared/data] [--claims N] [--part test|train] [--out FILE]

``swapped`` makes answers of our own texts, half of each kind: statements of the demonstration corpus without their
asides, with the neighbours of their abstract as further sources; and statements of the clusters of abstracts on one
subject in ``recipes/answers/written``. In each answer two sentences swap their citations. A swap is named if
``check.explain`` names the right source, and no other, next to its sentence. Exits with 1 if fewer than the bar are
named. The row ``paraphrase`` is apart: claims of ``cases/robustness.jsonl``, which say their source in other words,
five short sources an answer.

``articles`` searches for the claims of SciFact (dev) and HealthVer (dev and test) that a document contradicts, in one
corpus: the abstracts of both sets and those of ``corpus``. A claim's recall at 3 is the share of its contradicting
documents among three, of at most three. It is told for plain BM25, for what ``vericite evidence`` lists, and for its
ranking without the bars, each with the paired difference to BM25 and its bootstrap interval over claims. Of what is
listed and labelled for the claim, it is told how much supports it or says nothing. The corpus has other documents that
contradict a claim and are not labelled. Exits with 1 if the ranking is not above BM25 beyond noise; the list has fewer
than three documents where fewer are sure. ``--part train`` has the claims on which the bars were chosen.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import repair
from vericite.corpus import demo_documents, demo_vectors
from vericite.models import Embedder
from vericite.pipeline.check import check_many, verifier_for
from vericite.pipeline.evidence import EvidenceFinder, JudgedDocument, contradicting
from vericite.pipeline.search import Search
from vericite.records import Answer, CheckedAnswer, Document, Question, RateTally
from vericite.retrieve import CANDIDATES
from vericite.retrieve.local import MemoryRetriever
from vericite.text.citations import parse_answer
from vericite.verify.protocol import DEFAULT

NAMED_BAR = 0.85
_HERE = Path(__file__).parent
_CLUSTERS = _HERE.parent / "recipes" / "answers" / "written"
_SENTENCES = 4
_APART = "paraphrase"
_AT_ONCE = 8


@dataclass(frozen=True)
class Swapped:
    """An answer of sentences, each with the number of its right source and of the one that it cites."""

    kind: str
    documents: tuple[Document, ...]
    sentences: tuple[tuple[str, int, int], ...]

    @property
    def answer(self) -> Answer:
        """The answer with its markers."""
        text = " ".join(f"{text.rstrip('.')} [{cited}]." for text, _, cited in self.sentences)
        return parse_answer(self.kind, text, self.documents)


def swapped_answers(count: int, drawn: random.Random) -> list[Swapped]:
    """Return answers with two citations swapped: half of each kind, and all paraphrases."""
    found: list[Swapped] = []
    for kind, make in (("demonstration", _demonstration), ("cluster", _clusters), (_APART, _paraphrases)):
        sound = list(make(drawn))
        drawn.shuffle(sound)
        made = list(_swapped(kind, sound, drawn))
        found += made if kind == _APART else made[: count // 2]
    return found


Told = tuple[Sequence[Document], Sequence[tuple[str, int]]]
"""Documents, and sentences with the number of their document."""


def _swapped(kind: str, sound: Sequence[Told], drawn: random.Random) -> Iterator[Swapped]:
    for documents, told in sound:
        chosen = list(told)
        drawn.shuffle(chosen)
        # Two of different sources first.
        second = next((at for at, (_, place) in enumerate(chosen) if place != chosen[0][1]), None) if chosen else None
        if second is None:
            continue
        pair = [chosen[0], chosen.pop(second)]
        rest = chosen[1 : _SENTENCES - 1]
        (first, one), (other, two) = pair
        sentences = [(first, one, two), (other, two, one), *((text, place, place) for text, place in rest)]
        drawn.shuffle(sentences)
        made = Swapped(kind, tuple(documents), tuple(sentences))
        if [claim.text for claim in made.answer.claims] == [text for text, _, _ in sentences]:
            yield made


def _demonstration(drawn: random.Random) -> Iterator[Told]:
    retriever = MemoryRetriever(demo_documents(), Embedder.shared(), demo_vectors())
    for document in demo_documents():
        near = [hit.document for hit in retriever.retrieve(Question(id="q", text=document.title), repair.SOURCES)]
        documents = list(dict.fromkeys([document, *near]))[: repair.SOURCES]
        drawn.shuffle(documents)
        yield documents, _statements(documents)


def _clusters(_: random.Random) -> Iterator[Told]:
    for file in sorted(_CLUSTERS.glob("*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                cluster = json.loads(line)
                documents = [
                    Document.from_text(
                        f"{cluster['id']}-{number}", " ".join(text for _, text in row["sentences"]), row["title"]
                    )
                    for number, row in enumerate(cluster["documents"])
                ]
                yield documents, _statements(documents)


def _statements(documents: Sequence[Document]) -> list[tuple[str, int]]:
    """Return the statements of documents that no other of them has."""
    told = [(text, place) for place, document in enumerate(documents, start=1) for text in repair.statements(document)]
    texts = [text for text, _ in told]
    return [(text, place) for text, place in told if texts.count(text) == 1]


def _paraphrases(drawn: random.Random) -> Iterator[Told]:
    rows = [json.loads(line) for line in (_HERE / "cases" / "robustness.jsonl").read_text("utf-8").splitlines()]
    by_premise = {row["premise"]: row for row in rows}
    rows = list(by_premise.values())
    drawn.shuffle(rows)
    size = repair.SOURCES
    for start in range(0, len(rows) - size + 1, size):
        five = rows[start : start + size]
        documents = [Document.from_text(row["id"], row["premise"]) for row in five]
        yield documents, [(row["supported"], place) for place, row in enumerate(five, start=1)]


def run_swapped(options: argparse.Namespace, console: Console) -> bool:
    """Show how many swaps are named with the right source, and how many sound sentences are given another."""
    made = swapped_answers(options.answers, random.Random(options.seed))
    begun = time.perf_counter()
    checked = list(check_many([item.answer for item in made], explain=True))
    seconds = time.perf_counter() - begun
    names = ("named", "not rejected", "no source", "wrong source", "sound with another")
    tallies: dict[str, dict[str, RateTally]] = {}
    for item, found in zip(made, checked, strict=True):
        for kind in (item.kind, *(["both"] if item.kind != _APART else [])):
            for name, counts in outcomes(item, found).items():
                tallies.setdefault(kind, {name: RateTally() for name in names})[name].add(*counts)
        if options.show:
            _show(console, item, found)
    table = Table("answers", "swaps", *names, box=None)
    for kind, row in tallies.items():
        table.add_row(kind, str(row["named"].n), *(repair.told(row[name].rate) for name in names))
    console.print(table)
    named = tallies["both"]["named"].rate.value or 0.0
    console.print(
        f"{len(made)} answers, {seconds:.1f} s; bar: named {NAMED_BAR:.2f}: {'met' if named >= NAMED_BAR else 'missed'}"
    )
    return named >= NAMED_BAR


def outcomes(made: Swapped, checked: CheckedAnswer) -> dict[str, tuple[int, int]]:
    """Count what became of the swapped sentences, and how many sound ones are given another source."""
    verdicts = {(verdict.start, verdict.end): verdict for verdict in checked.verdicts}
    found = dict.fromkeys(("named", "not rejected", "no source", "wrong source"), 0)
    swaps = sound = sound_with_another = 0
    for claim, (_, right, cited) in zip(made.answer.claims, made.sentences, strict=True):
        verdict = verdicts[claim.span.start, claim.span.end]
        others = {source.marker for source in verdict.supported_by}
        if right == cited:
            sound += 1
            sound_with_another += bool(others)
            continue
        swaps += 1
        accepted = verdict.label == "supported" or verdict.abstained
        kind = (
            "not rejected" if accepted else "named" if others == {right} else "wrong source" if others else "no source"
        )
        found[kind] += 1
    return {name: (count, swaps) for name, count in found.items()} | {"sound with another": (sound_with_another, sound)}


SETS = {
    "scifact": ("scifact/data", {"test": ("dev",)}),
    "healthver": ("healthver/multivers", {"test": ("dev", "test")}),
}


@dataclass(frozen=True)
class Contradicted:
    """A claim with its documents by label."""

    set: str
    text: str
    against: frozenset[str]
    supporting: frozenset[str]
    silent: frozenset[str]


def contradicted_claims(data: Path, part: str) -> list[Contradicted]:
    """Return the claims that at least one document contradicts."""
    found: list[Contradicted] = []
    for name, (folder, parts) in SETS.items():
        for file in parts.get(part, (part,)):
            for line in (data / folder / f"claims_{file}.jsonl").read_text("utf-8").splitlines():
                row = json.loads(line)
                labels: dict[str, set[str]] = {"CONTRADICT": set(), "SUPPORT": set()}
                for document, passages in row["evidence"].items():
                    for passage in passages:
                        labels[passage["label"]].add(f"{name}:{document}")
                against, supporting = labels["CONTRADICT"] - labels["SUPPORT"], labels["SUPPORT"]
                cited = {f"{name}:{document}" for document in row.get("doc_ids") or row.get("cited_doc_ids") or ()}
                rest = cited - labels["CONTRADICT"] - supporting
                if against:
                    sets = (frozenset(against), frozenset(supporting), frozenset(rest))
                    found.append(Contradicted(name, row["claim"].strip(), *sets))
    return found


def corpus_of(data: Path) -> list[Document]:
    """Return the documents of both sets and of the shared corpus."""
    found: dict[str, Document] = {}
    with gzip.open(data / "corpus" / "pubmed_corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            found[row["pmid"]] = Document.from_text(row["pmid"], row["abstract"], row["title"])
    for name, (folder, _) in SETS.items():
        for row in map(json.loads, (data / folder / "corpus.jsonl").read_text("utf-8").splitlines()):
            id = f"{name}:{row['doc_id']}"
            found[id] = Document.from_text(id, " ".join(row["abstract"]), row["title"])
    return list(found.values())


Ranked = dict[str, list[str]]
"""The first documents by each way."""
WAYS = ("bm25", "listed", "ranking")


def run_articles(options: argparse.Namespace, console: Console) -> bool:
    """Show the recall of contradicting documents, by set and pooled."""
    claims = contradicted_claims(options.data, options.part)
    drawn = random.Random(options.seed)
    claims = claims if options.claims is None else drawn.sample(claims, min(options.claims, len(claims)))
    search = Search(MemoryRetriever(corpus_of(options.data), by="bm25"))
    finder = EvidenceFinder(search, verifier_for(DEFAULT), candidates=options.candidates)
    begun, found = time.perf_counter(), list[Ranked]()
    for start in range(0, len(claims), _AT_ONCE):
        batch = claims[start : start + _AT_ONCE]
        for claim, judged in zip(batch, finder.candidates([claim.text for claim in batch]), strict=True):
            assert not isinstance(judged, str), judged
            found.append(_ranked(search, claim, judged))
        print(f"{len(found)} of {len(claims)}", file=sys.stderr)
    seconds = (time.perf_counter() - begun) / len(claims)
    if options.out:
        options.out.write_text(
            "".join(json.dumps({"claim": c.text, **f}) + "\n" for c, f in zip(claims, found, strict=True))
        )
    table = Table(
        "set", "claims", *(f"recall at 3, {way}" for way in WAYS), "listed - bm25", "ranking - bm25", box=None
    )
    above = False
    for name in (*SETS, "both"):
        rows = [(c, f) for c, f in zip(claims, found, strict=True) if name in (c.set, "both")]
        recalls = {way: np.array([recall(claim.against, ranked[way]) for claim, ranked in rows]) for way in WAYS}
        gains = [paired(recalls[way] - recalls["bm25"]) for way in WAYS[1:]]
        table.add_row(
            name,
            str(len(rows)),
            *(f"{recalls[way].mean():.3f}" for way in WAYS),
            *(f"{mean:+.3f} [{low:+.3f}, {high:+.3f}]" for mean, low, high in gains),
        )
        above = gains[1][1] > 0
    console.print(table)
    _show_listed(console, claims, found)
    console.print(f"{seconds:.2f} s a claim; bar: ranking above BM25 beyond noise: {'met' if above else 'missed'}")
    return above


def _ranked(search: Search, claim: Contradicted, judged: Sequence[JudgedDocument]) -> Ranked:
    question = Question(id="claim", text=claim.text)
    surest = sorted(judged, key=lambda item: -item.score("contradicted"))
    return {
        "bm25": [hit.document.id for hit in search.find(question, 3).evidence],
        "listed": [article.id for article in contradicting(judged)][:3],
        "ranking": [item.hit.document.id for item in surest[:3]],
    }


def recall(gold: frozenset[str], found: Sequence[str]) -> float:
    """Return the share of the gold documents, of at most three, among the first three."""
    return len(gold & set(found[:3])) / min(3, len(gold))


def paired(differences: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the mean of paired differences with its 95 % bootstrap interval."""
    drawn = np.random.default_rng(0).integers(len(differences), size=(2000, len(differences)))
    low, high = np.quantile(differences[drawn].mean(axis=1), [0.025, 0.975])
    return float(differences.mean()), float(low), float(high)


def _show_listed(console: Console, claims: Sequence[Contradicted], found: Sequence[Ranked]) -> None:
    pairs = [(claim, id) for claim, ranked in zip(claims, found, strict=True) for id in ranked["listed"]]
    against = sum(id in claim.against for claim, id in pairs)
    supporting = sum(id in claim.supporting for claim, id in pairs)
    silent = sum(id in claim.silent for claim, id in pairs)
    console.print(
        f"listed {len(pairs)} documents for {len(claims)} claims; of the {against + supporting + silent} labelled for "
        f"their claim {against} contradict it, {supporting} support it, {silent} say nothing"
    )


def _show(console: Console, made: Swapped, checked: CheckedAnswer) -> None:
    for verdict, (text, right, cited) in zip(checked.verdicts, made.sentences, strict=False):
        if right != cited and {source.marker for source in verdict.supported_by} != {right}:
            console.print(f"{verdict.label} [{cited}] for [{right}] {verdict.elsewhere!r}: {text}", markup=False)


def main() -> int:
    """Run one of the parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="what", required=True)
    swapped = parts.add_parser("swapped")
    swapped.add_argument("--answers", type=int, default=100)
    swapped.add_argument("--seed", type=int, default=0)
    swapped.add_argument("--show", action="store_true", help="print the swaps that are not named")
    articles = parts.add_parser("articles")
    articles.add_argument("--data", type=Path, default=_HERE.parent.parent / "shared" / "data")
    articles.add_argument("--claims", type=int, help="draw this many claims")
    articles.add_argument("--candidates", type=int, default=CANDIDATES)
    articles.add_argument("--part", choices=("test", "train"), default="test")
    articles.add_argument("--seed", type=int, default=0)
    articles.add_argument("--out", type=Path, help="write the documents of each claim here")
    options = parser.parse_args()
    console = Console(width=150)
    return 0 if {"swapped": run_swapped, "articles": run_articles}[options.what](options, console) else 1


if __name__ == "__main__":
    sys.exit(main())

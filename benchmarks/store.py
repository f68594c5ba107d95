"""The store beside tantivy and bm25s: building, memory, disk and searches a second, on the same made documents.

    python benchmarks/store.py --corpus CORPUS.jsonl.gz --questions QUESTIONS.json --documents 100000 --work FOLDER

The documents are made from those of the corpus (lines with title and abstract) by putting its sentences together
anew: half of a document's sentences come from one abstract and half from any, so that words are as frequent and go
together about as they do in PubMed. There are no more different words in a million of them than in the corpus, which
makes every engine's dictionary smaller than PubMed's. The same seed makes the same documents.

Each engine runs in a process of its own, so that its peak memory is its own. ``--peer-python`` is the interpreter of
an environment with ``pip install tantivy bm25s PyStemmer``; an engine that is not there is left out, and told of.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

ENGINES = ("ours", "tantivy", "bm25s")
INSTALL = "pip install tantivy bm25s PyStemmer"
K, ROUNDS, SEED = 10, 3, 7
BAR_AT = 1_000_000
SENTENCE = re.compile(r"(?<=[.!?])\s+")
Search = Callable[[str], list[str]]


def make(corpus: Path, count: int, path: Path) -> None:
    """Write made documents, unless they are there."""
    if path.exists():
        return
    with gzip.open(corpus, "rt", encoding="utf-8") as file:
        real = [json.loads(line) for line in file]
    sentences = [SENTENCE.split(item["abstract"]) for item in real]
    titles = [item["title"] for item in real]
    chance = random.Random(SEED)
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        for number in range(count):
            first = chance.randrange(len(real))
            own = sentences[first]
            chosen = [
                chance.choice(own if chance.random() < 0.5 else sentences[chance.randrange(len(real))])
                for _ in range(min(max(len(own), 6), 14))
            ]
            title = titles[first if chance.random() < 0.5 else chance.randrange(len(real))]
            line = {"id": str(10_000_000 + number), "title": title, "text": " ".join(chosen)}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    part.rename(path)


def lines(path: Path) -> Iterator[dict[str, str]]:
    """The made documents."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def build_ours(documents: Path, folder: Path) -> tuple[Search, dict[str, float]]:
    """The store, as ``vericite corpus build`` makes it; a hit is the whole document."""
    from vericite.corpus.store import Progress, Source, build_store, open_store
    from vericite.records import Document

    stages: dict[str, float] = {}

    def note(progress: Progress) -> None:
        stages["read_s"] = progress.seconds

    def items() -> Iterator[Document]:
        return (Document.from_text(line["id"], line["text"], line["title"]) for line in lines(documents))

    report = build_store(folder, [Source(documents.name, "1", items)], progress=note)
    store = open_store(folder)
    stages["index_s"] = report.seconds - stages["read_s"]
    return (lambda query: [hit.document.id for hit in store.search(query, K)]), stages


def build_tantivy(documents: Path, folder: Path) -> tuple[Search, dict[str, float]]:
    """As its documentation has it, with English stems and without positions; a hit is the whole stored document."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_text_field("body", stored=True, tokenizer_name="en_stem", index_option="freq")
    folder.mkdir(parents=True)
    index = tantivy.Index(builder.build(), path=str(folder))
    writer = index.writer(heap_size=512_000_000, num_threads=os.cpu_count() or 1)
    for line in lines(documents):
        writer.add_document(tantivy.Document(id=line["id"], body=f"{line['title']}\n{line['text']}"))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(query: str) -> list[str]:
        parsed, _ = index.parse_query_lenient(query, ["body"])
        return [searcher.doc(address)["id"][0] for _, address in searcher.search(parsed, K).hits]

    return search, {}


def build_bm25s(documents: Path, folder: Path) -> tuple[Search, dict[str, float]]:
    """As its documentation has it, with its English stop words and stems; the index alone, without the documents."""
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    ids: list[str] = []
    texts: list[str] = []
    for line in lines(documents):
        ids.append(line["id"])
        texts.append(f"{line['title']}\n{line['text']}")
    tokens = bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)
    del texts
    engine = bm25s.BM25()
    engine.index(tokens, show_progress=False)
    engine.save(str(folder))

    def search(query: str) -> list[str]:
        asked = bm25s.tokenize([query], stopwords="en", stemmer=stemmer, show_progress=False)
        found, _ = engine.retrieve(asked, k=K, show_progress=False)
        return [ids[number] for number in found[0]]

    return search, {}


BUILDERS = {"ours": build_ours, "tantivy": build_tantivy, "bm25s": build_bm25s}


def measure(engine: str, documents: Path, questions: Sequence[str], folder: Path) -> dict[str, Any]:
    """One engine, in this process: what it took to build and to search."""
    start, cpu = time.perf_counter(), time.process_time()
    search, stages = BUILDERS[engine](documents, folder)
    built, built_cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = _peak()
    found = [search(question) for question in questions]
    rates: list[float] = []
    cpu = time.process_time()
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for question in questions:
            search(question)
        rates.append(len(questions) / (time.perf_counter() - start))
    return {
        "build_s": built,
        "build_cpu_s": built_cpu,
        "build_peak_gb": peak,
        "peak_gb": _peak(),
        "disk_mb": sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6,
        "rates": sorted(rates),
        "search_cpu_ms": (time.process_time() - cpu) / len(questions) / ROUNDS * 1000,
        "found": found,
        **stages,
    }


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def questions_in(paths: Sequence[Path]) -> list[str]:
    """The questions of files in BioASQ's form."""
    return [item["body"] for path in paths for item in json.loads(path.read_text(encoding="utf-8"))["questions"]]


def run_all(given: argparse.Namespace, documents: Path) -> dict[str, dict[str, Any]]:
    """Every engine, each in a process of its own."""
    measured: dict[str, dict[str, Any]] = {}
    for engine in given.engines:
        folder = given.work / f"{engine}-{given.documents}"
        shutil.rmtree(folder, ignore_errors=True)
        python = sys.executable if engine == "ours" else given.peer_python
        command = [python, __file__, "--engine", engine, "--made", documents, "--folder", folder]
        done = subprocess.run([*command, "--questions", *given.questions], capture_output=True, text=True)
        shutil.rmtree(folder, ignore_errors=True)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            hint = f" Install it: {INSTALL}" if "ModuleNotFoundError" in last else ""
            print(f"{engine}: left out, for it could not be measured: {last}.{hint}", file=sys.stderr)
            continue
        measured[engine] = json.loads(done.stdout.splitlines()[-1])
    return measured


def report(measured: dict[str, dict[str, Any]], documents: int) -> None:
    """One table, the overlaps, and the bars where the number of documents is theirs."""
    print(
        "| engine | build s (CPU s) | peak GB: build, in all | disk MB | searches/s: median [range] | CPU ms a search |"
    )
    print("|---|---|---|---|---|---|")
    for engine, found in measured.items():
        low, middle, high = found["rates"]
        cells = [
            engine,
            f"{found['build_s']:.1f} ({found['build_cpu_s']:.1f})",
            f"{found['build_peak_gb']:.2f}, {found['peak_gb']:.2f}",
            f"{found['disk_mb']:.0f}",
            f"{middle:.0f} [{low:.0f}, {high:.0f}]",
            f"{found['search_cpu_ms']:.1f}",
        ]
        print(f"| {' | '.join(cells)} |")
    for one, other in combinations(measured, 2):
        pairs = zip(measured[one]["found"], measured[other]["found"], strict=True)
        shared = [len(set(a) & set(b)) / K for a, b in pairs]
        print(f"overlap@{K} of {one} and {other}: {sum(shared) / len(shared):.3f} over {len(shared)} questions")
    if "ours" in measured:
        ours = measured["ours"]
        print(f"ours: {ours['read_s']:.1f} s reading and writing, {ours['index_s']:.1f} s indexing")
    if documents == BAR_AT and {"ours", "tantivy"} <= set(measured):
        _bars(measured["ours"], measured["tantivy"])


def _bars(ours: dict[str, Any], tantivy: dict[str, Any]) -> None:
    held = {
        "built in at most twice tantivy's time": ours["build_s"] <= 2 * tantivy["build_s"],
        "peak memory under 2 GB": ours["peak_gb"] < 2,
        "at least tantivy's searches a second": ours["rates"][1] >= tantivy["rates"][1],
    }
    for bar, holds in held.items():
        print(f"{'met' if holds else 'MISSED'}: {bar}")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", type=Path, help="JSON Lines, gzipped, with title and abstract")
    parser.add_argument("--questions", type=Path, nargs="+", required=True, help="files in BioASQ's form")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--work", type=Path, help="folder for the made documents and the indexes")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--engine", choices=ENGINES, help=argparse.SUPPRESS)
    parser.add_argument("--made", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if not given.engine and not (given.corpus and given.work):
        parser.error("expected --corpus and --work")
    return given


def main() -> None:
    """Measure one engine, as a part of it, or all of them."""
    given = arguments()
    if given.engine:
        print(json.dumps(measure(given.engine, given.made, questions_in(given.questions), given.folder)))
        return
    given.work.mkdir(parents=True, exist_ok=True)
    documents = given.work / f"made-{given.documents}.jsonl"
    make(given.corpus, given.documents, documents)
    size = documents.stat().st_size / 1e6
    print(f"{given.documents} documents ({size:.0f} MB of JSON), {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    report(run_all(given, documents), given.documents)


if __name__ == "__main__":
    main()

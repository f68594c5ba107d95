"""Attribution after generation: which of five sources support each sentence of an answer, held against labels by hand.

    python benchmarks/attribution.py sample --questions FILE... --corpus CORPUS.jsonl.gz --out TASK.jsonl
    python benchmarks/attribution.py read TASK.jsonl
    python benchmarks/attribution.py tune TASK.jsonl --labels LABELS.jsonl
    python benchmarks/attribution.py score TASK.jsonl --labels LABELS.jsonl
    python benchmarks/attribution.py together

``sample`` takes questions in BioASQ's form: sentences of their ideal answers, at most two a question, each question
with five sources: up to three documents of its gold snippets, and the neighbours by BM25 that are not gold. ``read``
prints sentences and sources for whoever labels them; ``tune`` shows the cosine's F1 by its threshold, for questions
that are not scored. A label is a line {"id", "sentence", "hash", "supports": [1, 3]}: the
question, the number of the sentence, the hash of its text, and the sources (from 1) that support the whole of it; the
file has no text of the data. The label of a sentence that no source supports is empty.

``together`` asks for the two documents that support a sentence only as a pair: 60 cases, all invented, by a writer who
had not seen how any attributor works (``cases/two_documents.jsonl``; for judging, nothing is fitted to them). It tells
how often both are cited, and how often they and nothing else, by what makes the sentence need two.

The corpus is made of gold documents of BioASQ questions: its distractors are closer to some question, and fewer, than
those of all of PubMed.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vericite.attribute import Attributor, CosineAttributor, load_attributor
from vericite.corpus.sources.entry import pmid_of
from vericite.evaluate.items import Item
from vericite.evaluate.measures.registry import measures_named
from vericite.evaluate.rates import RateTally
from vericite.evaluate.scoring import System, compare_systems, score_systems
from vericite.models import Embedder
from vericite.records import Answer, Document, Gold, GoldSentence
from vericite.retrieve.memory import BM25
from vericite.text.citations import parse_answer
from vericite.text.sentences import document_sentences

SOURCES, GOLD, SENTENCES = 5, 3, 2
ROWS = ("verifier", "cosine", "random")
MEASURES = ("CitationExactMatch", "CitationF1", "CitationF1(average='micro')", "CitationPrecision", "CitationRecall")


def hash_of(text: str) -> str:
    """What a label knows its sentence by."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]


def documents_in(path: Path) -> list[Document]:
    """The corpus."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return [Document.from_text(line["pmid"], line["abstract"], line["title"]) for line in lines if line["abstract"]]


def sample(args: argparse.Namespace) -> None:
    """Questions, the sentences asked about and their sources."""
    found = [item for path in args.questions for item in json.loads(path.read_text(encoding="utf-8"))["questions"]]
    documents = documents_in(args.corpus)
    by_id = {document.id: document for document in documents}
    index = BM25(document.titled_text for document in documents)
    draw = random.Random(args.seed)
    draw.shuffle(found)
    left: int = args.sentences
    with args.out.open("w", encoding="utf-8") as file:
        for item in found:
            answer = _answer(item, by_id, documents, index, draw)
            if left <= 0:
                break
            if answer is None:
                continue
            chosen = sorted(draw.sample(range(len(answer.claims)), min(SENTENCES, left, len(answer.claims))))
            left -= len(chosen)
            snippets = {document.id: _snippets(item, document.id) for document in answer.documents}
            record = {"answer": answer.model_dump(mode="json"), "sentences": chosen, "snippets": snippets}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def _answer(
    item: Any, by_id: dict[str, Document], documents: Sequence[Document], index: BM25, draw: random.Random
) -> Answer | None:
    """The ideal answer with five sources in an order of chance; None where there is none, or no gold document."""
    ideal = item.get("ideal_answer") or []
    text = (ideal if isinstance(ideal, str) else ideal[0]) if ideal else ""
    all_gold = {pmid_of(address) or address for address in item["documents"]}
    told = dict.fromkeys(pmid_of(snippet["document"]) or "" for snippet in item.get("snippets", ()))
    gold = [by_id[id] for id in told if id in by_id]
    if not text.strip() or not gold:
        return None
    chosen = draw.sample(gold, min(GOLD, len(gold)))
    ranked = np.argsort(-index.scores(item["body"]), kind="stable")
    neighbours = (documents[place] for place in ranked if documents[place].id not in all_gold | set(told))
    while len(chosen) < SOURCES:
        chosen.append(next(neighbours))
    draw.shuffle(chosen)
    answer = parse_answer(item["id"], " ".join(text.split()), chosen, item["body"])
    bare = answer.model_copy(update={"claims": tuple(it.model_copy(update={"citations": ()}) for it in answer.claims)})
    return bare if bare.claims else None


def _snippets(item: Any, id: str) -> list[str]:
    return [snippet["text"] for snippet in item["snippets"] if pmid_of(snippet["document"]) == id]


def task_in(path: Path) -> Iterator[tuple[Answer, list[int], dict[str, list[str]]]]:
    """The answers, which of their sentences are asked about, and what of each source is a gold snippet."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            yield Answer.model_validate_json(json.dumps(record["answer"])), record["sentences"], record["snippets"]


def read(args: argparse.Namespace) -> None:
    """Print what is to be labelled, and of each source the likest sentences and the gold snippets."""
    embedder = Embedder.shared()
    for answer, sentences, snippets in task_in(args.task):
        for number in sentences:
            claim = answer.claims[number].text
            print(f"\n=== {answer.id} {number} {hash_of(claim)}\nQ: {answer.question}\nS: {claim}")
            for place, document in enumerate(answer.documents, start=1):
                own = [sentence.text_in(document) for sentence in document_sentences(document)]
                near = embedder.embed(own) @ embedder.embed([claim])[0]
                shown = [own[index] for index in sorted(np.argsort(-near)[: args.shown])]
                extra = [text for text in snippets[document.id] if not any(text in one or one in text for one in shown)]
                kind = "gold" if snippets[document.id] else "other"
                print(f"[{place}] {kind}: {document.title}\n    - " + "\n    - ".join([*shown, *extra[: args.shown]]))


def labels_in(path: Path) -> dict[tuple[str, int], tuple[str, list[int]]]:
    """Hashes of sentences and the sources that support them, by question and number of the sentence."""
    with path.open(encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.strip()]
    return {(line["id"], line["sentence"]): (line["hash"], line["supports"]) for line in lines}


def golds(args: argparse.Namespace) -> list[tuple[Answer, Gold]]:
    """The answers with their labelled sentences."""
    labels = labels_in(args.labels)
    found: list[tuple[Answer, Gold]] = []
    for answer, sentences, _ in task_in(args.task):
        known: list[GoldSentence] = []
        for number in sentences:
            if (answer.id, number) not in labels:
                continue
            hashed, supports = labels[answer.id, number]
            if hashed != hash_of(answer.claims[number].text):
                raise SystemExit(f"expected the sentence that was labelled: {answer.id} {number}; found another")
            ids = tuple(answer.documents[place - 1].id for place in supports)
            known.append(GoldSentence(sentence=number, documents=ids))
        if known:
            found.append((answer, Gold(id=answer.id, citations=tuple(known))))
    return sorted(found, key=lambda pair: pair[0].id)


def attributors(args: argparse.Namespace) -> dict[str, Attributor]:
    """The rows of the table."""
    return {name: load_attributor(name) for name in args.by}


def tune(args: argparse.Namespace) -> None:
    """F1 of the cosine, pooled over sentences, by its threshold."""
    pairs = golds(args)
    found = list(CosineAttributor(Embedder.shared()).attributions([_asked(answer, gold) for answer, gold in pairs]))
    measures = measures_named(["CitationF1(average='micro')", "CitationExactMatch"])
    for step in range(50, 96, 5):
        items = [
            Item(answer.id, answer=one.above(step / 100).answer, gold=gold)
            for (answer, gold), one in zip(pairs, found, strict=True)
        ]
        figures = score_systems([System(str(step), tuple(items))], measures)
        print(step / 100, *(f"{figure.estimate.value:.3f}" for figure in figures))


def score(args: argparse.Namespace) -> None:
    """The table, and each row against the first."""
    pairs = golds(args)
    sentences = [sentence for _, gold in pairs for sentence in gold.citations or ()]
    cited = sum(len(sentence.documents) for sentence in sentences)
    none = sum(not sentence.documents for sentence in sentences)
    print(f"{len(pairs)} answers, {len(sentences)} sentences: {cited} citations in the labels, {none} have none\n")
    systems: dict[str, System] = {}
    for name, attributor in attributors(args).items():
        began = time.perf_counter()
        made = attributor.attributions([_asked(answer, gold) for answer, gold in pairs])
        items = [
            Item(answer.id, answer=found.answer, gold=gold) for (answer, gold), found in zip(pairs, made, strict=True)
        ]
        systems[name] = System(name, tuple(items))
        print(f"{name}: {time.perf_counter() - began:.0f} s; {attributor.signature}", file=sys.stderr)
    measures = measures_named(MEASURES)
    print(f"| by | {' | '.join(MEASURES)} | exact match over the first |\n|{'---|' * (len(MEASURES) + 2)}")
    first = next(iter(systems.values()))
    for name, system in systems.items():
        figures = [figure.estimate for figure in score_systems([system], measures)]
        cells = [f"{it.value:.3f} [{it.low:.3f}, {it.high:.3f}]" for it in figures]
        gain = "" if system is first else _gain(compare_systems(system, first, measures[:1])[0])
        print(f"| {name} | {' | '.join(cells)} | {gain} |")


def together(args: argparse.Namespace) -> None:
    """How often both of the documents are cited, by kind of sentence."""
    with args.cases.open(encoding="utf-8") as file:
        cases: list[dict[str, Any]] = [json.loads(line) for line in file]
    answers = [
        parse_answer(
            case["id"],
            case["sentence"],
            [Document.from_text(it["id"], it["text"], title=it["title"]) for it in case["documents"]],
        )
        for case in cases
    ]
    kinds: list[str] = list(dict.fromkeys(case["kind"] for case in cases))
    print(f"| by | both cited | and nothing else | {' | '.join(kinds)} |\n|{'---|' * (len(kinds) + 3)}")
    for name, attributor in attributors(args).items():
        kind_of = {kind: RateTally() for kind in kinds}
        both, alone = RateTally(), RateTally()
        for case, found in zip(cases, attributor.attributions(answers), strict=True):
            cited = {citation.document for claim in found.answer.claims for citation in claim.citations}
            for tally in (both, kind_of[case["kind"]]):
                tally.add(set(case["both"]) <= cited, 1)
            alone.add(set(case["both"]) == cited, 1)
        cells = [f"{it.count}/{it.n}" for it in kind_of.values()]
        print(f"| {name} | {_rate(both)} | {_rate(alone)} | {' | '.join(cells)} |")


def _rate(tally: RateTally) -> str:
    rate = tally.rate
    return f"{rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}]"


def _asked(answer: Answer, gold: Gold) -> Answer:
    """The answer up to its last sentence that has a label, so that the numbers stay as they are."""
    last = max(sentence.sentence for sentence in gold.citations or ())
    return answer.model_copy(update={"claims": answer.claims[: last + 1]})


def _gain(compared: Any) -> str:
    found = compared.difference
    return f"{found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"


def main() -> None:
    """Run one of the steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(required=True)
    step = steps.add_parser("sample")
    step.add_argument("--questions", type=Path, nargs="+", required=True)
    step.add_argument("--corpus", type=Path, required=True)
    step.add_argument("--sentences", type=int, default=100)
    step.add_argument("--seed", type=int, default=0)
    step.add_argument("--out", type=Path, required=True)
    step.set_defaults(do=sample)
    step = steps.add_parser("read")
    step.add_argument("task", type=Path)
    step.add_argument("--shown", type=int, default=2)
    step.set_defaults(do=read)
    step = steps.add_parser("tune")
    step.add_argument("task", type=Path)
    step.add_argument("--labels", type=Path, required=True)
    step.set_defaults(do=tune)
    step = steps.add_parser("score")
    step.add_argument("task", type=Path)
    step.add_argument("--labels", type=Path, required=True)
    step.add_argument("--by", nargs="+", default=ROWS)
    step.set_defaults(do=score)
    step = steps.add_parser("together")
    step.add_argument("--cases", type=Path, default=Path(__file__).parent / "cases" / "two_documents.jsonl")
    step.add_argument("--by", nargs="+", default=("likeliest", *ROWS))
    step.set_defaults(do=together)
    args = parser.parse_args()
    args.do(args)


if __name__ == "__main__":
    main()
